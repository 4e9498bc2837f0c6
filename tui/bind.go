package tui

import (
	"context"
	"fmt"
	"path"
	"strings"

	"gatehouse/core"
	"gatehouse/tui/term"
)

// Binder is what the screens ask of core.Kernel to make sessions, connections
// and bindings. All of its methods are called off the loop.
type Binder interface {
	NewSession(ctx context.Context, n core.NewSession) (core.Session, error)
	Bindings(ctx context.Context, session string) ([]core.Binding, error)
	PreviewBind(ctx context.Context, r core.BindRequest) (core.Grant, error)
	Bind(ctx context.Context, r core.BindRequest) (core.Binding, error)
	Unbind(ctx context.Context, session, name string, by core.PersonID) error
	PreviewConnect(ctx context.Context, r core.ConnectRequest, person core.PersonID) (core.Grant, error)
	Connect(ctx context.Context, r core.ConnectRequest, by core.Authority) (core.Connection, error)
	ConnectionUses(ctx context.Context) ([]core.ConnectionUse, error)
	Disconnect(ctx context.Context, ref string, force core.Forced, by core.Authority) (core.Disconnected, error)
}

// Folders knows the folders of this machine. Its methods are called off the loop.
type Folders interface {
	// Complete lists the folders that a path being typed may become, each
	// with a slash at its end, FolderLimit at most.
	Complete(ctx context.Context, typed string) ([]string, error)
	// URL names the folder that a person typed.
	URL(typed string) (string, error)
	// Within names a folder in what a connection reaches; all of it where the
	// sub folder is empty.
	Within(c core.Connection, sub string) (string, error)
}

// FolderLimit is how many completions are shown.
const FolderLimit = 100

// bindPlan is what was chosen so far of a binding that is to be made. It goes
// from dialog to dialog by value.
type bindPlan struct {
	session core.SessionID // empty: one is made with it
	called  string         // the name of the session, clean
	taken   []core.Binding

	connection core.Connection // without an id: the folder is connected with it
	folder     string          // as it was typed
	name, sub  string
	url        string
}

// The messages of what is made here.
type (
	grantMsg struct {
		gen   int
		plan  bindPlan
		alone bool // a connection, without a binding
		grant core.Grant
		err   error
	}
	boundMsg struct {
		plan    bindPlan
		session core.Session // where it was made
		binding core.Binding
		err     error
	}
	connectedMsg struct {
		connection core.Connection
		err        error
	}
	sessionMadeMsg struct {
		name    string
		session core.Session
		err     error
	}
	unboundMsg struct {
		name string
		err  error
	}
)

// newSession asks for a name and makes a session of it.
func (c *connections) newSession(name string) term.Cmd {
	c.a.sheet.ask(question{
		title: "New session", body: []string{"A session has a queue, a transcript and bindings of its own. It reaches nothing until it is bound."},
		label: "name", value: name, accept: "Make it",
		do: func(answer sheetAnswer) term.Cmd {
			ctx, kernel, owner := c.a.ctx, c.a.kernel, c.a.who.Person
			return c.a.work(func() term.Msg {
				made, err := kernel.NewSession(ctx, core.NewSession{Name: answer.text, Owner: owner})
				return sessionMadeMsg{answer.text, made, err}
			})
		},
	})
	return nil
}

func (c *connections) sessionMade(msg sessionMadeMsg) term.Cmd {
	if msg.err != nil {
		if !c.a.top().place().dialog() {
			c.newSession(msg.name) // what was typed is kept
		}
		c.a.fail(msg.err)
		return nil
	}
	return c.enter(msg.session, "made "+c.cleanName(msg.session.Name)+"; b binds it to a folder")
}

// enter opens a session that was made, with the list of sessions below it.
func (c *connections) enter(s core.Session, note string) term.Cmd {
	c.a.stack = []view{c.a.list}
	cmd := term.All(c.a.list.load(), c.a.loadOverview(), c.a.script.open(s))
	c.a.say(roleGood, note)
	return cmd
}

func (c *connections) cleanName(s string) string {
	clean, _ := cleanLine(s, 100)
	return clean
}

// bind offers the connections that a session can be bound through.
func (c *connections) bind(s core.Session) term.Cmd {
	plan := bindPlan{session: s.ID, called: c.cleanName(s.Name)}
	uses := map[string]core.Connection{}
	gen := c.a.picker.ask(pick{
		title: "Bind " + plan.called + " to", label: "find", about: "enter goes on; nothing is made before the grant is shown",
		none: "No connection has that in its name.",
		do: func(item pickItem, _ string) term.Cmd {
			plan := plan
			if item.key == "" {
				return c.askFolder(plan)
			}
			plan.connection = uses[item.key]
			return c.askName(plan, suggestName(path.Base(plan.connection.Root), plan.taken))
		},
	}, true)
	ctx, kernel := c.a.ctx, c.a.kernel
	return func() term.Msg {
		all, err := kernel.ConnectionUses(ctx)
		if err == nil {
			plan.taken, err = kernel.Bindings(ctx, string(s.ID))
		}
		var items []pickItem
		for _, u := range all {
			uses[string(u.ID)] = u.Connection
			items = append(items, pickItem{key: string(u.ID), text: c.cleanName(u.Name), note: c.cleanName(u.Kind) + " · " + c.cleanName(u.Root)})
		}
		items = append(items, pickItem{text: "connect a folder…", note: "any folder of this machine, by its path", always: true})
		return pickedMsg{gen, items, err}
	}
}

// askFolder asks for the path of a folder, and completes it.
func (c *connections) askFolder(plan bindPlan) term.Cmd {
	return c.pickFolder("Connect a folder", func(typed string) term.Cmd {
		plan.folder = typed
		if plan.session == "" && plan.called == "" {
			return c.askSession(plan)
		}
		return c.askName(plan, suggestName(path.Base(typed), plan.taken))
	})
}

// pickFolder opens a picker over the folders of this machine.
func (c *connections) pickFolder(title string, then func(typed string) term.Cmd) term.Cmd {
	if c.a.folders == nil {
		c.a.say(roleWarn, "folders cannot be looked at here; use gatehouse bind")
		return nil
	}
	c.a.picker.ask(pick{
		title: title, label: "folder", value: "", free: true,
		about: "type a path; tab completes it, ↓ goes into the list, enter goes on",
		none:  "No folder begins like that.",
		more:  c.complete,
		do:    func(_ pickItem, typed string) term.Cmd { return then(strings.TrimSpace(typed)) },
	}, false)
	return c.a.picker.read()
}

// complete reads the folders that a path may become.
func (c *connections) complete(typed string) term.Cmd {
	gen, ctx, folders := c.a.picker.gen, c.a.ctx, c.a.folders
	return func() term.Msg {
		found, err := folders.Complete(ctx, typed)
		items := make([]pickItem, 0, min(len(found), FolderLimit))
		for _, one := range found[:min(len(found), FolderLimit)] {
			clean, hidden := cleanLine(one, titleLimit)
			item := pickItem{key: one, text: clean}
			if hidden || clean != one {
				item.off = "its name has characters that cannot be typed; rename it, or use gatehouse bind"
			}
			items = append(items, item)
		}
		return pickedMsg{gen, items, err}
	}
}

// askSession asks what the session is called that is made for a folder.
func (c *connections) askSession(plan bindPlan) term.Cmd {
	c.a.sheet.ask(question{
		title: "A session for the folder", body: []string{"It is made together with the binding, after you have seen what that gives."},
		label: "name", value: path.Base(plan.folder), accept: "Go on",
		do: func(answer sheetAnswer) term.Cmd {
			plan.called = strings.TrimSpace(answer.text)
			if plan.called == "" {
				c.a.say(roleWarn, "a session needs a name; nothing was made")
				return nil
			}
			return c.askName(plan, suggestName(path.Base(plan.folder), plan.taken))
		},
	})
	return nil
}

// askName asks under which name agents reach it.
func (c *connections) askName(plan bindPlan, value string) term.Cmd {
	c.a.sheet.ask(question{
		title: "Name of the binding", body: []string{"Agents of " + plan.called + " reach it as env.NAME: a capital letter, then capitals, digits or _."},
		label: "name", value: value, accept: "Go on",
		do: func(answer sheetAnswer) term.Cmd {
			plan.name = strings.TrimSpace(answer.text)
			if _, err := core.ParseBindingName(plan.name); err != nil {
				c.askName(plan, plan.name)
				c.a.fail(err)
				return nil
			}
			return c.askSub(plan)
		},
	})
	return nil
}

// suggestName makes a name of a binding of the name of a folder.
func suggestName(like string, taken []core.Binding) string {
	var b strings.Builder
	for _, r := range strings.ToUpper(like) {
		switch {
		case r >= 'A' && r <= 'Z', b.Len() > 0 && r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && (r == '-' || r == '_' || r == ' ' || r == '.'):
			b.WriteByte('_')
		}
	}
	name := strings.Trim(b.String(), "_")
	name = name[:min(len(name), 28)]
	if name == "" {
		name = "SITE"
	}
	used := map[string]bool{}
	for _, t := range taken {
		used[string(t.Name)] = true
	}
	fresh := name
	for n := 2; used[fresh]; n++ {
		fresh = fmt.Sprintf("%s_%d", name, n)
	}
	return fresh
}

// askSub asks for the part of the folder that is granted.
func (c *connections) askSub(plan bindPlan) term.Cmd {
	c.a.sheet.ask(question{
		title: "How much of it", body: []string{"A folder in it, to which the binding is narrowed. Left empty it is all of it."},
		label: "sub folder", value: plan.sub, accept: "Show the grant", do: func(answer sheetAnswer) term.Cmd {
			plan.sub = strings.Trim(strings.TrimSpace(answer.text), "/")
			return c.previewBind(plan)
		},
	})
	return nil
}

// request is the binding that a plan asks for.
func (p bindPlan) request(person core.PersonID) core.BindRequest {
	return core.BindRequest{Session: string(p.session), Name: p.name, URL: p.url, Connection: p.connection.ID, Person: person}
}

// previewBind asks the kernel what the binding would give.
func (c *connections) previewBind(plan bindPlan) term.Cmd {
	c.gen++
	gen, ctx, kernel, folders, person := c.gen, c.a.ctx, c.a.kernel, c.a.folders, c.a.who.Person
	c.a.say(roleMuted, "looking at what it would give…")
	return func() term.Msg {
		var err error
		if folders == nil {
			return grantMsg{gen: gen, plan: plan, err: core.Invalid("folders cannot be looked at here; use gatehouse bind")}
		}
		connection := plan.connection
		if connection.ID == "" {
			var described core.Grant
			if described, err = describeFolder(ctx, kernel, folders, plan.folder, person); err == nil {
				connection = described.Connection
			}
		}
		if err == nil {
			plan.url, err = folders.Within(connection, plan.sub)
		}
		var grant core.Grant
		if err == nil {
			grant, err = kernel.PreviewBind(ctx, plan.request(person))
		}
		return grantMsg{gen: gen, plan: plan, grant: grant, err: err}
	}
}

// describeFolder finds the connection that a typed path names: the person's
// own, or the one that would be made.
func describeFolder(ctx context.Context, kernel Kernel, folders Folders, typed string, person core.PersonID) (core.Grant, error) {
	url, err := folders.URL(typed)
	if err != nil {
		return core.Grant{}, err
	}
	return kernel.PreviewBind(ctx, core.BindRequest{Name: "FOLDER", URL: url, Person: person})
}

// proposeGrant shows the grant, in full, with the focus on Cancel.
func (c *connections) proposeGrant(msg grantMsg) term.Cmd {
	if msg.gen != c.gen || c.a.top().place().dialog() {
		return nil
	}
	c.a.message = ""
	if msg.err != nil {
		c.a.fail(msg.err)
		return nil
	}
	plan, grant := msg.plan, msg.grant
	if msg.alone {
		c.a.proposal.ask(proposal{
			title: "Connect " + c.cleanName(grant.Connection.Root) + "?", lines: grantLines(grant, ""), accept: "Connect",
			do: func() term.Cmd { return c.connect(plan, grant) },
		})
		return nil
	}
	c.a.proposal.ask(proposal{
		title: "Bind " + c.cleanName(plan.called) + " to " + c.cleanName(grant.Connection.Root) + "?", lines: grantLines(grant, c.sessionLine(plan)), accept: "Bind",
		do: func() term.Cmd { return c.makeBinding(plan, grant) },
	})
	return nil
}

func (c *connections) sessionLine(plan bindPlan) string {
	name := c.cleanName(plan.called)
	if plan.session == "" {
		return name + ", which is made with it"
	}
	return name
}

// makeBinding makes what was shown, and refuses what it no longer is.
func (c *connections) makeBinding(plan bindPlan, grant core.Grant) term.Cmd {
	ctx, kernel, person := c.a.ctx, c.a.kernel, c.a.who.Person
	r := plan.request(person)
	r.Root, r.Connection, r.URL = grant.Connection.Root, grant.Connection.ID, grant.URL
	return c.a.work(func() term.Msg {
		out := boundMsg{plan: plan}
		if plan.session == "" {
			if out.session, out.err = kernel.NewSession(ctx, core.NewSession{Name: plan.called, Owner: person}); out.err != nil {
				return out
			}
			r.Session = string(out.session.ID)
		}
		out.binding, out.err = kernel.Bind(ctx, r)
		return out
	})
}

func (c *connections) bound(msg boundMsg) term.Cmd {
	if msg.err != nil {
		c.a.fail(msg.err)
		return c.a.refresh()
	}
	note := fmt.Sprintf("bound: agents of %s reach it as env.%s", c.cleanName(msg.plan.called), msg.binding.Name)
	if msg.session.ID != "" {
		cmd := c.enter(msg.session, note)
		c.a.script.comp.focused = c.a.runner != nil
		return cmd
	}
	c.a.say(roleGood, note)
	return c.a.refresh()
}

// unbind offers the bindings of a session, and says what stays.
func (c *connections) unbind(s core.Session) term.Cmd {
	called, id := c.cleanName(s.Name), string(s.ID)
	gen := c.a.picker.ask(pick{
		title: "Unbind from " + called, label: "find", about: "enter asks before anything is taken away",
		none: "It is bound to nothing.",
		do: func(item pickItem, _ string) term.Cmd {
			c.a.sheet.ask(question{
				title: fmt.Sprintf("Unbind %s from %s?", item.key, called),
				body: []string{
					"Agents of the session no longer reach it.",
					"What was read through it stays on record as observations, and what was queued through it stays in the queue.",
				},
				accept: "Unbind",
				do: func(sheetAnswer) term.Cmd {
					ctx, kernel, person := c.a.ctx, c.a.kernel, c.a.who.Person
					return c.a.work(func() term.Msg { return unboundMsg{item.key, kernel.Unbind(ctx, id, item.key, person)} })
				},
			})
			return nil
		},
	}, true)
	ctx, kernel := c.a.ctx, c.a.kernel
	return func() term.Msg {
		bound, err := kernel.Bindings(ctx, id)
		items := make([]pickItem, len(bound))
		for i, b := range bound {
			items[i] = pickItem{key: string(b.Name), text: c.cleanName(string(b.Name)), note: c.cleanName(b.URL)}
		}
		return pickedMsg{gen, items, err}
	}
}
