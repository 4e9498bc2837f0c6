package core

import (
	"fmt"
	"slices"
	"time"
)

// Unit is the smallest thing with an access rule of its own (kernel R4): a repository, a mailbox, a folder.
// It is comparable; two reads of one unit are one observation.
type Unit struct {
	Gatekeeper string `json:"gatekeeper"` // the kind of the driver that found it
	Service    string `json:"service"`    // which installation or account of that kind
	Name       string `json:"name"`       // the unit within the service
}

// String is for people and log rows; it is not parsed.
func (u Unit) String() string { return fmt.Sprintf("%s:%s/%s", u.Gatekeeper, u.Service, u.Name) }

// IsZero reports that no unit is meant.
func (u Unit) IsZero() bool { return u == Unit{} }

// Found is a unit with what its driver says of it at the moment of a read.
type Found struct {
	Unit       Unit
	Permission string   // what a reader needs to have at the service, such as "read"
	Labels     []string // sorted
	OwnerOnly  bool     // only the owner of the session may ever see it (kernel R6)
}

// Observation is a unit that a session has read (kernel R4). The set of a session never shrinks.
type Observation struct {
	Session     SessionID
	Found       Found
	FirstSeenAt time.Time
	Turn        int // the turn that read it first; 0 is a person by hand
}

// LabelOwnerOnly is the label of a connection whose units only the owner of a session may see (kernel R6).
const LabelOwnerOnly = "owner-only"

// labelled adds the labels of the connection to what its driver found.
func (c *callInProgress) labelled(found []Found) []Found {
	if len(c.connection.Labels) == 0 {
		return found
	}
	out := make([]Found, len(found))
	for i, f := range found {
		f.Labels = append(slices.Clone(f.Labels), c.connection.Labels...)
		slices.Sort(f.Labels)
		f.Labels = slices.Compact(f.Labels)
		f.OwnerOnly = f.OwnerOnly || slices.Contains(f.Labels, LabelOwnerOnly)
		out[i] = f
	}
	return out
}

// unitsOf strips what a driver says of units down to the units, each once, in order of appearance (K11).
func unitsOf(found []Found) []Unit {
	seen := make(map[Unit]bool, len(found))
	units := make([]Unit, 0, len(found))
	for _, f := range found {
		if !seen[f.Unit] {
			seen[f.Unit] = true
			units = append(units, f.Unit)
		}
	}
	return units
}
