// Package script is a model that says what a file tells it to: a real provider behind core's Model, so that demos and
// tests run the whole loop without a network or a key.
//
// A script is YAML:
//
//	version: 1
//	steps:
//	  - say: TEXT
//	  - call: BINDING.METHOD
//	    args: {path: index.html}
//	    as: page
//	  - ask: {question: TEXT, choices: [yes, no], as: choice}
//	  - expect: {of: page, contains: TEXT}
//
// Each step is exactly one of these. Consecutive calls and questions up to the next say or expect are one response; one
// that uses a result of its own response begins the next. A say goes out with the calls behind it; the response after
// the last step has none and ends the turn.
//
// ${NAME.path} inserts a part of a result: of its value first (list elements by number), else of what stands around it,
// such as status, pending, action, reason, and, once people have decided, state. ${NAME} is the whole value, for a
// question its answer. A text that is nothing else keeps the type of what is inserted. $${ is a plain ${.
//
// expect takes of (a NAME, or NAME.path) and one or more of contains, equals, status and pending.
//
// The place in a script is counted from the transcript of the turn, so a script resumes where its turn does. A fault
// names file and line.
package script
