package fake_test

import (
	"context"
	"errors"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"gatehouse/gatekeepers/model/openai/fake"
)

// The official client, as its maker ships it, has to understand the server.

func ask(s *fake.Server, model string, messages ...openai.ChatCompletionMessageParamUnion) (openai.ChatCompletionAccumulator, error) {
	client := openai.NewChatCompletionService(
		option.WithBaseURL(s.Base()), option.WithAPIKey("sk-x"), option.WithHTTPClient(s.Client()), option.WithMaxRetries(2),
	)
	params := openai.ChatCompletionNewParams{Model: model, Messages: messages}
	params.StreamOptions.IncludeUsage = openai.Bool(true)
	stream := client.NewStreaming(context.Background(), params)
	var all openai.ChatCompletionAccumulator
	for stream.Next() {
		all.AddChunk(stream.Current())
	}
	return all, errors.Join(stream.Err(), stream.Close())
}

func TestServer_IsUnderstoodByTheOfficialClient(t *testing.T) {
	const said = "Grüße 👋"
	s := fake.Start(
		fake.Reply{Status: 429, Header: map[string]string{"Retry-After-Ms": "1"}, Body: `{"error":{"message":"slow down"}}`},
		fake.Reply{
			Cut: 1, Text: said, Calls: []fake.Call{{ID: "a", Name: "SITE-read", Args: `{"path":"a"}`}, {ID: "b", Name: "ask", Args: `{}`}},
			Usage: &fake.Usage{Input: 7, Output: 3},
		},
	)
	defer s.Close()
	got, err := ask(s, "tiny", openai.UserMessage("Hello."))
	if err != nil || len(got.Choices) != 1 {
		t.Fatalf("got %+v (%v), want one choice", got, err)
	}
	choice := got.Choices[0]
	if choice.Message.Content != said || choice.FinishReason != "tool_calls" || got.Usage.TotalTokens != 10 {
		t.Errorf("got %q, %s, %d tokens", choice.Message.Content, choice.FinishReason, got.Usage.TotalTokens)
	}
	if calls := choice.Message.ToolCalls; len(calls) != 2 || calls[0].Function.Arguments != `{"path":"a"}` || calls[1].ID != "b" {
		t.Errorf("got calls %+v", calls)
	}
	models := openai.NewModelService(option.WithBaseURL(s.Base()), option.WithAPIKey("sk-x"), option.WithHTTPClient(s.Client()))
	page, err := models.List(context.Background())
	if err != nil || len(page.Data) != 1 || page.Data[0].ID != "tiny" {
		t.Errorf("got models %+v (%v)", page, err)
	}
}

func TestServer_RefusesAsRealOnesDo(t *testing.T) {
	s := fake.Start(fake.Reply{Text: "x", Die: true})
	defer s.Close()
	wantStatus := func(err error, want int) {
		t.Helper()
		var api *openai.Error
		if !errors.As(err, &api) || api.StatusCode != want || api.Message == "" {
			t.Errorf("got %v, want status %d with a message", err, want)
		}
	}
	_, err := ask(s, "huge", openai.UserMessage("Hello."))
	wantStatus(err, 404)
	_, err = ask(s, "tiny", openai.UserMessage("Hello."), openai.ToolMessage("{}", "nobody's"))
	wantStatus(err, 400)
	if _, err := ask(s, "tiny", openai.UserMessage("Hello.")); err == nil {
		t.Error("got no error of a line that broke")
	}
	s.Key = "another"
	_, err = ask(s, "tiny", openai.UserMessage("Hello."))
	wantStatus(err, 401)
}
