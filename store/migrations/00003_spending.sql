-- What models took: a row for each question, written before it is asked.
--
-- +goose Up

CREATE TABLE spending (
    id        INTEGER PRIMARY KEY,
    session   TEXT    NOT NULL REFERENCES session (id),
    turn      INTEGER NOT NULL,
    step      INTEGER NOT NULL,
    model     TEXT    NOT NULL,
    at        INTEGER NOT NULL,
    input     INTEGER NOT NULL CHECK (input >= 0), -- tokens
    output    INTEGER NOT NULL CHECK (output >= 0),
    estimated INTEGER NOT NULL CHECK (estimated IN (0, 1)),
    cost      INTEGER NOT NULL CHECK (cost >= 0)   -- millionths
) STRICT;

-- Budgets are sums over these, before each question.
CREATE INDEX spending_session ON spending (session, at, input, output, estimated, cost);
CREATE INDEX spending_at      ON spending (at, input, output, estimated, cost);
