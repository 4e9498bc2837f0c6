package store

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"gatehouse/core"
)

// indexBacklog is how many titles wait until they are indexed together: one by one, each submit would write a segment
// of the index of its own, which costs more than the rest of it.
const indexBacklog = 256

// shortestIndexed is the length, in characters, from which a text can be found by its trigrams.
const shortestIndexed = 3

// indexTitles brings the index up when enough has gathered.
func (t *tx) indexTitles(h *head) error {
	if h.item-h.indexed < indexBacklog {
		return nil
	}
	_, err := t.l.exec(`INSERT INTO item_text (rowid, title) SELECT id, title FROM item WHERE id > ? AND id <= ?`, int64(h.indexed), int64(h.item))
	if err != nil {
		return err
	}
	h.indexed = h.item
	return nil
}

// reindexTitle replaces a title in the index where it is in it.
func (t *tx) reindexTitle(id core.ActionID, old, title string) error {
	h, err := t.forChange()
	if err != nil {
		return err
	}
	if old == title || id > h.indexed {
		return nil
	}
	if _, err := t.l.exec(`INSERT INTO item_text (item_text, rowid, title) VALUES ('delete', ?, ?)`, int64(id), old); err != nil {
		return err
	}
	_, err = t.l.exec(`INSERT INTO item_text (rowid, title) VALUES (?, ?)`, int64(id), title)
	return err
}

// match is the part of a query that looks into texts.
type match struct {
	long    []string // words that the index can answer
	short   []string // words that rows have to be read for, in small letters
	grep    string   // in small letters
	indexed core.ActionID
}

func newMatch(q core.QueueQuery, h head) match {
	m := match{grep: strings.ToLower(q.Grep), indexed: h.indexed}
	for _, w := range q.Words {
		switch {
		case w == "":
		case utf8.RuneCountInString(w) >= shortestIndexed && !strings.ContainsRune(w, 0):
			m.long = append(m.long, w)
		default:
			m.short = append(m.short, strings.ToLower(w))
		}
	}
	return m
}

func (m match) none() bool { return len(m.long) == 0 && len(m.short) == 0 && m.grep == "" }

// slow reports that rows have to be read to be compared.
func (m match) slow() bool { return len(m.short) > 0 || m.grep != "" }

// narrow adds what the index can tell. Titles that are not in it yet, a few hundred at most, are compared one by one.
func (m match) narrow(c *conditions) {
	if len(m.long) == 0 {
		return
	}
	phrases := make([]string, len(m.long))
	for i, w := range m.long {
		phrases[i] = `"` + strings.ReplaceAll(w, `"`, `""`) + `"`
	}
	likes := make([]string, len(m.long))
	args := []any{strings.Join(phrases, " AND "), int64(m.indexed)}
	for i, w := range m.long {
		likes[i] = `title LIKE ? ESCAPE '\'`
		args = append(args, like(w))
	}
	c.add(`item.id IN (SELECT rowid FROM item_text WHERE item_text MATCH ?
		UNION ALL SELECT id FROM item WHERE id > ? AND `+strings.Join(likes, " AND ")+`)`, args...)
}

// like is a pattern for LIKE … ESCAPE '\' that matches what holds a text as it is.
func like(part string) string {
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(part) + "%"
}

// keeps compares what the index cannot tell.
func (m match) keeps(v *view, r *core.QueueRow) (bool, error) {
	if !m.slow() {
		return true, nil
	}
	title := strings.ToLower(r.Title)
	for _, w := range m.short {
		if !strings.Contains(title, w) {
			return false, nil
		}
	}
	if m.grep == "" {
		return true, nil
	}
	var column sql.NullString
	err := v.l.one(`SELECT fields FROM content WHERE id = ?`, []any{int64(r.ID)}, &column)
	if errors.Is(err, core.ErrNotFound) { // a question has no fields
		return false, nil
	}
	if err != nil {
		return false, err
	}
	fields, err := decodeFields(column)
	if err != nil {
		return false, err
	}
	for _, f := range fields {
		if contains(f.Name, m.grep) || holds(f.Before, m.grep) || holds(f.After, m.grep) {
			return true, nil
		}
	}
	return false, nil
}

func contains(text, small string) bool { return strings.Contains(strings.ToLower(text), small) }

// holds looks into a value as people see it: texts without their escapes, the rest as JSON.
func holds(value json.RawMessage, small string) bool {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return contains(text, small)
	}
	return bytes.Contains(bytes.ToLower(value), []byte(small))
}
