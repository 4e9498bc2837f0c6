package tui

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gatehouse/core"
	"gatehouse/tui/term"
)

// rolePlan is a role that is to be given. It goes from dialog to dialog by
// value, so that nothing that changes below changes what it is about (T5).
type rolePlan struct {
	person  core.PersonID
	name    string // clean
	session core.SessionID
	called  string // clean
	grant   core.RoleGrant
}

// The messages of roles.
type (
	// grantAskedMsg is what has to be known before a role is proposed.
	grantAskedMsg struct {
		gen     int
		plan    rolePlan
		latch   core.Latch
		latched bool
		had     core.Rights
		present []string // who else may see the session now, clean
		err     error
	}
	roleChangedMsg struct {
		plan    rolePlan
		revoked bool
		err     error
	}
)

// grantIn gives the person under the cursor a role in a session that is chosen.
func (p *people) grantIn() term.Cmd {
	one, _ := p.person()
	plan := rolePlan{person: one.id, name: one.name}
	gen := p.a.picker.ask(pick{
		title: "A role for " + plan.name + ": in which session?", label: "session", about: "words narrow it; enter chooses, nothing is given yet",
		none: "there is no session",
		do: func(item pickItem, _ string) term.Cmd {
			plan.session, plan.called = core.SessionID(item.key), item.text
			return p.pickRole(plan)
		},
	}, true)
	ctx, kernel := p.a.ctx, p.a.kernel
	return func() term.Msg {
		list, err := kernel.Sessions(ctx)
		items := make([]pickItem, 0, len(list))
		for _, s := range list {
			item := pickItem{key: string(s.ID)}
			item.text, _ = cleanLine(s.Name, 100)
			if s.Latched {
				item.note = "latched: its owner's alone"
			}
			items = append(items, item)
		}
		return pickedMsg{gen, items, err}
	}
}

// grantTo gives somebody who is chosen a role in a session.
func (p *people) grantTo(s core.Session) term.Cmd {
	plan := rolePlan{session: s.ID}
	plan.called, _ = cleanLine(s.Name, 100)
	gen := p.a.picker.ask(pick{
		title: "A role in " + plan.called + ": for whom?", label: "person", about: "words narrow it; enter chooses, nothing is given yet",
		none: "nobody is known; gatehouse people add LINE records a colleague",
		do: func(item pickItem, _ string) term.Cmd {
			plan.person, plan.name = core.PersonID(item.key), item.text
			return p.pickRole(plan)
		},
	}, true)
	ctx, kernel := p.a.ctx, p.a.kernel
	return func() term.Msg {
		list, err := kernel.People(ctx)
		items := make([]pickItem, 0, len(list))
		for _, one := range list {
			item := pickItem{key: string(one.ID)}
			item.text, _ = cleanLine(string(one.ID), 60)
			item.note, _ = cleanLine(one.Tenant, 60)
			items = append(items, item)
		}
		return pickedMsg{gen, items, err}
	}
}

// roleChoices are what can be given, the least first.
func roleChoices() []core.RoleGrant {
	return []core.RoleGrant{
		{Role: core.RoleView},
		{Role: core.RoleBuild},
		{Role: core.RoleView, Decides: true},
		{Role: core.RoleBuild, Decides: true},
	}
}

func roleNote(g core.RoleGrant) string {
	note := "sees it, after every source was checked for them"
	if g.Role == core.RoleBuild {
		note = "also talks to its agent, binds connections of their own, drafts"
	}
	if g.Decides {
		note += "; also decides"
	}
	return note
}

func (p *people) pickRole(plan rolePlan) term.Cmd {
	choices := roleChoices()
	items := make([]pickItem, len(choices))
	for i, g := range choices {
		items[i] = pickItem{key: fmt.Sprint(i), text: rightsWord(core.Rights{Role: g.Role, Decides: g.Decides}), note: roleNote(g)}
	}
	p.a.picker.ask(pick{
		title: plan.name + " in " + plan.called + ": which role?", label: "role", about: "enter chooses; what it means is shown before anything is given",
		items: items,
		do: func(item pickItem, _ string) term.Cmd {
			i := slices.IndexFunc(items, func(it pickItem) bool { return it.key == item.key })
			plan.grant = choices[max(i, 0)]
			plan.grant.Person = plan.person
			return p.askGrant(plan)
		},
	}, false)
	return nil
}

// askGrant reads what a grant would change, off the loop.
func (p *people) askGrant(plan rolePlan) term.Cmd {
	p.grants++
	gen, ctx, kernel, me := p.grants, p.a.ctx, p.a.kernel, p.a.who.Person
	p.a.say(roleMuted, "looking at what it would change…")
	return func() term.Msg {
		out := grantAskedMsg{gen: gen, plan: plan}
		if out.latch, out.latched, out.err = kernel.Latch(ctx, string(plan.session)); out.err != nil || out.latched {
			return out
		}
		members, err := kernel.Members(ctx, string(plan.session), me)
		if err != nil {
			out.err = err
			return out
		}
		for _, m := range members {
			switch {
			case m.Person == plan.person:
				out.had = m.Rights
			case m.Rights.Role != core.RoleNone:
				name, _ := cleanLine(string(m.Person), 60)
				out.present = append(out.present, name)
			}
		}
		return out
	}
}

// grantAsked shows what a grant means, with the focus on Cancel, or says why
// there is none.
func (p *people) grantAsked(msg grantAskedMsg) term.Cmd {
	if msg.gen != p.grants {
		return nil
	}
	p.a.message = ""
	if msg.err != nil {
		p.refuse(msg.plan.called, msg.err)
		return nil
	}
	if msg.latched {
		p.refuse(msg.plan.called, &core.LatchedError{Latch: msg.latch, What: "grant"})
		return nil
	}
	plan := msg.plan
	what := rightsWord(core.Rights{Role: plan.grant.Role, Decides: plan.grant.Decides})
	p.a.proposal.ask(proposal{
		title: "Give " + plan.name + " a role in " + plan.called + "?", accept: "Give " + what,
		lines: roleLines(msg, what),
		do: func() term.Cmd {
			ctx, kernel, by := p.a.ctx, p.a.kernel, p.a.who
			return p.a.work(func() term.Msg {
				return roleChangedMsg{plan: plan, err: kernel.GrantRole(ctx, string(plan.session), plan.grant, by)}
			})
		},
	})
	return nil
}

// roleLines say what a grant means.
func roleLines(msg grantAskedMsg, what string) []line {
	var out []line
	add := func(r role, name, value string) {
		out = append(out, line{r, pad(name, proposalHang-2) + "  " + value, true})
	}
	add(roleTitle, "person", msg.plan.name)
	add(rolePlain, "session", msg.plan.called)
	add(roleTitle, "role", what+": "+roleNote(msg.plan.grant))
	if msg.had.Role != core.RoleNone {
		add(rolePlain, "they may now", rightsWord(msg.had)+"; what you gave before is replaced")
	}
	add(rolePlain, "others there", or(strings.Join(msg.present, ", "), "nobody"))
	out = append(out, line{})
	add(roleWarn, "the agent", "from then on it reads only what all of these may read; where it cannot be told, the read is refused")
	add(roleWarn, "opening", "each time they open it, every source is checked with connections of their own; what does not pass stays shut")
	if msg.plan.grant.Decides {
		add(roleDanger, "decides", "they approve and reject what the agent wants to change, as you do")
	}
	add(rolePlain, "taking back", "D on their page; what they saw they can keep a copy of")
	return out
}

// refuse says in full why not, and what to do instead.
func (p *people) refuse(called string, err error) {
	clean, _ := cleanLine(err.Error(), reasonLimit)
	body := []string{clean}
	var hinted interface{ Hint() string }
	if errors.As(err, &hinted) && hinted.Hint() != "" {
		hint, _ := cleanLine(hinted.Hint(), reasonLimit)
		body = append(body, hint)
	}
	p.a.sheet.ask(question{
		title: called + ": nothing was changed", body: body, accept: "Close", danger: true, do: func(sheetAnswer) term.Cmd { return nil },
	})
}

// revoke takes the person out of the session under the cursor, after it was asked.
func (p *people) revoke() term.Cmd {
	one, _ := p.person()
	m, _ := p.member()
	if m.rights.Role == core.RoleOwner {
		p.a.say(roleWarn, one.name+" owns "+m.called+" and cannot be taken out of it")
		return nil
	}
	plan := rolePlan{person: one.id, name: one.name, session: m.session, called: m.called}
	p.a.sheet.ask(question{
		title: "Take " + plan.name + " out of " + plan.called + "?",
		body: []string{
			"Every role they were given there goes, or what you gave where you do not own it. What they gave to others counts no more, and again once they are back.",
			"The agent may read again what they could not. What they saw they can keep a copy of.",
		},
		accept: "Take out",
		do: func(sheetAnswer) term.Cmd {
			ctx, kernel, by := p.a.ctx, p.a.kernel, p.a.who
			return p.a.work(func() term.Msg {
				return roleChangedMsg{plan: plan, revoked: true, err: kernel.RevokeRole(ctx, string(plan.session), plan.person, by)}
			})
		},
	})
	return nil
}

func (p *people) roleChanged(msg roleChangedMsg) term.Cmd {
	if msg.err != nil {
		p.refuse(msg.plan.called, msg.err)
		return p.a.refresh()
	}
	done := msg.plan.name + " has " + rightsWord(core.Rights{Role: msg.plan.grant.Role, Decides: msg.plan.grant.Decides}) + " in " + msg.plan.called + " from you"
	if msg.revoked {
		done = msg.plan.name + " is out of " + msg.plan.called
	}
	p.a.say(roleGood, done)
	return p.a.refresh()
}

func (p *people) roleCommands() []*command {
	return []*command{
		{
			name: "people.grant", at: []place{atPeople, atPerson}, keys: []string{"+"}, title: "give a role", tag: "Sessions", footer: 2,
			about: "a role in a session that is chosen; what it means is shown first", decides: true, prompts: true, run: p.grantIn, disabled: p.nobody,
		},
		{
			name: "people.revoke", at: []place{atPerson}, keys: []string{"D"}, title: "take out", tag: "Sessions", footer: 3,
			about: "take this person out of the session; asks first", decides: true, prompts: true, run: p.revoke, disabled: p.noRole,
		},
		{
			name: "sessions.grant", at: []place{atSessions}, keys: []string{"+"}, title: "give a role", tag: "Sessions",
			about: "give somebody a role in this session; what it means is shown first", decides: true, prompts: true,
			disabled: p.a.list.nothing, run: func() term.Cmd { return p.grantTo(p.a.list.list[p.a.list.at].Session) },
		},
		{
			name: "transcript.grant", at: []place{atTranscript}, keys: []string{"+"}, title: "give a role", tag: "Sessions",
			about: "give somebody a role in this session; what it means is shown first", decides: true, prompts: true,
			run: func() term.Cmd { return p.grantTo(p.a.script.session) },
		},
	}
}
