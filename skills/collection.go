package skills

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// AccountID names an account of the tenant.
type AccountID string

// CollectionID names a collection: see [CheckCollectionID].
type CollectionID string

// Visibility says who may read a collection. The zero value is no one.
type Visibility string

// The visibilities.
const (
	VisibilityPublic  Visibility = "public"  // everyone in the tenant
	VisibilityPrivate Visibility = "private" // its owner alone
)

// SourceKind says where a collection's documents came from.
type SourceKind string

// The kinds of source.
const (
	SourceWritten SourceKind = "written" // here, by a person
	SourceFolder  SourceKind = "folder"
	SourceGit     SourceKind = "git"
	SourceBuiltIn SourceKind = "built-in" // part of the program
)

// Source is provenance and nothing else: the package fetches nothing.
type Source struct {
	Kind   SourceKind
	Remote string // folder or address, without credentials
	Branch string
	Commit string
}

// String returns the source as one clean line.
func (s Source) String() string {
	parts := []string{string(s.Kind), s.Remote, s.Branch, s.Commit}
	return oneLine(strings.Join(parts, " "))
}

// Collection is a shelf of documents.
type Collection struct {
	ID          CollectionID
	Title       string
	Description string
	// Visibility is fixed when the collection is made.
	Visibility Visibility
	Owner      AccountID // of a private collection; of a public one, who made it
	Source     Source
}

const collectionIDLimit = 256 // code points, as in the catalog

// CheckCollectionID refuses an id that is empty, longer than 256 code points,
// or holds a slash, a space or a character that cannot be seen.
func CheckCollectionID(id CollectionID) error {
	s := string(id)
	refuse := func(why string) error {
		return &RefusedError{
			Code: CodeBadCollection, Text: "collection id " + shown(s) + ": " + why,
			Hint: "name it with letters, digits and hyphens",
		}
	}
	switch n := utf8.RuneCountInString(s); {
	case n == 0:
		return refuse("empty")
	case n > collectionIDLimit:
		return refuse(fmt.Sprintf("%d characters, at most %d", n, collectionIDLimit))
	case strings.ContainsRune(s, '/'):
		return refuse("holds a slash")
	case strings.ContainsFunc(s, unicode.IsSpace):
		return refuse("holds a space")
	case oneLine(s) != s:
		return refuse("holds a character that cannot be seen")
	}
	return nil
}

// Scope is for whom a result is: everyone named must be able to read what is
// in it. In a session with others that is all of them. The zero scope reads
// nothing.
type Scope struct {
	Accounts []AccountID
	// Only narrows it to one collection; empty is all. It is part of the query
	// like the rest: what lies outside does not exist.
	Only CollectionID
}

// For returns the scope of one or several accounts.
func For(accounts ...AccountID) Scope { return Scope{Accounts: accounts} }

// Reads reports that everyone in the scope may read the collection.
func (s Scope) Reads(c Collection) bool { return s.reads(c.ID, c.Visibility, c.Owner) }

func (s Scope) reads(id CollectionID, v Visibility, owner AccountID) bool {
	if len(s.Accounts) == 0 || s.Only != "" && s.Only != id {
		return false
	}
	switch v {
	case VisibilityPublic:
		return true
	case VisibilityPrivate:
		for _, account := range s.Accounts {
			if account == "" || account != owner {
				return false
			}
		}
		return true
	}
	return false
}
