// Package core is the kernel of Gatehouse: it decides what an agent may see and what becomes of what an agent wants to
// change. It knows no SQL, no terminal, no network and no file; all of these come in through small interfaces.
//
// # Words
//
//   - A session is the unit of work and of sharing. It owns bindings, an observation set, actions, questions and a transcript.
//   - A turn is one run of an agent's loop in a session; a step is one response of the model with its calls.
//   - A gatekeeper is a driver for one kind of service. A connection is a person's account with one service. A binding
//     (env.NAME) is a connection narrowed to one resource and introduced into one session.
//   - A unit is the smallest thing with an access rule of its own. An observation is a unit that a session has read; the
//     set of a session never shrinks.
//   - An action is something queued to be done outside. Its lane says whether the caller goes on over a simulated result
//     (simulate) or waits (await). A claim is the durable right of one process to send it.
//   - Drift is a base that moved since the action was made. An action is stranded when something it needs will not happen.
//   - A plan is what decisions will do, before they do it. The record is the append-only, hash-chained log of everything.
//
// # Who may import whom
//
//	cmd -> everything                tui -> core, core/agent, core/egress, core/share, core/text, skills
//	store -> core, skills            gatekeepers/* -> gatekeepers/kit, core
//	skills -> core/text              core -> core/text;  core's sub-packages -> core
//
// Core never imports its sub-packages, text aside. A test in cmd/gatehouse holds this.
//
// # One write, through the files
//
//  1. call.go: Kernel.Call finds session, binding and method, and checks the arguments.
//  2. read.go: lookAhead asks the driver which targets the call touches and loads the journal over them (journal.go);
//     gate.go: checkIntent.
//  3. submit.go: the driver prepares a draft, which is held against what it declared (draft.go); checkExact; storeAction
//     writes action, references, units, log rows (record.go) and the answer in one transaction, if nothing on the targets
//     changed meanwhile. The digest (digest.go) is what an approval will be bound to.
//  4. planning.go: a person's decisions become a Plan: order, prerequisites, what is stranded, what drifted.
//  5. confirm.go: Confirm stores the plan, settles rejects (decide.go), and gives each connection a lane (lane.go).
//  6. claim.go: digest, prerequisites, base; the claim is durable, sharing a transaction with the outcome before it; the
//     driver applies; the outcome is durable, at once or when the disk has room again (kept.go). Whatever dies in between
//     is unknown (recover.go) and never sent again by itself. settle.go is how a person ends an unknown.
//  7. preview.go: what drifted gets a fresh preview and a new digest.
//  8. revert.go: an action that takes another back takes the same way, from step 3 on.
//
// A read takes steps 1 and 2 and ends in releaseRead. Drivers are called through guard.go: a panic is an error. Turns and
// their questions are in turn*.go and question.go, what models take and may take in usage.go.
//
// # What is not guaranteed
//
// Exactly-once is not: between a claim and its outcome only the service knows what happened, and the kernel says
// unknown rather than guess. An agent that runs as the same system user can reach around the program altogether.
//
// # Tests
//
// Rules are tested by the case numbers of the specification (TestK36_…) in package core_test, over a real store and the
// memory driver; every driver runs gatekeepers/conformance; commands are tested by scripts in cmd/gatehouse/testdata.
package core
