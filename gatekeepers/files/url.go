package files

import (
	"fmt"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"
)

// place is what a binding URL names: a folder, and the part of it that is granted ("" is all of it).
type place struct {
	root string // absolute, clean
	sub  string // relative, clean
}

// String prints the one canonical form, which parsePlace reads back exactly.
func (p place) String() string {
	s := "file://" + escape(p.root)
	if p.sub != "" {
		s += "#path=" + escape(p.sub)
	}
	return s
}

// parsePlace reads a binding URL. What it cannot read whole it refuses: a narrowing that is not understood grants nothing.
func parsePlace(s string) (place, error) {
	fault := func(why string) (place, error) {
		return place{}, fmt.Errorf("binding %q: %s; write file:///FOLDER or file:///FOLDER#path=SUB", s, why)
	}
	rest, found := strings.CutPrefix(s, "file://")
	if !found {
		return fault("does not begin with file://")
	}
	rootText, fragment, narrowed := strings.Cut(rest, "#")
	if !strings.HasPrefix(rootText, "/") {
		return fault("names a host, or a folder that is not absolute")
	}
	if strings.Contains(rootText, "?") {
		return fault("has a query (write %3F for a question mark in a name)")
	}
	root, why := decode(rootText)
	if why != "" {
		return fault(why)
	}
	for _, name := range strings.Split(root, "/") {
		if name == ".." {
			return fault("goes up with ..")
		}
		if isGitName(name) {
			return fault(".git is never in a binding")
		}
	}
	p := place{root: path.Clean(root)}
	if !narrowed {
		return p, nil
	}
	subText, found := strings.CutPrefix(fragment, "path=")
	if !found || strings.ContainsAny(subText, "&#") {
		return fault("has a narrowing other than #path=SUB (write %26 for & and %23 for # in a name)")
	}
	sub, why := decode(subText)
	if why != "" {
		return fault(why)
	}
	if p.sub, why = relative(sub); why != "" {
		return fault("path " + why)
	}
	if p.sub == "" {
		return fault("has an empty path")
	}
	return p, nil
}

func decode(s string) (decoded, why string) {
	decoded, err := url.PathUnescape(s)
	switch {
	case err != nil:
		return "", "has a % that is no escape"
	case !utf8.ValidString(decoded):
		return "", "is not UTF-8"
	case strings.ContainsRune(decoded, 0):
		return "", "holds a zero byte"
	}
	return decoded, ""
}

// escape writes everything but the characters that no part of a URL gives a meaning to.
func escape(s string) string {
	const plain = "-._~/"
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte(plain, c) >= 0 {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}
