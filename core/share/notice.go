package share

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
)

// noticeMark begins a notice; the digit is the version of its form.
const noticeMark = "gatehouse-withdrawal:1"

// Notice takes back the files of an id up to a serial, for every store that imports it.
type Notice struct {
	File   FileID
	Serial uint64
	Sender string // signing key
}

func (n Notice) signed() []byte {
	return fmt.Appendf(nil, "gatehouse withdrawal 1\n%s\n%d\n%s\n", n.File, n.Serial, n.Sender)
}

// Withdraw makes the line of a notice.
func (id *Identity) Withdraw(file FileID, serial uint64) string {
	n := Notice{File: file, Serial: serial, Sender: id.SigningKey()}
	signature := base64.RawURLEncoding.EncodeToString(id.sign(n.signed()))
	return fmt.Sprintf("%s %s %d %s %s", noticeMark, n.File, n.Serial, n.Sender, signature)
}

// IsNotice reports that something is meant to be a notice and no file.
func IsNotice(raw []byte) bool { return strings.HasPrefix(string(raw), noticeMark) }

// ParseNotice reads a line of Withdraw whose signature is its sender's.
func ParseNotice(line string) (Notice, error) {
	words := strings.Fields(line)
	if len(words) != 5 || words[0] != noticeMark {
		return Notice{}, invalid("not a notice, which begins with %s and has 5 parts", noticeMark)
	}
	file, err := ParseFileID(words[1])
	if err != nil {
		return Notice{}, invalid("the notice names no file")
	}
	serial, err := strconv.ParseUint(words[2], 10, 63)
	if err != nil || serial == 0 {
		return Notice{}, invalid("the notice names no serial")
	}
	key, err := parseSigning(words[3])
	if err != nil {
		return Notice{}, invalid("%s", err)
	}
	n := Notice{File: file, Serial: serial, Sender: words[3]}
	signature, err := base64.RawURLEncoding.Strict().DecodeString(words[4])
	if err != nil || !ed25519.Verify(key, n.signed(), signature) {
		return Notice{}, invalid("the notice is not signed by the sender of the file")
	}
	return n, nil
}
