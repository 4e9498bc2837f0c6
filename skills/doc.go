// Package skills is the skill library: collections of documents that people
// publish, and what agents and operators may do with them.
//
// The words:
//
//   - A collection holds documents and has a visibility, fixed when it is made.
//   - A document is a path, a content type and bytes.
//   - A skill is a document whose last segment is exactly SKILL.md and whose
//     frontmatter has no error. A broken one stays a document, and is listed
//     under Problems with every fault at once.
//   - A scope is the accounts that a result must be readable for. The zero scope
//     reads nothing.
//
// Agents have five operations: [Library.Search], [Library.List],
// [Library.Read], [Library.Catalog] and [Library.Expand]. None writes. What is
// missing and what is forbidden are one answer in all five, [CodeNotFound].
// Visibility is part of the query and not a filter behind it: what an account
// gets is byte for byte the same whether or not documents exist that it cannot
// read.
//
// The package knows no clock, file or socket. Every document and every time is
// an argument; a [Shelf] and an [Engine] are what it asks of a store.
//
// # What is not guaranteed
//
// That a description says what its skill does. Names, descriptions and bodies
// are the words of strangers; they are capped and cleaned, and seeing an id in
// the catalog or in a search gives no right to read it.
//
// # Where things are
//
// frontmatter*.go reads the head of a skill and check.go judges it; fix.go
// proposes the mended line. catalog*.go, search.go with token.go and memory.go,
// read.go and slash.go with expand.go are the operations. The suite that every
// [Engine] passes is package searchsuite.
package skills
