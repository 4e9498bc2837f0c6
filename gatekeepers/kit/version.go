package kit

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
)

// Version hashes what makes up the state of an object into one short word for a base (GK6). Parts are length-prefixed,
// so that ("ab", "c") and ("a", "bc") differ.
func Version(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:", len(p))
		_, _ = io.WriteString(h, p) // a hash never fails
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
