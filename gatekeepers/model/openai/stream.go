package openai

import (
	"fmt"
	"strings"

	"github.com/openai/openai-go/v3"

	"gatehouse/core"
)

// answerLimit is how many bytes of text and arguments one answer may have.
const answerLimit = 4 << 20

// callLimit is how many calls one answer may have.
const callLimit = 256

// cutError is a stream that ended before its answer did.
type cutError struct{ err error }

func (e *cutError) Error() string {
	if e.err == nil {
		return "the stream ended early"
	}
	return bare(e.err)
}

func (e *cutError) Unwrap() error { return e.err }

// endError is an answer that ended otherwise than it should; another try would end the same way.
type endError struct{ said string }

func (e *endError) Error() string { return e.said }

// assembly is an answer that is being put together from its pieces.
type assembly struct {
	offered map[string]string
	onDelta func(string)

	text    strings.Builder
	calls   []*partialCall
	finish  string
	usage   core.Usage
	counted bool
	bytes   int
}

// partialCall is a call whose arguments still come in.
type partialCall struct {
	index int64
	id    string
	name  string
	args  strings.Builder
}

// begun reports that something of the answer was shown or stands in a call.
func (a *assembly) begun() bool { return a.bytes > 0 || len(a.calls) > 0 }

func (a *assembly) add(chunk openai.ChatCompletionChunk) error {
	if u := chunk.Usage; u.PromptTokens > 0 || u.CompletionTokens > 0 {
		a.usage = core.Usage{Input: int(max(0, u.PromptTokens)), Output: int(max(0, u.CompletionTokens))}
		a.counted = true
	}
	for _, choice := range chunk.Choices {
		if choice.Index != 0 {
			continue
		}
		a.say(choice.Delta.Content + choice.Delta.Refusal)
		for _, piece := range choice.Delta.ToolCalls {
			a.call(piece)
		}
		if choice.FinishReason != "" {
			a.finish = choice.FinishReason
		}
	}
	if a.bytes > answerLimit || len(a.calls) > callLimit {
		return &endError{fmt.Sprintf("the answer does not end: it was stopped at %d bytes with %d calls", a.bytes, len(a.calls))}
	}
	return nil
}

func (a *assembly) say(piece string) {
	if piece == "" {
		return
	}
	a.bytes += len(piece)
	a.text.WriteString(piece)
	if a.onDelta != nil {
		a.onDelta(piece)
	}
}

// call adds a piece of a call. Some servers give every call the index 0: another id begins another call.
func (a *assembly) call(piece openai.ChatCompletionChunkChoiceDeltaToolCall) {
	var c *partialCall
	for i := len(a.calls) - 1; i >= 0 && c == nil; i-- {
		if a.calls[i].index == piece.Index {
			c = a.calls[i]
		}
	}
	if c == nil || piece.ID != "" && c.id != "" && piece.ID != c.id {
		c = &partialCall{index: piece.Index}
		a.calls = append(a.calls, c)
	}
	if piece.ID != "" {
		c.id = piece.ID
	}
	if c.name == "" {
		c.name = piece.Function.Name
	}
	a.bytes += len(piece.Function.Arguments)
	c.args.WriteString(piece.Function.Arguments)
}

// response is the answer once it has ended. One that ended for another reason than being done is an error.
func (a *assembly) response(limit int) (core.Response, error) {
	out := core.Response{Text: a.text.String()}
	switch a.finish {
	case "":
		return core.Response{}, &cutError{}
	case "length":
		what := "the token limit of the model or its server"
		if limit > 0 {
			what = fmt.Sprintf("%d tokens (openai.max_output)", limit)
		}
		return core.Response{}, &endError{"the answer was cut off at " + what + " and is not used; ask for less at once, or raise the limit"}
	case "content_filter":
		return core.Response{}, &endError{"the answer was withheld by the content filter of the server"}
	}
	for _, c := range a.calls {
		args := c.args.String()
		if strings.TrimSpace(args) == "" {
			args = "{}"
		}
		out.Calls = append(out.Calls, core.ToolCall{ID: c.id, Name: fullName(c.name, a.offered), Args: args})
	}
	return out, nil
}

// used is what the answer took so far, counted or estimated.
func (a *assembly) used(sent int) core.Usage {
	if a.counted {
		return a.usage
	}
	return core.Usage{Input: core.EstimateTokens(sent), Output: core.EstimateTokens(a.bytes), Estimated: true}
}
