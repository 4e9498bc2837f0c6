package core_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/core/share"
	"gatehouse/gatekeepers/memory"
)

func (r *rig) outline() core.Blueprint {
	r.t.Helper()
	b, _, err := r.kernel.Outline(context.Background(), string(r.session.ID), "alice")
	r.must(err)
	return b
}

// export exports a blueprint and says how often it was written.
func (r *rig) export(b core.Blueprint, consent core.LatchConsent, by core.Authority) (written int, err error) {
	r.t.Helper()
	err = r.kernel.ExportBlueprint(context.Background(), core.BlueprintExport{
		Session: string(r.session.ID), Blueprint: b, Destination: "plan.yaml", Contents: "x", Digest: "sha256:1", Consent: consent,
		Write: func() error { written++; return nil },
	}, by)
	return written, err
}

// asAgent calls as an agent does, so that the answer is kept.
func (r *rig) asAgent(n int, binding, method, args string, values ...any) core.Released {
	r.t.Helper()
	caller := core.Caller{Kind: core.CallerAgent, Person: "alice", Turn: 1, Step: n, CallID: fmt.Sprintf("call-%d", n), Name: "model"}
	return r.callAs(caller, binding, method, args, values...)
}

func TestK63_ALatchedSessionNeedsItsOwnersWord(t *testing.T) {
	r := newLatchRig(t)
	r.must(r.service("memory://mail/inbox").Put("inbox/2", memory.Item{Title: "Offer to Kowalczyk"}))
	r.wantStatus(r.asAgent(1, "MAIL", "list", `{}`), core.StatusOK)
	b := r.outline()
	var latched *core.LatchedError
	if written, err := r.export(b, 0, r.by); !errors.As(err, &latched) || written != 0 || !strings.Contains(err.Error(), "MAIL.list") {
		t.Errorf("without a word: got %d writes and %v, want a refusal that names the read", written, err)
	}
	if rows := r.rows(core.EventEgress); len(rows) != 0 {
		t.Errorf("got %d rows of what left, want none", len(rows))
	}
	agent := r.by
	agent.AgentMark = "AGENT"
	var refused *core.DecisionRefusedError
	if written, err := r.export(b, core.LatchConfirmed, agent); !errors.As(err, &refused) || written != 0 {
		t.Errorf("an agent: got %d writes and %v, want a refusal", written, err)
	}
	bob := core.Authority{Person: "bob", Means: core.MeansTerminal}
	if written, err := r.export(b, core.LatchConfirmed, bob); !errors.Is(err, core.ErrNotFound) || written != 0 {
		t.Errorf("bob: got %d writes and %v, want no such session", written, err)
	}
	if written, err := r.export(b, core.LatchConfirmed, r.by); err != nil || written != 1 {
		t.Fatalf("confirmed: got %d writes and %v", written, err)
	}
	if n := r.count(core.EventSession, `"confirmed":true`); n != 1 {
		t.Errorf("got %d rows that say so, want 1", n)
	}
	if n := r.count(core.EventEgress, `"completed"`); n != 1 {
		t.Errorf("got %d rows of the end, want 1", n)
	}
	b.Instructions = "Begin with the offer to Kowalczyk.\n"
	r.wantSighting(b, "instructions, line 1")
	if written, err := r.export(b, core.LatchConfirmed, r.by); err == nil || written != 0 {
		t.Errorf("with something observed: got %d writes and %v", written, err)
	}
}

// wantSighting wants a check of a blueprint to fail at a place.
func (r *rig) wantSighting(b core.Blueprint, place string) {
	r.t.Helper()
	var tells *core.BlueprintError
	err := r.kernel.CheckBlueprint(context.Background(), string(r.session.ID), b, "alice")
	if !errors.As(err, &tells) {
		r.t.Errorf("%q, %q: got %v, want it found", b.Title, b.Instructions, err)
		return
	}
	if !slices.ContainsFunc(tells.Sightings, func(s core.Sighting) bool { return s.Place == place && s.Origin != "" }) {
		r.t.Errorf("%q, %q: got %v, want %s", b.Title, b.Instructions, tells.Sightings, place)
	}
}

const canaryToken = "tok-9f8e7d6c5b4a"

// newCanaryRig has a session full of what must not leave it.
func newCanaryRig(t *testing.T) *rig {
	r := newRig(t)
	r.bind("PAYROLL_2026", "memory://nordwind-deal/payroll-2026?seed=3")
	r.bind("DEAL", "memory://nordwind-deal")
	body := "Anna Schmidtova,184000,DE89370400440532013000\nThe merger with the northern firm closes in May.\n" + canaryToken
	out := r.asAgent(1, "DEAL", "create", `{"collection":"payroll-2026","title":"row canary","body":%q}`, body)
	r.wantOutcomes(r.approve(out.Action()), core.OutcomeApplied)
	r.wantStatus(r.asAgent(2, "PAYROLL_2026", "list", `{}`), core.StatusOK)
	r.submitTo("PAYROLL_2026", "create", `{"title":"Severance for Kowalczyk-77","body":"x"}`)
	_, err := r.kernel.Call(context.Background(), core.CallRequest{
		Session: string(r.session.ID), Binding: "NOTES", Method: "no-such-canary-method", Caller: core.Caller{Kind: core.CallerAgent, Person: "alice"},
	})
	if err == nil {
		t.Fatal("a method that does not exist was called")
	}
	return r
}

func TestX11_NothingObservedIsInABlueprint(t *testing.T) {
	r := newCanaryRig(t)
	b, renamed, err := r.kernel.Outline(context.Background(), string(r.session.ID), "alice")
	r.must(err)
	if renamed["PAYROLL_2026"] != "MEMORY_1" || len(renamed) != 1 {
		t.Errorf("got renamed %v, want the binding whose name tells", renamed)
	}
	b.Title, b.Instructions = "Weekly run", "List the items, and make one for each that is new.\n"
	raw, err := share.EncodeBlueprint(b)
	r.must(err)
	for _, canary := range []string{
		"nordwind", "payroll", "PAYROLL", "2026", "canary", "Schmidtova", "184000", "DE8937", "merger", canaryToken, "Severance", "Kowalczyk",
		"alice", "work", "s1", "c1", "call-1", "call-2", "seed=3",
	} {
		if bytes.Contains(raw, []byte(canary)) {
			t.Errorf("%q is in the file:\n%s", canary, raw)
		}
	}
	for _, wanted := range []string{`"MEMORY_1"`, `"DEAL"`, `"memory://NAME/PATH?seed=VALUE"`, `"memory://NAME"`, `["create", "list"]`, "Weekly run"} {
		if !bytes.Contains(raw, []byte(wanted)) {
			t.Errorf("%q is not in the file:\n%s", wanted, raw)
		}
	}
	if written, err := r.export(b, 0, r.by); err != nil || written != 1 {
		t.Errorf("got %d writes and %v, want it written", written, err)
	}
}

func TestX11_ALiteralInTheInstructionsRefusesWithItsPlace(t *testing.T) {
	r := newCanaryRig(t)
	b := r.outline()
	for _, literal := range []string{
		"Schmidtova", "anna schmidtova", "184000", "DE89370400440532013000", canaryToken, "nordwind-deal", "payroll-2026", "row canary",
		"merger with the northern", "Kowalczyk-77", "memory://nordwind-deal",
	} {
		b.Title, b.Instructions = "", "List all.\n\nThen see to "+literal+" first.\n"
		r.wantSighting(b, "instructions, line 3")
		if written, err := r.export(b, 0, r.by); err == nil || written != 0 {
			t.Errorf("%q: got %d writes and %v", literal, written, err)
		}
		b.Title, b.Instructions = "About "+literal, ""
		r.wantSighting(b, "title")
	}
	for _, hidden := range []string{
		base64.StdEncoding.EncodeToString([]byte("send " + canaryToken)), hex.EncodeToString([]byte(canaryToken)), "nordwind%2Ddeal",
	} {
		b.Title, b.Instructions = "", "List all.\nThen see to "+hidden+" first.\n"
		r.wantSighting(b, "instructions, encoded")
	}
	for _, plain := range []string{"create the items that are new", "before closing", "Look for the body of each", "Anna", "northern lights"} {
		b.Title, b.Instructions = plain, plain+"\n"
		r.must(r.kernel.CheckBlueprint(context.Background(), string(r.session.ID), b, "alice"))
	}
}

func TestX11_ABindingAloneTellsItsPlace(t *testing.T) {
	r := newRig(t)
	r.bind("DEAL", "memory://nordwind-deal/payroll-2026")
	r.wantSighting(core.Blueprint{Title: "payroll-2026"}, "title")
	r.wantSighting(core.Blueprint{Title: "nordwind-deal"}, "title")
	for _, person := range []core.PersonID{"bob", ""} {
		if _, _, err := r.kernel.Outline(context.Background(), string(r.session.ID), person); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("%q: got %v, want no such session", person, err)
		}
	}
}

func TestX11_WhatWasShownIsWhatIsWritten(t *testing.T) {
	r := newRig(t)
	b := r.outline()
	forged := b
	forged.Skills = append(slices.Clone(b.Skills), core.BlueprintSkill{Collection: "payroll"})
	if written, err := r.export(forged, 0, r.by); err == nil || written != 0 {
		t.Errorf("a skill of nobody: got %d writes and %v", written, err)
	}
	r.call("NOTES", "list", `{}`)
	if written, err := r.export(b, 0, r.by); err == nil || written != 0 {
		t.Errorf("after another read: got %d writes and %v", written, err)
	}
	if written, err := r.export(r.outline(), 0, r.by); err != nil || written != 1 {
		t.Errorf("fresh: got %d writes and %v", written, err)
	}
}

func TestX11_ThePolicyIsAskedAndItsAnswerIsARow(t *testing.T) {
	r := newRig(t, func(o *core.Options) { o.Egress = refusing(core.SinkBlueprint) })
	var left *core.EgressError
	if written, err := r.export(r.outline(), 0, r.by); !errors.As(err, &left) || written != 0 {
		t.Errorf("got %d writes and %v, want the policy's refusal", written, err)
	}
	if n := r.count(core.EventEgress, `"decision":"deny"`); n != 1 {
		t.Errorf("got %d rows, want 1", n)
	}
}

// refusing is a policy that denies one sink.
type refusing core.EgressSink

func (s refusing) Decide(_ context.Context, r core.EgressRequest) core.EgressVerdict {
	if r.Sink == core.EgressSink(s) {
		return core.EgressVerdict{Decision: core.EgressDeny, Rule: "not that"}
	}
	return core.EgressVerdict{Decision: core.EgressAllow, Rule: "rest"}
}

func TestBlueprint_TheSameSessionGivesTheSameBytes(t *testing.T) {
	r := newCanaryRig(t)
	first, err := share.EncodeBlueprint(r.outline())
	r.must(err)
	for range 5 {
		again, err := share.EncodeBlueprint(r.outline())
		r.must(err)
		if !bytes.Equal(first, again) {
			t.Fatalf("got\n%s\nand\n%s", first, again)
		}
	}
}

func TestBlueprint_ASessionIsMadeWholeOrNotAtAll(t *testing.T) {
	r := newRig(t)
	ctx := context.Background()
	made := core.BlueprintMake{Name: "again", Digest: "sha256:1", Binds: []core.BindRequest{
		{Name: "NOTES", URL: notesURL}, {Name: "OTHER", URL: "memory://fresh/a"}, {Name: "THIRD", URL: "memory://fresh/b"},
	}}
	broken := made
	broken.Binds = append(slices.Clone(made.Binds), core.BindRequest{Name: "BAD", URL: "memory://not a name"})
	if _, _, err := r.kernel.MakeFromBlueprint(ctx, broken, r.by); err == nil {
		t.Error("a binding that does not work: want a refusal")
	}
	agent := r.by
	agent.AgentMark = "AGENT"
	if _, _, err := r.kernel.MakeFromBlueprint(ctx, made, agent); err == nil {
		t.Error("an agent: want a refusal")
	}
	if _, err := r.kernel.Session(ctx, "again"); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("got %v, want no session", err)
	}
	s, bindings, err := r.kernel.MakeFromBlueprint(ctx, made, r.by)
	r.must(err)
	if len(bindings) != 3 || s.Owner != "alice" || bindings[1].Connection != bindings[2].Connection || bindings[0].Connection == bindings[1].Connection {
		t.Errorf("got %+v of %+v, want three over two connections", bindings, s)
	}
	if n := r.count(core.EventSession, `"from-blueprint"`); n != 1 {
		t.Errorf("got %d rows, want 1", n)
	}
	shape := core.BlueprintBinding{Name: "X", Gatekeeper: "memory", Form: "memory://NAME/PATH"}
	candidates, err := r.kernel.Candidates(ctx, shape, "alice")
	r.must(err)
	if len(candidates) != 2 || candidates[0].URL == "" {
		t.Errorf("got candidates %+v, want the two connections with what was bound through them", candidates)
	}
	if none, err := r.kernel.Candidates(ctx, shape, "bob"); err != nil || len(none) != 0 {
		t.Errorf("bob: got %+v and %v, want none of another's", none, err)
	}
}
