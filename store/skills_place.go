package store

import "gatehouse/skills"

// placed is a document with its number.
type placed struct {
	path   string
	number int64
}

// strideLimit is how far apart numbers are set at most where nothing stands behind them, so that room is left at the end.
const strideLimit = 1 << 20

// placesFor finds numbers for new documents, in the order of their paths, between those that are there. Both lists are in
// order. It fails where there is no room between two: then the collection has to be numbered afresh.
func placesFor(c SkillCollection, there []placed, paths []string) (numbers []int64, ok bool) {
	first, _ := c.numbers()
	low := first + c.page<<pageBits
	end := low + 1<<pageBits
	numbers = make([]int64, 0, len(paths))
	at := 0
	for i := 0; i < len(paths); {
		for at < len(there) && there[at].path <= paths[i] { // what replaces a document stands behind it
			low = there[at].number
			at++
		}
		high, open := end, true
		n := len(paths) - i
		if at < len(there) {
			high, open = there[at].number, false
			for n = 1; i+n < len(paths) && paths[i+n] < there[at].path; {
				n++
			}
		}
		if open && len(there) == 0 {
			low += 1 << (pageBits - 2) // room in front
		}
		step := (high - low) / int64(n+1)
		if step < 1 {
			return nil, false
		}
		start := low
		switch {
		case open:
			step = min(step, strideLimit)
		case at == 0: // in front of all: near the first
			step = min(step, strideLimit)
			start = high - step*int64(n+1)
		}
		for k := 1; k <= n; k++ {
			numbers = append(numbers, start+step*int64(k))
		}
		low = numbers[len(numbers)-1]
		i += n
	}
	return numbers, true
}

// renumber moves all documents of a collection to the other page, evenly apart. Readers see no change. It reads every
// document once, and is needed when some twenty have been put one by one at the same spot.
func (t *tx) renumber(c SkillCollection) (SkillCollection, error) {
	var old []placed
	err := t.l.each(t.ctx, `SELECT path, number FROM skill_document WHERE collection = ? ORDER BY number`, []any{c.key}, func(row scanner) error {
		var p placed
		err := row.Scan(&p.path, &p.number)
		old = append(old, p)
		return err
	})
	if err != nil {
		return c, err
	}
	paths := make([]string, len(old))
	for i, p := range old {
		paths[i] = p.path
	}
	c.page = 1 - c.page
	numbers, ok := placesFor(c, nil, paths)
	if !ok {
		return c, nil // whoever asked says that there is no room
	}
	for i, p := range old {
		var d skills.Document
		d.Ref = skills.Ref{Collection: c.ID, Path: p.path}
		err := t.l.one(`SELECT d.title, d.description, d.content_type, b.bytes FROM skill_document d JOIN skill_bytes b ON b.number = d.number
			WHERE d.number = ?`, []any{p.number}, &d.Title, &d.Description, &d.ContentType, &d.Bytes)
		if err != nil {
			return c, err
		}
		if _, err := t.l.exec(`DELETE FROM skill_token WHERE rowid = ?`, p.number); err != nil {
			return c, err
		}
		if _, err := t.l.exec(`UPDATE skill_document SET number = ? WHERE number = ?`, numbers[i], p.number); err != nil {
			return c, err
		}
		tokens := string(d.Bytes) // of an entry alone: see SkillEngine
		if d.ContentType != "" {
			tokens = indexText(skills.EntryFor(c.Collection, d))
		}
		if _, err := t.l.exec(`INSERT INTO skill_token (rowid, tokens) VALUES (?, ?)`, numbers[i], tokens); err != nil {
			return c, err
		}
	}
	_, err = t.l.exec(`UPDATE skill_collection SET page = ? WHERE key = ?`, c.page, c.key)
	return c, err
}
