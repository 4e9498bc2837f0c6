package conformance

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"gatehouse/core"
)

// Setup is a driver with what the suite has to know of it.
type Setup struct {
	Name string // as the fidelity figure calls it

	// Gatekeeper is the driver under test; Kernel makes a kernel with it over a new store, cleaned up by t.
	Gatekeeper core.Gatekeeper
	Kernel     func(t testing.TB, checks ...core.Check) *core.Kernel

	// URLs are binding URLs that must be accepted, BadURLs such that grant nothing.
	URLs, BadURLs []string

	// Fresh makes a service of its own, with content for Sample.
	Fresh func(t testing.TB) Service

	Sample Sample

	// Write picks one random write over a universe small enough that writes meet. It need not be possible: what is
	// refused when it is queued leaves nothing. Reads are asked before and after, the first of them always, and together
	// show everything.
	Write func(r *rand.Rand) Request
	Reads []Request

	Histories int // random histories in the short run
	Writes    int // writes a history, at most; 0 is 8

	// Lacks names cases that do not apply, with the reason.
	Lacks map[string]string
}

// Service is one instance of the real service.
type Service struct {
	URL    string // the binding under test
	Narrow string // a narrower binding to the same resource, which shows Sample.Read; URL itself where that is narrow
	Other  string // a binding to another resource of the kind

	// Snapshot tells the service's whole content without the driver.
	Snapshot func() (string, error)
	// Stranger changes the object of Sample.Edits behind our back.
	Stranger func() error
	// Calls counts what reached the service, of any kind.
	Calls func() int
	// Failing is a binding to the same service that fails as told.
	Failing func(Failure) string
	// Hold makes the next effect wait inside the driver's Apply.
	Hold func() (entered <-chan struct{}, release func())
}

// Failure is a way in which a service fails.
type Failure string

// The failures.
const (
	FailBefore    Failure = "before dispatch"
	FailAnswer    Failure = "after the effect"
	FailRetryable Failure = "refused, retryable"
	FailForGood   Failure = "refused for good"
	FailProject   Failure = "cannot be projected"
)

// Request is one call of a method.
type Request struct {
	Method string
	Args   string // a JSON object
}

// String is how failures name it.
func (r Request) String() string { return r.Method + " " + r.Args }

// Call makes a request; the arguments are formatted with %q for strings.
func Call(method, args string, values ...any) Request {
	return Request{Method: method, Args: fmt.Sprintf(args, values...)}
}

// Sample is a handful of calls over the content that Setup.Fresh makes.
type Sample struct {
	Edits []Request // three writes at least on one object, each of which changes what Read shows
	Read  Request   // shows that object
	List  Request   // lists at least three objects in one page
	Paged Request   // the same list, two objects a page; pages are asked for with "cursor" and answer "next"

	Create    Request                       // makes something that OnCreated needs
	OnCreated func(provides string) Request // a write on what Create provides, which Read alone does not show
	Created   func(provides string) Request // reads it

	Filtered  Request // a filtered list or a search
	FilterOut Request // a write after which it shows one object less
	FilterIn  Request // a write after which it shows one more

	Missing Request   // reads, under Service.Narrow, an object that does not exist
	Outside []Request // reads, and writes, of some that exist outside of it
	Await   *Request

	Bad []Request // calls whose arguments are wrong
}

// answer is what is compared of a call.
type answer struct {
	Status core.Status     `json:"status"`
	Code   string          `json:"code,omitempty"`
	Value  json.RawMessage `json:"value"`
}
