package tui

import (
	"context"
	"time"

	"gatehouse/core"
	"gatehouse/skills"
)

// Library is the skill library as the Skills screen shows it, on the authority
// of the person at the screen: what they may not read does not exist. Its
// methods are called off the loop. Nothing that a session reads comes from here.
type Library interface {
	// Shelves lists the collections by id.
	Shelves(ctx context.Context) ([]Shelf, error)
	// Documents lists a part of a collection by path, at most skills.ListLimit.
	Documents(ctx context.Context, id skills.CollectionID, offset, limit int) ([]ShelfDocument, error)
	// Problems lists, by path, the documents of a collection that have faults.
	Problems(ctx context.Context, id skills.CollectionID) ([]skills.Problem, error)
	// Document reads one whole.
	Document(ctx context.Context, ref skills.Ref) (LibraryDocument, error)
	// Search finds documents; one without a hit records nothing.
	Search(ctx context.Context, q skills.Query) ([]skills.Hit, error)
	// Change compares a document with this person's last use of it.
	Change(ctx context.Context, d skills.Document) (skills.Change, error)
	// Catalog is what the agent of a session is told of the library now.
	Catalog(ctx context.Context, session core.SessionID) (SessionCatalog, error)
	// Pin and Unpin are decisions of the person, and rows of the record (skills 6).
	Pin(ctx context.Context, id skills.CollectionID, session core.SessionID) error
	Unpin(ctx context.Context, id skills.CollectionID, session core.SessionID) error
}

// Shelf is a collection with what a list says beside it.
type Shelf struct {
	skills.Collection
	Place      string // the file or folder that it is imported from; empty for others
	ImportedAt time.Time
	Documents  int
	Skills     int
	Broken     int // named as skills, and none
}

// ShelfDocument is a document in a list.
type ShelfDocument struct {
	Path     string
	Errors   int // faults that refuse it as a skill
	Warnings int
}

// LibraryDocument is a document with its bytes.
type LibraryDocument struct {
	skills.Document
	File string // the file that it was imported from; empty where there is none
}

// SessionCatalog is the catalog of a session with the reasons for what is not in it.
type SessionCatalog struct {
	Session core.SessionID
	Name    string
	Bound   bool // without the library, the agent is told nothing
	Catalog skills.Catalog
	Pinned  []skills.CollectionID
	LeftOut []skills.LeftOut // of what the person may read
}
