-- +goose Up
-- A connection that was taken away stays as a row: its id is never given again,
-- and what was read and queued through it goes on naming it.
ALTER TABLE connection ADD COLUMN removed_at INTEGER NOT NULL DEFAULT 0;
