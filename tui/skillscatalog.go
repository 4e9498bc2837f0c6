package tui

import (
	"context"
	"fmt"

	"gatehouse/core"
	"gatehouse/skills"
	"gatehouse/tui/term"
)

// catalog is what the agent of a session is told of the library before it asks,
// and what it is not told.
func (p pageReader) catalog(ctx context.Context, w *pageWriter) error {
	sessions, err := p.kernel.Sessions(ctx)
	if err != nil {
		return err
	}
	for _, s := range sessions {
		name, _ := cleanLine(s.Name, 100)
		w.body.sessions = append(w.body.sessions, core.Session{ID: s.ID, Name: name})
	}
	id := p.key.session
	if id == "" {
		if len(sessions) == 0 {
			w.say(rolePlain, "", "", "There is no session yet: ctrl+n makes one on the screen of sessions.")
			return nil
		}
		id = sessions[0].ID
	}
	found, err := p.library.Catalog(ctx, id)
	if err != nil {
		return err
	}
	name := cleanWord(found.Name)
	w.body.catalog = found
	w.body.note = fmt.Sprintf("%s · %d of %d", name, len(found.Catalog.Entries), skills.CatalogEntries)
	w.say(roleTitle, "", "", "What the agent of "+name+" is told before it asks")
	if !found.Bound {
		w.say(roleWarn, "! ", "  ", "the library is not bound to this session: its agent is told nothing of this until it is (P pins and binds)")
	}
	if found.Catalog.Incomplete {
		w.say(roleWarn, "! ", "  ", "a collection could not be loaded: the list is incomplete, and the next turn tries again")
	}
	w.empty()
	sayPins(w, found)
	if len(found.Catalog.Entries) == 0 {
		w.say(rolePlain, "", "", "The catalog is empty.")
	}
	for i, e := range found.Catalog.Entries {
		w.say(roleAccent, fmt.Sprintf("%2d  ", i+1), spaces(4), cleanWord(e.ID))
		if e.Description != "" {
			w.say(rolePlain, spaces(4), spaces(4), cleanWord(e.Description))
		}
	}
	w.empty()
	o := found.Catalog.Omitted
	w.say(roleTitle, "", "", fmt.Sprintf("Left out: %s, %s, %d that cannot be shown", plural(o.Collections, "collection", "collections"),
		plural(o.Skills, "skill", "skills"), o.Unusable))
	for _, l := range found.LeftOut {
		w.say(roleMuted, "–   ", spaces(4), cleanWord(l.ID)+": "+cleanWord(l.Why))
	}
	if len(found.LeftOut) == skills.LeftOutLimit {
		w.say(roleMuted, "    ", spaces(4), "… and perhaps more")
	}
	return nil
}

func sayPins(w *pageWriter, c SessionCatalog) {
	if len(c.Pinned) == 0 {
		w.say(roleMuted, "", "", "Nothing is pinned to it; P pins the collection under the cursor.")
	}
	for _, id := range c.Pinned {
		w.say(rolePlain, "pinned  ", spaces(8), cleanWord(string(id)))
	}
	w.empty()
}

// chooseSession asks whose catalog to show.
func (v *skillsView) chooseSession() term.Cmd {
	items := make([]pickItem, len(v.page.body.sessions))
	for i, s := range v.page.body.sessions {
		items[i] = pickItem{key: string(s.ID), text: s.Name, note: string(s.ID)}
	}
	v.a.picker.ask(pick{
		title: "Whose catalog?", label: "session", about: "type to narrow, ↑ ↓ to choose, enter shows it", none: "no session has this in its name",
		items: items,
		do: func(item pickItem, _ string) term.Cmd {
			v.session = core.SessionID(item.key)
			return v.follow()
		},
	}, false)
	return nil
}

func (v *skillsView) noSessions() string {
	if v.tab != tabCatalog || len(v.page.body.sessions) == 0 {
		return "sessions are chosen on the Catalog tab"
	}
	return ""
}

// noPin says why a collection cannot be pinned or taken off.
func (v *skillsView) noPin(pinned bool) string {
	ref, ok := v.on()
	switch {
	case v.tab != tabCatalog || !v.page.shown || v.page.key.tab != tabCatalog || v.page.err != "" || v.page.body.catalog.Session == "":
		return "pins are those of the session on the Catalog tab"
	case !ok && ref.Collection == "":
		return "there is no collection under the cursor"
	case v.isPinned(ref.Collection) && !pinned:
		return "it is pinned to this session already"
	case !v.isPinned(ref.Collection) && pinned:
		return "it is not pinned to this session"
	}
	return ""
}

func (v *skillsView) isPinned(id skills.CollectionID) bool {
	for _, p := range v.page.body.catalog.Pinned {
		if p == id {
			return true
		}
	}
	return false
}

// pinnedMsg says how a decision about a pin ended.
type pinnedMsg struct {
	said string
	err  error
}

// askPin asks before a collection is pinned. The prompt holds what it is about
// (T5).
func (v *skillsView) askPin() term.Cmd {
	ref, _ := v.on()
	c := v.page.body.catalog
	id, name := cleanWord(string(ref.Collection)), cleanWord(c.Name)
	body := []string{
		"Its skills stand first in the catalog of the session's agent, and their descriptions reach the agent.",
		"From then on the session has read the collection: whoever joins must be able to read it, also when the pin is taken away.",
	}
	return v.askPinning("Pin "+id+" to "+name+"?", "Pin", body, id+" is pinned to "+name, func(l Library) error {
		return l.Pin(v.a.ctx, ref.Collection, c.Session)
	})
}

func (v *skillsView) askUnpin() term.Cmd {
	ref, _ := v.on()
	c := v.page.body.catalog
	id, name := cleanWord(string(ref.Collection)), cleanWord(c.Name)
	body := []string{"What the agent was told of the collection stays read: the set of what a session has read never shrinks."}
	return v.askPinning("Take the pin of "+id+" from "+name+"?", "Take it away", body, id+" is no longer pinned to "+name, func(l Library) error {
		return l.Unpin(v.a.ctx, ref.Collection, c.Session)
	})
}

func (v *skillsView) askPinning(title, accept string, body []string, said string, do func(Library) error) term.Cmd {
	library := v.a.library
	v.a.sheet.ask(question{
		title: title, body: body, accept: accept,
		do: func(sheetAnswer) term.Cmd {
			return v.a.work(func() term.Msg { return pinnedMsg{said, do(library)} })
		},
	})
	return nil
}

func (v *skillsView) pinned(msg pinnedMsg) term.Cmd {
	if msg.err != nil {
		v.a.fail(withHint(msg.err))
		return nil
	}
	v.a.say(roleGood, msg.said)
	if !v.a.open(v) {
		return nil
	}
	return v.follow()
}
