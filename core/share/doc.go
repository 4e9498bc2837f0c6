// Package share makes and reads what leaves a store for a colleague: identities, session files, and the scan for secrets
// that both pass. It knows no store and no file: it works on readers and writers, and the kernel decides who may.
//
// # Words
//
//   - An identity is a person's two secret keys: one signs (Ed25519), one opens what was sealed to them (age X25519). Its
//     line is what a colleague needs; its fingerprint is read aloud to compare the two.
//   - A session file has a clear header, signed by its sender; a sealed manifest, which says what the file holds and which
//     units somebody must be able to read to be shown it; and a sealed body of frames.
//   - A piece is one thing that happened in a session, as it travels in the body.
//   - A notice, signed by the sender, takes a file back for whoever imported the notice.
//
// # What a file promises
//
// Nothing is handed out before the signature, the sizes, both hashes of the header and the hash of every frame are what
// they should be; reading takes bounded memory whatever a file declares. There is no unsigned mode. What a file cannot do
// is take back what somebody saw: see Promise.
//
// # Reading a file, in order
//
// Open reads the header and its signature, CheckSealed both hashes, which needs no key; Manifest needs the key of a
// recipient; between it and Check or Pieces the kernel asks about every unit of the manifest.
package share

import "gatehouse/core"

// Promise is shown whenever one shares.
const Promise = "Anyone who opens this can keep a copy. Verification decides whether it opens; it cannot take it back."

// Level is what a file gives, and who verifies when.
type Level = core.ShareLevel

// The levels that a session file can have.
const (
	LevelReplay  = core.LevelReplay
	LevelSealed  = core.LevelSealed
	LevelArchive = core.LevelArchive
)

// Levels lists those that a session file can have, least first.
func Levels() []Level { return []Level{LevelReplay, LevelSealed, LevelArchive} }
