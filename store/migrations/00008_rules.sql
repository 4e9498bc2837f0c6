-- What a person lets happen without being asked each time.
--
-- +goose Up

CREATE TABLE rule (
    seq        INTEGER PRIMARY KEY,
    id         TEXT    NOT NULL UNIQUE,
    session    TEXT    NOT NULL REFERENCES session (id),
    binding    TEXT    NOT NULL,
    kind       TEXT    NOT NULL,
    condition  TEXT    NOT NULL, -- empty holds always
    author     TEXT    NOT NULL,
    how        TEXT    NOT NULL CHECK (how IN ('terminal', 'pipe', 'key')),
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    max_count  INTEGER NOT NULL CHECK (max_count >= 0), -- 0 is no limit
    used       INTEGER NOT NULL DEFAULT 0 CHECK (used >= 0),
    removed_at INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX rule_session ON rule (session) WHERE removed_at = 0;
