-- +goose Up

-- One row: the sequences, the end of the record, and counts that the header of every screen asks for.
CREATE TABLE head (
    one       INTEGER PRIMARY KEY CHECK (one = 1),
    item      INTEGER NOT NULL, -- the newest id of an action or question
    change    INTEGER NOT NULL, -- grows at every change of an action; what versions of targets are taken from
    indexed   INTEGER NOT NULL, -- titles up to this id are in item_text
    log_seq   INTEGER NOT NULL,
    log_hash  BLOB    NOT NULL CHECK (length(log_hash) = 32),
    waiting   INTEGER NOT NULL CHECK (waiting   >= 0),
    drifted   INTEGER NOT NULL CHECK (drifted   >= 0),
    unknown   INTEGER NOT NULL CHECK (unknown   >= 0),
    questions INTEGER NOT NULL CHECK (questions >= 0),
    undecided INTEGER NOT NULL CHECK (undecided >= 0)
) STRICT;

INSERT INTO head VALUES (1, 0, 0, 0, 0, zeroblob(32), 0, 0, 0, 0, 0);

-- Times are nanoseconds since 1970 in UTC; 0 is no time.

CREATE TABLE session (
    seq        INTEGER PRIMARY KEY,
    id         TEXT    NOT NULL UNIQUE,
    name       TEXT    NOT NULL UNIQUE CHECK (name <> ''),
    owner      TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE connection (
    seq     INTEGER PRIMARY KEY,
    id      TEXT NOT NULL UNIQUE,
    kind    TEXT NOT NULL,
    name    TEXT NOT NULL,
    owner   TEXT NOT NULL,
    service TEXT NOT NULL,
    root    TEXT NOT NULL,
    labels  TEXT,
    readers TEXT
) STRICT;

CREATE TABLE binding (
    session    TEXT    NOT NULL REFERENCES session (id),
    name       TEXT    NOT NULL,
    url        TEXT    NOT NULL,
    kind       TEXT    NOT NULL,
    connection TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    removed_at INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (session, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE observation (
    seq           INTEGER PRIMARY KEY,
    session       TEXT    NOT NULL REFERENCES session (id),
    gatekeeper    TEXT    NOT NULL,
    service       TEXT    NOT NULL,
    name          TEXT    NOT NULL,
    permission    TEXT    NOT NULL,
    labels        TEXT,
    owner_only    INTEGER NOT NULL CHECK (owner_only IN (0, 1)),
    first_seen_at INTEGER NOT NULL,
    turn          INTEGER NOT NULL,
    UNIQUE (session, gatekeeper, service, name)
) STRICT;

-- Actions and questions as lists show them: small rows that change. What an action carries is in content.
CREATE TABLE item (
    id           INTEGER PRIMARY KEY,
    open         INTEGER NOT NULL CHECK (open IN (0, 1)), -- a person still has to say something
    state        TEXT    NOT NULL,
    version      INTEGER NOT NULL CHECK (version > 0),
    session      TEXT    NOT NULL REFERENCES session (id),
    turn         INTEGER NOT NULL,
    binding      TEXT    NOT NULL,
    gatekeeper   TEXT    NOT NULL,
    connection   TEXT    NOT NULL,
    resource     TEXT    NOT NULL,
    kind         TEXT    NOT NULL CHECK (kind <> ''),
    lane         TEXT    NOT NULL,
    title        TEXT    NOT NULL,
    digest       BLOB    NOT NULL CHECK (length(digest) = 32),
    drift        TEXT    NOT NULL CHECK (drift IN ('', 'stale', 'fresh', 'blocked')),
    retryable    INTEGER NOT NULL CHECK (retryable IN (0, 1)),
    risk         TEXT    NOT NULL CHECK (risk IN ('high', 'low')),
    flags        INTEGER NOT NULL, -- what the driver says of the action, one bit each
    method       TEXT    NOT NULL,
    caller       TEXT    NOT NULL,
    context      INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    reason       TEXT    NOT NULL,
    rule         TEXT    NOT NULL,
    claim_holder TEXT    NOT NULL,
    claimed_at   INTEGER NOT NULL,
    decided_by   TEXT    NOT NULL,
    decided_how  TEXT    NOT NULL CHECK (decided_how IN ('', 'terminal', 'pipe', 'key')),
    decided_at   INTEGER NOT NULL,
    undo_size    INTEGER NOT NULL CHECK (undo_size >= 0),
    CHECK (CASE WHEN kind = 'question'
        THEN lane = '' AND state IN ('open', 'answered', 'withdrawn', 'expired')
        ELSE lane IN ('simulate', 'await') AND state IN
            ('pending', 'claimed', 'applied', 'failed', 'unknown', 'rejected', 'stranded', 'reverted') END),
    CHECK (open = (state IN ('pending', 'claimed', 'unknown', 'failed', 'stranded', 'open'))),
    CHECK (state <> 'claimed' OR claim_holder <> '')
) STRICT;

CREATE INDEX item_open     ON item (id) WHERE open = 1;
CREATE INDEX item_session  ON item (open, session, id);
CREATE INDEX item_kind     ON item (kind, id) WHERE open = 1;
CREATE INDEX item_binding  ON item (binding, id) WHERE open = 1;
CREATE INDEX item_claimed  ON item (connection) WHERE state = 'claimed';
CREATE INDEX item_stale    ON item (session, id) WHERE drift = 'stale';
CREATE INDEX item_rejected ON item (session, turn) WHERE state = 'rejected';

-- How many actions of a binding are pending or claimed: every submit asks, whatever waits.
CREATE TABLE waiting (
    session TEXT    NOT NULL,
    binding TEXT    NOT NULL,
    actions INTEGER NOT NULL CHECK (actions >= 0),
    PRIMARY KEY (session, binding)
) STRICT, WITHOUT ROWID;

-- Substrings of titles. Filled in batches behind the newest item: see head.indexed.
CREATE VIRTUAL TABLE item_text USING fts5 (title, content = 'item', content_rowid = 'id', tokenize = 'trigram');

-- JSON is kept byte for byte. The small columns stand first: lists of prerequisites are read without the rest.
CREATE TABLE content (
    id           INTEGER PRIMARY KEY REFERENCES item (id),
    lane_reason  TEXT NOT NULL,
    targets      TEXT,
    base         TEXT,
    needs        TEXT,
    after        TEXT,
    provides     TEXT,
    field_names  TEXT,
    projected    TEXT,
    incomplete   TEXT,
    found        TEXT,
    args         TEXT,
    value        TEXT,
    payload      TEXT,
    fields       TEXT
) STRICT;

CREATE TABLE outcome (
    id       INTEGER PRIMARY KEY REFERENCES item (id),
    created  TEXT,
    versions TEXT,
    result   TEXT
) STRICT;

CREATE TABLE undo (
    id     INTEGER PRIMARY KEY,
    action INTEGER NOT NULL REFERENCES item (id),
    part   INTEGER NOT NULL,
    data   BLOB    NOT NULL,
    UNIQUE (action, part)
) STRICT;

-- What actions touch. The row with action 0 says when the target was last touched by a change of an action, taken from
-- head.change. The others are the actions whose effect is, or may still be, ahead: they leave when they are decided.
CREATE TABLE target (
    session  TEXT    NOT NULL,
    resource TEXT    NOT NULL,
    name     TEXT    NOT NULL,
    action   INTEGER NOT NULL,
    version  INTEGER NOT NULL,
    PRIMARY KEY (session, resource, name, action)
) STRICT, WITHOUT ROWID;

CREATE TABLE reference (
    provider INTEGER NOT NULL,
    action   INTEGER NOT NULL,
    needs    INTEGER NOT NULL CHECK (needs IN (0, 1)), -- else it only comes after
    name     TEXT    NOT NULL,
    PRIMARY KEY (provider, action, needs, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE name (
    session  TEXT    NOT NULL,
    resource TEXT    NOT NULL,
    number   INTEGER NOT NULL CHECK (number > 0), -- 1 is the provisional id ~1
    provider INTEGER NOT NULL,
    real     TEXT    NOT NULL DEFAULT '',
    PRIMARY KEY (session, resource, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX name_real ON name (session, resource, real) WHERE real <> '';

CREATE TABLE question (
    id      INTEGER PRIMARY KEY REFERENCES item (id),
    choices TEXT,
    answer  TEXT NOT NULL
) STRICT;

CREATE TABLE answer (
    session   TEXT    NOT NULL,
    turn      INTEGER NOT NULL,
    call_id   TEXT    NOT NULL,
    args_hash TEXT    NOT NULL,
    step      INTEGER NOT NULL,
    body      TEXT,
    PRIMARY KEY (session, turn, call_id, args_hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE notice (
    id      INTEGER PRIMARY KEY,
    session TEXT    NOT NULL REFERENCES session (id),
    turn    INTEGER NOT NULL,
    action  INTEGER NOT NULL,
    state   TEXT    NOT NULL,
    title   TEXT    NOT NULL,
    reason  TEXT    NOT NULL,
    at      INTEGER NOT NULL
) STRICT;

CREATE INDEX notice_session ON notice (session, id);

CREATE TABLE plan (
    seq          INTEGER PRIMARY KEY,
    id           TEXT    NOT NULL UNIQUE CHECK (id <> ''),
    person       TEXT    NOT NULL,
    how          TEXT    NOT NULL CHECK (how IN ('terminal', 'pipe', 'key')),
    holder       TEXT    NOT NULL,
    confirmed_at INTEGER NOT NULL,
    finished_at  INTEGER NOT NULL DEFAULT 0,
    dismissed    INTEGER NOT NULL DEFAULT 0 CHECK (dismissed IN (0, 1))
) STRICT;

CREATE TABLE plan_item (
    plan           INTEGER NOT NULL REFERENCES plan (seq),
    action         INTEGER NOT NULL,
    place          INTEGER NOT NULL,
    digest         BLOB    NOT NULL CHECK (length(digest) = 32),
    verdict        TEXT    NOT NULL CHECK (verdict IN ('', 'approve', 'reject')),
    reason         TEXT    NOT NULL,
    outcome        TEXT    NOT NULL CHECK (outcome <> ''),
    outcome_reason TEXT    NOT NULL,
    PRIMARY KEY (plan, action)
) STRICT, WITHOUT ROWID;

CREATE TABLE draft (
    person  TEXT    NOT NULL,
    action  INTEGER NOT NULL REFERENCES item (id),
    digest  BLOB    NOT NULL CHECK (length(digest) = 32),
    verdict TEXT    NOT NULL CHECK (verdict IN ('approve', 'reject')),
    reason  TEXT    NOT NULL,
    at      INTEGER NOT NULL,
    PRIMARY KEY (person, action)
) STRICT, WITHOUT ROWID;

CREATE TABLE opened (
    person TEXT    NOT NULL,
    action INTEGER NOT NULL,
    digest BLOB    NOT NULL CHECK (length(digest) = 32),
    at     INTEGER NOT NULL,
    PRIMARY KEY (person, action, digest)
) STRICT, WITHOUT ROWID;

CREATE TABLE operator_key (
    hash   TEXT    PRIMARY KEY CHECK (hash <> ''),
    person TEXT    NOT NULL,
    at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The record. What one filters by is generated from the blob, so that there is one truth.
CREATE TABLE log (
    seq     INTEGER PRIMARY KEY,
    blob    TEXT    NOT NULL,
    prev    BLOB    NOT NULL CHECK (length(prev) = 32),
    hash    BLOB    NOT NULL CHECK (length(hash) = 32),
    session TEXT    GENERATED ALWAYS AS (blob ->> '$.session') VIRTUAL,
    type    TEXT    GENERATED ALWAYS AS (blob ->> '$.type') VIRTUAL
) STRICT;

-- +goose StatementBegin
CREATE TRIGGER log_no_update BEFORE UPDATE ON log
BEGIN SELECT raise(ABORT, 'the record is append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER log_no_delete BEFORE DELETE ON log
BEGIN SELECT raise(ABORT, 'the record is append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER observation_no_update BEFORE UPDATE ON observation
BEGIN SELECT raise(ABORT, 'the observation set never changes what it holds'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER observation_no_delete BEFORE DELETE ON observation
BEGIN SELECT raise(ABORT, 'the observation set never shrinks'); END;
-- +goose StatementEnd
