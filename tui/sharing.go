package tui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gatehouse/core"
	"gatehouse/core/share"
	"gatehouse/tui/term"
)

// ShareRequest says what is to leave, for whom, and where the file is written.
type ShareRequest struct {
	Session core.SessionID
	For     []core.PersonID
	Level   core.ShareLevel
	Until   int    // the last turn that goes along; 0 is all of them
	Path    string // as typed
	Redact  bool   // take out what looks like a secret, and list it
}

// Parcel is what would leave, looked through and measured. It is good for two
// minutes. Write writes the file, whole or not at all.
type Parcel struct {
	Level    core.ShareLevel
	Until    int
	People   []core.Person
	Units    []core.Unit       // that it was made from
	Lines    []core.ExportLine // every person and unit that was asked about
	Findings []share.Finding   // what is taken out
	Counts   share.Counts
	Path     string // absolute
	Write    func(context.Context) error
}

// sharing leads through the dialogs of a file. It holds nothing of its own: what
// was chosen goes from dialog to dialog by value (T5).
type sharing struct {
	a   *app
	gen int
}

func newSharing(a *app) *sharing { return &sharing{a: a} }

// sharePlan is what was chosen so far.
type sharePlan struct {
	r      ShareRequest
	called string   // of the session, clean
	names  []string // of the people, clean
}

type (
	packedMsg struct {
		gen    int
		plan   sharePlan
		parcel Parcel
		err    error
	}
	sealedMsg struct {
		plan sharePlan
		path string
		err  error
	}
)

func (s *sharing) update(msg term.Msg) term.Cmd {
	switch msg := msg.(type) {
	case packedMsg:
		return s.packed(msg)
	case sealedMsg:
		if msg.err != nil {
			s.refuse(msg.plan, msg.err)
			return nil
		}
		path, _ := cleanLine(msg.path, titleLimit)
		s.a.say(roleGood, "written to "+path)
		return s.a.refresh()
	}
	return nil
}

// begin shares a session: for whom first, then how much.
func (s *sharing) begin(session core.Session) term.Cmd {
	plan := sharePlan{r: ShareRequest{Session: session.ID}}
	plan.called, _ = cleanLine(session.Name, 100)
	return s.pickPeople(plan)
}

// pickPeople asks for one person after the other, until that is all.
func (s *sharing) pickPeople(plan sharePlan) term.Cmd {
	const done, self = "\x00done", "\x00self"
	about := "enter takes a person along; nothing leaves yet"
	if len(plan.names) > 0 {
		about = "for " + strings.Join(plan.names, ", ") + "; enter takes another along"
	}
	gen := s.a.picker.ask(pick{
		title: "Share " + plan.called + ": with whom?", label: "person", about: about, none: "nobody is known",
		do: func(item pickItem, _ string) term.Cmd {
			next := plan
			switch item.key {
			case done:
				return s.pickLevel(plan)
			case self:
				next.r.Level = core.LevelArchive
				return s.askPath(next)
			}
			next.r.For = append(slices.Clone(plan.r.For), core.PersonID(item.key))
			next.names = append(slices.Clone(plan.names), item.text)
			return s.pickPeople(next)
		},
	}, true)
	ctx, kernel, me := s.a.ctx, s.a.kernel, s.a.who.Person
	return func() term.Msg {
		list, err := kernel.People(ctx)
		var items []pickItem
		if len(plan.names) > 0 {
			items = append(items, pickItem{key: done, text: "that is all", note: "for " + strings.Join(plan.names, ", "), always: true})
		}
		for _, one := range list {
			if one.ID == me || slices.Contains(plan.r.For, one.ID) {
				continue
			}
			item := pickItem{key: string(one.ID), note: share.Fingerprint(one)}
			item.text, _ = cleanLine(string(one.ID), 60)
			if one.Sealing == "" {
				item.note, item.off = "no key", item.text+" has no key: add them by the line that gatehouse identity export prints for them"
			}
			items = append(items, item)
		}
		if len(plan.names) == 0 {
			items = append(items, pickItem{key: self, text: "nobody: an archive", note: "everything, sealed to yourself"})
		}
		return pickedMsg{gen, items, err}
	}
}

func (s *sharing) pickLevel(plan sharePlan) term.Cmd {
	var items []pickItem
	for _, l := range []core.ShareLevel{core.LevelReplay, core.LevelSealed} {
		items = append(items, pickItem{key: string(l), text: string(l), note: l.Says()})
	}
	s.a.picker.ask(pick{
		title: "Share " + plan.called + ": how much?", label: "level", about: "a blueprint, without data, is made by gatehouse blueprint export", items: items,
		do: func(item pickItem, _ string) term.Cmd {
			next := plan
			next.r.Level = core.ShareLevel(item.key)
			return s.askUntil(next)
		},
	}, false)
	return nil
}

// askUntil asks how far the file goes: what was read later is then not in it (X8).
func (s *sharing) askUntil(plan sharePlan) term.Cmd {
	s.a.sheet.ask(question{
		title: "Share " + plan.called + ": up to which turn?", label: "turn", accept: "Go on",
		body: []string{"A number leaves out what was said and read after that turn. Empty is all of it."},
		do: func(answer sheetAnswer) term.Cmd {
			next := plan
			if typed := strings.TrimSpace(answer.text); typed != "" {
				n, err := strconv.Atoi(typed)
				if err != nil || n < 1 {
					s.a.say(roleWarn, "give the number of a turn, or nothing for all of it")
					return s.askUntil(plan)
				}
				next.r.Until = n
			}
			return s.askPath(next)
		},
	})
	return nil
}

func (s *sharing) askPath(plan sharePlan) term.Cmd {
	s.a.sheet.ask(question{
		title: "Share " + plan.called + ": where is the file to be?", label: "file", value: plan.r.Path, accept: "Check",
		body: []string{"Every source is asked about every person, and everything is looked through for secrets. Nothing is written before you saw what leaves."},
		do: func(answer sheetAnswer) term.Cmd {
			next := plan
			if next.r.Path = strings.TrimSpace(answer.text); next.r.Path == "" {
				s.a.say(roleWarn, "give the path of a file that is not there yet")
				return s.askPath(plan)
			}
			return s.pack(next)
		},
	})
	return nil
}

// pack looks at what would leave, off the loop.
func (s *sharing) pack(plan sharePlan) term.Cmd {
	s.gen++
	gen, ctx, sharer := s.gen, s.a.ctx, s.a.sharer
	s.a.say(roleMuted, "asking every source about every person…")
	return func() term.Msg {
		parcel, err := sharer.Pack(ctx, plan.r)
		return packedMsg{gen, plan, parcel, err}
	}
}

// packed shows what would leave, with the focus on Cancel, or why nothing does.
func (s *sharing) packed(msg packedMsg) term.Cmd {
	if msg.gen != s.gen {
		return nil
	}
	s.a.message = ""
	plan, parcel := msg.plan, msg.parcel
	var denied *core.ExportDeniedError
	var secrets *share.SecretsError
	switch {
	case errors.As(msg.err, &denied):
		return s.denied(plan, denied)
	case errors.As(msg.err, &secrets):
		return s.secrets(plan, secrets)
	case msg.err != nil:
		s.refuse(plan, msg.err)
		return nil
	}
	s.a.proposal.ask(proposal{
		title: "Write " + plan.called + " as " + string(parcel.Level) + "?", accept: "Write the file", lines: parcelLines(plan, parcel),
		do: func() term.Cmd {
			ctx := s.a.ctx
			s.a.say(roleMuted, "sealing…")
			return s.a.work(func() term.Msg { return sealedMsg{plan, parcel.Path, parcel.Write(ctx)} })
		},
	})
	return nil
}

// lineMaker collects the lines of a proposal; what it is given becomes clean.
type lineMaker struct{ out []line }

func (m *lineMaker) add(r role, name, value string) {
	clean, _ := cleanLine(value, reasonLimit)
	m.out = append(m.out, line{r, pad(name, proposalHang-2) + "  " + clean, true})
}

func (m *lineMaker) blank() { m.out = append(m.out, line{}) }

// checks are the verdicts on every person and unit.
func (m *lineMaker) checks(lines []core.ExportLine) {
	for _, l := range lines {
		sign, r := verdictSign(l.Check.Access)
		text := fmt.Sprintf("%s: %s", l.Person, l.Unit)
		if !l.Check.Passed() {
			text += ": " + l.Check.String()
		}
		m.add(r, sign+" "+verdictWord(l.Check.Access), text)
	}
}

func (m *lineMaker) findings(found []share.Finding) {
	for _, f := range found {
		m.add(roleWarn, "looks like", fmt.Sprintf("a %s, %s: %s", f.Kind, plural(f.Count, "time", "times"), f.Place))
	}
}

// parcelLines say exactly what leaves, for whom, and where it is written.
func parcelLines(plan sharePlan, p Parcel) []line {
	m := &lineMaker{}
	m.add(roleTitle, "session", plan.called)
	m.add(rolePlain, "level", string(p.Level)+": "+p.Level.Says())
	if len(p.People) == 0 {
		m.add(rolePlain, "for", "yourself alone")
	}
	for _, one := range p.People {
		m.add(roleTitle, "for", string(one.ID)+": "+share.Fingerprint(one))
	}
	m.add(roleTitle, "file", p.Path)
	m.blank()
	c := p.Counts
	m.add(rolePlain, "leaves", fmt.Sprintf("%s to turn %d: %s, %s, %s; %s bytes", plural(c.Turns, "turn", "turns"), p.Until,
		plural(c.Messages, "message", "messages"), plural(c.Steps, "step", "steps"), plural(c.Answers, "answer", "answers"), thousands(int(c.Bytes))))
	m.add(rolePlain, "left out", plural(c.Holes, "step", "steps"))
	m.add(rolePlain, "proposals", thousands(c.Proposals)+", inert: nothing of them is approved")
	for _, u := range p.Units {
		m.add(rolePlain, "made from", u.String())
	}
	m.blank()
	m.checks(p.Lines)
	if len(p.Findings) == 0 && p.Level != core.LevelArchive {
		m.add(roleGood, "secrets", "nothing that leaves looks like one")
	}
	if p.Level == core.LevelArchive {
		m.add(rolePlain, "secrets", "an archive stays with you and is not looked through")
	}
	m.findings(p.Findings)
	if len(p.Findings) > 0 {
		m.add(roleWarn, "taken out", "the above stand in the file as [redacted]")
	}
	if p.Level != core.LevelArchive {
		m.blank()
		m.add(roleDanger, "remember", share.Promise)
	}
	return m.out
}

// denied shows what speaks against a file by unit and person, and offers what
// could be made instead.
func (s *sharing) denied(plan sharePlan, e *core.ExportDeniedError) term.Cmd {
	m := &lineMaker{}
	m.add(roleDanger, "refused", plan.called+" does not leave "+string(e.Level)+"; nothing was written")
	m.blank()
	m.checks(e.Lines)
	m.blank()
	for _, l := range e.Offers {
		what := l.Says()
		if l == core.LevelBlueprint {
			what += "; gatehouse blueprint export makes one"
		}
		m.add(rolePlain, "instead", string(l)+": "+what)
	}
	m.add(rolePlain, "instead", "a prefix: share it again, up to a turn before that was read")
	p := proposal{title: "Not " + string(e.Level) + " for all of them", lines: m.out, accept: "Close", danger: true, do: func() term.Cmd { return nil }}
	if slices.Contains(e.Offers, core.LevelReplay) {
		next := plan
		next.r.Level = core.LevelReplay
		p.accept, p.do = "Look at a replay", func() term.Cmd { return s.pack(next) }
	}
	s.a.proposal.ask(p)
	return nil
}

// secrets shows where something looks like a secret, and offers to take it out.
func (s *sharing) secrets(plan sharePlan, e *share.SecretsError) term.Cmd {
	m := &lineMaker{}
	m.add(roleDanger, "refused", "what leaves holds what looks like secrets; nothing was written")
	m.blank()
	m.findings(e.Findings)
	p := proposal{title: plan.called + " holds what looks like secrets", lines: m.out, accept: "Close", danger: true, do: func() term.Cmd { return nil }}
	if !plan.r.Redact {
		next := plan
		next.r.Redact = true
		p.accept, p.do = "Look without them", func() term.Cmd { return s.pack(next) }
	}
	s.a.proposal.ask(p)
	return nil
}

func (s *sharing) refuse(plan sharePlan, err error) {
	s.a.people.refuse(plan.called, err)
}

func (s *sharing) none() string {
	if s.a.sharer == nil {
		return "nothing can be shared from here"
	}
	return ""
}

// ways are the keys that lead here.
func (s *sharing) ways() []*command {
	return []*command{
		{
			name: "sessions.share", at: []place{atSessions}, keys: []string{"E"}, title: "share", tag: "Sessions", decides: true, prompts: true,
			about:    "seal the session into a file for colleagues; what leaves is shown first",
			disabled: func() string { return or(s.a.list.nothing(), s.none()) },
			run:      func() term.Cmd { return s.begin(s.a.list.list[s.a.list.at].Session) },
		},
		{
			name: "transcript.share", at: []place{atTranscript}, keys: []string{"E"}, title: "share", tag: "Sessions", decides: true, prompts: true,
			about: "seal the session into a file for colleagues; what leaves is shown first", disabled: s.none,
			run: func() term.Cmd { return s.begin(s.a.script.session) },
		},
	}
}
