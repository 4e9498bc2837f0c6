// Package faulty wraps a store so that one of its calls fails, before or after its effect. Tests alone import it.
//
// Two things are counted, each from 1. A transaction is a Write or a Read: one that fails before its effect is never
// entered; one that fails after it is committed all the same, and whoever asked is told that it failed, as when a disk
// answers a sync with an error and keeps the data. A statement is one method of a View or a Tx: one that fails within a
// Write has to roll the whole transaction back, whatever side of the statement the fault is on.
//
// A method that core adds to its ports is passed on uncounted until it stands in view.go or changes.go.
package faulty
