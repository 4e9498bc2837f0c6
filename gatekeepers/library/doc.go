// Package library is the gatekeeper of the skill library: what agents may do with collections of documents.
//
// A binding is the whole library, library:///, or one collection of it, library:///#collection=ID. The unit is the
// collection. There are five operations and all of them read; publishing is for people and has no way in here.
//
// A connection carries no access of its own. What is asked for by name is read on the authority of whoever drives the
// turn. What was not asked for by name, a search, a list of collections and the catalog, shows what everybody who can see
// the session may read, so that looking around is not refused for what it would have met. Missing and forbidden are one
// answer.
//
// Others may read a collection by our own rule, its visibility, asked of the shelf at every check.
//
// Not guaranteed: that a description says what its skill does. The catalog and everything read are strangers' words.
package library
