package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"gatehouse/core/text"
	"gatehouse/tui"
)

// localServer is a program that offers models on a port of this machine.
type localServer struct {
	name string
	port int
}

// localServers are those that are looked for, when a person asks for it.
func localServers() []localServer { return []localServer{{"Ollama", 11434}, {"LM Studio", 1234}} }

// Limits of what a server is listened to.
const (
	localPatience = 2 * time.Second
	localAnswer   = 1 << 20 // bytes
	localModels   = 100     // of one server
	modelName     = 200     // code points
)

// findLocalModels asks each server on the loopback address what models it
// offers. It follows no redirect and uses no proxy, so that nothing else is
// reached. What one server does wrong is said of that server.
func findLocalModels(ctx context.Context, servers []localServer) []tui.ModelServer {
	client := &http.Client{
		Timeout:       localPatience,
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	found := make([]tui.ModelServer, len(servers))
	done := make(chan struct{})
	for i, s := range servers {
		go func() {
			defer func() { done <- struct{}{} }()
			found[i] = askLocalServer(ctx, client, s)
		}()
	}
	for range servers {
		<-done
	}
	return found
}

func askLocalServer(ctx context.Context, client *http.Client, s localServer) tui.ModelServer {
	at := net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port))
	out := tui.ModelServer{Name: s.name, Base: "http://" + at + "/v1"}
	fault := func(format string, args ...any) tui.ModelServer {
		out.Fault = s.name + " on " + at + ": " + fmt.Sprintf(format, args...)
		return out
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, out.Base+"/models", nil)
	if err != nil {
		return fault("%s", err)
	}
	response, err := client.Do(request)
	var slow net.Error
	switch {
	case errors.As(err, &slow) && slow.Timeout():
		return fault("takes the call and says nothing within %s", localPatience)
	case err != nil:
		return fault("nothing answers")
	}
	defer func() { _ = response.Body.Close() }() // it was only read
	content, err := io.ReadAll(io.LimitReader(response.Body, localAnswer))
	switch {
	case errors.As(err, &slow) && slow.Timeout():
		return fault("does not end its answer within %s", localPatience)
	case response.StatusCode != http.StatusOK:
		return fault("is no model server: it answers %d", response.StatusCode)
	}
	var list struct {
		Data *[]struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err != nil || json.Unmarshal(content, &list) != nil || list.Data == nil {
		return fault("is no model server: its answer is no list of models")
	}
	for _, m := range *list.Data {
		clean, hidden := text.CleanLine(m.ID, modelName)
		if hidden || clean != m.ID || clean == "" || len(out.Models) == localModels {
			continue // a name that cannot be written down is not offered
		}
		out.Models = append(out.Models, clean)
	}
	if len(out.Models) == 0 {
		return fault("answers, and has no models; load one there first")
	}
	return out
}
