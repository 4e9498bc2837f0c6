package store

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"gatehouse/core"
)

// Processes implements core.Alive. Each process keeps a lock on a file of its own beside the store for as long as it
// lives; the system lets go of the lock whatever ends the process, and a sleeping laptop changes nothing (K69).
// Its methods may be called from several goroutines at once.
type Processes struct {
	dir  string
	boot string
	self core.ProcessID
	file *os.File
}

var _ core.Alive = (*Processes)(nil)

// pendingFile begins the name of a file whose lock is not held yet; nobody takes it for a process.
const pendingFile = "."

// Join registers this process beside the store at path, and clears away the files of processes that are gone.
func Join(path string) (*Processes, error) {
	boot, err := bootID()
	if err != nil {
		return nil, fmt.Errorf("processes: which boot this is: %w", err)
	}
	var random [8]byte
	if _, err := rand.Read(random[:]); err != nil {
		return nil, fmt.Errorf("processes: %w", err)
	}
	p := &Processes{dir: path + ".proc", boot: boot}
	p.self = core.ProcessID(fmt.Sprintf("%s-%d-%s", boot, os.Getpid(), hex.EncodeToString(random[:])))
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return nil, fmt.Errorf("processes: %w", err)
	}
	if err := p.register(); err != nil {
		return nil, fmt.Errorf("processes: %w", err)
	}
	p.sweep()
	return p, nil
}

// register makes the file under its name only once its lock is held: an unlocked file is a dead process.
func (p *Processes) register() error {
	pending := filepath.Join(p.dir, pendingFile+string(p.self))
	f, err := os.OpenFile(pending, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	err = flock(f, unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		err = os.Rename(pending, p.name(p.self))
	}
	if err != nil {
		return errors.Join(err, f.Close(), os.Remove(pending))
	}
	p.file = f
	return nil
}

func (p *Processes) name(id core.ProcessID) string { return filepath.Join(p.dir, string(id)) }

// Self implements core.Alive.
func (p *Processes) Self() core.ProcessID { return p.self }

// Alive implements core.Alive; it does not wait. The file of a process that is gone is removed. What cannot be told,
// for lack of rights, counts as alive: a claim is not taken from someone who may still be sending.
func (p *Processes) Alive(id core.ProcessID) bool {
	if id == p.self {
		return true
	}
	if !p.ours(id) {
		return false
	}
	f, err := os.OpenFile(p.name(id), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if err != nil {
		return true
	}
	defer func() { _ = f.Close() }() // only its lock mattered
	// Shared, so that two who ask at once do not take each other for the process.
	if err := flock(f, unix.LOCK_SH|unix.LOCK_NB); err != nil {
		return true
	}
	_ = os.Remove(p.name(id)) // another may have been first
	return false
}

// ours reports that an id can be of this boot, and is a plain file name.
func (p *Processes) ours(id core.ProcessID) bool {
	name := string(id)
	return strings.HasPrefix(name, p.boot+"-") && !strings.ContainsAny(name, "/\x00")
}

// sweep removes the files of processes that are gone, those of earlier boots among them.
func (p *Processes) sweep() {
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		return // it is only tidying
	}
	for _, e := range entries {
		id := core.ProcessID(e.Name())
		switch {
		case strings.HasPrefix(e.Name(), pendingFile):
		case p.ours(id):
			p.Alive(id)
		default:
			_ = os.Remove(p.name(id)) // of an earlier boot
		}
	}
}

// Close ends the life of this process as others see it.
func (p *Processes) Close() error {
	return errors.Join(os.Remove(p.name(p.self)), p.file.Close())
}
