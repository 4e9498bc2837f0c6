package tui

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"gatehouse/core"
	"gatehouse/core/share"
	"gatehouse/tui/term"
)

// The places of people.
const (
	atPeople  place = "people"
	atPerson  place = "person"
	atOpening place = "open report"
)

// Members is what the screens ask of core.Kernel about people and their roles.
// All of its methods are called off the loop.
type Members interface {
	People(ctx context.Context) ([]core.Person, error)
	Members(ctx context.Context, session string, by core.PersonID) ([]core.Member, error)
	GrantRole(ctx context.Context, session string, g core.RoleGrant, by core.Authority) error
	RevokeRole(ctx context.Context, session string, person core.PersonID, by core.Authority) error
	Latch(ctx context.Context, session string) (core.Latch, bool, error)
}

// personRow is somebody as the screens show them; its texts are clean.
type personRow struct {
	id       core.PersonID
	name     string
	tenant   string
	accounts []string
	words    string // of the fingerprint; empty without keys
	addedBy  string
	added    string // when
	in       []memberRow
	hidden   bool // something that a terminal would obey was taken out
}

// memberRow is what somebody may do in one session.
type memberRow struct {
	session core.SessionID
	called  string
	latched bool
	rights  core.Rights
	from    []givenRow
}

// givenRow is one grant.
type givenRow struct {
	giver string
	what  string
	when  string
}

// people is the screen of everybody this store knows, and of one of them.
type people struct {
	a      *app
	list   []personRow
	at     int
	top    int
	gen    int
	grants int // of the dialogs of grants
	loaded bool
	slow   bool
	err    string

	opened core.PersonID // whose page is open; empty shows the list
	row    int           // session under the cursor of that page
	rowTop int
	facts  int // first line drawn of what stands above the sessions
}

func newPeople(a *app) *people { return &people{a: a} }

func (p *people) place() place {
	if p.opened != "" {
		return atPerson
	}
	return atPeople
}

// peopleMsg is the answer to a read of people.
type peopleMsg struct {
	gen  int
	list []personRow
	err  error
}

// peopleSlowMsg says that a read has taken long.
type peopleSlowMsg struct{ gen int }

func (p *people) load() term.Cmd {
	p.gen++
	gen, ctx, kernel, me := p.gen, p.a.ctx, p.a.kernel, p.a.who.Person
	zone := p.a.now().Location()
	read := func() term.Msg {
		list, err := readPeople(ctx, kernel, me, func(at time.Time) string { return at.In(zone).Format("2006-01-02 15:04") })
		return peopleMsg{gen, list, err}
	}
	if p.loaded {
		return read
	}
	return term.All(read, term.After(slowAfter, peopleSlowMsg{gen}))
}

// readPeople reads everybody, with what each may do in the sessions that the
// person at the screen has a role in (K18).
func readPeople(ctx context.Context, kernel Kernel, me core.PersonID, stamp func(time.Time) string) ([]personRow, error) {
	known, err := kernel.People(ctx)
	if err != nil {
		return nil, err
	}
	sessions, err := kernel.Sessions(ctx)
	if err != nil {
		return nil, err
	}
	in := make(map[core.PersonID][]memberRow)
	for _, s := range sessions {
		if s.PeopleVersion == 0 { // its owner's alone, and always was
			continue
		}
		members, err := kernel.Members(ctx, string(s.ID), me)
		if errors.Is(err, core.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, m := range members {
			in[m.Person] = append(in[m.Person], cleanMember(s, m, stamp))
		}
	}
	out := make([]personRow, len(known))
	for i, one := range known {
		out[i] = cleanPerson(one, stamp)
		out[i].in = in[one.ID]
	}
	return out, nil
}

func cleanPerson(one core.Person, stamp func(time.Time) string) personRow {
	row := personRow{id: one.ID, words: share.Fingerprint(one)}
	clean := func(s string, limit int) string {
		line, hidden := cleanLine(s, limit)
		row.hidden = row.hidden || hidden
		return line
	}
	row.name, row.tenant, row.addedBy = clean(string(one.ID), 60), clean(one.Tenant, 60), clean(string(one.AddedBy), 60)
	for _, account := range one.Accounts {
		row.accounts = append(row.accounts, clean(account.Kind, 40)+" = "+clean(account.Name, 100))
	}
	if !one.AddedAt.IsZero() {
		row.added = stamp(one.AddedAt)
	}
	return row
}

func cleanMember(s core.SessionSummary, m core.Member, stamp func(time.Time) string) memberRow {
	row := memberRow{session: s.ID, latched: s.Latched, rights: m.Rights}
	row.called, _ = cleanLine(s.Name, 100)
	for _, g := range m.From {
		given := givenRow{what: rightsWord(core.Rights{Role: g.Role, Decides: g.Decides}), when: stamp(g.At)}
		given.giver, _ = cleanLine(string(g.Giver), 60)
		row.from = append(row.from, given)
	}
	return row
}

// rightsWord says what somebody may do.
func rightsWord(r core.Rights) string {
	role, _ := cleanLine(string(r.Role), 20)
	switch {
	case r.Role == core.RoleOwner:
		return "owner"
	case r.Role == core.RoleNone:
		return "nothing now"
	case r.Decides:
		return role + " + decide"
	}
	return role
}

func (p *people) update(msg term.Msg) term.Cmd {
	switch msg := msg.(type) {
	case shownMsg:
		p.opened = ""
		return p.load()
	case reloadMsg:
		if p.a.stack[0] == view(p) {
			return p.load()
		}
	case peopleMsg:
		p.take(msg)
	case peopleSlowMsg:
		p.slow = msg.gen == p.gen && !p.loaded && p.err == ""
	case grantAskedMsg:
		return p.grantAsked(msg)
	case roleChangedMsg:
		return p.roleChanged(msg)
	}
	return nil
}

// turns keeps the sign of work turning.
func (p *people) turns() bool { return p.slow }

// take shows the list; cursors stay on who and what they were on.
func (p *people) take(msg peopleMsg) {
	if msg.gen != p.gen {
		return
	}
	p.slow = false
	if msg.err != nil {
		p.err, _ = cleanLine(msg.err.Error(), reasonLimit)
		if p.loaded {
			p.a.fail(msg.err)
		}
		return
	}
	var on core.PersonID
	if p.at < len(p.list) {
		on = p.list[p.at].id
	}
	var session core.SessionID
	if m, ok := p.member(); ok {
		session = m.session
	}
	p.list, p.loaded, p.err = msg.list, true, ""
	p.at = min(p.at, max(len(p.list)-1, 0))
	p.goTo(on)
	one, ok := p.person()
	if p.opened != "" && !ok {
		p.opened = ""
	}
	p.row = min(p.row, max(len(one.in)-1, 0))
	if i := slices.IndexFunc(one.in, func(m memberRow) bool { return m.session == session }); i >= 0 {
		p.row = i
	}
}

func (p *people) goTo(id core.PersonID) {
	if i := slices.IndexFunc(p.list, func(r personRow) bool { return r.id == id }); i >= 0 {
		p.at = i
	}
}

// person is who the keys are about: whose page is open, or who is under the
// cursor.
func (p *people) person() (personRow, bool) {
	if p.opened == "" {
		if p.at >= len(p.list) {
			return personRow{}, false
		}
		return p.list[p.at], true
	}
	i := slices.IndexFunc(p.list, func(r personRow) bool { return r.id == p.opened })
	if i < 0 {
		return personRow{}, false
	}
	return p.list[i], true
}

// member is the session under the cursor of a page.
func (p *people) member() (memberRow, bool) {
	one, ok := p.person()
	if !ok || p.opened == "" || p.row >= len(one.in) {
		return memberRow{}, false
	}
	return one.in[p.row], true
}

func (p *people) nobody() string {
	if _, ok := p.person(); !ok {
		return "there is nobody; gatehouse people add LINE records a colleague"
	}
	return ""
}

func (p *people) noRole() string {
	if _, ok := p.member(); !ok {
		return "there is no session here; + gives a role in one"
	}
	return ""
}

func (p *people) open() term.Cmd {
	one, _ := p.person()
	p.opened, p.row, p.rowTop, p.facts = one.id, 0, 0, 0
	return nil
}

// back leaves the page, and then the screen.
func (p *people) back() term.Cmd {
	if p.opened != "" {
		p.goTo(p.opened)
		p.opened = ""
		return nil
	}
	return p.a.show(p.a.queue)
}

func (p *people) move(by int) term.Cmd {
	if p.opened == "" {
		p.at = min(max(p.at+by, 0), max(len(p.list)-1, 0))
		return nil
	}
	one, _ := p.person()
	p.row = min(max(p.row+by, 0), max(len(one.in)-1, 0))
	return nil
}

func (p *people) commands() []*command {
	at := []place{atPeople, atPerson}
	page := func() int { return max(p.a.body().h-3, 1) }
	most := func() int {
		one, _ := p.person()
		return max(len(p.list), len(one.in))
	}
	move := func(name string, keys []string, by func() int) *command {
		return &command{
			name: name, at: at, keys: keys, title: strings.ReplaceAll(name[len("people."):], "-", " "), tag: "Move", navigates: true,
			about: "look through the people, or through the sessions of one", run: func() term.Cmd { return p.move(by()) },
		}
	}
	return append(p.roleCommands(), []*command{
		{
			name: "screen.people", at: screens(), keys: []string{"&"}, title: "people", tag: "Screens", navigates: true,
			about: "who this store knows, and what they may do in which sessions", run: func() term.Cmd { return p.a.show(p) },
		},
		{
			name: "people.open", at: []place{atPeople}, keys: []string{"enter"}, title: "open", tag: "Sessions", navigates: true, footer: 1,
			about: "keys, accounts, and the roles of one person, with who gave them", run: p.open, disabled: p.nobody,
		},
		{
			name: "people.back", at: at, keys: []string{"esc"}, title: "back", tag: "Screens", navigates: true, footer: 9,
			about: "back to the list, and then to the queue", run: p.back,
		},
		{
			name: "people.facts-down", at: []place{atPerson}, keys: []string{"J", "ctrl+d"}, title: "facts down", tag: "Detail", navigates: true,
			about: "scroll what stands above the sessions", run: func() term.Cmd { p.facts++; return nil },
		},
		{
			name: "people.facts-up", at: []place{atPerson}, keys: []string{"K", "ctrl+u"}, title: "facts up", tag: "Detail", navigates: true,
			about: "scroll what stands above the sessions", run: func() term.Cmd { p.facts = max(p.facts-1, 0); return nil },
		},
		move("people.down", []string{"j", "down"}, func() int { return 1 }),
		move("people.up", []string{"k", "up"}, func() int { return -1 }),
		move("people.next-page", []string{"pgdown", "ctrl+f"}, page),
		move("people.previous-page", []string{"pgup", "ctrl+b"}, func() int { return -page() }),
		move("people.first", []string{"g", "home"}, func() int { return -most() }),
		move("people.last", []string{"G", "end"}, most),
	}...)
}
