package tui

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gatehouse/tui/term"
)

// place is where keys mean something: a pane, a screen or a dialog.
type place string

// The places.
const (
	atList       place = "queue"
	atDetail     place = "detail"
	atFilter     place = "filter"
	atSessions   place = "sessions"
	atTranscript place = "transcript"
	atComposer   place = "composer"
	atStep       place = "step"
	atHelp       place = "help"
	atPlan       place = "plan"
	atRunning    place = "carrying out"
	atOutcome    place = "outcome"
	atSheet      place = "prompt"
	atPalette    place = "palette"

	atPick        place = "choice"
	atProposal    place = "proposal"
	atConnections place = "connections"
	atFirst       place = "begin"
)

// The places of what was read.
const (
	atObserved       place = "observations"
	atObservedFilter place = "observations filter"
	atUnit           place = "unit"
)

// screens are the places that are no dialog; everywhere is all of them.
func screens() []place {
	return []place{atList, atDetail, atSessions, atTranscript, atStep, atConnections, atFirst, atObserved, atUnit, atRecord, atRecordChain, atRecordRow, atSkills, atSkillsText, atPeople, atPerson, atPolicy, atOpening}
}

func everywhere() []place {
	return append(screens(), atFilter, atRecordFilter, atObservedFilter, atSkillsFind, atComposer, atHelp, atPlan, atRunning, atOutcome, atSheet, atPalette, atPick, atProposal, atPreview)
}

// dialog reports a place that a person entered on purpose, that holds what it
// is about, and that drops keys for a moment after it opens.
func (p place) dialog() bool {
	return p == atPlan || p == atRunning || p == atSheet || p == atPalette || p == atPick || p == atProposal || p == atPreview
}

// command is one thing that keys do. Dispatch, footer, help and palette come from the
// same records.
type command struct {
	name      string // for configuration: never changes
	at        []place
	keys      []string // the first is the one that footer and help show
	title     string   // one or two words for the footer
	about     string   // one line for the help
	tag       string   // heading in the help
	decides   bool     // changes what happens outside, or drafts it
	prompts   bool     // opens a prompt or the plan first
	navigates bool     // moves, and nothing else
	footer    int      // place in the footer, from 1; 0 is none
	disabled  func() string
	run       func() term.Cmd
}

// KeyChange gives a command other keys than its own.
type KeyChange struct {
	Command string
	Keys    []string
}

// keyTable finds the command of a key.
type keyTable struct {
	commands []*command
	byKey    map[place]map[string]*command
}

// newKeyTable puts changes into effect and refuses a table in which a key means
// two things, or in which a decision stands where a hand goes by reflex (T3).
func newKeyTable(commands []*command, changes []KeyChange) (*keyTable, error) {
	t := &keyTable{commands: commands, byKey: make(map[place]map[string]*command)}
	if err := t.change(changes); err != nil {
		return nil, err
	}
	var faults []error
	for _, c := range commands {
		faults = append(faults, t.add(c)...)
	}
	for _, c := range commands {
		faults = append(faults, t.reflexes(c)...)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return t, nil
}

func (t *keyTable) change(changes []KeyChange) error {
	for _, change := range changes {
		i := slices.IndexFunc(t.commands, func(c *command) bool { return c.name == change.Command })
		if i < 0 {
			return fmt.Errorf("keys: command %q does not exist; see the help on ?", change.Command)
		}
		if len(change.Keys) == 0 {
			return fmt.Errorf("keys: command %q is left without a key", change.Command)
		}
		changed := *t.commands[i]
		changed.keys = change.Keys
		t.commands[i] = &changed
	}
	return nil
}

func (t *keyTable) add(c *command) []error {
	var faults []error
	for _, p := range c.at {
		if t.byKey[p] == nil {
			t.byKey[p] = make(map[string]*command)
		}
		for _, key := range c.keys {
			if other, taken := t.byKey[p][key]; taken {
				faults = append(faults, fmt.Errorf("keys: %q is the key of both %s and %s in %s", key, other.name, c.name, p))
				continue
			}
			t.byKey[p][key] = c
		}
	}
	return faults
}

// reflexes finds decisions on keys that other programs taught the hand.
func (t *keyTable) reflexes(c *command) []error {
	if !c.decides || !slices.ContainsFunc(c.at, func(p place) bool { return !p.dialog() }) {
		return nil
	}
	var faults []error
	for _, key := range c.keys {
		if owner := t.navigator(key); owner != "" {
			faults = append(faults, fmt.Errorf("keys: %s decides and may not stand on %q, the key of %s", c.name, key, owner))
		} else if !c.prompts && !capital(key) {
			faults = append(faults, fmt.Errorf("keys: %s decides and may stand on a capital alone, not on %q", c.name, key))
		}
	}
	return faults
}

// navigator names the command that makes a key one of navigation.
func (t *keyTable) navigator(key string) string {
	for _, c := range t.commands {
		if c.navigates && slices.Contains(c.keys, key) {
			return c.name
		}
	}
	if slices.Contains([]string{"enter", "esc", "space", "tab", "y", "a", "d", "s", "v"}, key) {
		return "navigation"
	}
	return ""
}

func capital(key string) bool {
	r, size := utf8.DecodeRuneInString(key)
	return size == len(key) && unicode.IsUpper(r)
}

// find looks a key up; nil where it means nothing.
func (t *keyTable) find(p place, key string) *command { return t.byKey[p][key] }

// listed returns the commands of a place in the order of the table.
func (t *keyTable) listed(p place) []*command {
	var out []*command
	for _, c := range t.commands {
		if slices.Contains(c.at, p) {
			out = append(out, c)
		}
	}
	return out
}

// why says why a command cannot be used now; empty where it can.
func (c *command) why() string {
	if c.disabled == nil {
		return ""
	}
	return c.disabled()
}

// keyLabel spells keys as people do.
func keyLabel(key string) string {
	switch key {
	case "up":
		return "↑"
	case "down":
		return "↓"
	case "left":
		return "←"
	case "right":
		return "→"
	}
	return key
}

// footerKeys are the commands of a place that the footer shows, most useful
// first; those that cannot be used now are left out.
func (t *keyTable) footerKeys(p place) []*command {
	var out []*command
	for _, c := range t.listed(p) {
		if c.footer > 0 && c.why() == "" {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b *command) int { return a.footer - b.footer })
	return out
}

// keyList spells all keys of a command.
func keyList(keys []string) string {
	labels := make([]string, len(keys))
	for i, key := range keys {
		labels[i] = keyLabel(key)
	}
	return strings.Join(labels, " ")
}
