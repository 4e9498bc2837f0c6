-- What one looks for in the record without reading all of it.
--
-- +goose Up

ALTER TABLE log ADD COLUMN subject TEXT GENERATED ALWAYS AS (blob ->> '$.subject') VIRTUAL;

CREATE INDEX log_type    ON log (type);
CREATE INDEX log_subject ON log (subject);
