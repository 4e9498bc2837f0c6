-- Ids of private collections that were removed. What sessions read of one carries its id, and who may see such a session
-- is asked of the collection that has the id now: so nobody else ever gets it, and it never becomes a public one.
--
-- +goose Up

CREATE TABLE skill_retired (
    id    TEXT PRIMARY KEY,
    owner TEXT NOT NULL
) STRICT, WITHOUT ROWID;
