-- Sessions that a person took away: hidden first, then emptied. The row stays, and its id is never given again. While a
-- session is hidden its name is free for another: it stands in removed_name, and its id in the place of the name.
--
-- +goose Up

ALTER TABLE session ADD COLUMN removed_at   INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN removed_name TEXT    NOT NULL DEFAULT '';
ALTER TABLE session ADD COLUMN removed_by   TEXT    NOT NULL DEFAULT ''; -- on whose authority, as the record words it
ALTER TABLE session ADD COLUMN purged_at    INTEGER NOT NULL DEFAULT 0;

CREATE INDEX session_removed ON session (removed_at, id) WHERE removed_at <> 0;
