package store

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"gatehouse/core"
)

func TestSessionsByIDAndName(t *testing.T) {
	db := openNew(t)
	one := newSession(t, db, "one")
	two := newSession(t, db, "s1") // a name that looks like an id
	if one != "s1" || two != "s2" {
		t.Fatalf("ids %s %s", one, two)
	}
	taken := core.Session{Name: "one", Owner: "bob"}
	err := db.Write(background, func(tx core.Tx) error { return tx.InsertSession(&taken) })
	renamed := db.Write(background, func(tx core.Tx) error { return tx.RenameSession(two, "one", noon) })
	missing := db.Write(background, func(tx core.Tx) error { return tx.RenameSession("s9", "nine", noon) })
	if !errors.Is(err, core.ErrNameTaken) || !errors.Is(renamed, core.ErrNameTaken) || !errors.Is(missing, core.ErrNotFound) {
		t.Errorf("taken %v, renamed %v, missing %v", err, renamed, missing)
	}
	later := noon.Add(1)
	write(t, db, func(tx core.Tx) error { return tx.RenameSession(one, "uno", later) })
	read(t, db, func(v core.View) error {
		byID, err1 := v.Session("s1")
		byName, err2 := v.Session("uno")
		want := core.Session{ID: one, Name: "uno", Owner: "alice", CreatedAt: noon, UpdatedAt: later}
		if byID != want || byName != want {
			t.Errorf("got %+v and %+v, want %+v", byID, byName, want)
		}
		_, gone := v.Session("one")
		if !errors.Is(gone, core.ErrNotFound) {
			t.Errorf("the old name: %v", gone)
		}
		return errors.Join(err1, err2)
	})
}

func TestSummariesCountWhatWaits(t *testing.T) {
	db := openNew(t)
	idle, waits, asks := newSession(t, db, "idle"), newSession(t, db, "waits"), newSession(t, db, "asks")
	submit(t, db, draftOf(waits, "a"))
	submit(t, db, draftOf(waits, "a"))
	change(t, db, 1, to(core.StateRejected))
	ask(t, db, asks, "May I?")
	write(t, db, func(tx core.Tx) error { return tx.Observe(waits, 1, noon, draftOf(waits, "a").Draft.Found) })
	read(t, db, func(v core.View) error {
		all, err := v.Summaries("")
		var got []string
		for _, s := range all {
			got = append(got, fmt.Sprint(s.Name, " ", s.State, " ", s.WaitingFor, " ", s.Pending, " ", s.Units))
		}
		want := []string{
			"asks waiting-answer 1 question to answer 0 0", "waits waiting-decision 1 action to decide 1 1", "idle idle  0 0",
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		one, err2 := v.Summaries(idle)
		none, err3 := v.Summaries("s9")
		if len(one) != 1 || one[0].ID != idle || len(none) != 0 {
			t.Errorf("one %v, none %v", one, none)
		}
		return errors.Join(err, err2, err3)
	})
}

func TestBindingsComeAndGo(t *testing.T) {
	db := openNew(t)
	s := newSession(t, db, "one")
	c := core.Connection{Kind: "files", Name: "home", Owner: "alice", Service: "local", Root: "/r", Labels: []string{"x"}, Readers: []core.PersonID{"bob"}}
	write(t, db, func(tx core.Tx) error { return tx.InsertConnection(&c) })
	b := core.Binding{Session: s, Name: "SITE", URL: "files:///r", Kind: "files", Connection: c.ID, CreatedAt: noon}
	insert := func(b core.Binding) error {
		return db.Write(background, func(tx core.Tx) error { return tx.InsertBinding(b) })
	}
	remove := func() error {
		return db.Write(background, func(tx core.Tx) error { return tx.RemoveBinding(s, "SITE", noon) })
	}
	if err := errors.Join(insert(b)); err != nil {
		t.Fatal(err)
	}
	if err := insert(b); !errors.Is(err, core.ErrNameTaken) {
		t.Errorf("a second one: %v", err)
	}
	elsewhere := b
	elsewhere.Session = "s9"
	if err := insert(elsewhere); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("in no session: %v", err)
	}
	if err := errors.Join(remove()); err != nil {
		t.Fatal(err)
	}
	if err := remove(); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("removed twice: %v", err)
	}
	again := b
	again.URL = "files:///r/other"
	if err := insert(again); err != nil {
		t.Fatal(err)
	}
	read(t, db, func(v core.View) error {
		got, err1 := v.Binding(s, "SITE")
		all, err2 := v.Bindings(s)
		connection, err3 := v.Connection(c.ID)
		connections, err4 := v.Connections()
		if got != again || len(all) != 1 || all[0] != again {
			t.Errorf("got %+v %+v, want %+v", got, all, again)
		}
		if c.ID != "c1" || !reflect.DeepEqual(connection, c) || len(connections) != 1 || !reflect.DeepEqual(connections[0], c) {
			t.Errorf("connection %+v, want %+v", connection, c)
		}
		return errors.Join(err1, err2, err3, err4)
	})
}

func TestK11_ObservationSetHoldsEachUnitOnce(t *testing.T) {
	db := openNew(t)
	s, other := newSession(t, db, "one"), newSession(t, db, "two")
	unit := func(name, permission string) core.Found {
		return core.Found{Unit: core.Unit{Gatekeeper: "files", Service: "home", Name: name}, Permission: permission, Labels: []string{name}}
	}
	a, b := unit("a", "read"), unit("b", "read")
	b.OwnerOnly = true
	write(t, db, func(tx core.Tx) error {
		return errors.Join(tx.Observe(s, 3, noon, []core.Found{a, a, b, a}), tx.Observe(s, 4, noon.Add(1), []core.Found{unit("a", "admin")}),
			tx.Observe(other, 0, noon, []core.Found{a}))
	})
	read(t, db, func(v core.View) error {
		got, err1 := v.Observations(s)
		all, err2 := v.Observations("")
		n, err3 := v.CountObservations(s)
		want := []core.Observation{{Session: s, Found: a, FirstSeenAt: noon, Turn: 3}, {Session: s, Found: b, FirstSeenAt: noon, Turn: 3}}
		if !reflect.DeepEqual(got, want) || len(all) != 3 || n != 2 {
			t.Errorf("got %+v\nwant %+v, all %d, count %d", got, want, len(all), n)
		}
		return errors.Join(err1, err2, err3)
	})
}
