package core

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Blueprint is what of a session can be made again by somebody else: shapes and instructions, no data (sharing 1, kernel
// K63). What is no member of it never travels: rules, hooks, policies, grants, connections, credentials, environment, what
// was said, read or queued, and the names of what was reached.
type Blueprint struct {
	Title        string // given for the file by a person; never the name of the session
	Instructions string // likewise
	Bindings     []BlueprintBinding
	Skills       []BlueprintSkill
}

// BlueprintBinding is the shape of a binding.
type BlueprintBinding struct {
	Name       BindingName
	Gatekeeper string   // kind of the driver
	Form       string   // of the binding URL, with NAME, PATH and VALUE in the places of names (see FormOf)
	Operations []string // those that were used, sorted
}

// BlueprintSkill refers to a collection of skills that everybody may read. One that not everybody may read is a hole: it
// has neither id nor source.
type BlueprintSkill struct {
	Collection string
	Source     string // where it came from, where that is public too
}

// Hole reports that it stands for a collection that is not for everybody.
func (s BlueprintSkill) Hole() bool { return s.Collection == "" }

// FormOf is the shape of a binding URL without the names in it. Of options and narrowings only those stay that the manifest
// itself names.
func FormOf(m Manifest, url string) string {
	scheme, rest, _ := strings.Cut(url, "://")
	rest, fragment, _ := strings.Cut(rest, "#")
	rest, query, _ := strings.Cut(rest, "?")
	host, path, slash := strings.Cut(rest, "/")
	var b strings.Builder
	b.WriteString(scheme + "://")
	if host != "" {
		b.WriteString("NAME")
	}
	if slash {
		b.WriteString("/")
	}
	if path != "" {
		b.WriteString("PATH")
	}
	for _, part := range [][2]string{{"?", query}, {"#", fragment}} {
		var keys []string
		for pair := range strings.SplitSeq(part[1], "&") {
			if key, _, has := strings.Cut(pair, "="); has && m.namesOption(key) {
				keys = append(keys, key+"=VALUE")
			}
		}
		slices.Sort(keys)
		if len(keys) > 0 {
			b.WriteString(part[0] + strings.Join(keys, "&"))
		}
	}
	return b.String()
}

func (m Manifest) namesOption(key string) bool {
	return key != "" && slices.ContainsFunc(m.Forms, func(form string) bool {
		return slices.ContainsFunc([]string{"?", "&", "#"}, func(before string) bool { return strings.Contains(form, before+key+"=") })
	})
}

// CheckForm refuses what FormOf never gives, so that no name hides in one.
func CheckForm(form string) error {
	fault := Invalid("form %q: not the shape of a binding URL, such as file:///PATH#path=VALUE", form)
	if len(form) > 500 {
		return Invalid("form: %d bytes, 500 at most", len(form))
	}
	scheme, rest, found := strings.Cut(form, "://")
	if !found || !plainKey(scheme) {
		return fault
	}
	rest, fragment, narrowed := strings.Cut(rest, "#")
	rest, query, optioned := strings.Cut(rest, "?")
	switch rest {
	case "", "/", "/PATH", "NAME", "NAME/", "NAME/PATH":
	default:
		return fault
	}
	for _, part := range []struct {
		given bool
		text  string
	}{{optioned, query}, {narrowed, fragment}} {
		if !part.given {
			continue
		}
		for pair := range strings.SplitSeq(part.text, "&") {
			key, value, _ := strings.Cut(pair, "=")
			if !plainKey(key) || value != "VALUE" {
				return fault
			}
		}
	}
	return nil
}

// plainKey accepts what drivers call kinds, options and operations.
func plainKey(s string) bool {
	for i, c := range []byte(s) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c != '_' && c != '-' && c != '.' && (c < '0' || c > '9')) {
			return false
		}
	}
	return s != "" && len(s) <= 64
}

// CheckBlueprintWord refuses what is not the plain name of a kind or an operation.
func CheckBlueprintWord(s string) error {
	if !plainKey(s) {
		return Invalid("%q: not a plain word of letters, digits, '.', '_' and '-'", s)
	}
	return nil
}

// Narrower reports that a form leaves less within reach than another of its kind: it has all its narrowings, and more.
func Narrower(form, than string) bool {
	return form != than && len(missingParts(form, than)) == 0 && len(missingParts(than, form)) > 0
}

// Wider reports that a form lacks a narrowing which another has.
func Wider(form, than string) bool { return len(missingParts(form, than)) > 0 }

// missingParts lists the narrowings of a wanted form that a form lacks.
func missingParts(form, wanted string) []string {
	have := formParts(form)
	return slices.DeleteFunc(formParts(wanted), func(p string) bool { return slices.Contains(have, p) })
}

func formParts(form string) []string {
	_, rest, _ := strings.Cut(form, "://")
	rest, fragment, _ := strings.Cut(rest, "#")
	rest, _, _ = strings.Cut(rest, "?")
	var out []string
	if strings.HasSuffix(rest, "PATH") {
		out = append(out, "/PATH")
	}
	if fragment != "" {
		out = append(out, strings.Split(fragment, "&")...)
	}
	return out
}

// Outline is the blueprint of a session as it is now, without title and instructions; renamed says which bindings have
// another name in it, because theirs is that of something that was reached. Only the owner gets one.
func (k *Kernel) Outline(ctx context.Context, session string, person PersonID) (b Blueprint, renamed map[BindingName]BindingName, err error) {
	set, open, err := k.openUnits(ctx, session, person)
	if err != nil {
		return b, nil, err
	}
	seek := newBlueprintSeek(k.vocabulary(), open)
	var bindings []Binding
	used := make(map[BindingName]map[string]bool)
	err = k.store.Read(ctx, func(v View) error {
		s, err := sessionFor(v, session, person, RoleOwner)
		if err != nil {
			return err
		}
		if bindings, err = v.Bindings(s.ID); err != nil {
			return err
		}
		if used, err = operationsUsed(v, s.ID); err != nil {
			return err
		}
		for _, one := range bindings {
			seek.inName(string(one.Name), one.Name)
		}
		seek.begin()
		return seek.names(v, s)
	})
	if err != nil {
		return b, nil, err
	}
	b.Bindings, renamed = k.outlined(bindings, used, seek.places())
	b.Skills = k.outlinedSkills(set, open)
	return b, renamed, nil
}

// openUnits is the set of a session with those units of it that everybody may read by a rule of ours, so that their names
// are no secret. Drivers look that up themselves, and so it is asked outside of any read of the store.
func (k *Kernel) openUnits(ctx context.Context, session string, person PersonID) (set []Observation, open map[Unit]bool, err error) {
	err = k.store.Read(ctx, func(v View) error {
		s, err := sessionFor(v, session, person, RoleOwner)
		if err == nil {
			set, err = v.Observations(s.ID)
		}
		return err
	})
	open = make(map[Unit]bool)
	for _, o := range set {
		if u := o.Found.Unit; k.strategyOf(u.Gatekeeper) == StrategyVisibility {
			open[u] = k.admits(ctx, Connection{}, u, Observer{Person: nobody}).Passed()
		}
	}
	return set, open, err
}

// outlined gives the shapes of bindings; one whose name tells gets another.
func (k *Kernel) outlined(bindings []Binding, used map[BindingName]map[string]bool, telling map[string]bool) ([]BlueprintBinding, map[BindingName]BindingName) {
	renamed := make(map[BindingName]BindingName)
	taken := make(map[BindingName]bool)
	for _, one := range bindings {
		taken[one.Name] = true
	}
	var out []BlueprintBinding
	for _, one := range bindings {
		shape := BlueprintBinding{Name: one.Name, Gatekeeper: one.Kind}
		for n := 1; telling[string(one.Name)] && shape.Name == one.Name; n++ {
			next := BindingName(fmt.Sprintf("%s_%d", bindingWord(one.Kind), n))
			if !taken[next] {
				taken[next], renamed[one.Name], shape.Name = true, next, next
			}
		}
		if g, known := k.gatekeepers[one.Kind]; known {
			m := g.Manifest()
			shape.Form = FormOf(m, one.URL)
			for _, op := range m.Operations { // an agent can call what does not exist by any name
				if used[one.Name][op.Name] {
					shape.Operations = append(shape.Operations, op.Name)
				}
			}
			slices.Sort(shape.Operations)
		}
		out = append(out, shape)
	}
	slices.SortFunc(out, func(a, b BlueprintBinding) int { return strings.Compare(string(a.Name), string(b.Name)) })
	return out, renamed
}

// bindingWord makes the beginning of a binding name of a kind.
func bindingWord(kind string) string {
	word := strings.ToUpper(strings.NewReplacer("-", "_", ".", "_").Replace(kind))
	if len(word) > 24 || !isBindingName(word) {
		return "BINDING"
	}
	return word
}

// operationsUsed looks in the record for what was called, also by hand.
func operationsUsed(v recordView, session SessionID) (map[BindingName]map[string]bool, error) {
	const window = 1000
	used := make(map[BindingName]map[string]bool)
	q := RecordQuery{Session: session, Types: []EventType{EventRead, EventSubmit}, Limit: window}
	for {
		rows, err := v.Rows(q)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			q.After = row.Seq
			var at struct {
				Binding BindingName `json:"binding"`
				Method  string      `json:"method"`
			}
			if json.Unmarshal(row.Entry.Detail, &at) != nil || at.Binding == "" {
				continue
			}
			if used[at.Binding] == nil {
				used[at.Binding] = make(map[string]bool)
			}
			used[at.Binding][at.Method] = true
		}
		if len(rows) < window {
			return used, nil
		}
	}
}

// nobody is a person that there cannot be: what they may read, everybody may.
const nobody PersonID = "\n"

// outlinedSkills refers to the collections in the set of a session: public ones by id, in order, then the holes.
func (k *Kernel) outlinedSkills(set []Observation, open map[Unit]bool) []BlueprintSkill {
	var out, holes []BlueprintSkill
	for _, o := range set {
		switch u := o.Found.Unit; {
		case k.strategyOf(u.Gatekeeper) != StrategyVisibility:
		case open[u]:
			out = append(out, BlueprintSkill{Collection: u.Name})
		default:
			holes = append(holes, BlueprintSkill{})
		}
	}
	slices.SortFunc(out, func(a, b BlueprintSkill) int { return strings.Compare(a.Collection, b.Collection) })
	return append(out, holes...)
}

// LatchConsent says that the owner wants a blueprint of a session whose latch is set (kernel K63). The zero value refuses.
type LatchConsent int

// LatchConfirmed is the owner's explicit word.
const LatchConfirmed LatchConsent = 1

// BlueprintExport is a blueprint that a person wants to write, as it was shown to them.
type BlueprintExport struct {
	Session     string
	Blueprint   Blueprint
	Destination string // the file, as the record names it
	Contents    string // of the file
	Digest      string // of its bytes
	Consent     LatchConsent
	Write       func() error // called once, when everything else is done
}

// errBlueprintMoved ends an export whose session went on.
var errBlueprintMoved = errors.New("session went on since the blueprint was shown; look again")

// CheckBlueprint looks for everything that was observed in the session in a blueprint of it; the error for what it finds
// is a *BlueprintError. It takes the session's owner.
func (k *Kernel) CheckBlueprint(ctx context.Context, session string, b Blueprint, person PersonID) error {
	_, open, err := k.openUnits(ctx, session, person)
	if err != nil {
		return err
	}
	seek := newBlueprintSeek(k.vocabulary(), open)
	seek.blueprint(b)
	return k.store.Read(ctx, func(v View) error {
		s, err := sessionFor(v, session, person, RoleOwner)
		if err != nil {
			return err
		}
		if err := seek.names(v, s); err != nil {
			return err
		}
		if err := seek.content(v, s); err != nil {
			return err
		}
		return seek.fault()
	})
}

// ExportBlueprint lets a blueprint be written. It refuses one that the session no longer has, that holds something which
// was observed, that the policy of what leaves does not let go, or of a latched session without the owner's consent. It is
// a decision of a person (kernel R34); that, and what the policy said, are rows of the record before anything is written, and
// how it went is one after.
func (k *Kernel) ExportBlueprint(ctx context.Context, e BlueprintExport, by Authority) error {
	by, err := k.authorize(ctx, by)
	if err != nil {
		return err
	}
	if err := k.unmoved(ctx, e, by.Person); err != nil {
		return err
	}
	var s Session
	err = k.store.Read(ctx, func(v View) error {
		if s, err = sessionFor(v, e.Session, by.Person, RoleOwner); err != nil {
			return err
		}
		return consented(v, s, e.Consent)
	})
	if err != nil {
		return err
	}
	if err := k.CheckBlueprint(ctx, string(s.ID), e.Blueprint, by.Person); err != nil {
		return err
	}
	done, err := k.Permit(ctx, EgressRequest{
		Sink: SinkBlueprint, Session: s.ID, Caller: Caller{Kind: CallerPerson, Person: by.Person}, Destination: e.Destination,
		Bytes: len(e.Contents), Digest: e.Digest,
	}, e.Contents)
	if err != nil {
		return err
	}
	err = k.store.Write(ctx, func(tx Tx) error {
		now, err := sessionFor(tx, string(s.ID), by.Person, RoleOwner)
		if err != nil {
			return err
		}
		if err := consented(tx, now, e.Consent); err != nil {
			return err
		}
		return tx.Append(Entry{
			At: k.clock.Now(), Type: EventSession, Session: s.ID, Actor: string(by.Person), Authority: by.String(), Digest: e.Digest,
			Subject: "session " + string(s.ID),
			Detail: detail(map[string]any{
				"event": "blueprint", "latched": now.Latched, "confirmed": now.Latched && e.Consent == LatchConfirmed,
			}),
		})
	})
	if err == nil {
		err = e.Write()
	}
	return together(err, done(err))
}

// consented refuses a latched session without its owner's word.
func consented(v sessionView, s Session, c LatchConsent) error {
	if c == LatchConfirmed {
		return nil
	}
	return unlatched(v, s, "blueprint without its owner's confirmation")
}

// unmoved holds a blueprint against the session as it is: what was shown is what is written, and nothing but.
func (k *Kernel) unmoved(ctx context.Context, e BlueprintExport, person PersonID) error {
	fresh, _, err := k.Outline(ctx, e.Session, person)
	if err != nil {
		return err
	}
	same := len(fresh.Skills) == len(e.Blueprint.Skills) && len(fresh.Bindings) == len(e.Blueprint.Bindings)
	for i := 0; same && i < len(fresh.Skills); i++ {
		same = fresh.Skills[i].Collection == e.Blueprint.Skills[i].Collection
		same = same && (!fresh.Skills[i].Hole() || e.Blueprint.Skills[i].Source == "")
	}
	for i := 0; same && i < len(fresh.Bindings); i++ {
		a, b := fresh.Bindings[i], e.Blueprint.Bindings[i]
		same = a.Name == b.Name && a.Gatekeeper == b.Gatekeeper && a.Form == b.Form && slices.Equal(a.Operations, b.Operations)
	}
	if !same {
		return errBlueprintMoved
	}
	return nil
}
