package main

import (
	"encoding/json"

	"github.com/rogpeppe/go-internal/testscript"

	"gatehouse/gatekeepers/model/openai/fake"
)

// modelServer starts a server that speaks the chat completions protocol and
// answers what stands in a file, a JSON object a reply: modelserver FILE [KEY].
// The script finds it at $MODEL_URL; it ends with the script.
func modelServer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("write it as: modelserver FILE [KEY]")
	}
	var replies []fake.Reply
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &replies))
	server := fake.Start(replies...)
	if len(args) > 1 {
		server.Key = args[1]
	}
	ts.Defer(server.Close)
	ts.Setenv("MODEL_URL", server.Base())
}
