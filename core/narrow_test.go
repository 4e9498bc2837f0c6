package core_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"gatehouse/core"
)

// TestR2_UnitOfAnotherKind: a driver finds units of its own kind; any other would be checked by somebody else's rules.
func TestR2_UnitOfAnotherKind(t *testing.T) {
	r, o := newOddRig(t)
	real := r.made("a")
	o.read = func(core.Call) (core.Fetched, error) {
		unit := core.Unit{Gatekeeper: "files", Service: "notes", Name: "items"}
		return core.Fetched{Value: []byte(`{}`), Found: []core.Found{{Unit: unit}}}, nil
	}
	r.wantStatus(r.call("NOTES", "get", `{"id":%q}`, real), core.StatusRefused)
}

// TestR16_OverlappingBindings: bindings to one resource see each other's effects, each within its own narrowing: a read
// neither counts nor names what is queued outside of it, whatever has become of that.
func TestR16_OverlappingBindings(t *testing.T) {
	for _, option := range []string{"", "?replay=native"} {
		t.Run("memory"+option, func(t *testing.T) {
			r := newRig(t)
			r.bind("ALL", "memory://notes"+option)
			r.bind("ITEMS", "memory://notes/items"+option)
			r.bind("OTHERS", "memory://notes/others"+option)
			r.bind("FAILING", "memory://notes/items?fail=unknown:append")
			real := r.made("needle")
			id := r.submitTo("ALL", "append", `{"collection":"items","id":%q,"text":"needle"}`, real)
			if out := r.call("ITEMS", "get", `{"id":%q}`, real); out.Pending() != 1 {
				t.Errorf("got pending %d through the narrower binding, want 1", out.Pending())
			}
			lost := r.submitTo("FAILING", "append", `{"id":%q,"text":"lost"}`, r.made("needle too"))
			r.wantOutcomes(r.approve(lost), core.OutcomeUnknown)
			for _, call := range []struct{ method, args string }{{"list", `{}`}, {"search", `{"query":"needle"}`}} {
				out := r.call("OTHERS", call.method, "%s", call.args)
				r.wantStatus(out, core.StatusOK)
				if out.Pending() != 0 || len(out.Incomplete()) != 0 || len(out.Units()) != 0 {
					t.Errorf("%s: got pending %d, incomplete %v, units %v of what lies outside", call.method, out.Pending(), out.Incomplete(), out.Units())
				}
			}
			if out := r.call("ALL", "search", `{"query":"needle"}`); out.Pending() != 1 || len(out.Incomplete()) != 1 {
				t.Errorf("got pending %d, incomplete %v through the wider binding, want actions %d and %d", out.Pending(), out.Incomplete(), id, lost)
			}
		})
	}
}

// TestR14_ConnectionOfAnotherKind: a binding never leads a URL of one kind over a connection of another.
func TestR14_ConnectionOfAnotherKind(t *testing.T) {
	r := newRig(t)
	ctx := context.Background()
	err := r.db.Write(ctx, func(tx core.Tx) error {
		return tx.InsertConnection(&core.Connection{Kind: "other", Name: "o", Owner: "alice", Service: "notes"})
	})
	if err != nil {
		t.Fatal(err)
	}
	connections, err := r.kernel.Connections(ctx)
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.kernel.Bind(ctx, core.BindRequest{
		Session: string(r.session.ID), Name: "ODD", URL: notesURL, Person: "alice", Connection: connections[len(connections)-1].ID,
	})
	var invalid *core.CallError
	if !errors.As(err, &invalid) || invalid.Code != core.CodeInvalid || !strings.Contains(err.Error(), "is to other") {
		t.Errorf("got %v, want the binding refused", err)
	}
}
