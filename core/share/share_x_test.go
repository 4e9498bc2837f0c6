package share_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/core/share"
	"gatehouse/gatekeepers/memory"
)

// pair is Alice with a session that read PLAN in turn 1 and PAYROLL in turn 2, and Bob, who may read PLAN alone.
func pair(t *testing.T) (alice, bob *home, session string) {
	t.Helper()
	driver := memory.NewObserved(core.StrategyACL)
	driver.SetAccess("bob", unit("plan"), core.AccessPassed)
	alice, bob = newHome(t, driver, "alice", ""), newHome(t, driver, "bob", "")
	alice.meet(bob)
	bob.meet(alice)
	bob.connect()
	session = alice.session("plan", "payroll")
	alice.turn(session, "question-canary one", "PLAN.list", `{}`)
	alice.turn(session, "question-canary two", "PAYROLL.list", `{}`)
	return alice, bob, session
}

func sealedFor(session string, to ...core.PersonID) core.ExportRequest {
	return core.ExportRequest{Session: session, Level: core.LevelSealed, For: to}
}

func TestX1_NotClearedIsNotSent(t *testing.T) {
	alice, _, session := pair(t)
	for _, verdict := range []core.Access{core.AccessDenied, core.AccessNotVerifiable, core.AccessUnreachable, core.AccessExpired, ""} {
		alice.driver.SetAccess("bob", unit("payroll"), verdict)
		_, _, err := alice.export(sealedFor(session, "bob"), share.Packing{})
		var denied *core.ExportDeniedError
		if !errors.As(err, &denied) {
			t.Fatalf("%q: got %v, want a refusal", verdict, err)
		}
		if len(denied.Lines) != 1 || denied.Lines[0].Person != "bob" || denied.Lines[0].Unit != unit("payroll") {
			t.Errorf("%q: got %+v, want bob and the unit", verdict, denied.Lines)
		}
		if !slices.Contains(denied.Offers, core.LevelReplay) || !strings.Contains(err.Error(), "bob") || !strings.Contains(err.Error(), "payroll") {
			t.Errorf("%q: got %q, want both named and replay offered", verdict, err)
		}
	}
	if n := len(alice.egress.asked); n > 0 && alice.egress.asked[n-1].Sink == core.SinkExport {
		t.Error("the policy was asked about what may not leave")
	}
}

func TestX1_ReplayStopsBeforeTheFirstThatIsNotCleared(t *testing.T) {
	alice, bob, session := pair(t)
	alice.turn(session, "pay is 4711", "PLAN.list", `{"limit":3}`)
	raw := alice.mustExport(session, core.LevelReplay, 0, "bob")
	s, _, err := bob.open(raw)
	bob.must(err)
	said := bob.transcript(string(s.ID))
	for _, want := range []string{"question-canary one", "question-canary two", "PLAN.list", "PAYROLL.list", "step 1 of turn 3 was left out"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is missing in\n%s", want, said)
		}
	}
	for _, not := range []string{"plan-canary", "payroll-canary", "4711", "answer of turn"} {
		if strings.Contains(said, not) || bob.holds(not) {
			t.Errorf("%q came along", not)
		}
	}
	set, err := bob.kernel.Observations(context.Background(), string(s.ID))
	bob.must(err)
	if len(set) != 1 || set[0].Found.Unit != unit("plan") {
		t.Errorf("got set %v, want what the arguments were made from", set)
	}
}

// shared is pair with a file for Bob of the first turn.
func shared(t *testing.T) (alice, bob *home, raw []byte) {
	t.Helper()
	alice, bob, session := pair(t)
	return alice, bob, alice.mustExport(session, core.LevelSealed, 1, "bob")
}

func wantDenied(t *testing.T, err error) *core.OpenDeniedError {
	t.Helper()
	var denied *core.OpenDeniedError
	if !errors.As(err, &denied) {
		t.Fatalf("got %v, want the open to be denied", err)
	}
	return denied
}

func TestX2_RevokedAfterItWasSent(t *testing.T) {
	_, bob, raw := shared(t)
	bob.driver.SetAccess("bob", unit("plan"), core.AccessDenied)
	_, _, err := bob.open(raw)
	if wantDenied(t, err).Unreachable() {
		t.Error("a refusal counts as unreachable")
	}
	bob.wantNothing()
}

// TestX2_RevokedBetweenTheChecks takes the access away after the report and before the end.
func TestX2_RevokedBetweenTheChecks(t *testing.T) {
	ctx := context.Background()
	_, bob, raw := shared(t)
	f, err := share.Open(bytes.NewReader(raw), int64(len(raw)))
	bob.must(err)
	e, err := share.Enter(ctx, bob.kernel, f, bob.id, bob.by, nil)
	bob.must(err)
	bob.must(e.Passed(ctx))
	bob.driver.SetAccess("bob", unit("plan"), core.AccessDenied)
	_, err = e.Release(ctx, nil)
	wantDenied(t, err)
	bob.wantNothing()
}

func TestX3_ServiceDown(t *testing.T) {
	_, bob, raw := shared(t)
	bob.driver.SetAccess("bob", unit("plan"), core.AccessUnreachable)
	_, _, err := bob.open(raw)
	if !wantDenied(t, err).Unreachable() {
		t.Errorf("got %v, want it to be unreachable", err)
	}
	bob.wantNothing()
	bob.driver.SetAccess("bob", unit("plan"), core.AccessPassed)
	if _, _, err := bob.open(raw); err != nil {
		t.Errorf("the service is back, and got %v", err)
	}
}

// TestX4_NothingIsKeptOfABrokenBody has a sender sign a body that goes wrong behind its first pieces.
func TestX4_NothingIsKeptOfABrokenBody(t *testing.T) {
	alice, bob, raw := shared(t)
	f, err := share.Open(bytes.NewReader(raw), int64(len(raw)))
	bob.must(err)
	m := mustManifest(t, f, bob.id)
	pieces := script(4<<20, 4<<20) // more than a transaction keeps in memory
	pieces[0].Session.Name = "title-canary"
	pieces[3].Step.Text = strings.Repeat("plan-canary ", 400_000)
	bad := append(unchecked(t, pieces), unchecked(t, pieces[:1])...)
	m.Pieces = len(pieces) + 1
	h := f.Header
	h.Serial++
	_, _, err = bob.open(sealBytes(t, alice.id, h, m, bad))
	wantInvalid(t, err, "a body with a second session")
	bob.wantNothing()
}

func TestX5_TheOwnersCopyNamesIt(t *testing.T) {
	alice, bob, raw := shared(t)
	f, err := share.Open(bytes.NewReader(raw), int64(len(raw)))
	bob.must(err)
	m := mustManifest(t, f, bob.id)
	m.Set = nil
	h := f.Header
	h.Recipients = []string{alice.id.SealingKey()}
	forged := seal(t, bob.id, h, m, script(5))
	alice.must(nil)
	_, _, err = alice.open(forged)
	wantInvalid(t, err, "a copy that Bob signed")
	if !strings.Contains(err.Error(), "sender key differs") {
		t.Errorf("got %q", err)
	}
	// Carol, who knows both, has seen the file of Alice.
	carol := newHome(t, alice.driver, "carol", "")
	carol.meet(alice, bob)
	carol.must(carol.db.Write(context.Background(), func(tx core.Tx) error {
		return tx.PutSeenFile(core.SeenFile{Sender: alice.id.SigningKey(), File: h.File.String(), Serial: 1, At: day()})
	}))
	h.Recipients = []string{carol.id.SealingKey()}
	_, _, err = carol.open(seal(t, bob.id, h, m, script(5)))
	var refused *core.FileRefusedError
	if !errors.As(err, &refused) || !refused.Stale || !strings.Contains(err.Error(), "sender key differs") {
		t.Errorf("got %v, want that the sender key differs", err)
	}
	// A sender whom nobody added is nobody.
	dave := newHome(t, alice.driver, "dave", "")
	h.Recipients = []string{dave.id.SealingKey()}
	_, _, err = dave.open(seal(t, bob.id, h, m, script(5)))
	if !errors.As(err, &refused) || refused.Stale {
		t.Errorf("got %v, want a sender who is not known", err)
	}
	dave.wantNothing()
}

func TestX6_ForBobGivenToCarol(t *testing.T) {
	alice, _, raw := shared(t)
	carol := newHome(t, alice.driver, "carol", "")
	carol.meet(alice)
	_, lines, err := carol.open(raw)
	if !errors.Is(err, share.ErrNotRecipient) || len(lines) != 0 {
		t.Errorf("got %v %v, want that it is not for her", lines, err)
	}
	if strings.Contains(err.Error(), "canary") {
		t.Error("the error tells of the session")
	}
	carol.wantNothing()
}

func TestX7_OlderExpiredTakenBack(t *testing.T) {
	alice, bob, session := pair(t)
	first := alice.mustExport(session, core.LevelSealed, 1, "bob")
	second := alice.mustExport(session, core.LevelSealed, 1, "bob")
	if _, _, err := bob.open(second); err != nil {
		t.Fatal(err)
	}
	_, _, err := bob.open(first)
	var refused *core.FileRefusedError
	if !errors.As(err, &refused) || !refused.Stale || !strings.Contains(err.Error(), "older") {
		t.Errorf("got %v, want the older serial refused as no valid file", err)
	}
	if _, _, err := bob.open(second); err != nil {
		t.Errorf("the same serial again: %v", err)
	}

	r := sealedFor(session, "bob")
	r.Until = 1
	expiring, _, err := alice.export(r, share.Packing{Expires: bob.clock.now.Add(time.Hour)})
	alice.must(err)
	bob.clock.now = bob.clock.now.Add(2 * time.Hour)
	_, _, err = bob.open(expiring)
	if !errors.As(err, &refused) || refused.Stale || !strings.Contains(err.Error(), "expired") {
		t.Errorf("got %v, want it expired", err)
	}
	bob.clock.now = bob.clock.now.AddDate(-1, 0, 0)
	_, _, err = bob.open(expiring)
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), "clock") {
		t.Errorf("a clock a year behind: got %v, want it to say so", err)
	}
	bob.clock.now = bob.clock.now.AddDate(1, 0, 0)

	f, err := share.Open(bytes.NewReader(second), int64(len(second)))
	bob.must(err)
	line := alice.id.Withdraw(f.Header.File, f.Header.Serial)
	for name, bad := range map[string]string{
		"another serial": strings.Replace(line, " 2 ", " 3 ", 1), "signed by Bob": strings.Replace(bob.id.Withdraw(f.Header.File, 2), bob.id.SigningKey(), alice.id.SigningKey(), 1),
		"cut": line[:len(line)-4], "empty": "",
	} {
		_, err := share.ParseNotice(bad)
		wantInvalid(t, err, name)
	}
	// A notice of Bob's own counts for files of his alone.
	own, err := share.ParseNotice(bob.id.Withdraw(f.Header.File, 9))
	bob.must(err)
	bob.must(bob.kernel.Withdraw(context.Background(), core.SeenFile{Sender: own.Sender, File: own.File.String(), Revoked: own.Serial}, bob.by))
	if _, _, err := bob.open(second); err != nil {
		t.Errorf("taken back by somebody who did not send it: %v", err)
	}
	n, err := share.ParseNotice(line)
	bob.must(err)
	bob.must(bob.kernel.Withdraw(context.Background(), core.SeenFile{Sender: n.Sender, File: n.File.String(), Revoked: n.Serial}, bob.by))
	_, _, err = bob.open(second)
	if !errors.As(err, &refused) || refused.Stale || !strings.Contains(err.Error(), "taken back") {
		t.Errorf("got %v, want it taken back", err)
	}
}

func TestX8_AsFarAsBeforeThePayrollRead(t *testing.T) {
	_, bob, raw := shared(t)
	s, lines, err := bob.open(raw)
	bob.must(err)
	if len(lines) != 1 || lines[0].Unit != unit("plan") {
		t.Errorf("got lines %v, want the one unit of the prefix", lines)
	}
	said := bob.transcript(string(s.ID))
	if !strings.Contains(said, "plan-canary") || !strings.Contains(said, "answer of turn 1") {
		t.Errorf("the first turn is not there:\n%s", said)
	}
	for _, later := range []string{"payroll", "question-canary two", "answer of turn 2"} {
		if strings.Contains(strings.ToLower(said), later) || bob.holds(later) {
			t.Errorf("%q came along", later)
		}
	}
	set, err := bob.kernel.Observations(context.Background(), string(s.ID))
	bob.must(err)
	if len(set) != 1 || set[0].Found.Unit != unit("plan") || set[0].Turn != 1 {
		t.Errorf("got set %+v, want that of the prefix", set)
	}
}

func TestX9_OnePersonOutsideTheTenant(t *testing.T) {
	driver := memory.NewObserved(core.StrategyVisibility)
	alice := newHome(t, driver, "alice", "acme")
	session := alice.session("plan")
	driver.SetAccess("", unit("plan"), core.AccessPassed) // public: whoever it is
	driver.SetAccess("alice", unit("plan"), core.AccessPassed)
	homes := map[core.PersonID]*home{}
	for name, tenant := range map[core.PersonID]string{"bob": "acme", "carol": "acme", "dan": "acme", "eve": "other"} {
		homes[name] = newHome(t, driver, name, tenant)
		homes[name].meet(alice)
		alice.meet(homes[name])
		driver.SetAccess(name, unit("plan"), core.AccessPassed)
	}
	alice.turn(session, "question-canary", "PLAN.list", `{}`)
	_, _, err := alice.export(sealedFor(session, "bob", "carol", "dan", "eve"), share.Packing{})
	var denied *core.ExportDeniedError
	if !errors.As(err, &denied) || len(denied.Lines) != 1 || denied.Lines[0].Person != "eve" {
		t.Fatalf("got %v, want a refusal over the one outside", err)
	}
	raw := alice.mustExport(session, core.LevelSealed, 0, "bob", "carol", "dan")
	for _, name := range []core.PersonID{"bob", "carol", "dan"} {
		if _, _, err := homes[name].open(raw); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := homes["eve"].open(raw); !errors.Is(err, share.ErrNotRecipient) {
		t.Errorf("eve: got %v", err)
	}
	// One who left the tenant since, by their own word.
	driver.SetAccess("fay", unit("plan"), core.AccessPassed)
	fay := newHome(t, driver, "fay", "acme")
	fay.meet(alice)
	alice.meet(fay)
	raw = alice.mustExport(session, core.LevelSealed, 0, "fay")
	e := enter(t, fay, raw)
	fay.must(e.Check(context.Background(), core.Contents{Tenant: "acme", Mine: "other", Set: []core.SharedObservation{
		{Observation: core.Observation{Found: core.Found{Unit: unit("plan")}}, Public: true},
	}}))
	wantDenied(t, e.Passed(context.Background()))
}

func enter(t *testing.T, h *home, raw []byte) *share.Entry {
	t.Helper()
	f, err := share.Open(bytes.NewReader(raw), int64(len(raw)))
	h.must(err)
	e, err := share.Enter(context.Background(), h.kernel, f, h.id, h.by, nil)
	h.must(err)
	return e
}

func TestX10_PrivateUnits(t *testing.T) {
	driver := memory.NewObserved(core.StrategyPrivate)
	alice, bob := newHome(t, driver, "alice", ""), newHome(t, driver, "bob", "")
	alice.meet(bob)
	bob.meet(alice)
	driver.SetAccess("bob", unit("plan"), core.AccessPassed) // whatever a list says
	session := alice.session("plan")
	alice.turn(session, "question-canary", "PLAN.list", `{}`)
	_, _, err := alice.export(sealedFor(session, "bob"), share.Packing{})
	var denied *core.ExportDeniedError
	if !errors.As(err, &denied) || !slices.Equal(denied.Offers, []core.ShareLevel{core.LevelReplay, core.LevelBlueprint}) {
		t.Fatalf("got %v, want replay and blueprint offered", err)
	}
	if _, _, err := bob.open(alice.mustExport(session, core.LevelReplay, 0, "bob")); err != nil {
		t.Errorf("replay: %v", err)
	}
	if bob.holds("plan-canary") {
		t.Error("a result came along")
	}
}

// sealBytes makes a file whose body is any bytes at all.
func sealBytes(t *testing.T, from *share.Identity, h share.Header, m share.Manifest, body []byte) []byte {
	t.Helper()
	return sealContent(t, from, h, m, func(w io.Writer) error { _, err := w.Write(body); return err })
}
