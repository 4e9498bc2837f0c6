// Package fake is a server that speaks the chat completions protocol and says what a test tells it to. It is strict:
// a request that a real server would refuse is answered with status 400. It is for tests alone.
package fake

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"sync"
	"time"
)

// Reply is one answer to a question. The zero value is an answer that says nothing.
type Reply struct {
	Text   string            `json:"text"`
	Calls  []Call            `json:"calls"`
	Finish string            `json:"finish"` // empty is what fits; "none" leaves the end out
	Usage  *Usage            `json:"usage"`
	Status int               `json:"status"` // other than 0: Body is the whole answer
	Header map[string]string `json:"header"`
	Body   string            `json:"body"`
	Raw    bool              `json:"raw"` // Body is the stream as it is

	Cut   int  `json:"cut"`   // bytes in one write; 0 is all of the stream
	Die   bool `json:"die"`   // the line breaks behind what was said
	Hang  bool `json:"hang"`  // nothing more comes behind what was said
	Error bool `json:"error"` // the stream says an error behind what was said
}

// Call is a tool call in the words of the protocol.
type Call struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Args string `json:"args"`
}

// Usage is what a reply says that it took.
type Usage struct {
	Input  int `json:"prompt_tokens"`
	Output int `json:"completion_tokens"`
}

// Server answers questions with its replies, in order; the last one stands for all behind it.
type Server struct {
	*httptest.Server
	Key    string   // wanted as a bearer token, if not empty
	Models []string // offered; a request for another is answered 404

	mu       sync.Mutex
	replies  []Reply
	requests []Request
	closed   chan struct{}
}

// Request is what a client sent.
type Request struct {
	Model     string    `json:"model"`
	Stream    bool      `json:"stream"`
	MaxTokens int       `json:"max_tokens"`
	Messages  []Message `json:"messages"`
	Tools     []struct {
		Function struct {
			Name       string          `json:"name"`
			Parameters json.RawMessage `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
	Options struct {
		Usage bool `json:"include_usage"`
	} `json:"stream_options"`

	Path   string      `json:"-"`
	Header http.Header `json:"-"`
}

// Message is one of a request.
type Message struct {
	Role      string `json:"role"`
	Content   string `json:"content"`
	CallID    string `json:"tool_call_id"`
	ToolCalls []struct {
		ID       string `json:"id"`
		Function struct {
			Name string `json:"name"`
			Args string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// Start starts a server that offers the model "tiny". Its base URL is URL + "/v1". Close ends what hangs.
func Start(replies ...Reply) *Server {
	s := &Server{Models: []string{"tiny"}, replies: replies, closed: make(chan struct{})}
	s.Server = httptest.NewServer(s)
	return s
}

// Close ends the server.
func (s *Server) Close() {
	close(s.closed)
	s.CloseClientConnections()
	s.Server.Close()
}

// Base is the base URL.
func (s *Server) Base() string { return s.URL + "/v1" }

// Asked are the questions so far, those for the list of models aside.
func (s *Server) Asked() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case s.Key != "" && r.Header.Get("Authorization") != "Bearer "+s.Key:
		refuse(w, http.StatusUnauthorized, "invalid_api_key", "Incorrect API key provided: "+r.Header.Get("Authorization"))
	case r.Method == http.MethodGet && r.URL.Path == "/v1/models":
		s.list(w)
	case r.Method == http.MethodPost && r.URL.Path == "/v1/chat/completions":
		s.complete(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (s *Server) list(w http.ResponseWriter) {
	type model struct {
		ID     string `json:"id"`
		Object string `json:"object"`
	}
	list := struct {
		Object string  `json:"object"`
		Data   []model `json:"data"`
	}{"list", []model{}}
	for _, name := range s.Models {
		list.Data = append(list.Data, model{name, "model"})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(list) // a client that is gone reads nothing
}

func (s *Server) complete(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	request := Request{Path: r.URL.Path, Header: r.Header}
	if err == nil {
		err = json.Unmarshal(raw, &request)
	}
	if err == nil {
		err = request.check()
	}
	if err != nil {
		refuse(w, http.StatusBadRequest, "invalid_request_error", err.Error())
		return
	}
	s.mu.Lock()
	s.requests = append(s.requests, request)
	var reply Reply
	if n := len(s.replies); n > 0 {
		reply = s.replies[min(len(s.requests), n)-1]
	}
	s.mu.Unlock()
	known := false
	for _, name := range s.Models {
		known = known || name == request.Model
	}
	if !known {
		refuse(w, http.StatusNotFound, "model_not_found", fmt.Sprintf("The model `%s` does not exist", request.Model))
		return
	}
	s.reply(w, r, request, reply)
}

// check refuses what a strict server refuses.
func (r Request) check() error {
	name := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	for _, t := range r.Tools {
		if !name.MatchString(t.Function.Name) {
			return fmt.Errorf("tools: name %q does not match %s", t.Function.Name, name)
		}
	}
	if !r.Stream || len(r.Messages) == 0 {
		return fmt.Errorf("messages: %d, stream: %t", len(r.Messages), r.Stream)
	}
	open := map[string]bool{}
	for i, m := range r.Messages {
		if m.Role != "tool" && len(open) > 0 {
			return fmt.Errorf("messages[%d]: %s, and tool calls are not answered", i, m.Role)
		}
		switch m.Role {
		case "system", "user":
			if m.Content == "" {
				return fmt.Errorf("messages[%d]: %s without content", i, m.Role)
			}
		case "assistant":
			if m.Content == "" && len(m.ToolCalls) == 0 {
				return fmt.Errorf("messages[%d]: assistant with nothing", i)
			}
			for _, c := range m.ToolCalls {
				if c.ID == "" || !name.MatchString(c.Function.Name) || !json.Valid([]byte(c.Function.Args)) {
					return fmt.Errorf("messages[%d]: tool call %+v", i, c)
				}
				open[c.ID] = true
			}
		case "tool":
			if !open[m.CallID] {
				return fmt.Errorf("messages[%d]: no tool call %q", i, m.CallID)
			}
			delete(open, m.CallID)
		default:
			return fmt.Errorf("messages[%d]: role %q", i, m.Role)
		}
	}
	return nil
}

func refuse(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// A client that is gone reads nothing.
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": message, "type": code, "code": code}})
}

func (s *Server) reply(w http.ResponseWriter, r *http.Request, request Request, reply Reply) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	for name, value := range reply.Header {
		w.Header().Set(name, value)
	}
	if reply.Status != 0 {
		if reply.Header["Content-Type"] == "" {
			w.Header().Set("Content-Type", "application/json")
		}
		w.WriteHeader(reply.Status)
		_, _ = io.WriteString(w, reply.Body)
		return
	}
	stream := reply.stream(request)
	flush, cut := http.NewResponseController(w), reply.Cut
	if cut == 0 {
		cut = len(stream) + 1
	}
	_ = flush.Flush()
	for len(stream) > 0 {
		n := min(cut, len(stream))
		if _, err := w.Write(stream[:n]); err != nil {
			return
		}
		_ = flush.Flush()
		stream = stream[n:]
	}
	switch {
	case reply.Die:
		panic(http.ErrAbortHandler)
	case reply.Hang:
		select {
		case <-r.Context().Done():
		case <-s.closed:
		case <-time.After(time.Minute):
		}
	}
}

// stream is the answer in the protocol's frames, in pieces of a few letters and arguments.
func (r Reply) stream(request Request) []byte {
	if r.Raw {
		return []byte(r.Body)
	}
	var out []byte
	frame := func(v any) {
		raw, err := json.Marshal(v)
		if err != nil {
			panic("fake: " + err.Error())
		}
		out = append(out, "data: "...)
		out = append(append(out, raw...), "\n\n"...)
	}
	type object = map[string]any
	chunk := func(delta object, finish any) object {
		return object{
			"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": request.Model, "usage": nil,
			"choices": []object{{"index": 0, "delta": delta, "finish_reason": finish}},
		}
	}
	frame(chunk(object{"role": "assistant", "content": ""}, nil))
	for _, piece := range pieces(r.Text, max(3, len(r.Text)/500)) {
		frame(chunk(object{"content": piece}, nil))
	}
	for i, c := range r.Calls {
		frame(chunk(object{"tool_calls": []object{{
			"index": i, "id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": ""},
		}}}, nil))
		for _, piece := range pieces(c.Args, 3) {
			frame(chunk(object{"tool_calls": []object{{"index": i, "function": object{"arguments": piece}}}}, nil))
		}
	}
	if r.Error {
		frame(object{"error": object{"message": "the engine died", "type": "server_error"}})
	}
	if r.Die || r.Hang || r.Error || r.Finish == "none" {
		return out
	}
	finish := r.Finish
	if finish == "" {
		finish = "stop"
		if len(r.Calls) > 0 {
			finish = "tool_calls"
		}
	}
	frame(chunk(object{}, finish))
	if r.Usage != nil && request.Options.Usage {
		frame(object{
			"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": request.Model, "choices": []object{},
			"usage": object{"prompt_tokens": r.Usage.Input, "completion_tokens": r.Usage.Output, "total_tokens": r.Usage.Input + r.Usage.Output},
		})
	}
	return append(out, "data: [DONE]\n\n"...)
}

// pieces cuts a text as tokens would, n letters each.
func pieces(s string, n int) []string {
	var out []string
	letters := []rune(s)
	for i := 0; i < len(letters); i += n {
		out = append(out, string(letters[i:min(i+n, len(letters))]))
	}
	return out
}
