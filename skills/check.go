package skills

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits of what a head says, in code points.
const (
	NameLimit          = 64
	DescriptionLimit   = 1024
	CompatibilityLimit = 500
)

// judge checks the values that were read, and puts them in place.
func (h *head) judge() {
	for _, s := range h.places {
		switch s.Key {
		case "name":
			h.fm.Name = s.Text
			h.name(s)
		case "description":
			h.description(s)
		case "license":
			h.fm.License = s.Text
		case "compatibility":
			if h.fits(s, s.Text, CompatibilityLimit, FaultCompatLong) {
				h.fm.Compatibility = s.Text
			}
		case "user-invocable":
			h.fm.UserInvocable = h.boolean(s, true)
		case "disable-model-invocation":
			h.fm.ModelInvocable = !h.boolean(s, false)
		}
	}
	h.missing("name", FaultNameMissing, "write name: and a name of a-z, 0-9 and hyphens")
	h.missing("description", FaultDescMissing, "write description: and when to use the skill")
}

// missing complains about a required key that is nowhere. One that was there
// and could not be read has had its complaint.
func (h *head) missing(key string, code FaultCode, repair string) {
	there := slices.ContainsFunc(h.places, func(s Scalar) bool { return s.Key == key })
	if !there && !slices.Contains(h.faulty, key) {
		h.fault(1, 1, code, "there is no "+key, repair)
	}
}

func (h *head) name(s Scalar) {
	if s.Text == "" {
		h.fault(s.Line, s.Column, FaultNameMissing, "the name is empty", "write a name of a-z, 0-9 and hyphens")
		return
	}
	if at := badNameAt(s.Text); at >= 0 {
		r, _ := utf8.DecodeRuneInString(s.Text[at:])
		h.fault(s.Line, s.Column+utf8.RuneCountInString(s.Text[:at]), FaultNameChars,
			"the name has "+strconv.QuoteRune(r)+" where it may not stand", "use a-z and 0-9, with single hyphens between them")
	}
	h.fits(s, s.Text, NameLimit, FaultNameLong)
	if slices.Contains(Builtins(), s.Text) {
		h.fault(s.Line, s.Column, FaultNameReserved, "the built-in command /"+s.Text+" wins over a skill of this name", "choose another name")
	}
}

// badNameAt returns the index of the first character that may not stand where
// it does in a skill's name, or -1.
func badNameAt(name string) int {
	for i := range len(name) {
		c := name[i]
		inner := c == '-' && i > 0 && i+1 < len(name) && name[i-1] != '-'
		if !inner && !(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') {
			return i
		}
	}
	return -1
}

func (h *head) description(s Scalar) {
	h.fm.Description = strings.TrimSpace(s.Text)
	if h.fm.Description == "" {
		h.fault(s.Line, s.Column, FaultDescMissing, "the description is empty", "write when to use the skill")
		return
	}
	if !h.fits(s, h.fm.Description, DescriptionLimit, FaultDescLong) {
		return
	}
	if n := utf8.RuneCountInString(h.fm.Description); n > CatalogDescription {
		h.fault(s.Line, s.Column, FaultDescCatalog,
			fmt.Sprintf("the catalog shows %d of the description's %d characters", CatalogDescription, n), "say in the first 400 characters when to use the skill")
	}
}

// fits checks a limit in code points.
func (h *head) fits(s Scalar, text string, limit int, code FaultCode) bool {
	n := utf8.RuneCountInString(text)
	if n <= limit {
		return true
	}
	at := s.Column
	if code == FaultNameLong {
		at += limit
	}
	h.fault(s.Line, at, code, fmt.Sprintf("%s has %d characters, at most %d", s.Key, n, limit), "shorten it")
	return false
}

// boolean reads true or false; anything else is said and not used.
func (h *head) boolean(s Scalar, otherwise bool) bool {
	switch s.Text {
	case "true":
		return true
	case "false":
		return false
	}
	h.fault(s.Line, s.Column, FaultUnread, s.Key+" is not used: it is neither true nor false", "write true or false")
	return otherwise
}

// Skill is a document that is a skill.
type Skill struct {
	Ref         Ref
	Title       string // the document's, or the skill's name
	Author      AccountID
	SHA256      string
	Frontmatter Frontmatter
	Body        int // offset of the text in the document's bytes
}

// Problem is a document named as a skill with what is wrong with it.
type Problem struct {
	Ref    Ref
	Faults []Fault // in the order of the file
}

// Inspect reads a document as a skill. A document that is not named as one is
// neither skill nor problem; one with an error is no skill. The faults hold
// warnings too.
func Inspect(d Document) (skill Skill, ok bool, faults []Fault) {
	if !IsSkillPath(d.Ref.Path) {
		return Skill{}, false, nil
	}
	p := Lint(d.Ref.Path, d.Bytes)
	if !p.Valid() {
		return Skill{}, false, p.Faults
	}
	title := d.Title
	if title == "" {
		title = p.Frontmatter.Name
	}
	return Skill{
		Ref: d.Ref, Title: title, Author: d.Author, SHA256: d.SHA256, Frontmatter: p.Frontmatter, Body: p.Body,
	}, true, p.Faults
}

// Lint parses a file and compares its name with the folder it lies in.
func Lint(path string, file []byte) Parsed {
	p := Parse(file)
	folder := folderName(path)
	if folder == "" || folder == p.Frontmatter.Name || !p.Valid() {
		return p
	}
	for _, s := range p.Scalars {
		if s.Key == "name" {
			p.Faults = append(p.Faults, Fault{
				Line: s.Line, Column: s.Column, Code: FaultNameFolder,
				Reason: "the folder is named " + shown(folder) + " and the skill " + shown(s.Text), Repair: "give both one name",
			})
		}
	}
	sortFaults(p.Faults)
	return p
}

// Problems lists, in the order given, the documents that are named as skills
// and are none, with every fault.
func Problems(documents []Document) []Problem {
	var problems []Problem
	for _, d := range documents {
		if _, ok, faults := Inspect(d); !ok && len(faults) > 0 {
			problems = append(problems, Problem{Ref: d.Ref, Faults: faults})
		}
	}
	return problems
}
