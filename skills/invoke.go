package skills

import (
	"context"
	"slices"
)

// Expansion is what a message becomes that calls a skill.
type Expansion struct {
	Ref    Ref
	SHA256 string // of the document it was made from
	Text   string // clean, for person and model alike
}

// Invocation is a command made ready: what a person sees before it is sent.
type Invocation struct {
	Command Command
	Builtin string // the command is a built-in, and the rest is empty
	Skill   Skill
	Expansion
	Change Change // how the skill stands to what this person used last
	Source string // the document, to be kept as what was used
}

// Uses keeps what each account used last of each skill.
type Uses interface {
	// LastUse returns nil where the account never used it.
	LastUse(ctx context.Context, account AccountID, ref Ref) (*Use, error)
	// Used keeps a use in the place of the one before.
	Used(ctx context.Context, use Use) error
}

// Offer is a skill that a person may call, as a list of commands shows it.
type Offer struct {
	Ref         Ref
	Word        string // what to type: /name, or /name:collection where several have the name
	Hint        string // what arguments it takes, clean
	Description string // clean
}

// Expansion returns what the message becomes that calls the skill. A skill that
// is gone since it was listed is not found, and nothing is to be sent.
func (l *Library) Expansion(ctx context.Context, scope Scope, ref Ref, args string) (Expansion, error) {
	expansion, _, err := l.expansion(ctx, scope, ref, args)
	return expansion, err
}

func (l *Library) expansion(ctx context.Context, scope Scope, ref Ref, args string) (Expansion, Document, error) {
	c, d, err := l.shelf.Document(ctx, scope, ref)
	if CodeOf(err) == CodeNotFound || err == nil && !scope.Reads(c) {
		return Expansion{}, Document{}, noLongerAvailable(ref)
	}
	if err != nil {
		return Expansion{}, Document{}, err
	}
	text, err := Expand(c, d, args)
	return Expansion{Ref: ref, SHA256: d.SHA256, Text: text}, d, err
}

// Expand is Expansion for whoever needs the text alone.
func (l *Library) Expand(ctx context.Context, scope Scope, ref Ref, args string) (string, error) {
	expansion, err := l.Expansion(ctx, scope, ref, args)
	return expansion.Text, err
}

// Invoke finds what a command of one account means and expands it. A built-in
// wins and expands to nothing. Uses may be nil: then nothing was ever used.
func (l *Library) Invoke(ctx context.Context, account AccountID, c Command, uses Uses) (Invocation, error) {
	skills, err := l.invocable(ctx, For(account), c.Collection)
	if err != nil {
		return Invocation{}, err
	}
	target, err := Resolve(c, skills)
	if err != nil || target.Builtin != "" {
		return Invocation{Command: c, Builtin: target.Builtin}, err
	}
	return l.invocation(ctx, account, c, target.Skill, uses)
}

// InvokeRef is Invoke for a skill that a person chose among several of one name.
func (l *Library) InvokeRef(ctx context.Context, account AccountID, c Command, ref Ref, uses Uses) (Invocation, error) {
	skills, err := l.invocable(ctx, For(account), ref.Collection)
	if err != nil {
		return Invocation{}, err
	}
	at := slices.IndexFunc(skills, func(s Skill) bool { return s.Ref == ref && s.Frontmatter.UserInvocable })
	if at < 0 {
		return Invocation{}, noLongerAvailable(ref)
	}
	return l.invocation(ctx, account, c, skills[at], uses)
}

func (l *Library) invocation(ctx context.Context, account AccountID, c Command, skill Skill, uses Uses) (Invocation, error) {
	expansion, d, err := l.expansion(ctx, For(account), skill.Ref, c.Args)
	if err != nil {
		return Invocation{}, err
	}
	var last *Use
	if uses != nil {
		if last, err = uses.LastUse(ctx, account, skill.Ref); err != nil {
			return Invocation{}, err
		}
	}
	return Invocation{
		Command: c, Skill: skill, Expansion: expansion, Change: ChangeSince(last, account, d), Source: string(d.Bytes),
	}, nil
}

// invocable lists the skills of one collection, or of all. One that cannot be
// loaded now has none.
func (l *Library) invocable(ctx context.Context, scope Scope, only CollectionID) ([]Skill, error) {
	all, err := l.collections(ctx, scope)
	if err != nil {
		return nil, err
	}
	var found []Skill
	for _, c := range all {
		if only != "" && c.ID != only {
			continue
		}
		skills, err := l.shelf.Skills(ctx, scope, c.ID)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil {
			found = append(found, skills...)
		}
	}
	return found, nil
}

// Offers lists the skills that an account may call, by the word to type.
func (l *Library) Offers(ctx context.Context, account AccountID) ([]Offer, error) {
	skills, err := l.invocable(ctx, For(account), "")
	if err != nil {
		return nil, err
	}
	skills = slices.DeleteFunc(skills, func(s Skill) bool { return !s.Frontmatter.UserInvocable })
	times := make(map[string]int, len(skills))
	for _, name := range Builtins() {
		times[name]++
	}
	for _, s := range skills {
		times[s.Frontmatter.Name]++
	}
	offers := make([]Offer, 0, len(skills))
	for _, s := range skills {
		c := Command{Name: s.Frontmatter.Name}
		if times[c.Name] > 1 {
			c.Collection = s.Ref.Collection
		}
		offers = append(offers, Offer{
			Ref: s.Ref, Word: c.word(), Hint: capped(s.Frontmatter.ArgumentHint, snippetLimit),
			Description: capped(s.Frontmatter.Description, CatalogDescription),
		})
	}
	slices.SortFunc(offers, func(a, b Offer) int {
		if a.Word != b.Word {
			if a.Word < b.Word {
				return -1
			}
			return 1
		}
		return compareRefs(a.Ref, b.Ref)
	})
	return offers, nil
}
