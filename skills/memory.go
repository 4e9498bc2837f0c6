package skills

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
)

// MemoryEngine is an [Engine] that keeps everything in memory, as the plain
// peer of one in a store. It is safe for use by several goroutines. The zero
// value is empty and ready.
type MemoryEngine struct {
	mu       sync.RWMutex
	docs     []memoryDoc
	numbers  map[Ref]uint32
	postings map[string][]posting
	dead     int
	sorted   []string // the tokens in order, nil when one was added since
}

var _ Engine = (*MemoryEngine)(nil)

type memoryDoc struct {
	ref        Ref
	visibility Visibility
	owner      AccountID
	gone       bool
}

// posting is a document's number and, in the low bits, the fields a token
// occurs in. Those of a token are in order of the number.
type posting uint32

const (
	inName posting = 1 << iota
	inAbout
	inBody
	fieldBits = 3
	fieldMask = inName | inAbout | inBody
)

func (p posting) doc() uint32 { return uint32(p) >> fieldBits }

// Put keeps the entry.
func (m *MemoryEngine) Put(_ context.Context, e Entry) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.numbers == nil {
		m.numbers, m.postings = map[Ref]uint32{}, map[string][]posting{}
	}
	m.remove(e.Ref)
	number := uint32(len(m.docs))
	m.docs = append(m.docs, memoryDoc{ref: e.Ref, visibility: e.Visibility, owner: e.Owner})
	m.numbers[e.Ref] = number
	for _, field := range []struct {
		bit    posting
		tokens []string
	}{{inName, e.Name}, {inAbout, e.About}, {inBody, e.Body}} {
		for _, token := range field.tokens {
			m.post(token, posting(number<<fieldBits)|field.bit)
		}
	}
	return nil
}

func (m *MemoryEngine) post(token string, p posting) {
	list, known := m.postings[token]
	if !known {
		token = strings.Clone(token) // a token is a piece of the whole document's text
		m.sorted = nil
	}
	if last := len(list) - 1; last >= 0 && list[last].doc() == p.doc() {
		list[last] |= p & fieldMask
		return
	}
	m.postings[token] = append(list, p)
}

// Remove forgets the entry.
func (m *MemoryEngine) Remove(_ context.Context, ref Ref) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.remove(ref)
	return nil
}

func (m *MemoryEngine) remove(ref Ref) {
	number, found := m.numbers[ref]
	if !found {
		return
	}
	delete(m.numbers, ref)
	m.docs[number].gone = true
	m.dead++
	if m.dead > 1000 && m.dead > len(m.docs)/2 {
		m.compact()
	}
}

// compact gives the documents that are left new numbers, in the same order.
func (m *MemoryEngine) compact() {
	numbers := make([]uint32, len(m.docs))
	var kept []memoryDoc
	for i, doc := range m.docs {
		if !doc.gone {
			numbers[i] = uint32(len(kept))
			m.numbers[doc.ref] = numbers[i]
			kept = append(kept, doc)
		}
	}
	for token, list := range m.postings {
		var left []posting
		for _, p := range list {
			if !m.docs[p.doc()].gone {
				left = append(left, posting(numbers[p.doc()]<<fieldBits)|p&fieldMask)
			}
		}
		if left == nil {
			delete(m.postings, token)
			continue
		}
		m.postings[token] = left
	}
	m.docs, m.dead, m.sorted = kept, 0, nil
}

// Find returns the first matches.
func (m *MemoryEngine) Find(ctx context.Context, t Terms, scope Scope, limit int) ([]Match, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if t.Prefix != "" {
		m.sortTokens()
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	lists := make([][]posting, 0, len(t.Whole)+1)
	for _, token := range t.Whole {
		lists = append(lists, m.postings[token])
	}
	if t.Prefix != "" {
		lists = append(lists, m.beginning(t.Prefix))
	}
	best := best{limit: limit}
	for _, p := range common(lists) {
		if doc := &m.docs[p.doc()]; !doc.gone && scope.reads(doc.ref.Collection, doc.visibility, doc.owner) {
			best.add(Match{Ref: doc.ref, Tier: tierOf(p)})
		}
	}
	return best.sorted(), nil
}

// tierOf reads the tier from the fields in which the worst of the tokens was
// found: see common.
func tierOf(p posting) Tier {
	switch {
	case p&inName != 0:
		return TierName
	case p&inAbout != 0:
		return TierAbout
	}
	return TierBody
}

// common returns the documents that are in every list. Their bits say: inName
// if every token is in the name, inAbout if every one is in name or about.
func common(lists [][]posting) []posting {
	if len(lists) == 0 {
		return nil
	}
	slices.SortStableFunc(lists, func(a, b []posting) int { return cmp.Compare(len(a), len(b)) })
	found := make([]posting, len(lists[0]))
	for i, p := range lists[0] {
		found[i] = widen(p)
	}
	for _, list := range lists[1:] {
		kept := found[:0]
		for _, p := range found {
			at, _ := slices.BinarySearchFunc(list, p.doc(), func(p posting, doc uint32) int { return cmp.Compare(p.doc(), doc) })
			list = list[at:]
			if len(list) == 0 {
				break
			}
			if list[0].doc() == p.doc() {
				kept = append(kept, p&widen(list[0]))
			}
		}
		found = kept
	}
	return found
}

// widen makes what is in the name count as being in all, what is in about also
// as in the body: then the bits that all tokens share give the tier.
func widen(p posting) posting {
	switch {
	case p&inName != 0:
		return p | fieldMask
	case p&inAbout != 0:
		return p | inAbout | inBody
	}
	return p
}

// sortTokens readies the tokens for prefixes.
func (m *MemoryEngine) sortTokens() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sorted != nil {
		return
	}
	m.sorted = make([]string, 0, len(m.postings))
	for token := range m.postings {
		m.sorted = append(m.sorted, token)
	}
	slices.Sort(m.sorted)
}

// beginning returns the documents with a token that begins so.
func (m *MemoryEngine) beginning(prefix string) []posting {
	fields := make([]posting, len(m.docs))
	tokens := m.sorted
	if tokens == nil { // a token was added since it was sorted
		for token := range m.postings {
			tokens = append(tokens, token)
		}
		slices.Sort(tokens)
	}
	at, _ := slices.BinarySearch(tokens, prefix)
	for _, token := range tokens[at:] {
		if !strings.HasPrefix(token, prefix) {
			break
		}
		for _, p := range m.postings[token] {
			fields[p.doc()] |= p & fieldMask
		}
	}
	var list []posting
	for number, bits := range fields {
		if bits != 0 {
			list = append(list, posting(number<<fieldBits)|bits)
		}
	}
	return list
}

// best keeps the first matches of many: a heap with the last of them on top.
type best struct {
	limit int
	heap  []Match
}

func compareMatches(a, b Match) int {
	if c := cmp.Compare(a.Tier, b.Tier); c != 0 {
		return c
	}
	return compareRefs(a.Ref, b.Ref)
}

func compareRefs(a, b Ref) int {
	if c := cmp.Compare(a.Collection, b.Collection); c != 0 {
		return c
	}
	return cmp.Compare(a.Path, b.Path)
}

func (b *best) add(m Match) {
	if len(b.heap) < b.limit {
		b.heap = append(b.heap, m)
		for i := len(b.heap) - 1; i > 0 && compareMatches(b.heap[i], b.heap[(i-1)/2]) > 0; i = (i - 1) / 2 {
			b.heap[i], b.heap[(i-1)/2] = b.heap[(i-1)/2], b.heap[i]
		}
		return
	}
	if b.limit < 1 || compareMatches(m, b.heap[0]) >= 0 {
		return
	}
	b.heap[0] = m
	for i := 0; ; {
		last := i
		for _, child := range []int{2*i + 1, 2*i + 2} {
			if child < len(b.heap) && compareMatches(b.heap[child], b.heap[last]) > 0 {
				last = child
			}
		}
		if last == i {
			return
		}
		b.heap[i], b.heap[last] = b.heap[last], b.heap[i]
		i = last
	}
}

func (b *best) sorted() []Match {
	slices.SortFunc(b.heap, compareMatches)
	return b.heap
}
