-- Session files: those that were made here, those that were seen here, and the sessions that came out of them.
--
-- +goose Up

ALTER TABLE session ADD COLUMN read_only INTEGER NOT NULL DEFAULT 0 CHECK (read_only IN (0, 1)); -- came in a file and was not continued

-- One row for a session, a level and an audience: later files to the same people take the place of earlier ones.
CREATE TABLE share (
    session  TEXT    NOT NULL REFERENCES session (id),
    level    TEXT    NOT NULL CHECK (level IN ('replay', 'sealed', 'archive')),
    audience TEXT    NOT NULL,
    file     TEXT    NOT NULL UNIQUE CHECK (file <> ''),
    serial   INTEGER NOT NULL CHECK (serial > 0),
    manifest TEXT    NOT NULL, -- hash of the newest that was written whole; empty before
    at       INTEGER NOT NULL,
    PRIMARY KEY (session, level, audience)
) STRICT, WITHOUT ROWID;

-- The newest serial of each file that was ever shown to this store, and up to which its sender took it back.
CREATE TABLE seen_file (
    sender  TEXT    NOT NULL CHECK (sender <> ''),
    file    TEXT    NOT NULL CHECK (file <> ''),
    serial  INTEGER NOT NULL CHECK (serial >= 0),
    revoked INTEGER NOT NULL CHECK (revoked >= 0),
    at      INTEGER NOT NULL,
    PRIMARY KEY (sender, file)
) STRICT, WITHOUT ROWID;

CREATE TABLE imported (
    session      TEXT    PRIMARY KEY REFERENCES session (id),
    file         TEXT    NOT NULL,
    serial       INTEGER NOT NULL,
    level        TEXT    NOT NULL,
    sender       TEXT    NOT NULL,
    until        INTEGER NOT NULL, -- the last turn that came in it
    at           INTEGER NOT NULL,
    continued_at INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- What was pending where it came from. It is inert: nothing reads it but to show it, and to submit it anew.
CREATE TABLE proposal (
    session TEXT    NOT NULL REFERENCES session (id),
    number  INTEGER NOT NULL CHECK (number > 0),
    body    TEXT    NOT NULL,
    action  INTEGER NOT NULL DEFAULT 0, -- what it was submitted as; 0 while it was not
    PRIMARY KEY (session, number)
) STRICT, WITHOUT ROWID;

-- +goose StatementBegin
CREATE TRIGGER seen_file_never_back BEFORE UPDATE ON seen_file WHEN new.serial < old.serial OR new.revoked < old.revoked
BEGIN SELECT raise(ABORT, 'what was seen of a file never goes back'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER seen_file_no_delete BEFORE DELETE ON seen_file
BEGIN SELECT raise(ABORT, 'what was seen of a file is never forgotten'); END;
-- +goose StatementEnd
