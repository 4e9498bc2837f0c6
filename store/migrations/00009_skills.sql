-- The skill library: collections, their documents, the tokens that searches look for, and what is pinned.
--
-- A document's number is the key of its collection (upper bits) and its place in the order of paths (lower 40 bits), so
-- that the index gives what it finds in the order in which it is shown. Keys rise with ids as far as there is room.
--
-- +goose Up

CREATE TABLE skill_collection (
    key         INTEGER PRIMARY KEY,
    id          TEXT    NOT NULL, -- empty once it is removed and its rows wait to be cleared away
    title       TEXT    NOT NULL,
    description TEXT    NOT NULL,
    visibility  TEXT    NOT NULL CHECK (visibility IN ('public', 'private')),
    owner       TEXT    NOT NULL,
    kind        TEXT    NOT NULL CHECK (kind IN ('written', 'folder', 'git')),
    place       TEXT    NOT NULL, -- the file or folder that it is imported from
    remote      TEXT    NOT NULL,
    branch      TEXT    NOT NULL,
    revision    TEXT    NOT NULL, -- commit
    made_at     INTEGER NOT NULL,
    imported_at INTEGER NOT NULL,
    generation  INTEGER NOT NULL, -- what readers see: rows with since <= generation < until
    page        INTEGER NOT NULL CHECK (page IN (0, 1)),
    importer    TEXT    NOT NULL, -- the process that imports now; empty for none
    import      TEXT    NOT NULL  -- which of its imports
) STRICT;

CREATE UNIQUE INDEX skill_collection_id ON skill_collection (id) WHERE id <> '';

CREATE TABLE skill_document (
    number       INTEGER PRIMARY KEY,
    collection   INTEGER NOT NULL REFERENCES skill_collection (key),
    path         TEXT    NOT NULL,
    title        TEXT    NOT NULL,
    description  TEXT    NOT NULL,
    author       TEXT    NOT NULL,
    content_type TEXT    NOT NULL,
    size         INTEGER NOT NULL,
    sha256       TEXT    NOT NULL,
    stamp        TEXT    NOT NULL, -- how the file looked from outside when it was read; empty for none
    since        INTEGER NOT NULL, -- first generation that has it
    until        INTEGER NOT NULL, -- first generation that has it no more; 0 is still open
    faults       TEXT              -- of a document that is named as a skill
) STRICT;

CREATE INDEX skill_document_path ON skill_document (collection, path);

CREATE TABLE skill_bytes (
    number INTEGER PRIMARY KEY REFERENCES skill_document (number) ON UPDATE CASCADE ON DELETE CASCADE,
    bytes  BLOB    NOT NULL
) STRICT;

-- The documents that are skills, in the same transaction as the documents (S36).
CREATE TABLE skill (
    number INTEGER PRIMARY KEY REFERENCES skill_document (number) ON UPDATE CASCADE ON DELETE CASCADE,
    name   TEXT    NOT NULL,
    head   TEXT    NOT NULL
) STRICT;

CREATE INDEX skill_name ON skill (name);

-- A token of the name stands here as n…, a… and b…, one of the description or path as a… and b…, one of the body as b…:
-- all tokens of a query with one of these letters in front are one tier.
CREATE VIRTUAL TABLE skill_token USING fts5 (tokens, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii');

CREATE TABLE skill_pin (
    session    TEXT    NOT NULL REFERENCES session (id),
    collection TEXT    NOT NULL,
    by         TEXT    NOT NULL,
    at         INTEGER NOT NULL,
    PRIMARY KEY (session, collection)
) STRICT, WITHOUT ROWID;

-- What an operator used last, to show what changed since.
CREATE TABLE skill_use (
    account    TEXT    NOT NULL,
    collection TEXT    NOT NULL,
    path       TEXT    NOT NULL,
    sha256     TEXT    NOT NULL,
    at         INTEGER NOT NULL,
    text       TEXT    NOT NULL,
    PRIMARY KEY (account, collection, path)
) STRICT;

-- What units of this library carry as their service: the name of no other library, wherever the file goes.
CREATE TABLE skill_library (service TEXT NOT NULL) STRICT;
INSERT INTO skill_library (service) VALUES ('library-' || lower(hex(randomblob(6))));
