package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"gatehouse/core"
)

const hintIDs = "write 12, 12-20, 12,15, @SESSION, @SESSION/TURN, or - to read them from standard input"

// selection is what the words of ID… mean before the store is asked.
type selection struct {
	single []core.ActionID // named one by one: each has to exist
	ranges []idRange       // of these, what exists
	groups []idGroup
}

type idRange struct{ first, last core.ActionID }

// idGroup is all of a session, or of one of its turns.
type idGroup struct {
	session string
	turn    int
}

// parseIDs reads the words of ID…; stdin is for the word -.
func parseIDs(words []string, stdin io.Reader) (selection, error) {
	var s selection
	for _, word := range words {
		if word != "-" {
			if err := s.add(word); err != nil {
				return selection{}, err
			}
			continue
		}
		lines := bufio.NewScanner(stdin)
		for n := 1; lines.Scan(); n++ {
			text := strings.TrimSpace(lines.Text())
			if text == "" {
				continue
			}
			if err := s.add(text); err != nil {
				return selection{}, usage(hintIDs, "standard input, line %d: %s", n, err)
			}
		}
		if err := lines.Err(); err != nil {
			return selection{}, fmt.Errorf("standard input: %w", err)
		}
	}
	if len(s.single)+len(s.ranges)+len(s.groups) == 0 {
		return selection{}, usage(hintIDs, "no ids")
	}
	return s, nil
}

func (s *selection) add(word string) error {
	if ref, found := strings.CutPrefix(word, "@"); found {
		return s.addGroup(word, ref)
	}
	for _, part := range strings.Split(word, ",") {
		first, last, isRange := strings.Cut(part, "-")
		from, err := parseID(first)
		if err != nil {
			return usage(hintIDs, "%q: not an id", part)
		}
		if !isRange {
			s.single = append(s.single, from)
			continue
		}
		to, err := parseID(last)
		switch {
		case err != nil:
			return usage(hintIDs, "%q: not a range of ids", part)
		case to < from:
			return usage(fmt.Sprintf("write it as %d-%d", to, from), "%q: the range runs backwards", part)
		case to-from >= core.PlanLimit:
			return usage("name fewer", "%q: more than %d ids", part, core.PlanLimit)
		}
		s.ranges = append(s.ranges, idRange{from, to})
	}
	return nil
}

// addGroup reads SESSION or SESSION/TURN. A name of a session may hold a slash:
// only a number behind the last one is a turn.
func (s *selection) addGroup(word, ref string) error {
	g := idGroup{session: ref}
	if cut := strings.LastIndexByte(ref, '/'); cut >= 0 {
		if turn, err := strconv.Atoi(ref[cut+1:]); err == nil && turn > 0 {
			g = idGroup{session: ref[:cut], turn: turn}
		}
	}
	if g.session == "" {
		return usage(hintIDs, "%q: no session behind the @", word)
	}
	s.groups = append(s.groups, g)
	return nil
}

func (g idGroup) String() string {
	if g.turn == 0 {
		return "@" + g.session
	}
	return fmt.Sprintf("@%s/%d", g.session, g.turn)
}

func parseID(word string) (core.ActionID, error) {
	if !regexp.MustCompile(`^[0-9]+$`).MatchString(word) {
		return 0, usage(hintIDs, "%q: not an id", word)
	}
	n, err := strconv.ParseInt(word, 10, 64)
	if err != nil || n == 0 {
		return 0, usage(hintIDs, "%q: not an id", word)
	}
	return core.ActionID(n), nil
}

// oneID wants a single id.
func oneID(word string) (core.ActionID, error) {
	id, err := parseID(word)
	if err != nil {
		return 0, usage("this command takes one number, see gatehouse queue list", "%q: not an id", word)
	}
	return id, nil
}

// find turns a selection into ids, each once: those named first, in the order
// in which they were named. Groups take what is in one of the states.
func (p *parts) find(ctx context.Context, s selection, states []string) ([]core.ActionID, error) {
	f := idFinder{seen: map[core.ActionID]bool{}}
	for _, id := range s.single {
		f.add(id)
	}
	for _, r := range s.ranges {
		ids := make([]core.ActionID, 0, r.last-r.first+1)
		for id := r.first; id <= r.last; id++ {
			ids = append(ids, id)
		}
		if err := f.rows(ctx, p, core.QueueQuery{IDs: ids, AllState: true}); err != nil {
			return nil, err
		}
		if !f.some {
			return nil, &fault{
				code: codeNotFound, message: fmt.Sprintf("actions %d-%d: none of them exists", r.first, r.last),
				hint: "see gatehouse queue list --state all",
			}
		}
	}
	for _, g := range s.groups {
		session, err := p.kernel.Session(ctx, g.session)
		if err != nil {
			return nil, err
		}
		query := core.QueueQuery{Session: session.ID, Turn: g.turn, States: states, AllState: states == nil}
		if err := f.rows(ctx, p, query); err != nil {
			return nil, err
		}
		if !f.some {
			return nil, &fault{
				code: codeNotFound, message: g.String() + ": nothing there waits for this",
				hint: fmt.Sprintf("see gatehouse queue list --session %s --state all", session.ID),
			}
		}
	}
	if len(f.ids) > core.PlanLimit {
		return nil, usage("name fewer", "%d ids, %d at most", len(f.ids), core.PlanLimit)
	}
	return f.ids, nil
}

type idFinder struct {
	ids  []core.ActionID
	seen map[core.ActionID]bool
	some bool // the last query found something
}

func (f *idFinder) add(id core.ActionID) {
	if !f.seen[id] {
		f.seen[id] = true
		f.ids = append(f.ids, id)
	}
}

// rows adds the actions that a query finds; questions are answered one by one.
func (f *idFinder) rows(ctx context.Context, p *parts, q core.QueueQuery) error {
	f.some = false
	return p.eachRow(ctx, q, func(row core.QueueRow) error {
		if row.Question == nil {
			f.some = true
			f.add(row.ID)
		}
		return nil
	})
}

// eachRow walks a query window by window.
func (p *parts) eachRow(ctx context.Context, q core.QueueQuery, visit func(core.QueueRow) error) error {
	for {
		page, err := p.kernel.Queue(ctx, q)
		if err != nil {
			return err
		}
		for _, row := range page.Rows {
			if err := visit(row); err != nil {
				return err
			}
		}
		if !page.More || len(page.Rows) == 0 {
			return nil
		}
		place := page.Rows[len(page.Rows)-1].Place
		q.After = &place
	}
}
