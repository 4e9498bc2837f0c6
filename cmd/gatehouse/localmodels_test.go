package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func served(t *testing.T, h http.HandlerFunc) int {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.Listener.Addr().(*net.TCPAddr).Port
}

func TestFindLocalModels(t *testing.T) {
	refused, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := refused.Addr().(*net.TCPAddr).Port
	if err := refused.Close(); err != nil {
		t.Fatal(err)
	}
	elsewhere := 0
	away := served(t, func(http.ResponseWriter, *http.Request) { elsewhere++ })
	for _, c := range []struct {
		name, body string
		status     int
		want       string
		models     string
	}{
		{"models", `{"object":"list","data":[{"id":"qwen3:8b"},{"id":"a\u001b[2Jb"},{"id":""}]}`, 200, "", "qwen3:8b"},
		{"none", `{"data":[]}`, 200, "has no models", ""},
		{"page", `<html>hello</html>`, 200, "is no model server", ""},
		{"other JSON", `{"ok":true}`, 200, "is no model server", ""},
		{"missing", `not here`, 404, "is no model server: it answers 404", ""},
		{"redirect", ``, 302, "is no model server: it answers 302", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			port := served(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/v1/models" || r.Method != http.MethodGet {
					t.Errorf("asked %s %s", r.Method, r.URL.Path)
				}
				w.Header().Set("Location", "http://"+net.JoinHostPort("127.0.0.1", itoa(away)))
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.body))
			})
			got := findLocalModels(t.Context(), []localServer{{"Ollama", port}})[0]
			if !strings.Contains(got.Fault, c.want) || (c.want == "") != (got.Fault == "") || strings.Join(got.Models, " ") != c.models {
				t.Fatalf("got %+v", got)
			}
		})
	}
	if elsewhere > 0 {
		t.Fatal("a redirect was followed")
	}
	if got := findLocalModels(t.Context(), []localServer{{"Ollama", closed}})[0]; !strings.Contains(got.Fault, "nothing answers") {
		t.Fatalf("got %+v", got)
	}
}

// TestFindLocalModelsHung: a server that says nothing is given up.
func TestFindLocalModelsHung(t *testing.T) {
	free := make(chan struct{})
	port := served(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-free:
		case <-r.Context().Done():
		}
	})
	defer close(free)
	got := findLocalModels(t.Context(), []localServer{{"LM Studio", port}})[0]
	if !strings.Contains(got.Fault, "says nothing within 2s") {
		t.Fatalf("got %+v", got)
	}
}
