package core

import (
	"context"
	"fmt"
)

// Egress is the policy over what leaves: every sink asks it, once per use, before anything goes (sharing E1).
type Egress interface {
	Decide(ctx context.Context, request EgressRequest) EgressVerdict
}

// SelectiveEgress is an Egress that can tell when an answer does not depend on what a session has read, so that this is
// not looked up.
type SelectiveEgress interface {
	Egress
	// Wants reports whether Units, Labels, Latched, Known or Matches can change the answer to a request without them.
	Wants(request EgressRequest) bool
}

// EgressSink is a way in which something leaves.
type EgressSink string

// The sinks.
const (
	SinkFetch     EgressSink = "fetch"  // of the web
	SinkModel     EgressSink = "model"  // a request to a model
	SinkRead      EgressSink = "read"   // the arguments of a read
	SinkApply     EgressSink = "apply"  // an effect
	SinkMCP       EgressSink = "mcp"    // a result to an agent outside
	SinkExport    EgressSink = "export" // a session file
	SinkBlueprint EgressSink = "blueprint"
	SinkSync      EgressSink = "sync" // of skills
	SinkClipboard EgressSink = "clipboard"
	SinkNote      EgressSink = "note" // a desktop notification
	SinkFile      EgressSink = "file" // written outside the store
)

// EgressSinks lists them all.
func EgressSinks() []EgressSink {
	return []EgressSink{
		SinkFetch, SinkModel, SinkRead, SinkApply, SinkMCP, SinkExport, SinkBlueprint, SinkSync, SinkClipboard, SinkNote, SinkFile,
	}
}

// EgressDecision is what becomes of it. The zero value is no decision, and nothing leaves on it.
type EgressDecision string

// The decisions.
const (
	EgressAllow EgressDecision = "allow"
	EgressAsk   EgressDecision = "ask" // a question to the person (kernel R32)
	EgressDeny  EgressDecision = "deny"
)

// EgressRequest is what is known of what is about to leave. The kernel fills in what it knows of the session.
type EgressRequest struct {
	Sink        EgressSink
	Session     SessionID
	Caller      Caller
	Destination string // as the record names it: a service, a host, a file
	Host        string // where it goes over a network; empty where it does not
	Local       bool   // it stays on this machine
	Audience    []PersonID
	Units       []Unit   // in context
	Labels      []string // of those, sorted; LabelOwnerOnly among them
	Latched     bool
	Known       bool     // a person allowed this sink and host in this session before
	Matches     []string // values from labelled units that the payload holds
	Bytes       int
	Digest      string // of the payload
}

// EgressVerdict is an answer, with the rule that gave it.
type EgressVerdict struct {
	Decision EgressDecision
	Rule     string
	Why      string // one line, where the rule alone does not say it
}

// AllowAll is the egress policy until one is configured.
type AllowAll struct{}

// Decide allows.
func (AllowAll) Decide(context.Context, EgressRequest) EgressVerdict {
	return EgressVerdict{Decision: EgressAllow, Rule: "allow-all"}
}

// Wants is false.
func (AllowAll) Wants(EgressRequest) bool { return false }

// EgressError is something that did not leave.
type EgressError struct {
	Sink        EgressSink
	Destination string
	Verdict     EgressVerdict
	Question    ActionID // where the decision is a person's; 0 elsewhere
	Session     SessionID
}

func (e *EgressError) Error() string {
	why := "egress rule " + e.Verdict.Rule
	if e.Verdict.Why != "" {
		why += ": " + e.Verdict.Why
	}
	what := string(e.Sink) + " to " + e.Destination
	switch {
	case e.Verdict.Decision == EgressAsk && e.Question != 0:
		return fmt.Sprintf("%s: waits for a person, question %d, %s", what, e.Question, why)
	case e.Verdict.Decision == EgressAsk:
		return what + ": waits for a person, " + why
	case e.Sink == SinkModel:
		return what + ": refused, " + why + "; a model on this machine may be asked, see gatehouse help egress"
	}
	return what + ": refused, " + why
}

// Outbound is a Resource whose calls go where their arguments say, such as to any page of the web.
type Outbound interface {
	// Goes says, from the arguments alone and without asking anybody, where a call goes and what it sends there.
	// A fault in the arguments is a *CallError.
	Goes(Call) (Going, error)
}

// Going is where a call goes.
type Going struct {
	Sink        EgressSink // SinkFetch or SinkRead
	Destination string     // as a person reads it
	Host        string
	Local       bool     // it stays on this machine
	Sends       []string // every text that leaves: addresses, headers, bodies
}

// goes is where a call of a resource goes; one that does not say goes to its service.
func (c *callInProgress) goes(k *Kernel, call Call) (Going, error) {
	if r, says := c.resource.(interface {
		goes(Call) (Going, bool, error)
	}); says {
		if going, known, err := r.goes(call); known || err != nil {
			return going, err
		}
	}
	return Going{
		Sink: SinkRead, Destination: c.connection.Service, Local: k.local(c.connection.Kind), Sends: []string{string(c.args)},
	}, nil
}

// local reports that nothing that a kind of driver does leaves this machine.
func (k *Kernel) local(kind string) bool {
	g, known := k.gatekeepers[kind]
	return known && g.Manifest().Local
}
