package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/openai/openai-go/v3/packages/ssestream"

	"gatehouse/core"
	"gatehouse/core/text"
)

// bodyLimit is how much of an answer that is no stream is read, saidLimit how many code points of it are shown.
const (
	bodyLimit = 64 << 10
	saidLimit = 300
)

// answerError is what an endpoint answered in the place of a stream.
type answerError struct {
	status  int
	header  http.Header
	kind    string // of the content
	code    string // error.code or error.type
	message string // error.message, or what else it said
}

func (e *answerError) Error() string {
	if e.message == "" {
		return fmt.Sprintf("%d %s", e.status, http.StatusText(e.status))
	}
	return fmt.Sprintf("%d: %s", e.status, e.message)
}

// readAnswer takes apart what came in the place of a stream, and closes it.
func readAnswer(r *http.Response) *answerError {
	raw, err := io.ReadAll(io.LimitReader(r.Body, bodyLimit))
	_ = r.Body.Close() // it is of no further use
	e := &answerError{status: r.StatusCode, header: r.Header, kind: r.Header.Get("Content-Type")}
	if err == nil {
		e.code, e.message = readError(raw)
	}
	return e
}

// readError finds code and message in the shapes that servers use: error as an object or a text, or no error at all.
func readError(raw []byte) (code, message string) {
	var outer struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(raw, &outer) != nil {
		if strings.HasPrefix(strings.TrimSpace(string(raw)), "<") {
			return "", "" // a page
		}
		return "", string(raw)
	}
	var inner struct {
		Code    json.RawMessage `json:"code"`
		Type    string          `json:"type"`
		Message string          `json:"message"`
	}
	if json.Unmarshal(outer.Error, &inner) == nil && inner.Message != "" {
		var word string
		if json.Unmarshal(inner.Code, &word) != nil || word == "" {
			word = inner.Type
		}
		return word, inner.Message
	}
	var said string
	if json.Unmarshal(outer.Error, &said) == nil && said != "" {
		return "", said
	}
	if outer.Message != "" {
		return "", outer.Message
	}
	return "", string(outer.Detail)
}

// passing reports that the same request may be answered later.
func (e *answerError) passing() bool {
	return e.status == http.StatusTooManyRequests && e.code != "insufficient_quota" || e.status >= 500 && e.status != http.StatusNotImplemented
}

// full reports that the request is longer than the model's context.
func (e *answerError) full() bool {
	if e.status != http.StatusBadRequest && e.status != http.StatusRequestEntityTooLarge && e.status != http.StatusInternalServerError {
		return false
	}
	return e.code == "context_length_exceeded" || e.code == "exceed_context_size_error" || tooLong(e.message)
}

// tooLong knows how servers say that a request does not fit.
func tooLong(message string) bool {
	low := strings.ToLower(message)
	return slices.ContainsFunc([]string{
		"context length", "context size", "context window", "context_length", "maximum context", "prompt is too long", "too many tokens",
	}, func(words string) bool { return strings.Contains(low, words) })
}

// retryAfter is what the answer asks for; zero where it asks for nothing.
func (e *answerError) retryAfter(now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(e.header.Get("Retry-After-Ms"), 64); err == nil && ms > 0 && ms < 1e12 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	said := e.header.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(said, 64); err == nil && seconds > 0 && seconds < 1e9 {
		return time.Duration(seconds * float64(time.Second))
	}
	if at, err := http.ParseTime(said); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// clean makes one line of what an endpoint said: the key goes before anything is shortened.
func (m *Model) clean(s string) string {
	if m.o.Key != "" {
		s = strings.ReplaceAll(s, m.o.Key, "[key]")
	}
	line, _ := text.CleanLine(s, saidLimit)
	return line
}

// explain turns what went wrong into one line for a person. No error of the SDK is kept in it: those carry the request
// with its key.
func (m *Model) explain(ctx context.Context, err error) error {
	var answer *answerError
	switch {
	case !errors.As(err, &answer):
		return m.explainOther(ctx, err)
	case answer.status == http.StatusOK:
		return m.notServer(fmt.Sprintf("it answered %q and no stream", m.clean(answer.kind)))
	case answer.status >= 300 && answer.status < 400:
		return fmt.Errorf("%s redirects elsewhere, which is not followed; set openai.base_url to where it leads", m.base)
	case answer.status == http.StatusUnauthorized, answer.status == http.StatusForbidden:
		return m.wrongKey(answer)
	case answer.full():
		return fmt.Errorf("%w: %s; start a new turn, which begins without what was said so far", core.ErrContextFull, m.clean(answer.message))
	case answer.code == "model_not_found", slices.Contains([]int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented}, answer.status):
		return m.notFound(ctx, answer)
	case answer.status == http.StatusTooManyRequests:
		return fmt.Errorf("%s has had enough for now: %s", m.base, m.clean(answer.Error()))
	default:
		return fmt.Errorf("%s answered %s", m.base, m.clean(answer.Error()))
	}
}

func (m *Model) explainOther(ctx context.Context, err error) error {
	var cut *cutError
	var ended *endError
	switch {
	case errors.As(err, &ended):
		if tooLong(ended.said) {
			return fmt.Errorf("%w: %s; start a new turn, which begins without what was said so far", core.ErrContextFull, m.clean(ended.said))
		}
		return fmt.Errorf("%s", m.clean(ended.said))
	case ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s gave no whole answer within %s (openai.timeout)", m.base, m.o.Timeout)
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &cut):
		return fmt.Errorf("the answer broke off: %s", m.clean(cut.Error()))
	default:
		return fmt.Errorf("%s cannot be reached: %s; check openai.base_url, and that the server runs", m.base, m.clean(bare(err)))
	}
}

// bare is an error without the request around it.
func bare(err error) string {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	return err.Error()
}

func (m *Model) notServer(why string) error {
	return fmt.Errorf("%s is no model server that speaks this protocol: %s; check openai.base_url (most end in /v1)", m.base, why)
}

func (m *Model) wrongKey(e *answerError) error {
	if m.o.Key == "" {
		return fmt.Errorf("%s wants a key; set %s, or name another variable with openai.key_env", m.base, m.o.KeyEnv)
	}
	return fmt.Errorf("%s refused the key in %s (openai.key_env): %s", m.base, m.o.KeyEnv, m.clean(e.Error()))
}

// notFound tells an unknown model from an address at which nothing is.
func (m *Model) notFound(ctx context.Context, e *answerError) error {
	offered, err := m.Offered(ctx)
	switch {
	case err != nil:
		return m.notServer(m.clean(e.Error()))
	case !slices.Contains(offered, m.o.Model):
		return m.unknownModel(offered)
	default:
		return fmt.Errorf("%s answered %s", m.base, m.clean(e.Error()))
	}
}

// offeredLimit is how many models are listed.
const offeredLimit = 20

func (m *Model) unknownModel(offered []string) error {
	what := fmt.Sprintf("model %q is not offered", m.clean(m.o.Model))
	if m.o.Model == "" {
		what = "no model is chosen"
	}
	if len(offered) == 0 {
		return fmt.Errorf("%s, and %s offers none; set openai.model", what, m.base)
	}
	list := make([]string, 0, offeredLimit+1)
	for i, name := range offered {
		if i == offeredLimit {
			list = append(list, fmt.Sprintf("and %d more", len(offered)-i))
			break
		}
		list = append(list, m.clean(name))
	}
	return fmt.Errorf("%s; set openai.model to one that %s offers: %s", what, m.base, strings.Join(list, ", "))
}

// streamFault tells what a server says within a stream from a line that broke.
func streamFault(err error) error {
	var said *ssestream.StreamError
	if !errors.As(err, &said) {
		return &cutError{err}
	}
	if _, message := readError(said.Event.Data); message != "" {
		return &endError{"the answer broke off: the server said: " + message}
	}
	return &endError{"the answer broke off: the server said: " + said.Message}
}
