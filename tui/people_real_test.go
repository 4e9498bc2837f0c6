package tui_test

import (
	"slices"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/tui"
)

// TestT31_RolesByScreen: a role given and taken on the screen is what the
// command gives, row of the record and all.
func TestT31_RolesByScreen(t *testing.T) {
	h := newHouse(t, t.TempDir())
	ctx, by := t.Context(), core.Authority{Person: "alice", Means: core.MeansTerminal}
	if _, err := h.kernel.NewSession(ctx, core.NewSession{Name: "site", Owner: "alice"}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.kernel.AddPerson(ctx, core.Person{ID: "bob"}, by); err != nil {
		t.Fatal(err)
	}
	d := tui.Drive(t, h.kernel, "alice", nil)
	d.Advance(time.Second)
	d.Press("2", "+", "enter")
	d.Type("build")
	d.Press("enter")
	d.Shows("Give bob a role in site?")
	d.Press("tab", "enter")
	may := func() (out core.Rights) {
		members, err := h.kernel.Members(ctx, "site", "alice")
		if err != nil {
			t.Fatal(err)
		}
		if i := slices.IndexFunc(members, func(m core.Member) bool { return m.Person == "bob" }); i >= 0 {
			out = members[i].Rights
		}
		return out
	}
	if got := may(); got != (core.Rights{Role: core.RoleBuild}) {
		t.Fatalf("bob may %+v", got)
	}
	d.Press("&", "enter")
	d.Shows("People · bob", "site", "build", "alice gave build")
	d.Press("D", "tab", "enter")
	if got := may(); got != (core.Rights{}) {
		t.Fatalf("bob may %+v", got)
	}
	d.Shows("bob is out of site", "has a role in no session")
	rows, err := h.kernel.Record(ctx, core.RecordQuery{Types: []core.EventType{core.EventGrant}, Limit: 10})
	if err != nil || len(rows) != 2 {
		t.Fatalf("%d rows of grants, %v", len(rows), err)
	}
}
