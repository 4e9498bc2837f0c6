// Package conformance is the suite that every gatekeeper's tests run (GK11, GK12): the contract of core.Gatekeeper, once,
// as named cases in a fixed order. It works through a real kernel, which the tests make, because the house lets only
// tests put a driver and a store together.
//
// A driver joins by filling in a Setup. What it cannot do it names in Lacks, with the reason; a case that misses
// something it needs fails, so nothing is left out in silence.
//
// The last case measures fidelity: random histories of writes are queued, what reads, lists and searches show while all of
// it is pending is kept, all of it is approved, and the same reads are asked again. The figure is printed:
//
//	fidelity memory: 9000 of 9000 answers equal over 1000 histories (12 more said incomplete)
//
// GATEHOUSE_HISTORIES sets how many histories, GATEHOUSE_SEED where they begin; a difference prints the seed of its history.
package conformance
