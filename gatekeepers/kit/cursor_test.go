package kit_test

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/gatekeepers/kit"
)

func code(err error) string {
	var refused *core.CallError
	if errors.As(err, &refused) {
		return refused.Code
	}
	return ""
}

func TestCursor_GoesOnOnlyInTheSameList(t *testing.T) {
	made := kit.Cursor{Query: "q", After: "c/a", List: "v1"}
	if got, err := kit.ParseCursor(made.String(), "q", "v1"); err != nil || got != made {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := kit.ParseCursor(made.String(), "q", "v2"); code(err) != core.CodeListChanged {
		t.Errorf("changed list: got %v", err)
	}
	if _, err := kit.ParseCursor(made.String(), "other", "v1"); code(err) != core.CodeInvalid {
		t.Errorf("other query: got %v", err)
	}
	raw, err := base64.RawURLEncoding.DecodeString(made.String())
	if err != nil {
		t.Fatal(err)
	}
	forged := base64.RawURLEncoding.EncodeToString([]byte(strings.Replace(string(raw), "c/a", "c/b", 1)))
	for _, bad := range []string{forged, made.String()[1:], "", "~", "bnVsbA"} {
		if _, err := kit.ParseCursor(bad, "q", "v1"); code(err) != core.CodeInvalid {
			t.Errorf("damaged cursor %q: got %v", bad, err)
		}
	}
}

func TestVersion_KeepsPartsApart(t *testing.T) {
	if kit.Version("ab", "c") == kit.Version("a", "bc") || kit.Version("a") == kit.Version("a", "") {
		t.Error("different parts have one version")
	}
}

func TestRedactor_FindsSecretsInEveryEncoding(t *testing.T) {
	secret := "s3cr3t/+token&"
	r := kit.NewRedactor(secret, "ab")
	for _, echoed := range []string{
		secret, "s3cr3t%2F%2Btoken%26", base64.StdEncoding.EncodeToString([]byte(secret)),
		base64.RawURLEncoding.EncodeToString([]byte(secret)), `s3cr3t/+token\u0026`, "7333637233742f2b746f6b656e26",
	} {
		got := r.Text("bad header: " + echoed + " about")
		if strings.Contains(got, echoed) || !strings.Contains(got, "[redacted] about") {
			t.Errorf("%q: got %q", echoed, got)
		}
	}
	err := r.Error(core.NotSent(errors.New("dial with " + secret)))
	if strings.Contains(err.Error(), secret) || !core.IsNotSent(err) {
		t.Errorf("got %q, not sent %v", err, core.IsNotSent(err))
	}
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		if strings.Contains(inner.Error(), secret) {
			t.Errorf("the secret is still inside: %q", inner)
		}
	}
	if code(r.Error(core.Invalid("no %s here", secret))) != core.CodeInvalid {
		t.Error("a refusal lost its code")
	}
}
