package store

import (
	"context"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// sideLock is an exclusive lock that processes share: flock on a file beside the store. It is not reentrant and is for
// one goroutine at a time.
type sideLock struct {
	path string
	file *os.File // nil until first used, and after a wait was given up
}

// acquire waits until the lock is held or the context ends. The kernel queues the waiting, so nobody polls.
func (l *sideLock) acquire(ctx context.Context) error {
	for {
		if err := l.open(); err != nil {
			return err
		}
		if err := l.wait(ctx); err != nil {
			return err
		}
		if l.current() {
			return nil
		}
		// Someone removed the side file while we waited: the others lock a new one.
		l.close()
	}
}

func (l *sideLock) release() {
	if l.file == nil {
		return
	}
	if err := flock(l.file, unix.LOCK_UN); err != nil {
		l.close() // closing lets go of it too
	}
}

func (l *sideLock) open() error {
	if l.file != nil {
		return nil
	}
	f, err := os.OpenFile(l.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	l.file = f
	return nil
}

func (l *sideLock) wait(ctx context.Context) error {
	err := flock(l.file, unix.LOCK_EX|unix.LOCK_NB)
	if !errors.Is(err, unix.EWOULDBLOCK) {
		return lockError(l.path, err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	file := l.file
	done := make(chan error, 1)
	go func() { done <- flock(file, unix.LOCK_EX) }()
	select {
	case err := <-done:
		return lockError(l.path, err)
	case <-ctx.Done():
		// The wait cannot be called off. The descriptor goes with it, and the lock with the descriptor.
		l.file = nil
		go func() {
			<-done
			_ = file.Close() // only its lock mattered
		}()
		return ctx.Err()
	}
}

// current reports that the file that is locked still has its name.
func (l *sideLock) current() bool {
	held, err := l.file.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(l.path)
	return err == nil && os.SameFile(held, named)
}

func (l *sideLock) close() {
	if l.file != nil {
		_ = l.file.Close() // nothing is written to it
		l.file = nil
	}
}

func lockError(path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("lock %s: %w", path, err)
}

func flock(f *os.File, how int) error {
	for {
		err := unix.Flock(int(f.Fd()), how)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
