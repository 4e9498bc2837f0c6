package tui

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"gatehouse/core"
)

// happen puts rows into the record of the fake, sealed as those of the kernel.
func (k *fakeKernel) happen(entries ...core.Entry) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, e := range entries {
		var prev core.Digest
		if n := len(k.log); n > 0 {
			prev = k.log[n-1].Hash
		}
		if e.At.IsZero() {
			e.At = start.Add(time.Duration(len(k.log)) * time.Second)
		}
		row, err := e.Seal(int64(len(k.log)+1), prev)
		if err != nil {
			panic(err)
		}
		k.log = append(k.log, row)
	}
}

// reads are n reads of an agent.
func reads(n int) []core.Entry {
	out := make([]core.Entry, n)
	for i := range out {
		out[i] = core.Entry{
			Type: core.EventRead, Session: "s-site-refresh", Turn: 1, Actor: "agent script", Authority: "alice",
			Subject: fmt.Sprintf("SITE.read%d", i+1), Detail: json.RawMessage(`{"binding":"SITE","bytes":1548,"method":"read"}`),
		}
	}
	return out
}

func inRecord(q core.RecordQuery, r core.Row) bool {
	e := r.Entry
	switch {
	case r.Seq <= q.After, q.UpTo != 0 && r.Seq > q.UpTo, q.Before != 0 && r.Seq >= q.Before,
		q.Session != "" && e.Session != q.Session, q.Turn != 0 && e.Turn != q.Turn,
		len(q.Types) > 0 && !slices.Contains(q.Types, e.Type), q.Subject != "" && e.Subject != q.Subject,
		!strings.Contains(strings.ToLower(e.Actor), strings.ToLower(q.Who)):
		return false
	}
	for _, w := range q.Words {
		if !strings.Contains(strings.ToLower(string(r.Blob)), strings.ToLower(w)) {
			return false
		}
	}
	return true
}

func (k *fakeKernel) Record(_ context.Context, q core.RecordQuery) ([]core.Row, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.queries++
	if k.broken != nil {
		return nil, k.broken
	}
	var out []core.Row
	at, step := 0, 1
	if q.Before != 0 {
		at, step = len(k.log)-1, -1
	}
	for ; at >= 0 && at < len(k.log) && len(out) < q.Limit; at += step {
		if inRecord(q, k.log[at]) {
			out = append(out, k.log[at])
		}
	}
	k.read += len(out)
	return out, nil
}

func (k *fakeKernel) VerifyRecordWatched(ctx context.Context, progress func(checked, all int64)) (core.Verification, error) {
	var v core.Verifier
	for i, r := range k.log {
		v.Add(r.Seq, r.Blob, r.Prev, r.Hash)
		progress(int64(i+1), int64(len(k.log)))
		if ctx.Err() != nil {
			return core.Verification{}, ctx.Err()
		}
	}
	var head core.Head
	if n := len(k.log); n > 0 {
		head = core.Head{Seq: k.log[n-1].Seq, Hash: k.log[n-1].Hash}
	}
	return v.Finish(head), k.broken
}

func (k *fakeKernel) Why(_ context.Context, id core.ActionID) (core.Chain, error) {
	return k.chain(func(e core.Entry) bool { return e.Subject == "action "+id.String() })
}

func (k *fakeKernel) WhyRow(_ context.Context, seq int64) (core.Chain, error) {
	return k.chain(func(e core.Entry) bool { return e.Subject == k.log[seq-1].Entry.Subject })
}

func (k *fakeKernel) chain(about func(core.Entry) bool) (core.Chain, error) {
	var c core.Chain
	for _, r := range k.log {
		if about(r.Entry) {
			c.Subject, c.Session = r.Entry.Subject, r.Entry.Session
			c.Rows = append(c.Rows, r)
		}
	}
	return c, k.broken
}

// happened is a record as people know it.
func happened() *fakeKernel {
	k := site()
	agent := func(t core.EventType, subject, detail string, units ...core.Unit) core.Entry {
		return core.Entry{
			Type: t, Session: "s-site-refresh", Turn: 3, Actor: "agent script", Authority: "alice", Subject: subject, Units: units,
			Detail: json.RawMessage(detail),
		}
	}
	docs := core.Unit{Gatekeeper: "files", Service: "local", Name: "site/docs"}
	sent := agent(core.EventEgress, "model script", `{"bytes":8258,"destination":"local","sink":"model","step":1}`)
	sent.Rule = "allow-all"
	by := func(t core.EventType, subject, detail string) core.Entry {
		return core.Entry{
			Type: t, Session: "s-site-refresh", Actor: "alice", Authority: "alice by terminal", Subject: subject, Detail: json.RawMessage(detail),
		}
	}
	k.happen(
		by(core.EventSession, "session s-site-refresh", `{"event":"new","name":"sha256:b1631"}`),
		by(core.EventBind, "binding SITE", `{"connection":"c1","kind":"files"}`),
		agent(core.EventTurn, "turn 3", `{"event":"started","state":"running","steps":30}`),
		sent,
		agent(core.EventRead, "SITE.list", `{"binding":"SITE","bytes":418,"cached":false,"incomplete":[],"method":"list"}`, docs),
		agent(core.EventBlocked, "SITE.read", `{"binding":"SITE","code":"E_LATCHED","method":"read"}`, docs),
		agent(core.EventSubmit, "action 41", `{"action":41,"binding":"SITE","bytes":277,"kind":"edit","lane":"simulate","method":"edit"}`),
		core.Entry{Type: core.EventSubmit, Session: "s-billing-cleanup", Actor: "mcp desktop", Subject: "action 18", Detail: json.RawMessage(`{"kind":"execute"}`)},
		by(core.EventPlan, "plan p1", `{"approve":1,"items":1,"reject":0}`),
		by(core.EventDecision, "action 41", `{"from":"pending","plan":"p1","state":"claimed","verdict":"approve"}`),
		core.Entry{Type: core.EventOutcome, Session: "s-site-refresh", Turn: 3, Actor: "kernel", Subject: "action 41", Digest: "sha256:4711", Detail: json.RawMessage(`{"created":0,"state":"applied"}`)},
	)
	return k
}
