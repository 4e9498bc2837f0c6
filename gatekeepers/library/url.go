package library

import (
	"fmt"
	"net/url"
	"strings"

	"gatehouse/skills"
)

// Whole is the binding URL of the whole library.
const Whole = scheme

// Reaches reports that a binding URL lets a collection be read.
func Reaches(url string, id skills.CollectionID) bool {
	p, err := parsePlace(url)
	return err == nil && (p.collection == "" || p.collection == id)
}

const (
	scheme     = "library:///"
	narrowing  = "#collection="
	urlExample = "write library:/// or library:///#collection=ID"
)

// place is what a binding URL names: the library, or one collection of it.
type place struct {
	collection skills.CollectionID // empty is all
}

// String prints the one canonical form, which parsePlace reads back exactly.
func (p place) String() string {
	if p.collection == "" {
		return scheme
	}
	// Spaces are no part of an id, so a query's escapes are a path's here.
	return scheme + narrowing + url.QueryEscape(string(p.collection))
}

// parsePlace reads a binding URL. A narrowing that cannot be read whole grants nothing (GK2).
func parsePlace(raw string) (place, error) {
	rest, ours := strings.CutPrefix(raw, scheme)
	switch {
	case !ours:
		return place{}, fmt.Errorf("binding %q: does not begin with %s; %s", raw, scheme, urlExample)
	case rest == "":
		return place{}, nil
	}
	escaped, narrowed := strings.CutPrefix(rest, narrowing)
	if !narrowed || strings.ContainsAny(escaped, "&#?+") {
		return place{}, fmt.Errorf("binding %q: has a narrowing other than %sID; %s", raw, narrowing, urlExample)
	}
	id, err := url.PathUnescape(escaped)
	if err != nil {
		return place{}, fmt.Errorf("binding %q: has a %% that is no escape; %s", raw, urlExample)
	}
	p := place{collection: skills.CollectionID(id)}
	if err := skills.CheckCollectionID(p.collection); err != nil {
		return place{}, fmt.Errorf("binding %q: %w; %s", raw, err, urlExample)
	}
	return p, nil
}
