package tui

import (
	"context"
	"time"
	"unicode/utf8"

	"gatehouse/core"
	"gatehouse/skills"
	"gatehouse/tui/term"
)

// skillTab is one of the tabs beside the tree.
type skillTab int

const (
	tabText skillTab = iota
	tabProblems
	tabCatalog
	tabChanged
	tabReaders
	skillTabs
)

func (t skillTab) String() string {
	switch t {
	case tabProblems:
		return "Problems"
	case tabCatalog:
		return "Catalog"
	case tabChanged:
		return "Changed"
	case tabReaders:
		return "Readers"
	}
	return "Text"
}

// pageDeadline is how long the rendering of a document may take; what is left
// then is shown as it was written.
const pageDeadline = 2 * time.Second

// pageKey says what a page shows, and for which width it is broken.
type pageKey struct {
	tab      skillTab
	ref      skills.Ref // an empty path is the collection
	session  core.SessionID
	raw, fix bool
	width    int
}

// same reports a page that only has another width or is a newer one: the reader
// stays where they are.
func (k pageKey) same(other pageKey) bool {
	k.width = other.width
	return k == other
}

// skillPage is what stands beside the tree. Its lines are made off the loop,
// and only those in sight are drawn.
type skillPage struct {
	key    pageKey // of lines
	want   pageKey // what was asked for last
	body   pageBody
	shown  bool // there are lines to show
	gen    int
	cancel context.CancelFunc
	slow   bool
	err    string
	top    int
	left   int
}

// pageBody is the content of a page.
type pageBody struct {
	lines    []line
	note     string         // said on the title line
	catalog  SessionCatalog // of the catalog's tab
	sessions []core.Session // of the catalog's tab: to choose from; clean
}

type (
	// skillRestMsg says that the cursor has been in one place for a moment.
	skillRestMsg struct{ gen int }
	skillPageMsg struct {
		gen  int
		key  pageKey
		body pageBody
		err  error
	}
	skillPageSlowMsg struct{ gen int }
)

// follow asks for the page of what is under the cursor, once it rests there.
func (v *skillsView) follow() term.Cmd {
	v.page.gen++
	if v.page.cancel != nil {
		v.page.cancel()
		v.page.cancel = nil
	}
	v.page.slow = false
	return term.After(batchFor, skillRestMsg{v.page.gen})
}

// key is what the page is to show now.
func (v *skillsView) key() (pageKey, bool) {
	ref, ok := v.on()
	key := pageKey{tab: v.tab, ref: ref, width: max(v.layout(v.a.body()).page.w-1, 1)}
	switch v.tab {
	case tabText:
		key.raw = v.raw
	case tabProblems:
		key.fix = v.fix
	case tabCatalog:
		key.session, key.ref, ok = v.session, skills.Ref{}, true
	case tabReaders:
		key.ref.Path = ""
	}
	return key, ok
}

func (v *skillsView) updatePage(msg term.Msg) term.Cmd {
	switch msg := msg.(type) {
	case skillRestMsg:
		if msg.gen == v.page.gen {
			return v.readPage()
		}
		v.a.dirty = false
	case skillPageSlowMsg:
		v.a.dirty = msg.gen == v.page.gen && v.page.cancel != nil
		v.page.slow = v.page.slow || v.a.dirty
	case skillPageMsg:
		v.takePage(msg)
	}
	return nil
}

// readPage makes the page off the loop. The one before stays on the screen until then.
func (v *skillsView) readPage() term.Cmd {
	key, ok := v.key()
	v.page.want = key
	if !ok || v.a.library == nil {
		if len(v.find.hits) == 0 {
			v.page.shown = false
		}
		return nil
	}
	shelf, _ := v.shelf(key.ref.Collection)
	ctx, cancel := context.WithTimeout(v.a.ctx, readDeadline)
	v.page.cancel = cancel
	gen, read := v.page.gen, pageReader{v.a.library, v.a.kernel, v.a.now(), shelf, key}
	return term.All(func() term.Msg {
		defer cancel()
		body, err := read.page(ctx)
		return skillPageMsg{gen, key, body, err}
	}, term.After(slowAfter, skillPageSlowMsg{gen}))
}

// readDeadline is how long a page may be read.
const readDeadline = 30 * time.Second

func (v *skillsView) takePage(msg skillPageMsg) {
	if msg.gen != v.page.gen {
		v.a.dirty = false
		return
	}
	v.page.cancel, v.page.slow = nil, false
	if !v.page.shown || !msg.key.same(v.page.key) {
		v.page.top, v.page.left = 0, 0
	}
	v.page.key, v.page.err, v.page.shown = msg.key, "", true
	if msg.err != nil {
		v.page.err, _ = cleanLine(describe(withHint(msg.err)), reasonLimit)
		v.page.body = pageBody{}
		return
	}
	v.page.body = msg.body
	if v.tab == tabCatalog && v.session == "" {
		v.session = msg.body.catalog.Session
		v.page.key.session = v.session
	}
	v.page.top = min(v.page.top, v.lastTop())
}

// pageReader makes one page; it is used off the loop.
type pageReader struct {
	library Library
	kernel  Kernel
	now     time.Time
	shelf   Shelf
	key     pageKey
}

func (p pageReader) page(ctx context.Context) (pageBody, error) {
	var w pageWriter
	w.width = p.key.width
	var err error
	switch p.key.tab {
	case tabText:
		err = p.text(ctx, &w)
	case tabProblems:
		err = p.problems(ctx, &w)
	case tabCatalog:
		err = p.catalog(ctx, &w)
	case tabChanged:
		err = p.changed(ctx, &w)
	case tabReaders:
		err = p.readers(ctx, &w)
	}
	if ctx.Err() != nil && err == nil {
		err = ctx.Err()
	}
	w.body.lines = w.lines
	return w.body, err
}

// pageWriter collects clean lines, broken to a width.
type pageWriter struct {
	width int
	lines []line
	body  pageBody
}

func (w *pageWriter) empty() {
	if n := len(w.lines); n > 0 && w.lines[n-1].text != "" {
		w.lines = append(w.lines, line{})
	}
}

// say adds a clean line with something in front of its first row, and something
// as wide in front of those that it goes on with.
func (w *pageWriter) say(r role, lead, rest, text string) {
	for len(text) > longestLine { // breaking a line costs the square of its longest word
		end := longestLine
		for !utf8.RuneStart(text[end]) {
			end--
		}
		w.say(r, lead, rest, text[:end])
		text, lead = text[end:], rest
	}
	room := w.width - columns(lead)
	for i, part := range wrap(text, max(room, 8)) {
		if i > 0 {
			lead = rest
		}
		w.lines = append(w.lines, line{r, lead + part, true})
	}
}

// longestLine is how many bytes are broken at once.
const longestLine = 4096

// fact adds a name and what it is.
func (w *pageWriter) fact(r role, name, value string) {
	lead := pad(name, 12)
	w.say(r, lead, spaces(12), value)
}

// verbatim adds clean lines that are looked at sideways.
func (w *pageWriter) verbatim(r role, lead string, lines []string) {
	for _, l := range lines {
		w.lines = append(w.lines, line{r, lead + l, false})
	}
}

// diff adds the lines of a clean unified diff.
func (w *pageWriter) diff(unified string) {
	lines, _ := cleanLines(unified)
	for _, l := range lines {
		w.lines = append(w.lines, line{diffRole(l), l, false})
	}
}

func diffRole(l string) role {
	switch {
	case l == "":
		return rolePlain
	case len(l) > 2 && (l[:3] == "---" || l[:3] == "+++"):
		return roleMuted
	case l[0] == '+':
		return roleAdded
	case l[0] == '-':
		return roleRemoved
	case l[0] == '@':
		return roleHunk
	}
	return rolePlain
}
