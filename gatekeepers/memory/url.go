package memory

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// address is a binding URL, read.
type address struct {
	service    string
	collection string // empty: all of them
	file       string
	native     bool
	latency    time.Duration
	seed       int
	failures   []failure
}

// isName accepts letters, digits, '.', '_' and '-', the first a letter or a digit, 64 at most.
func isName(s string) bool {
	plain := func(r rune) bool {
		return (r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z') || (r >= '0' && r <= '9')
	}
	for i, r := range s {
		if !plain(r) && (i == 0 || !strings.ContainsRune("._-", r)) {
			return false
		}
	}
	return s != "" && len(s) <= 64
}

const scheme = "memory"

// parseAddress reads a binding URL; what it does not understand grants nothing (GK2).
func parseAddress(raw string) (address, error) {
	fault := func(format string, args ...any) (address, error) {
		return address{}, fmt.Errorf("memory URL %q: "+format, append([]any{raw}, args...)...)
	}
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != scheme || u.Opaque != "" {
		return fault("use memory://NAME or memory://NAME/COLLECTION")
	}
	if u.User != nil || u.Fragment != "" || strings.Contains(raw, "#") {
		return fault("takes no user and no fragment")
	}
	a := address{service: u.Host}
	if !isName(a.service) {
		return fault("NAME must be letters, digits, '.', '_', '-', 64 at most")
	}
	if path := strings.TrimPrefix(u.EscapedPath(), "/"); path != "" {
		if !isName(path) {
			return fault("COLLECTION must be letters, digits, '.', '_', '-', 64 at most")
		}
		a.collection = path
	}
	options, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return fault("options cannot be read")
	}
	for key, values := range options {
		if len(values) != 1 {
			return fault("option %q is given twice", key)
		}
		if err := a.option(key, values[0]); err != nil {
			return fault("%w", err)
		}
	}
	return a, nil
}

func (a *address) option(key, value string) (err error) {
	switch key {
	case "file":
		if !filepath.IsAbs(value) || filepath.Clean(value) != value {
			return fmt.Errorf("option file: %q is not an absolute, clean path", value)
		}
		a.file = value
	case "replay":
		if value != "native" && value != "overlay" {
			return fmt.Errorf("option replay: %q is neither overlay nor native", value)
		}
		a.native = value == "native"
	case "latency":
		if a.latency, err = time.ParseDuration(value); err != nil || a.latency < 0 {
			return fmt.Errorf("option latency: %q is not a duration", value)
		}
	case "seed":
		if a.seed, err = strconv.Atoi(value); err != nil || a.seed < 0 || a.seed > 10000 {
			return fmt.Errorf("option seed: %q is not a number from 0 to 10000", value)
		}
	case "fail":
		a.failures, err = parseFailures(value)
		return err
	default:
		return fmt.Errorf("option %q does not exist; there are fail, file, latency, replay, seed", key)
	}
	return nil
}

// String prints the one canonical form; parseAddress is its inverse.
func (a address) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s://%s", scheme, a.service)
	if a.collection != "" {
		s.WriteString("/" + a.collection)
	}
	options := url.Values{}
	if len(a.failures) > 0 {
		options.Set("fail", printFailures(a.failures))
	}
	if a.file != "" {
		options.Set("file", a.file)
	}
	if a.latency > 0 {
		options.Set("latency", a.latency.String())
	}
	if a.native {
		options.Set("replay", "native")
	}
	if a.seed > 0 {
		options.Set("seed", strconv.Itoa(a.seed))
	}
	if len(options) > 0 {
		s.WriteString("?" + options.Encode())
	}
	return s.String()
}
