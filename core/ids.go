package core

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// SessionID names a session for ever, such as "s12". A name can change, an id cannot.
type SessionID string

// ActionID numbers everything that stands in the queue of a store: actions and questions share one sequence,
// so that one number on a screen or a command line means one thing.
type ActionID int64

// String is the number as people type it.
func (id ActionID) String() string { return strconv.FormatInt(int64(id), 10) }

// ConnectionID names a connection for ever, such as "c3".
type ConnectionID string

// PersonID names a person who can own sessions and decide; on one machine it is the system user.
type PersonID string

// ProcessID names one running process of the program, told apart from every earlier one with the same pid.
type ProcessID string

// PlanID names one plan; it can be confirmed once (kernel R22).
type PlanID string

// BindingName is what an agent calls a binding: env.NAME.
type BindingName string

// ParseBindingName accepts a capital letter followed by up to 31 capitals, digits and underscores.
func ParseBindingName(s string) (BindingName, error) {
	if !isBindingName(s) {
		return "", Invalid("binding name %q: use a capital letter, then capitals, digits or _, 32 at most", s)
	}
	return BindingName(s), nil
}

func isBindingName(s string) bool {
	if s == "" || len(s) > 32 || s[0] < 'A' || s[0] > 'Z' {
		return false
	}
	for _, c := range []byte(s) {
		if (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return true
}

// Digest is the SHA-256 that an approval is bound to (kernel R14, R18). The zero value is no digest.
type Digest [32]byte

// String is 64 hex digits.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// ParseDigest is the inverse of String.
func ParseDigest(s string) (Digest, error) {
	var d Digest
	raw, err := hex.DecodeString(s)
	if err != nil || len(raw) != len(d) {
		return d, fmt.Errorf("digest %q: not 64 hex digits", s)
	}
	copy(d[:], raw)
	return d, nil
}

// MarshalText makes a digest hex in JSON.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (d *Digest) UnmarshalText(text []byte) error {
	parsed, err := ParseDigest(string(text))
	*d = parsed
	return err
}

// Provisional reports whether a name is a provisional id, "~" and a number: something that a queued action will create.
func Provisional(name string) bool {
	digits, found := strings.CutPrefix(name, "~")
	if !found || digits == "" || digits[0] == '0' {
		return false
	}
	_, err := strconv.ParseUint(digits, 10, 31)
	return err == nil
}
