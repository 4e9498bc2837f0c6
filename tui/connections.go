package tui

import (
	"errors"
	"fmt"
	"strings"

	"gatehouse/core"
	"gatehouse/tui/term"
)

// connections is the screen of all connections: where each leads, and which
// sessions use it. What makes and takes away connections, bindings and
// sessions is of it too (bind.go).
type connections struct {
	a      *app
	list   []core.ConnectionUse // clean
	at     int
	top    int
	gen    int // of grants
	reads  int // of the list
	loaded bool
	err    string
}

func newConnections(a *app) *connections { return &connections{a: a} }

func (c *connections) place() place { return atConnections }

type (
	connectionsMsg struct {
		gen  int
		list []core.ConnectionUse
		err  error
	}
	disconnectedMsg struct {
		name string
		err  error
	}
)

func (c *connections) load() term.Cmd {
	c.reads++
	gen, ctx, kernel := c.reads, c.a.ctx, c.a.kernel
	return func() term.Msg {
		list, err := kernel.ConnectionUses(ctx)
		for i := range list {
			for _, s := range []*string{&list[i].Name, &list[i].Root, &list[i].Kind} {
				*s, _ = cleanLine(*s, titleLimit)
			}
		}
		return connectionsMsg{gen, list, err}
	}
}

func (c *connections) update(msg term.Msg) term.Cmd {
	switch msg := msg.(type) {
	case shownMsg:
		return c.load()
	case reloadMsg:
		if c.a.stack[0] == view(c) {
			return c.load()
		}
	case connectionsMsg:
		c.take(msg)
	case grantMsg:
		return c.proposeGrant(msg)
	case boundMsg:
		return c.bound(msg)
	case sessionMadeMsg:
		return c.sessionMade(msg)
	case connectedMsg:
		if msg.err != nil {
			c.a.fail(msg.err)
			return nil
		}
		c.a.say(roleGood, fmt.Sprintf("connected %s as %s", c.cleanName(msg.connection.Root), msg.connection.ID))
		return c.a.refresh()
	case disconnectedMsg:
		if msg.err != nil {
			c.refused(msg.err)
			return nil
		}
		c.a.say(roleGood, msg.name+" is disconnected; what was read and queued through it stays")
		return c.a.refresh()
	case unboundMsg:
		if msg.err != nil {
			c.a.fail(msg.err)
			return nil
		}
		c.a.say(roleGood, c.cleanName(msg.name)+" is unbound; what was read and queued through it stays")
		return c.a.refresh()
	}
	return nil
}

// refused says in one line why a connection stays.
func (c *connections) refused(err error) {
	var used *core.InUseError
	if errors.As(err, &used) {
		c.inUse(used.Connection, used.Bindings)
		return
	}
	c.a.fail(err)
}

func (c *connections) inUse(id core.ConnectionID, bindings []core.Binding) {
	c.a.say(roleWarn, fmt.Sprintf("%s is used by %s; unbind first: B in the session", id, usedBy(bindings, 3)))
}

// usedBy names bindings, a few at most.
func usedBy(bindings []core.Binding, most int) string {
	var words []string
	for i, b := range bindings {
		if i == most {
			words = append(words, fmt.Sprintf("%d more", len(bindings)-most))
			break
		}
		words = append(words, fmt.Sprintf("%s of %s", b.Name, b.Session))
	}
	clean, _ := cleanLine(strings.Join(words, ", "), titleLimit)
	return clean
}

func (c *connections) take(msg connectionsMsg) {
	if msg.gen != c.reads {
		return
	}
	if msg.err != nil {
		c.err, _ = cleanLine(msg.err.Error(), reasonLimit)
		if c.loaded {
			c.a.fail(msg.err)
		}
		return
	}
	var on core.ConnectionID
	if c.at < len(c.list) {
		on = c.list[c.at].ID
	}
	c.list, c.loaded, c.err = msg.list, true, ""
	c.at = min(c.at, max(len(c.list)-1, 0))
	for i := range c.list {
		if c.list[i].ID == on {
			c.at = i
		}
	}
}

func (c *connections) move(by int) term.Cmd {
	c.at = min(max(c.at+by, 0), max(len(c.list)-1, 0))
	return nil
}

// add connects a folder, after its grant was shown.
func (c *connections) add() term.Cmd {
	return c.pickFolder("Connect a folder", func(typed string) term.Cmd {
		c.gen++
		gen, ctx, kernel, folders, person := c.gen, c.a.ctx, c.a.kernel, c.a.folders, c.a.who.Person
		c.a.say(roleMuted, "looking at what it would give…")
		return func() term.Msg {
			out := grantMsg{gen: gen, alone: true, plan: bindPlan{folder: typed}}
			if out.plan.url, out.err = folders.URL(typed); out.err == nil {
				out.grant, out.err = kernel.PreviewConnect(ctx, core.ConnectRequest{URL: out.plan.url}, person)
			}
			return out
		}
	})
}

// connect makes what was shown, and refuses what it no longer is.
func (c *connections) connect(plan bindPlan, grant core.Grant) term.Cmd {
	ctx, kernel, by := c.a.ctx, c.a.kernel, c.a.who
	r := core.ConnectRequest{URL: plan.url, Root: grant.Connection.Root}
	return c.a.work(func() term.Msg {
		made, err := kernel.Connect(ctx, r, by)
		return connectedMsg{made, err}
	})
}

// remove takes the connection under the cursor away, if nothing uses it.
func (c *connections) remove() term.Cmd {
	one := c.list[c.at]
	if len(one.Bindings) > 0 {
		c.inUse(one.ID, one.Bindings)
		return nil
	}
	c.a.sheet.ask(question{
		title:  "Disconnect " + one.Name + "?",
		body:   []string{one.Root, "What was read and queued through it stays; an action that waits can then only be rejected."},
		accept: "Disconnect",
		do: func(sheetAnswer) term.Cmd {
			ctx, kernel, by := c.a.ctx, c.a.kernel, c.a.who
			return c.a.work(func() term.Msg {
				_, err := kernel.Disconnect(ctx, string(one.ID), 0, by)
				return disconnectedMsg{one.Name, err}
			})
		},
	})
	return nil
}

func (c *connections) nothing() string {
	if c.at >= len(c.list) {
		return "there is no connection"
	}
	return ""
}

// openCommands are the keys that lead here from elsewhere.
func (c *connections) openCommands() []*command {
	session := func(name, key, title, about string, footer int, do func(core.Session) term.Cmd) []*command {
		return []*command{
			{
				name: "sessions." + name, at: []place{atSessions}, keys: []string{key}, title: title, tag: "Sessions", about: about,
				footer: footer, decides: true, prompts: true, disabled: c.a.list.nothing,
				run: func() term.Cmd { return do(c.a.list.list[c.a.list.at].Session) },
			},
			{
				name: "transcript." + name, at: []place{atTranscript}, keys: []string{key}, title: title, tag: "Sessions", about: about,
				footer: footer, decides: true, prompts: true, run: func() term.Cmd { return do(c.a.script.session) },
			},
		}
	}
	out := []*command{
		{
			name: "session.new", at: append(screens(), atFilter, atComposer), keys: []string{"ctrl+n"}, title: "new session", tag: "Sessions",
			about: "make a session and open it", run: func() term.Cmd { return c.newSession("") },
		},
		{
			name: "screen.connections", at: screens(), keys: []string{"@"}, title: "connections", tag: "Screens", navigates: true,
			about: "where sessions can be bound to, and which are", run: func() term.Cmd { return c.a.show(c) },
		},
	}
	out = append(out, session("bind", "b", "bind", "let the session reach a folder; the grant is shown first", 92, c.bind)...)
	return append(out, session("unbind", "B", "unbind", "take a binding of the session away; asks first", 0, c.unbind)...)
}

func (c *connections) commands() []*command {
	at := []place{atConnections}
	page := func() int { return max(c.a.body().h-3, 1) }
	move := func(name string, keys []string, by func() int) *command {
		return &command{
			name: name, at: at, keys: keys, title: name, tag: "Move", navigates: true, about: "look through the connections",
			run: func() term.Cmd { return c.move(by()) },
		}
	}
	return append(c.openCommands(), []*command{
		{
			name: "connections.connect", at: at, keys: []string{"c"}, title: "connect a folder", tag: "Sessions", footer: 1,
			about: "connect a folder; what that gives is shown first", decides: true, prompts: true, run: c.add,
		},
		{
			name: "connections.disconnect", at: at, keys: []string{"D"}, title: "disconnect", tag: "Sessions", footer: 2,
			about: "take the connection away; refused while a session uses it", decides: true, prompts: true, run: c.remove, disabled: c.nothing,
		},
		{
			name: "connections.back", at: at, keys: []string{"esc"}, title: "queue", tag: "Screens", navigates: true, footer: 3,
			about: "back to the queue", run: func() term.Cmd { return c.a.show(c.a.queue) },
		},
		move("connections.down", []string{"j", "down"}, func() int { return 1 }),
		move("connections.up", []string{"k", "up"}, func() int { return -1 }),
		move("connections.next-page", []string{"pgdown", "ctrl+f", "ctrl+d"}, page),
		move("connections.previous-page", []string{"pgup", "ctrl+b", "ctrl+u"}, func() int { return -page() }),
		move("connections.first", []string{"g", "home"}, func() int { return -len(c.list) }),
		move("connections.last", []string{"G", "end"}, func() int { return len(c.list) }),
	}...)
}

func (c *connections) draw(r rect) []string {
	t := &c.a.theme
	lines := []string{t.rule(r.w, roleTitle, "Connections", "")}
	say := func(role role, text string) { lines = append(lines, t.spans(r.w, span{role, "   " + text})) }
	switch {
	case c.err != "" && !c.loaded:
		lines = append(lines, spaces(r.w))
		say(roleDanger, c.err)
		say(roleMuted, "r tries again")
		return fill(lines, r)
	case !c.loaded:
		lines = append(lines, spaces(r.w))
		say(roleMuted, "looking…")
		return fill(lines, r)
	case len(c.list) == 0:
		lines = append(lines, spaces(r.w))
		say(rolePlain, "Nothing is connected.")
		lines = append(lines, spaces(r.w))
		say(roleMuted, "c connects a folder; what that gives is shown first.")
		return fill(lines, r)
	}
	lines = append(lines, t.spans(r.w, span{roleMuted, connectionColumns(r.w, "id", "name", "gatekeeper", "root", "used by")}))
	room := max(r.h-len(lines), 1)
	if c.at < c.top {
		c.top = c.at
	}
	if c.at >= c.top+room {
		c.top = c.at - room + 1
	}
	for i := c.top; i < len(c.list) && len(lines) < r.h; i++ {
		one, cursor := c.list[i], i == c.at
		text := connectionColumns(r.w, string(one.ID), one.Name, one.Kind, one.Root, or(usedBy(one.Bindings, 3), "no session"))
		role := rolePlain
		if cursor {
			role = roleCursor
		}
		lines = append(lines, t.spans(r.w, span{roleAccent, flag(cursor, "▸")}, span{role, cut(text, 1, r.w)}))
	}
	return fill(lines, r)
}

// connectionColumns lines the columns up; a narrow screen has fewer.
func connectionColumns(width int, id, name, kind, root, used string) string {
	line := "   " + pad(id, 6) + pad(name, 18)
	if width >= 80 {
		line += "  " + pad(kind, 10)
	}
	room := width - columns(line) - 4
	if width >= 100 {
		return line + "  " + pad(root, room/2) + "  " + pad(used, room-room/2)
	}
	return pad(line+"  "+pad(root, room/2)+"  "+pad(used, room-room/2), width)
}
