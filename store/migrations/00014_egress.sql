-- What persons answered about what wanted to leave.
--
-- +goose Up

CREATE TABLE egress (
    question   INTEGER PRIMARY KEY REFERENCES question (id),
    session    TEXT    NOT NULL REFERENCES session (id),
    sink       TEXT    NOT NULL,
    host       TEXT    NOT NULL,
    matches    TEXT    NOT NULL, -- hash over the values that were found in it; empty for none
    turn       INTEGER NOT NULL,
    step       INTEGER NOT NULL,
    decision   TEXT    NOT NULL DEFAULT '' CHECK (decision IN ('', 'allow', 'deny')),
    asked_at   INTEGER NOT NULL,
    decided_at INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX egress_place ON egress (session, sink, host);
