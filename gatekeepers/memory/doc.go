// Package memory is the gatekeeper that tests drive: a service of collections of items that lives in the process, or
// in a file that several processes share. It has all three lanes, both forms of replay, provisional ids, an order, and
// fails on demand. It is not in the shipped program.
//
// Binding URLs:
//
//	memory://NAME                 the whole service
//	memory://NAME/COLLECTION      one collection of it; each collection is a unit
//	?replay=native                replays inside its own fetch; overlay is the default
//	?file=/PATH                   the service lives in a JSON file, shared under a lock on PATH.lock
//	?latency=20ms                 every call to the service takes that long
//	?seed=3                       a service that is new begins with items item-1 … item-3 in the collection "notes"
//	?fail=MODE[:WHERE[:N]],…      see Mode; WHERE is an action kind, a method of a read, "current", or "*", every action
//	                              kind, which is the default; N is which time, counted from 1 over the life of the
//	                              service; without it every time
//
// Times come with the calls; the driver has no clock of its own.
package memory
