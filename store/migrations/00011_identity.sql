-- What names this store, wherever its file goes and however many copies there are.
--
-- +goose Up

CREATE TABLE store_identity (id TEXT NOT NULL CHECK (id <> '')) STRICT;
INSERT INTO store_identity (id) VALUES (lower(hex(randomblob(12))));
