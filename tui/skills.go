package tui

import (
	"slices"
	"sort"
	"strings"

	"gatehouse/core"
	"gatehouse/skills"
	"gatehouse/tui/term"
)

// Sizes of the window over the documents of a collection.
const (
	shelfWindow = skills.ListLimit // documents kept of each collection that is open
	shelfEdge   = 60               // documents left before the window is read anew
)

// skillsView is the screen of the library: the collections as a tree, folded
// or with their documents, and beside or below it what is known of the one
// under the cursor. The cursor goes by id.
type skillsView struct {
	a       *app
	shelves []*shelfRow // by id
	starts  []int       // row of each; one more for the end
	at      int         // row under the cursor
	top     int         // first row drawn
	want    skills.Ref  // goes under the cursor when its window was read; the path is not empty then

	gen     int
	loaded  bool
	loading bool
	again   bool // another read was asked for meanwhile
	slow    bool
	err     string

	find    finding
	page    skillPage
	text    bool // the focus is on the text
	tab     skillTab
	raw     bool
	fix     bool
	session core.SessionID // whose catalog is shown; empty is the first
	drawn   int            // rows drawn, for tests that count work
}

// shelfRow is a collection in the tree; its texts are clean.
type shelfRow struct {
	shelf  Shelf // as the library has it: what reads go by
	id     string
	title  string
	source string
	hidden bool
	open   bool

	docs    []docRow // a window over the documents
	first   int      // place of the first of docs
	gen     int
	loading bool
	read    bool // the window was read once
	err     string
}

// docRow is a document in the tree.
type docRow struct {
	path     string // as the library has it
	name     string // clean
	skill    bool
	errors   int
	warnings int
	hidden   bool
}

func newSkillsView(a *app) *skillsView { return &skillsView{a: a} }

func (v *skillsView) place() place {
	switch {
	case v.find.input != nil:
		return atSkillsFind
	case v.text:
		return atSkillsText
	}
	return atSkills
}

func (v *skillsView) typed() *input { return v.find.input }

// The messages of the tree.
type (
	shelvesMsg struct {
		gen     int
		shelves []Shelf
		err     error
	}
	shelvesSlowMsg struct{ gen int }
	// shelfMsg is a window over the documents of a collection.
	shelfMsg struct {
		gen   int
		id    skills.CollectionID
		first int
		docs  []docRow
		err   error
	}
)

// load reads the collections. While one read runs, another is only noted.
func (v *skillsView) load() term.Cmd {
	if v.a.library == nil {
		v.err = "this program was started without a skill library"
		return nil
	}
	if v.loading {
		v.again = true
		return nil
	}
	v.gen++
	v.loading, v.again = true, false
	gen, ctx, library := v.gen, v.a.ctx, v.a.library
	read := func() term.Msg {
		shelves, err := library.Shelves(ctx)
		return shelvesMsg{gen, shelves, err}
	}
	return term.All(read, term.After(slowAfter, shelvesSlowMsg{gen}))
}

func (v *skillsView) update(msg term.Msg) term.Cmd {
	switch msg := msg.(type) {
	case shownMsg:
		return v.load()
	case reloadMsg:
		if v.a.open(v) {
			return v.load()
		}
	case resizedMsg:
		if v.a.open(v) {
			return v.follow()
		}
	case shelvesMsg:
		return v.take(msg)
	case shelfMsg:
		return v.takeShelf(msg)
	case shelvesSlowMsg:
		v.a.dirty = msg.gen == v.gen && v.loading
		v.slow = v.slow || v.a.dirty
	case skillRestMsg, skillPageMsg, skillPageSlowMsg:
		return v.updatePage(msg)
	case findMsg, foundMsg:
		return v.updateFind(msg)
	case pinnedMsg:
		return v.pinned(msg)
	}
	return nil
}

// take shows the collections; the cursor stays where it was, by id.
func (v *skillsView) take(msg shelvesMsg) term.Cmd {
	if msg.gen != v.gen {
		v.a.dirty = false
		return nil
	}
	v.loading, v.slow = false, false
	if v.again {
		defer func() { v.again = false }()
	}
	if msg.err != nil {
		v.err, _ = cleanLine(describe(withHint(msg.err)), reasonLimit)
		if v.loaded && v.a.open(v) {
			v.a.say(roleDanger, v.err+"; r tries again")
		}
		return v.loadAgain()
	}
	screen, on, had := v.at-v.top, v.treeRef(), len(v.shelves) > 0
	if on.Path != "" {
		v.want = on
	}
	v.replace(msg.shelves)
	v.loaded, v.err = true, ""
	if had {
		v.goToShelf(on)
	}
	v.top = max(v.at-screen, 0)
	cmds := []term.Cmd{v.loadAgain()}
	for _, s := range v.shelves {
		if s.open {
			cmds = append(cmds, v.readShelf(s, v.placeIn(s)))
		}
	}
	return term.All(append(cmds, v.follow())...)
}

func (v *skillsView) loadAgain() term.Cmd {
	if !v.again {
		return nil
	}
	return v.load()
}

// replace takes over the collections, and what is known of those that are open.
func (v *skillsView) replace(shelves []Shelf) {
	known := make(map[skills.CollectionID]*shelfRow, len(v.shelves))
	for _, s := range v.shelves {
		known[s.shelf.ID] = s
	}
	first := !v.loaded
	v.shelves = v.shelves[:0:0]
	for _, found := range shelves {
		row := cleanShelf(found)
		if old := known[found.ID]; old != nil {
			row.open, row.docs, row.first, row.gen, row.read = old.open, old.docs, old.first, old.gen, old.read
		}
		row.open = row.open || first && len(shelves) == 1
		v.shelves = append(v.shelves, row)
	}
	v.number()
}

func cleanShelf(s Shelf) *shelfRow {
	row := &shelfRow{shelf: s}
	for _, text := range []struct {
		to   *string
		from string
	}{{&row.id, string(s.ID)}, {&row.title, s.Title}, {&row.source, sourceWords(s)}} {
		var hidden bool
		*text.to, hidden = cleanLine(text.from, titleLimit)
		row.hidden = row.hidden || hidden
	}
	return row
}

// sourceWords say where a collection comes from, with the branch and the
// beginning of the commit.
func sourceWords(s Shelf) string {
	words := []string{string(s.Source.Kind)}
	if s.Source.Branch != "" {
		words = append(words, s.Source.Branch)
	}
	if commit := s.Source.Commit; commit != "" {
		words = append(words, commit[:min(len(commit), 9)])
	}
	if from := or(s.Source.Remote, s.Place); from != "" {
		words = append(words, from)
	}
	return strings.Join(words, " ")
}

// number counts the rows: each collection has one, and one for each document
// while it is open.
func (v *skillsView) number() {
	v.starts = v.starts[:0]
	n := 0
	for _, s := range v.shelves {
		v.starts = append(v.starts, n)
		n += 1 + s.size()
	}
	v.starts = append(v.starts, n)
	v.at = min(v.at, max(n-1, 0))
}

// size is how many rows of documents a collection shows.
func (s *shelfRow) size() int {
	if !s.open {
		return 0
	}
	return max(s.shelf.Documents, s.first+len(s.docs))
}

func (v *skillsView) rows() int {
	if len(v.starts) == 0 {
		return 0
	}
	return v.starts[len(v.starts)-1]
}

// row finds what stands in a row: a collection, and the place of a document in
// it, -1 for the collection itself.
func (v *skillsView) row(i int) (*shelfRow, int) {
	if i < 0 || i >= v.rows() {
		return nil, -1
	}
	at := sort.SearchInts(v.starts, i+1) - 1
	return v.shelves[at], i - v.starts[at] - 1
}

// doc is the document in a place, nil where the window is elsewhere.
func (s *shelfRow) doc(i int) *docRow {
	if i < s.first || i >= s.first+len(s.docs) {
		return nil
	}
	return &s.docs[i-s.first]
}

// treeRef is what stands under the cursor of the tree: an empty path is the collection.
func (v *skillsView) treeRef() skills.Ref {
	s, i := v.row(v.at)
	if s == nil {
		return skills.Ref{}
	}
	ref := skills.Ref{Collection: s.shelf.ID}
	if d := s.doc(i); d != nil {
		ref.Path = d.path
	} else if i >= 0 && v.want.Collection == ref.Collection {
		ref.Path = v.want.Path
	}
	return ref
}

// placeIn is the place of the document of a collection that the window should
// lie around.
func (v *skillsView) placeIn(s *shelfRow) int {
	on, i := v.row(v.at)
	switch {
	case on == s:
		return max(i, 0)
	case len(s.docs) > 0:
		return s.first + len(s.docs)/2
	}
	return 0
}

// goToShelf puts the cursor on a collection, and as far down in it as it was.
func (v *skillsView) goToShelf(ref skills.Ref) {
	at := slices.IndexFunc(v.shelves, func(s *shelfRow) bool { return s.shelf.ID == ref.Collection })
	if at < 0 {
		return
	}
	s := v.shelves[at]
	i := slices.IndexFunc(s.docs, func(d docRow) bool { return d.path == ref.Path })
	v.at = v.starts[at]
	if ref.Path != "" && s.open && i >= 0 {
		v.at += 1 + s.first + i
	}
}

// readShelf reads the window around a place.
func (v *skillsView) readShelf(s *shelfRow, around int) term.Cmd {
	s.gen++
	s.loading = true
	first := max(around-shelfWindow/2, 0)
	gen, ctx, library, id := s.gen, v.a.ctx, v.a.library, s.shelf.ID
	return func() term.Msg {
		found, err := library.Documents(ctx, id, first, shelfWindow)
		return shelfMsg{gen, id, first, cleanDocs(found), err}
	}
}

func cleanDocs(found []ShelfDocument) []docRow {
	docs := make([]docRow, len(found))
	for i, d := range found {
		row := docRow{path: d.Path, skill: skills.IsSkillPath(d.Path), errors: d.Errors, warnings: d.Warnings}
		row.name, row.hidden = cleanLine(d.Path, titleLimit)
		docs[i] = row
	}
	return docs
}

// takeShelf shows a window. The cursor stays on its document.
func (v *skillsView) takeShelf(msg shelfMsg) term.Cmd {
	at := slices.IndexFunc(v.shelves, func(s *shelfRow) bool { return s.shelf.ID == msg.id })
	if at < 0 || v.shelves[at].gen != msg.gen {
		v.a.dirty = false
		return nil
	}
	s := v.shelves[at]
	s.loading = false
	if msg.err != nil {
		s.err, _ = cleanLine(describe(withHint(msg.err)), reasonLimit)
		v.a.say(roleDanger, s.err+"; r tries again")
		return nil
	}
	on, tree := v.treeRef(), v.at
	screen := v.at - v.top
	s.docs, s.first, s.read, s.err = msg.docs, msg.first, true, ""
	if len(msg.docs) < shelfWindow && (len(msg.docs) > 0 || msg.first == 0) { // it says where the end is
		s.shelf.Documents = msg.first + len(msg.docs)
	}
	v.number()
	switch {
	case on.Collection == msg.id && on.Path != "":
		if i := slices.IndexFunc(s.docs, func(d docRow) bool { return d.path == on.Path }); i >= 0 {
			v.at = v.starts[at] + 1 + s.first + i
		}
	case on.Collection != msg.id:
		v.goToShelf(on)
	}
	if v.want.Collection == msg.id {
		v.want = skills.Ref{}
	}
	if v.at != tree {
		v.top = max(v.at-screen, 0)
	}
	return v.follow()
}

// ensure reads windows for the rows around the cursor that are not at hand.
func (v *skillsView) ensure() term.Cmd {
	var cmds []term.Cmd
	for _, at := range []int{v.at, v.at - shelfEdge, v.at + shelfEdge} {
		s, i := v.row(min(max(at, 0), v.rows()-1))
		if s != nil && i >= 0 && !s.loading && s.doc(i) == nil {
			cmds = append(cmds, v.readShelf(s, i))
		}
	}
	return term.All(cmds...)
}

// on is what the page is about: a hit of the search, or what is under the
// cursor of the tree.
func (v *skillsView) on() (skills.Ref, bool) {
	if v.find.shown() {
		return v.find.ref()
	}
	ref := v.treeRef()
	if ref.Path == "" {
		if s, i := v.row(v.at); s == nil || i >= 0 {
			return ref, false
		}
	}
	return ref, true
}

// shelf finds a collection.
func (v *skillsView) shelf(id skills.CollectionID) (Shelf, bool) {
	for _, s := range v.shelves {
		if s.shelf.ID == id {
			return s.shelf, true
		}
	}
	return Shelf{}, false
}
