package files

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"gatehouse/core"
	"gatehouse/core/text"
)

// tempPrefix begins the names of our own unfinished files and of folders that are being removed.
const tempPrefix = ".gatehouse-tmp-"

// Limits of names, those of common file systems.
const (
	maxName = 255
	maxPath = 4096
)

// malformed says what is wrong with a path that could stand for nothing anywhere; empty when it could.
func malformed(s string) string {
	switch {
	case !utf8.ValidString(s):
		return "is not UTF-8"
	case strings.ContainsRune(s, 0):
		return "holds a zero byte"
	case len(s) > maxPath:
		return "is too long"
	default:
		return ""
	}
}

// relative cleans a path that must stay where it begins; "" is the folder itself. The reason is empty when it is good.
// It looks at the spelling alone, so that it tells nothing of what exists.
func relative(s string) (clean, why string) {
	if why := malformed(s); why != "" {
		return "", why
	}
	if strings.HasPrefix(s, "/") {
		return "", "is absolute; use one relative to the folder"
	}
	for _, name := range strings.Split(s, "/") {
		switch {
		case name == "..":
			return "", "goes up with .."
		case isGitName(name):
			return "", "goes into .git, which is never in a binding"
		case strings.HasPrefix(strings.ToLower(name), tempPrefix):
			return "", "has a name that is reserved for unfinished files"
		case len(name) > maxName:
			return "", "has a name longer than 255 bytes"
		}
	}
	clean = path.Clean(s)
	if clean == "." {
		clean = ""
	}
	return clean, ""
}

// hidden reports whether a name on disk is never shown and never touched.
func hidden(name string) bool { return isTemp(name) || isGitName(name) }

func isTemp(name string) bool { return strings.HasPrefix(strings.ToLower(name), tempPrefix) }

// isGitName reports whether any file system takes a name for ".git": in another case, with characters that HFS+ ignores,
// with the trailing dots, spaces and streams that NTFS drops, or as its short name.
func isGitName(name string) bool {
	if len(name) < 4 || strings.IndexByte(".gG\xe2\xef", name[0]) < 0 {
		return false
	}
	kept := strings.Map(func(r rune) rune {
		if hfsIgnored(r) {
			return -1
		}
		return r
	}, name)
	if i := strings.IndexByte(kept, ':'); i >= 0 {
		kept = kept[:i]
	}
	if i := strings.IndexByte(kept, '\\'); i >= 0 {
		kept = kept[:i]
	}
	kept = strings.TrimRight(kept, ". ")
	return strings.EqualFold(kept, ".git") || strings.EqualFold(kept, "git~1")
}

func hfsIgnored(r rune) bool {
	switch {
	case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
		return true
	default:
		return false
	}
}

// presentable refuses names that a person could not tell apart on a screen. Files that have such names can be read and
// deleted; none is made.
func presentable(p string) error {
	if strings.ContainsFunc(p, unicode.IsControl) {
		return core.Invalid("path %s: control characters are not allowed in new names", quote(p))
	}
	if _, changed := text.CleanLine(p, text.NoLimit); changed {
		return core.Invalid("path %s: invisible characters are not allowed in new names", quote(p))
	}
	return nil
}

// quote makes a path fit for one line of text.
func quote(p string) string {
	if p == "" {
		return "."
	}
	line, _ := text.CleanLine(p, 200)
	return line
}

func join(folder, name string) string {
	if folder == "" {
		return name
	}
	if name == "" {
		return folder
	}
	return folder + "/" + name
}

// split takes the last name off a path.
func split(p string) (folder, name string) {
	if i := strings.LastIndexByte(p, '/'); i >= 0 {
		return p[:i], p[i+1:]
	}
	return "", p
}

// below reports whether p is folder or lies in it, and gives the rest of the path.
func below(p, folder string) (rest string, ok bool) {
	switch {
	case folder == "":
		return p, true
	case p == folder:
		return "", true
	case strings.HasPrefix(p, folder+"/"):
		return p[len(folder)+1:], true
	default:
		return "", false
	}
}

// ancestors lists the folders above a path, outermost first, the root aside.
func ancestors(p string) []string {
	var list []string
	for i := range len(p) {
		if p[i] == '/' {
			list = append(list, p[:i])
		}
	}
	return list
}

// toUTF8 makes a name of the disk fit for JSON.
func toUTF8(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
