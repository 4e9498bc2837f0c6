// Package faulty wraps a gatekeeper so that one of its calls to the service fails, before or after its effect. Tests
// alone import it.
//
// Calls are counted from 1 over everything that the driver opened: Connect, Open, Read, Prepare, Current, Apply, Find, the
// preparing of a revert, and checks of access. What is pure (Normalize, Intend, Extend, Covers, …) is not counted and does not fail.
//
// A fault before the effect never reaches the service. A fault after it does, and its answer is lost: for Apply that is
// an outcome which only the service knows (kernel R20). What an Apply that fails before its effect returns is marked as
// not sent where the fault says so; without the mark the kernel has to take it as unknown, although nothing happened.
package faulty
