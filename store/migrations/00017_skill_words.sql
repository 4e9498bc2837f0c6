-- The words of the index of skills, in order: a search for the beginning of a word looks up which words begin so, and asks
-- for these. The index by itself would gather all documents of all of them before it gave the first.
--
-- +goose Up

CREATE VIRTUAL TABLE skill_token_word USING fts5vocab (skill_token, instance);
