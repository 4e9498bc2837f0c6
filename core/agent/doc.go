// Package agent runs turns: it asks a model, runs the calls of each response one at a time, and goes on until the
// model asks for nothing more, a limit is reached, people have to decide, or somebody stops it.
//
// It keeps no state of its own. What comes next is decided by core from stored rows alone ([core.Kernel.NextStep]), so
// a turn whose process was killed anywhere is taken up by [Continue] at the same place: answered calls are not
// repeated, unanswered ones run once, and a response that was not durable is asked for again.
//
// What happens is told as [Event] values to one observer. Text in them is as it came from models and services: what
// shows it cleans it first, as [Lines] does.
//
// Not guaranteed: a driver that does not heed its context is left behind when a turn is stopped; it can finish in the
// background, but nothing it returns is stored or shown.
package agent
