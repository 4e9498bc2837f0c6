package tui

import (
	"testing"
	"time"

	"gatehouse/core"
)

// Driver is the synchronous driver for the tests that bring a real store.
type Driver struct{ d *driver }

// Drive opens the screens over a kernel, with a clock that the test moves.
func Drive(t testing.TB, k Kernel, person core.PersonID, watch Watcher) *Driver {
	return &Driver{newDriverOn(t, k, 120, 40, func(o *Options) {
		o.Authority.Person = person
		if watch != nil {
			o.Watch = watch
		}
	})}
}

// Press presses keys by name.
func (d *Driver) Press(keys ...string) { d.d.press(keys...) }

// Type types a text.
func (d *Driver) Type(s string) { d.d.typeText(s) }

// Shows fails unless the frame holds every text.
func (d *Driver) Shows(texts ...string) { d.d.t.Helper(); d.d.shows(texts...) }

// Hides fails if the frame holds one of the texts.
func (d *Driver) Hides(texts ...string) { d.d.t.Helper(); d.d.hides(texts...) }

// Frame is what is on the screen.
func (d *Driver) Frame() string { return d.d.frame() }

// Tick lets the screens look at the store.
func (d *Driver) Tick() { d.d.advance(tickEvery + 50*time.Millisecond) }

// Advance moves the clock.
func (d *Driver) Advance(by time.Duration) { d.d.advance(by) }

// RecordRow is the number of the row under the cursor of the record.
func (d *Driver) RecordRow() int64 { return d.d.seq() }

// DriveWith is Drive with a library.
func DriveWith(t testing.TB, k Kernel, person core.PersonID, watch Watcher, library Library) *Driver {
	return &Driver{newDriverOn(t, k, 120, 40, func(o *Options) { o.Authority.Person, o.Watch, o.Library = person, watch, library })}
}
