package share_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/core/share"
)

// cheap is a cost of a passphrase that tests can pay.
const cheap = 10

func TestIdentity_KeptAndUnlocked(t *testing.T) {
	id, err := share.NewIdentity(rand.Reader, "alice", "acme")
	if err != nil {
		t.Fatal(err)
	}
	for _, passphrase := range []string{"", "correct horse"} {
		raw, err := id.Encode(passphrase, cheap)
		if err != nil {
			t.Fatal(err)
		}
		if passphrase != "" && bytes.Contains(raw, []byte("AGE-SECRET-KEY")) {
			t.Error("the secrets stand in the clear")
		}
		locked, err := share.ParseIdentity(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		if locked.Public.Line() != id.Person().Line() || locked.Protected != (passphrase != "") {
			t.Errorf("got %+v", locked.Public)
		}
		again, err := locked.Unlock(passphrase)
		if err != nil {
			t.Fatal(err)
		}
		if again.Person().Line() != id.Person().Line() {
			t.Error("another identity came back")
		}
		file := seal(t, again, header(again), manifest(), script(1))
		if _, _, err := opened(file, id); err != nil {
			t.Errorf("what it sealed does not open: %v", err)
		}
	}
}

func TestIdentity_WrongPassphraseThreeTimes(t *testing.T) {
	raw, err := identity(t, "alice").Encode("right", cheap)
	if err != nil {
		t.Fatal(err)
	}
	locked, err := share.ParseIdentity(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	_, err = locked.UnlockAsking(func(int) (string, error) { asked++; return "wrong", nil })
	if !errors.Is(err, share.ErrPassphrase) || asked != 3 {
		t.Errorf("got %v after %d times, want a wrong passphrase after 3", err, asked)
	}
	if _, err = locked.UnlockAsking(func(n int) (string, error) { return []string{"", "wrong", "right"}[n], nil }); err != nil {
		t.Errorf("the third time it was right, and got %v", err)
	}
}

func TestIdentity_Damaged(t *testing.T) {
	id := identity(t, "alice")
	plain, err := id.Encode("", 0)
	if err != nil {
		t.Fatal(err)
	}
	other, err := identity(t, "alice").Encode("", 0)
	if err != nil {
		t.Fatal(err)
	}
	lines, others := strings.Split(string(plain), "\n"), strings.Split(string(other), "\n")
	for name, raw := range map[string]string{
		"empty":              "",
		"another file":       "hello\n",
		"cut":                strings.Join(lines[:3], "\n"),
		"without secrets":    strings.Join(lines[:3], "\n") + "\n",
		"secrets of another": strings.Join([]string{lines[0], lines[1], lines[2], others[3], ""}, "\n"),
		"kept otherwise":     strings.Join([]string{lines[0], lines[1], "open", lines[3], ""}, "\n"),
		"a bare name":        strings.Join([]string{lines[0], "alice", lines[2], lines[3], ""}, "\n"),
		"too long":           string(plain) + strings.Repeat("x", 65<<10),
	} {
		locked, err := share.ParseIdentity(strings.NewReader(raw))
		if err == nil {
			_, err = locked.Unlock("")
		}
		wantInvalid(t, err, name)
		if strings.Contains(err.Error(), "AGE-SECRET") {
			t.Errorf("%s: the error tells the secret", name)
		}
	}
}

func TestFingerprint_OfBothKeys(t *testing.T) {
	p := identity(t, "alice").Person()
	words := share.Fingerprint(p)
	if n := len(strings.Fields(words)); n != 10 {
		t.Errorf("got %d words, want 10", n)
	}
	named := p
	named.ID, named.Tenant = "al", "acme"
	if share.Fingerprint(named) != words {
		t.Error("a name is part of the fingerprint")
	}
	other := identity(t, "alice").Person()
	for name, q := range map[string]core.Person{
		"signing": {Signing: other.Signing, Sealing: p.Sealing}, "sealing": {Signing: p.Signing, Sealing: other.Sealing},
	} {
		if share.Fingerprint(q) == words {
			t.Errorf("another %s key has the same fingerprint", name)
		}
	}
	fixed := core.Person{Signing: "ed25519:x", Sealing: "age1x"}
	if got, want := share.Fingerprint(fixed), share.Fingerprint(fixed); got != want {
		t.Errorf("got %q and %q", got, want)
	}
	if share.Fingerprint(core.Person{ID: "bob"}) != "" {
		t.Error("somebody without keys has a fingerprint")
	}
}

func TestCheckPerson_Keys(t *testing.T) {
	good := identity(t, "bob").Person()
	back, err := core.ParsePerson(good.Line())
	if err != nil || share.CheckPerson(back) != nil {
		t.Fatalf("the line of an identity is refused: %v %v", err, share.CheckPerson(back))
	}
	if err := share.CheckPerson(core.Person{ID: "bob"}); err != nil {
		t.Errorf("a bare name: %v", err)
	}
	for name, p := range map[string]core.Person{
		"one key":   {ID: "bob", Signing: good.Signing},
		"swapped":   {ID: "bob", Signing: good.Sealing, Sealing: good.Signing},
		"cut":       {ID: "bob", Signing: good.Signing[:30], Sealing: good.Sealing},
		"cut age":   {ID: "bob", Signing: good.Signing, Sealing: good.Sealing[:30]},
		"uppercase": {ID: "bob", Signing: good.Signing, Sealing: strings.ToUpper(good.Sealing)},
		"padding":   {ID: "bob", Signing: good.Signing + "=", Sealing: good.Sealing},
	} {
		if share.CheckPerson(p) == nil {
			t.Errorf("%s: passes", name)
		}
	}
}
