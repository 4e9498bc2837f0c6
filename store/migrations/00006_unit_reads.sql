-- The reads behind each unit of a session. It is derived from the record, which stays the one truth.
--
-- +goose Up

CREATE TABLE unit_read (
    observation INTEGER NOT NULL REFERENCES observation (seq),
    log         INTEGER NOT NULL,
    number      INTEGER NOT NULL CHECK (number > 0), -- of the read among those of its observation, so that counting is a seek
    PRIMARY KEY (observation, log)
) STRICT, WITHOUT ROWID;

INSERT INTO unit_read (observation, log, number)
    SELECT o.seq, log.seq, row_number() OVER (PARTITION BY o.seq ORDER BY log.seq)
    FROM log, json_each(log.blob, '$.units') u
    JOIN observation o ON o.session = log.session AND o.gatekeeper = u.value ->> '$.gatekeeper'
        AND o.service = u.value ->> '$.service' AND o.name = u.value ->> '$.name'
    WHERE log.type = 'read'
    GROUP BY o.seq, log.seq;

CREATE INDEX observation_unit ON observation (gatekeeper, service, name, session);
