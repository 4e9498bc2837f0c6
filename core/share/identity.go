package share

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"

	"filippo.io/age"
	"filippo.io/age/armor"

	"gatehouse/core"
)

// signingMark begins a signing key as text.
const signingMark = "ed25519:"

// Identity is the two secret keys of a person. Its zero value signs and opens nothing.
type Identity struct {
	name    core.PersonID
	tenant  string
	signing ed25519.PrivateKey
	sealing *age.X25519Identity
}

// NewIdentity makes keys for a name, which is how colleagues will know them.
func NewIdentity(rand io.Reader, name core.PersonID, tenant string) (*Identity, error) {
	seed := make([]byte, ed25519.SeedSize)
	if _, err := io.ReadFull(rand, seed); err != nil {
		return nil, fmt.Errorf("identity: %w", err)
	}
	sealing, err := age.GenerateX25519Identity()
	if err != nil {
		return nil, fmt.Errorf("identity: %w", err)
	}
	id := &Identity{name: name, tenant: tenant, signing: ed25519.NewKeyFromSeed(seed), sealing: sealing}
	// A name that its own line does not survive would be somebody else at the other end.
	if back, err := core.ParsePerson(id.Person().Line()); err != nil {
		return nil, err
	} else if back.ID != name || back.Tenant != tenant {
		return nil, core.Invalid("tenant %q: has blanks; use one word", tenant)
	}
	return id, nil
}

// Person is the public half: what a colleague records.
func (id *Identity) Person() core.Person {
	return core.Person{ID: id.name, Tenant: id.tenant, Signing: id.SigningKey(), Sealing: id.SealingKey()}
}

// SigningKey is the public key that files of this person are signed with, as text.
func (id *Identity) SigningKey() string {
	return signingText(id.signing.Public().(ed25519.PublicKey))
}

// SealingKey is the public key that files for this person are sealed to, as text.
func (id *Identity) SealingKey() string { return id.sealing.Recipient().String() }

func (id *Identity) sign(message []byte) []byte { return ed25519.Sign(id.signing, message) }

func signingText(key ed25519.PublicKey) string {
	return signingMark + base64.RawURLEncoding.EncodeToString(key)
}

func parseSigning(s string) (ed25519.PublicKey, error) {
	body, marked := strings.CutPrefix(s, signingMark)
	raw, err := base64.RawURLEncoding.Strict().DecodeString(body)
	if !marked || err != nil || len(raw) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("signing key: not %s and 43 characters", signingMark)
	}
	return raw, nil
}

func parseSealing(s string) (age.Recipient, error) {
	if key, err := age.ParseX25519Recipient(s); err == nil && key.String() == s {
		return key, nil
	}
	if key, err := age.ParseHybridRecipient(s); err == nil && key.String() == s {
		return key, nil
	}
	return nil, errors.New("sealing key: not an age recipient, age1 and what follows")
}

// CheckPerson judges the keys of a person: both, or neither for somebody who can be given no file.
func CheckPerson(p core.Person) error {
	if p.Signing == "" && p.Sealing == "" {
		return nil
	}
	if _, err := parseSigning(p.Signing); err != nil {
		return core.Invalid("person %q: %s; copy the whole line of gatehouse identity export", p.ID, err)
	}
	if _, err := parseSealing(p.Sealing); err != nil {
		return core.Invalid("person %q: %s; copy the whole line of gatehouse identity export", p.ID, err)
	}
	return nil
}

// fingerprintLength is how many words a fingerprint has: 80 bits, too many to search for a second person with them.
const fingerprintLength = 10

// Fingerprint is ten words over both keys of a person, to be compared by another way than the one the line came by.
// It is empty for somebody without keys.
func Fingerprint(p core.Person) string {
	if p.Signing == "" && p.Sealing == "" {
		return ""
	}
	sum := sha256.Sum256([]byte("gatehouse fingerprint 1\n" + p.Signing + "\n" + p.Sealing + "\n"))
	out := make([]string, fingerprintLength)
	for i := range out {
		out[i] = wordFor(sum[i])
	}
	return strings.Join(out, " ")
}

// The file of an identity: a mark, the public line, how the secrets are kept, and the secrets.
const (
	identityMark  = "gatehouse-identity:1"
	keptPlain     = "plain"
	keptProtected = "protected"
	identityLimit = 64 << 10
	workFactor    = 18 // of scrypt: about a second
	workFactorMax = 22 // of files made elsewhere
)

// Encode writes the identity to be kept where only its person can read. An empty passphrase leaves the secrets in the
// clear; work is the cost of the passphrase as a power of two, 0 for the usual one.
func (id *Identity) Encode(passphrase string, work int) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n%s\n", identityMark, id.Person().Line())
	secrets := base64.RawURLEncoding.EncodeToString(id.signing.Seed()) + " " + id.sealing.String() + "\n"
	if passphrase == "" {
		fmt.Fprintf(&b, "%s\n%s", keptPlain, secrets)
		return b.Bytes(), nil
	}
	recipient, err := age.NewScryptRecipient(passphrase)
	if err != nil {
		return nil, fmt.Errorf("identity: %w", err)
	}
	if work == 0 {
		work = workFactor
	}
	recipient.SetWorkFactor(work)
	fmt.Fprintf(&b, "%s\n", keptProtected)
	lines := armor.NewWriter(&b)
	sealed, err := age.Encrypt(lines, recipient)
	if err != nil {
		return nil, fmt.Errorf("identity: %w", err)
	}
	if _, err := io.WriteString(sealed, secrets); err != nil {
		return nil, fmt.Errorf("identity: %w", err)
	}
	if err := errors.Join(sealed.Close(), lines.Close()); err != nil {
		return nil, fmt.Errorf("identity: %w", err)
	}
	return b.Bytes(), nil
}

// Locked is an identity as it is kept: who it is can be told without the passphrase.
type Locked struct {
	Public    core.Person
	Protected bool
	secrets   []byte
}

// ParseIdentity reads what Encode wrote, up to the secrets. Faults name no content.
func ParseIdentity(r io.Reader) (*Locked, error) {
	raw, err := io.ReadAll(io.LimitReader(r, identityLimit+1))
	if err != nil {
		return nil, fmt.Errorf("identity: %w", err)
	}
	if len(raw) > identityLimit {
		return nil, invalid("an identity is smaller")
	}
	parts := strings.SplitN(string(raw), "\n", 4)
	if len(parts) != 4 || parts[0] != identityMark {
		return nil, invalid("not an identity, which begins with %s", identityMark)
	}
	public, err := core.ParsePerson(parts[1])
	if err == nil {
		err = CheckPerson(public)
	}
	if err != nil || public.Signing == "" {
		return nil, invalid("the second line of an identity is not that of a person with keys")
	}
	if parts[2] != keptPlain && parts[2] != keptProtected {
		return nil, invalid("the third line of an identity is neither %s nor %s", keptPlain, keptProtected)
	}
	return &Locked{Public: public, Protected: parts[2] == keptProtected, secrets: []byte(parts[3])}, nil
}

// Unlock takes the secrets out. A wrong passphrase is ErrPassphrase; one that is not protected ignores it.
func (l *Locked) Unlock(passphrase string) (*Identity, error) {
	secrets := l.secrets
	if l.Protected {
		key, err := age.NewScryptIdentity(passphrase)
		if err != nil {
			return nil, ErrPassphrase // an empty one
		}
		key.SetMaxWorkFactor(workFactorMax)
		opened, err := age.Decrypt(armor.NewReader(bytes.NewReader(l.secrets)), key)
		var mismatch *age.NoIdentityMatchError
		if errors.As(err, &mismatch) {
			return nil, ErrPassphrase
		}
		if err != nil {
			return nil, invalid("the secrets of the identity are damaged")
		}
		if secrets, err = io.ReadAll(io.LimitReader(opened, identityLimit)); err != nil {
			return nil, invalid("the secrets of the identity are damaged")
		}
	}
	seedText, sealingText, found := strings.Cut(strings.TrimSuffix(string(secrets), "\n"), " ")
	seed, err := base64.RawURLEncoding.DecodeString(seedText)
	if !found || err != nil || len(seed) != ed25519.SeedSize {
		return nil, invalid("the secrets of the identity are damaged")
	}
	sealing, err := age.ParseX25519Identity(sealingText)
	if err != nil {
		return nil, invalid("the secrets of the identity are damaged")
	}
	id := &Identity{name: l.Public.ID, tenant: l.Public.Tenant, signing: ed25519.NewKeyFromSeed(seed), sealing: sealing}
	same := subtle.ConstantTimeCompare([]byte(id.Person().Line()), []byte(l.Public.Line()))
	if same != 1 {
		return nil, invalid("the public line of the identity is not that of its secrets")
	}
	return id, nil
}

// tries is how often a passphrase is asked for.
const tries = 3

// UnlockAsking unlocks with what ask gives, three times at most; ErrPassphrase then. One that is not protected asks for
// nothing.
func (l *Locked) UnlockAsking(ask func(attempt int) (string, error)) (*Identity, error) {
	if !l.Protected {
		return l.Unlock("")
	}
	for attempt := range tries {
		passphrase, err := ask(attempt)
		if err != nil {
			return nil, err
		}
		id, err := l.Unlock(passphrase)
		if !errors.Is(err, ErrPassphrase) {
			return id, err
		}
	}
	return nil, ErrPassphrase
}
