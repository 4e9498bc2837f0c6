-- Turns of the agent loop, and who runs them.
--
-- +goose Up

CREATE TABLE turn (
    session       TEXT    NOT NULL REFERENCES session (id),
    number        INTEGER NOT NULL CHECK (number > 0),
    version       INTEGER NOT NULL CHECK (version > 0),
    state         TEXT    NOT NULL CHECK (state IN ('running', 'suspended', 'done', 'failed')),
    ended         TEXT    NOT NULL CHECK (ended IN ('', 'done', 'stopped', 'step-limit', 'time-limit', 'denied', 'model', 'budget', 'context')),
    reason        TEXT    NOT NULL,
    model         TEXT    NOT NULL,
    source        TEXT    NOT NULL, -- where the front door finds the model again
    person        TEXT    NOT NULL,
    on_denial     TEXT    NOT NULL CHECK (on_denial IN ('resume', 'end')),
    step_limit    INTEGER NOT NULL CHECK (step_limit > 0),
    time_limit    INTEGER NOT NULL CHECK (time_limit > 0), -- nanoseconds at work
    worked        INTEGER NOT NULL CHECK (worked >= 0),
    running_since INTEGER NOT NULL,
    stop_asked    INTEGER NOT NULL CHECK (stop_asked IN (0, 1)),
    started_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    PRIMARY KEY (session, number),
    CHECK (state <> 'done' OR ended <> ''),
    CHECK (state NOT IN ('running', 'suspended') OR ended = '')
) STRICT, WITHOUT ROWID;

-- A session has at most one turn that has not ended.
CREATE UNIQUE INDEX turn_open ON turn (session) WHERE state IN ('running', 'suspended');

CREATE TABLE lease (
    session  TEXT    PRIMARY KEY REFERENCES session (id),
    turn     INTEGER NOT NULL,
    holder   TEXT    NOT NULL CHECK (holder <> ''),
    token    TEXT    NOT NULL CHECK (token <> ''),
    taken_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- A response of a model, durable before its first call runs.
CREATE TABLE step (
    session   TEXT    NOT NULL,
    turn      INTEGER NOT NULL,
    number    INTEGER NOT NULL CHECK (number > 0),
    decisions TEXT,
    text      TEXT    NOT NULL,
    calls     TEXT,
    input     INTEGER NOT NULL,
    output    INTEGER NOT NULL,
    at        INTEGER NOT NULL,
    closed_at INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (session, turn, number),
    FOREIGN KEY (session, turn) REFERENCES turn (session, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE message (
    id      INTEGER PRIMARY KEY,
    session TEXT    NOT NULL REFERENCES session (id),
    person  TEXT    NOT NULL,
    kind    TEXT    NOT NULL CHECK (kind IN ('queued', 'steering')),
    text    TEXT    NOT NULL CHECK (text <> ''),
    at      INTEGER NOT NULL,
    turn    INTEGER NOT NULL DEFAULT 0, -- the step that was told; 0 while it waits
    step    INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX message_session ON message (session, id);
CREATE INDEX message_queued  ON message (session, id) WHERE turn = 0;

ALTER TABLE notice ADD COLUMN told_turn INTEGER NOT NULL DEFAULT 0;
ALTER TABLE notice ADD COLUMN told_step INTEGER NOT NULL DEFAULT 0;

CREATE INDEX notice_untold ON notice (session, id) WHERE told_turn = 0;

-- What a turn may wait for: awaited actions and questions.
CREATE INDEX item_awaited ON item (session, turn, id) WHERE open = 1 AND lane <> 'simulate';
