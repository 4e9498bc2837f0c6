package kit

import (
	"slices"
	"strings"

	"gatehouse/core"
)

// View holds the objects of one call: as the service gave them, and with effects projected over them. Values put in
// must not share memory with what the driver keeps. A view is for one goroutine.
type View[T any] struct {
	fetched  map[string]string // target to version, "" where the service has nothing
	scanned  []string          // prefixes below which everything was fetched
	objects  map[string]object[T]
	original map[string]former[T] // objects as they were before the effect at hand, where it changed them
}

type object[T any] struct {
	value T
	there bool
	found []core.Found // units that the value comes from; none where an action made it
}

// former is an object before a change; not held means that the view had none.
type former[T any] struct {
	object[T]
	held bool
}

// NewView is empty and knows nothing.
func NewView[T any]() *View[T] {
	return &View[T]{fetched: make(map[string]string), objects: make(map[string]object[T])}
}

// Put notes an object as the service has it, with the units that it comes from.
func (v *View[T]) Put(target string, value T, version string, found ...core.Found) {
	v.fetched[target] = version
	v.objects[target] = object[T]{value: value, there: true, found: found}
}

// PutAbsent notes that the service has nothing at a target.
func (v *View[T]) PutAbsent(target string) {
	v.fetched[target] = ""
	delete(v.objects, target)
}

// PutScanned notes that everything below a prefix was put.
func (v *View[T]) PutScanned(prefix string) { v.scanned = append(v.scanned, prefix) }

// Known reports whether a target was looked at, or was made by a projected effect.
func (v *View[T]) Known(target string) bool {
	if _, held := v.objects[target]; held {
		return true
	}
	if _, fetched := v.fetched[target]; fetched {
		return true
	}
	return slices.ContainsFunc(v.scanned, func(prefix string) bool { return strings.HasPrefix(target, prefix) })
}

// Value is the object at a target with the effects so far; false where there is none.
func (v *View[T]) Value(target string) (T, bool) {
	o := v.objects[target]
	return o.value, o.there
}

// Version is the service's version of a target, "" where it has none.
func (v *View[T]) Version(target string) string { return v.fetched[target] }

// Found lists the units that the value at a target comes from.
func (v *View[T]) Found(target string) []core.Found { return v.objects[target].found }

// Set projects a new value; it still comes from where the old one came from.
func (v *View[T]) Set(target string, value T) {
	v.keep(target)
	v.objects[target] = object[T]{value: value, there: true, found: v.objects[target].found}
}

// SetFrom projects a value that was made from the objects at other targets too.
func (v *View[T]) SetFrom(target string, value T, sources ...string) {
	v.keep(target)
	found := slices.Clone(v.objects[target].found)
	for _, s := range sources {
		found = append(found, v.objects[s].found...)
	}
	v.objects[target] = object[T]{value: value, there: true, found: found}
}

// Remove projects that a target is gone.
func (v *View[T]) Remove(target string) {
	v.keep(target)
	v.objects[target] = object[T]{found: v.objects[target].found}
}

// Targets lists what is there below a prefix, in byte order.
func (v *View[T]) Targets(prefix string) []string {
	var targets []string
	for t, o := range v.objects {
		if o.there && strings.HasPrefix(t, prefix) {
			targets = append(targets, t)
		}
	}
	slices.Sort(targets)
	return targets
}

// begin makes what follows undoable.
func (v *View[T]) begin() { v.original = make(map[string]former[T]) }

func (v *View[T]) keep(target string) {
	if v.original == nil {
		return
	}
	if _, kept := v.original[target]; !kept {
		o, held := v.objects[target]
		v.original[target] = former[T]{o, held}
	}
}

// rollback undoes everything since begin: an effect is projected whole or not at all.
func (v *View[T]) rollback() {
	for t, o := range v.original {
		if o.held {
			v.objects[t] = o.object
		} else {
			delete(v.objects, t)
		}
	}
	v.original = nil
}

// Before is the value that a target had when the effect at hand began.
func (v *View[T]) Before(target string) (T, bool) {
	if o, kept := v.original[target]; kept {
		return o.value, o.there
	}
	return v.Value(target)
}
