package openai

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"gatehouse/core"
)

// params is a request in the words of the protocol.
func (m *Model) params(r core.Request) (openai.ChatCompletionNewParams, error) {
	p := openai.ChatCompletionNewParams{
		Model:         m.o.Model,
		Messages:      []openai.ChatCompletionMessageParamUnion{openai.SystemMessage(r.System)},
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: param.NewOpt(true)},
	}
	if m.o.MaxOutput > 0 {
		// Only the hosted endpoint insists on the newer name; few others know it.
		if m.url.Hostname() == defaultHost {
			p.MaxCompletionTokens = param.NewOpt(int64(m.o.MaxOutput))
		} else {
			p.MaxTokens = param.NewOpt(int64(m.o.MaxOutput))
		}
	}
	for _, t := range r.Tools {
		f := shared.FunctionDefinitionParam{Name: wireName(t.Name), Description: param.NewOpt(t.About)}
		if err := json.Unmarshal(t.Schema, &f.Parameters); err != nil {
			return p, fmt.Errorf("tool %s: its schema: %w", t.Name, err)
		}
		p.Tools = append(p.Tools, openai.ChatCompletionFunctionTool(f))
	}
	for _, e := range r.History {
		p.Messages = append(p.Messages, told(e.Messages, e.Decisions)...)
		said, err := exchange(e)
		if err != nil {
			return p, err
		}
		p.Messages = append(p.Messages, said...)
	}
	p.Messages = append(p.Messages, told(r.Messages, r.Decisions)...)
	return p, nil
}

// told is what a model was told before a step, as one message.
func told(messages []core.Message, decisions []core.Decided) []openai.ChatCompletionMessageParamUnion {
	var parts []string
	for _, m := range messages {
		parts = append(parts, m.Text)
	}
	if note := core.DecisionNote(decisions); note != "" {
		parts = append(parts, note)
	}
	if len(parts) == 0 {
		return nil
	}
	return []openai.ChatCompletionMessageParamUnion{openai.UserMessage(strings.Join(parts, "\n\n"))}
}

// exchange is what a model said at a step and what its calls gave.
func exchange(e core.Exchange) ([]openai.ChatCompletionMessageParamUnion, error) {
	if e.Response.Text == "" && len(e.Response.Calls) == 0 {
		return nil, nil
	}
	var assistant openai.ChatCompletionAssistantMessageParam
	if e.Response.Text != "" {
		assistant.Content.OfString = param.NewOpt(e.Response.Text)
	}
	out := []openai.ChatCompletionMessageParamUnion{{OfAssistant: &assistant}}
	for i, c := range e.Response.Calls {
		assistant.ToolCalls = append(assistant.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{
			OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
				ID:       c.ID,
				Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: wireName(c.Name), Arguments: wireArgs(c.Args)},
			},
		})
		result := []byte(`{"status":"error","reason":"not answered"}`)
		if e.Results[i].Valid() {
			var err error
			if result, err = json.Marshal(e.Results[i]); err != nil {
				return nil, fmt.Errorf("result of call %s: %w", c.ID, err)
			}
		}
		out = append(out, openai.ToolMessage(string(result), c.ID))
	}
	return out, nil
}

// wireArgs keeps what a model wrote, in an object where it was no JSON: many servers take arguments apart to put them
// into their templates, and fail at the whole conversation otherwise.
func wireArgs(args string) string {
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(args), &object) == nil && object != nil {
		return args
	}
	raw, err := json.Marshal(map[string]string{"malformed_arguments": args})
	if err != nil {
		return "{}"
	}
	return string(raw)
}

// options are those of every request. What is no stream, or no list where one was asked for, never reaches the SDK,
// which would read it whole and keep the request with its key in the error.
func (m *Model) options(wanted string) []option.RequestOption {
	out := []option.RequestOption{
		option.WithBaseURL(m.base), option.WithHTTPClient(m.client), option.WithMaxRetries(0),
		option.WithMiddleware(func(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
			answer, err := next(r)
			if err != nil {
				return nil, err
			}
			if answer.StatusCode != http.StatusOK || !strings.Contains(strings.ToLower(answer.Header.Get("Content-Type")), wanted) {
				return nil, readAnswer(answer)
			}
			if wanted == kindList {
				answer.Body = http.MaxBytesReader(nil, answer.Body, listLimit)
			}
			return answer, nil
		}),
	}
	if m.o.Key != "" {
		return append(out, option.WithAPIKey(m.o.Key))
	}
	return append(out, option.WithHeaderDel("Authorization"))
}

// The kinds of content that are asked for, and how long a list of models may be.
const (
	kindStream = "text/event-stream"
	kindList   = "json"
	listLimit  = 4 << 20
)
