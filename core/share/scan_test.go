package share_test

import (
	"encoding/json"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/core/share"
)

// secrets are one of each kind, put together here so that no scanner takes this file for a leak.
func secrets() map[string]string {
	return map[string]string{
		"PEM":        "-----BEGIN RSA PRIVATE" + " KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE" + " KEY-----",
		"cut PEM":    "-----BEGIN PRIVATE" + " KEY-----\nMIIEpAIBAAKCAQEA",
		"age":        "AGE-SECRET-" + "KEY-1QQQQQQQQQQQQQQQQQQQQQQQQQ",
		"JWT":        "eyJhbGciOi" + "JIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
		"AWS":        "AKIA" + "IOSFODNN7EXAMPLE",
		"GitHub":     "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a",
		"GitLab":     "glpat-" + "x8Jd92kfLq0sPz71Qw3e",
		"Slack":      "xoxb-" + "123456789012-abcdefABCDEF",
		"model":      "sk-" + "proj-8f7a6b5c4d3e2f1a0b9c",
		"Stripe":     "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc",
		"Google":     "AIza" + "SyA1234567890abcdefghijklmnopqrstuv",
		"bearer":     "Authorization: Bearer " + "abcdef0123456789abcdef",
		"address":    "postgres://app:" + "hunter2secret@db.example/app",
		"key value":  "api_key = " + "Zx81kQp07Rt5Wm3s",
		"home":       "/home/" + "alice/.ssh/config",
		"home (mac)": "/Users/" + "alice/notes.txt",
	}
}

func TestScan_EveryStringOfEveryPiece(t *testing.T) {
	s := share.NewScanner()
	for name, secret := range secrets() {
		quoted, err := json.Marshal(secret)
		if err != nil {
			t.Fatal(err)
		}
		inside, err := json.Marshal(string(quoted))
		if err != nil {
			t.Fatal(err)
		}
		for place, piece := range map[string]core.Piece{
			"title":         {Session: &core.SharedSession{Name: secret}},
			"message":       {Message: &core.SharedMessage{Text: "use " + secret + " for it"}},
			"text":          {Step: &core.SharedStep{Text: secret}},
			"arguments":     {Step: &core.SharedStep{Calls: []core.ToolCall{{Args: `{"a":{"b":[` + string(quoted) + `]}}`}}}},
			"deeper":        {Step: &core.SharedStep{Calls: []core.ToolCall{{Args: `{"a":` + string(inside) + `}`}}}},
			"decision":      {Step: &core.SharedStep{Decisions: []core.Decided{{Reason: secret}}}},
			"answer":        {Answer: &core.SharedAnswer{Body: json.RawMessage(`{"value":{"rows":[` + string(quoted) + `]}}`)}},
			"field name":    {Answer: &core.SharedAnswer{Body: json.RawMessage(`{` + string(quoted) + `:1}`)}},
			"proposal":      {Proposal: &core.Proposal{Title: secret, Args: json.RawMessage(`{}`)}},
			"field of it":   {Proposal: &core.Proposal{Args: json.RawMessage(`{}`), Fields: []core.Field{{Name: "f", Before: json.RawMessage("null"), After: quoted}}}},
			"reason of end": {Turn: &core.SharedTurn{Reason: secret}},
		} {
			clean, found, err := s.Clean(piece)
			if err != nil {
				t.Fatalf("%s in %s: %v", name, place, err)
			}
			if len(found) == 0 {
				t.Errorf("%s in %s was not found", name, place)
				continue
			}
			if strings.Contains(asJSON(t, clean), strings.Trim(string(quoted), `"`)) {
				t.Errorf("%s in %s is still there: %s", name, place, asJSON(t, clean))
			}
			if strings.Contains(found[0].Place, secret) {
				t.Errorf("%s in %s: its place tells it", name, place)
			}
			if _, again, _ := s.Clean(clean); len(again) != 0 {
				t.Errorf("%s in %s: the clean one has findings: %v", name, place, again)
			}
		}
	}
}

func TestScan_KeyInAFieldOfThatName(t *testing.T) {
	body := `{"value":{"api_token":"` + "q8Zr1vTn4xLk" + `","note":"` + "q8Zr1vTn4xLk" + `"}}`
	clean, found, err := share.NewScanner().Clean(core.Piece{Answer: &core.SharedAnswer{Body: json.RawMessage(body)}})
	if err != nil || len(found) != 1 || !strings.Contains(found[0].Place, "api_token") {
		t.Fatalf("got %v %v, want the field named", found, err)
	}
	if strings.Contains(asJSON(t, clean), `api_token":"q8`) {
		t.Error("it is still there")
	}
}

func TestScan_LeavesOrdinaryTextAlone(t *testing.T) {
	s := share.NewScanner()
	for _, text := range []string{
		"", "The token count is 1200 tokens.", "password: required", "secret: see the vault", "author: Ludwig", "task-list of the skeleton",
		"see https://example.com/a:b", "ratio 3:4, key = value", "auth: none", "sha256:9f86d081884c7d659a2feaa0c55ad015",
		"eyJust kidding", "the /home page", `{"a": 1`, "a -----BEGIN CERTIFICATE----- b",
	} {
		if _, found, err := s.Clean(core.Piece{Message: &core.SharedMessage{Text: text}}); err != nil || len(found) != 0 {
			t.Errorf("%q: got %v %v", text, found, err)
		}
	}
}
