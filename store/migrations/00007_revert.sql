-- +goose Up
-- What an action takes back; 0 for what is no revert.
ALTER TABLE item ADD COLUMN reverts INTEGER NOT NULL DEFAULT 0;

CREATE INDEX item_reverts ON item (reverts, id) WHERE reverts <> 0;

-- The fields of an action as they were submitted, once a fresh preview has put others in their place.
ALTER TABLE content ADD COLUMN submitted TEXT;
