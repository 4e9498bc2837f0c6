// Package tui is the operator's front end: screens over the kernel's read
// models, in which every key that changes something is a command of the
// kernel.
//
// The rules of this room:
//
//   - Nothing blocks the loop. Update looks at messages and returns commands;
//     reads and writes run in those. A read carries a generation number, and an
//     answer that is not the latest is dropped. No result is ignored.
//   - Nothing is decided by accident. Keys are records of one table (keys.go);
//     a command that decides stands on a capital, or opens a prompt, and a
//     table in which it does not is refused when the program starts. Decisions
//     are drafted first, in the store, and carried out by one plan.
//   - A message and a dialog hold ids, versions and digests, never a place in a
//     list: what a person saw is what is decided.
//   - Lists are windows over the store (window.go). The work of a frame depends
//     on the size of the screen, not on how much waits.
//   - Text of others is cleaned when it enters a view model (clean.go), and
//     styles come by role from one theme (theme.go). No colour says anything
//     that a sign or a word does not.
//
// The way of a key: term.KeyMsg → app.Update → the key table, for the contexts
// of the view on top → the command's handler → a term.Cmd that calls the
// kernel → a message with the result → the view → a frame.
//
// What is not guaranteed: a terminal that does not bracket pastes delivers them
// as keys; times on screen are as old as the last frame, half a minute at most.
package tui
