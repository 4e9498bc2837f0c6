-- Who else there is, what they may do in which session, and which sessions are their owner's alone.
--
-- +goose Up

ALTER TABLE session ADD COLUMN people_version INTEGER NOT NULL DEFAULT 0; -- grows with every change of its grants
ALTER TABLE session ADD COLUMN latched        INTEGER NOT NULL DEFAULT 0 CHECK (latched IN (0, 1));

CREATE TABLE person (
    id       TEXT    PRIMARY KEY CHECK (id <> ''),
    signing  TEXT    NOT NULL,
    sealing  TEXT    NOT NULL,
    tenant   TEXT    NOT NULL,
    added_by TEXT    NOT NULL,
    added_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- One person has one name.
CREATE UNIQUE INDEX person_signing ON person (signing) WHERE signing <> '';
CREATE UNIQUE INDEX person_sealing ON person (sealing) WHERE sealing <> '';

CREATE TABLE account (
    person TEXT NOT NULL REFERENCES person (id),
    kind   TEXT NOT NULL,
    name   TEXT NOT NULL CHECK (name <> ''),
    PRIMARY KEY (person, kind)
) STRICT, WITHOUT ROWID;

-- What was given, not what it comes to: that is computed.
CREATE TABLE role_grant (
    seq     INTEGER PRIMARY KEY,
    session TEXT    NOT NULL REFERENCES session (id),
    giver   TEXT    NOT NULL,
    person  TEXT    NOT NULL,
    role    TEXT    NOT NULL CHECK (role IN ('view', 'build')),
    decides INTEGER NOT NULL CHECK (decides IN (0, 1)),
    at      INTEGER NOT NULL,
    UNIQUE (session, giver, person)
) STRICT;

CREATE INDEX role_grant_person ON role_grant (person);

CREATE TABLE latch (
    session    TEXT    PRIMARY KEY REFERENCES session (id),
    at         INTEGER NOT NULL,
    turn       INTEGER NOT NULL,
    read       TEXT    NOT NULL,
    gatekeeper TEXT    NOT NULL,
    service    TEXT    NOT NULL,
    name       TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

-- +goose StatementBegin
CREATE TRIGGER latch_no_update BEFORE UPDATE ON latch
BEGIN SELECT raise(ABORT, 'a latch is never changed'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER latch_no_delete BEFORE DELETE ON latch
BEGIN SELECT raise(ABORT, 'a latch is never cleared'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER session_stays_latched BEFORE UPDATE OF latched ON session WHEN old.latched = 1 AND new.latched = 0
BEGIN SELECT raise(ABORT, 'a latch is never cleared'); END;
-- +goose StatementEnd
