package conformance

import (
	"encoding/json"
	"fmt"
	"strings"

	"gatehouse/core"
)

// GK3: a binding is no oracle.
func missingIsOutOfScope(b *bench) {
	b.need(b.service.Narrow != "" && b.setup.Sample.Missing.Method != "" && len(b.setup.Sample.Outside) > 0,
		"Service.Narrow, Sample.Missing and Sample.Outside")
	b.bind("NARROW", b.service.Narrow)
	missing := b.callOn("NARROW", b.setup.Sample.Missing)
	if missing.Status() != core.StatusError || missing.Code() != core.CodeNotFound || len(missing.Units()) != 0 {
		b.t.Errorf("%s: got %s %s (%s), want not found", b.setup.Sample.Missing, missing.Status(), missing.Code(), missing.Reason())
	}
	want := b.shape(b.setup.Sample.Missing, missing)
	for _, r := range b.setup.Sample.Outside {
		out := b.callOn("NARROW", r)
		if out.Status() != missing.Status() || out.Code() != missing.Code() || out.Action() != 0 || len(out.Units()) != 0 {
			b.t.Errorf("%s: got %s %s (%s), want what a missing one gets", r, out.Status(), out.Code(), out.Reason())
		}
		if got := b.shape(r, out); r.Method == b.setup.Sample.Missing.Method && got != want {
			b.t.Errorf("%s: the reason tells it from a missing one: %q and %q", r, got, want)
		}
	}
}

// shape is a reason without the words that the caller gave.
func (b *bench) shape(r Request, out core.Released) string {
	b.t.Helper()
	var args map[string]any
	if err := json.Unmarshal([]byte(r.Args), &args); err != nil {
		b.t.Fatalf("%s: %v", r, err)
	}
	reason := out.Reason()
	for _, v := range args {
		reason = strings.ReplaceAll(reason, fmt.Sprint(v), "X")
	}
	return reason
}

// R16: bindings to one resource share a journal, each within its own narrowing.
func overlappingBindings(b *bench) {
	b.need(b.service.Narrow != "", "Service.Narrow")
	b.bind("NARROW", b.service.Narrow)
	for i, r := range b.setup.Sample.Edits[:2] {
		name := []core.BindingName{binding, "NARROW"}[i]
		b.queueOn(name, r)
	}
	wide, narrow := b.read(b.setup.Sample.Read), b.callOn("NARROW", b.setup.Sample.Read)
	if wide.Pending() != 2 || narrow.Pending() != 2 || !same(b.comparable(wide), b.comparable(narrow)) {
		b.t.Errorf("pending %d: %s\nnarrow, pending %d: %s", wide.Pending(), wide.Value(), narrow.Pending(), narrow.Value())
	}
}

func readsAreObserved(b *bench) {
	out := b.read(b.setup.Sample.Read)
	if len(out.Units()) == 0 {
		b.t.Fatal("a read that found something names no unit")
	}
	r := b.open(b.service.URL)
	for _, u := range out.Units() {
		if !r.Covers(u) {
			b.t.Errorf("unit %s: outside of the narrowing", u)
		}
	}
	set, err := b.kernel.Observations(b.context(), b.session)
	if err != nil {
		b.t.Fatal(err)
	}
	if len(set) != len(out.Units()) {
		b.t.Errorf("got %d observations, want %d", len(set), len(out.Units()))
	}
	for _, o := range set {
		if o.Found.Permission == "" {
			b.t.Errorf("unit %s: does not say what a reader needs", o.Found.Unit)
		}
	}
}

// each is a read, a list and, where the driver has any, a write.
func (b *bench) each() []Request {
	return append([]Request{b.setup.Sample.Read, b.setup.Sample.List}, b.setup.Sample.Edits[:min(1, len(b.setup.Sample.Edits))]...)
}

// R2: refused before the fetch, the service is not called.
func refusalAtIntent(b *bench) {
	b.need(b.service.Calls != nil, "Service.Calls")
	b.check.refuse(core.HalfIntent)
	before := b.service.Calls()
	for _, r := range b.each() {
		out := b.call(r)
		if out.Status() != core.StatusRefused || out.Action() != 0 {
			b.t.Errorf("%s: got %s, action %d, want refused", r, out.Status(), out.Action())
		}
	}
	if n := b.service.Calls() - before; n != 0 {
		b.t.Errorf("the service was called %d times", n)
	}
	if len(b.check.seen) == 0 {
		b.t.Error("the calls name no unit before the fetch")
	}
}

// R2: refused after the fetch, the data is withheld, for reads and for what preparing a write has read.
func refusalAtExact(b *bench) {
	shown := b.read(b.setup.Sample.Read)
	b.check.refuse(core.HalfExact)
	for _, r := range b.each() {
		out := b.call(r)
		if out.Status() != core.StatusRefused || out.Action() != 0 {
			b.t.Errorf("%s: got %s, action %d, want refused", r, out.Status(), out.Action())
		}
		if string(out.Value()) != "null" || len(out.Units()) != 0 {
			b.t.Errorf("%s: refused with value %s and units %v", r, out.Value(), out.Units())
		}
	}
	b.check.refuse("")
	if again := b.read(b.setup.Sample.Read); string(again.Value()) != string(shown.Value()) || again.Pending() != 0 {
		b.t.Errorf("the refused write left something: %s", again.Value())
	}
	if rows := b.rows(core.EventBlocked); len(rows) != len(b.each()) {
		b.t.Errorf("got %d blocked rows, want %d", len(rows), len(b.each()))
	}
}

// From a cache or not, the same read gives the same and is recorded each time (K1).
func repeatedReadsAgree(b *bench) {
	first, second := b.read(b.setup.Sample.Read), b.read(b.setup.Sample.Read)
	if string(first.Value()) != string(second.Value()) {
		b.t.Errorf("got %s, then %s", first.Value(), second.Value())
	}
	if rows := b.rows(core.EventRead); len(rows) != 2 {
		b.t.Errorf("got %d rows for 2 reads", len(rows))
	}
}

// pages asks for all pages of a read and gives them with the list that they make.
func (b *bench) pages(r Request) (pages []core.Released, items []json.RawMessage) {
	b.t.Helper()
	for next := r; ; {
		out := b.call(next)
		pages = append(pages, out)
		if out.Status() != core.StatusOK {
			return pages, items
		}
		var object map[string]json.RawMessage
		if err := json.Unmarshal(out.Value(), &object); err != nil {
			return pages, items
		}
		cursor := ""
		for name, value := range object {
			var list []json.RawMessage
			switch {
			case name == "next":
				if err := json.Unmarshal(value, &cursor); err != nil {
					b.t.Fatalf("%s: next is %s, want a string", r, value)
				}
			case json.Unmarshal(value, &list) == nil:
				items = append(items, list...)
			}
		}
		if cursor == "" {
			return pages, items
		}
		if len(pages) > 1000 {
			b.t.Fatalf("%s: more than 1000 pages", r)
		}
		next = withCursor(b, r, cursor)
	}
}

func withCursor(b *bench, r Request, cursor string) Request {
	b.t.Helper()
	var args map[string]any
	if err := json.Unmarshal([]byte(r.Args), &args); err != nil {
		b.t.Fatalf("%s: %v", r, err)
	}
	args["cursor"] = cursor
	raw, err := json.Marshal(args)
	if err != nil {
		b.t.Fatal(err)
	}
	return Request{Method: r.Method, Args: string(raw)}
}

func pagesMakeTheList(b *bench) {
	b.need(b.setup.Sample.Paged.Method != "" && b.setup.Sample.List.Method != "", "Sample.List and Sample.Paged")
	_, whole := b.pages(b.setup.Sample.List)
	pages, items := b.pages(b.setup.Sample.Paged)
	if len(whole) < 3 || len(pages) < 2 {
		b.t.Fatalf("got %d items in %d pages, want 3 and 2 at least", len(whole), len(pages))
	}
	if got, want := fmt.Sprintf("%s", items), fmt.Sprintf("%s", whole); got != want {
		b.t.Errorf("pages:\n%s\nlist:\n%s", got, want)
	}
	if rows := b.rows(core.EventRead); len(rows) != 1+len(pages) {
		b.t.Errorf("got %d rows for %d pages and a list; each page is a row", len(rows), len(pages))
	}
	bad := b.call(withCursor(b, b.setup.Sample.Paged, "no cursor of ours"))
	if bad.Code() != core.CodeInvalid {
		b.t.Errorf("a foreign cursor: got %s %s, want invalid", bad.Status(), bad.Code())
	}
}

// A list that moved under a cursor is not gone on with, whether the service moved or an effect was queued on it.
func cursorOfChangedList(b *bench) {
	b.need(b.setup.Sample.Paged.Method != "", "Sample.Paged")
	first := b.read(b.setup.Sample.Paged)
	var page struct {
		Next string `json:"next"`
	}
	if err := json.Unmarshal(first.Value(), &page); err != nil || page.Next == "" {
		b.t.Fatalf("%s: got %s, want a page with next", b.setup.Sample.Paged, first.Value())
	}
	b.queue(b.setup.Sample.Create)
	out := b.call(withCursor(b, b.setup.Sample.Paged, page.Next))
	if out.Status() != core.StatusError || out.Code() != core.CodeListChanged {
		b.t.Errorf("got %s %s (%s), want list changed", out.Status(), out.Code(), out.Reason())
	}
}
