package openai

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"gatehouse/core"
)

// nameLimit is how long the protocol lets a name of a tool be.
const nameLimit = 64

// wireName is a tool's name in the letters that the protocol allows. NAME.method becomes NAME-method. Whatever that
// would not bring back whole gets a hash of the full name and a second dash, so that no two become one.
func wireName(full string) string {
	binding, method, dotted := strings.Cut(full, ".")
	if plain(binding) && (!dotted || plain(method)) && len(full) <= nameLimit {
		return strings.Replace(full, ".", "-", 1)
	}
	suffix := fmt.Sprintf("-x-%x", sha256.Sum256([]byte(full)))[:3+16]
	safe := []byte(full)
	for i, c := range safe {
		if !letter(c) {
			safe[i] = '_'
		}
	}
	return string(safe[:min(len(safe), nameLimit-len(suffix))]) + suffix
}

func plain(s string) bool {
	for i := range len(s) {
		if !letter(s[i]) {
			return false
		}
	}
	return s != ""
}

func letter(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
}

// fullNames finds the tools of a request again by the names under which they went out.
func fullNames(tools []core.Tool) map[string]string {
	out := make(map[string]string, len(tools))
	for _, t := range tools {
		out[wireName(t.Name)] = t.Name
	}
	return out
}

// fullName is what a model meant. A name that was not offered is passed on as it would be written here, for the kernel
// to say that there is no such tool.
func fullName(wire string, offered map[string]string) string {
	if full, known := offered[wire]; known {
		return full
	}
	if strings.Count(wire, "-") == 1 && !strings.Contains(wire, ".") {
		return strings.Replace(wire, "-", ".", 1)
	}
	return wire
}
