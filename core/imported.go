package core

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gatehouse/core/text"
)

// Arrival is a file that somebody wants to open, as its header says. Its signature was checked; nothing else is believed.
type Arrival struct {
	File    string
	Level   ShareLevel
	Serial  uint64
	Sender  string // signing key
	Created time.Time
	Expires time.Time
	Own     string // the signing key of whoever opens
}

// FileEntry is one attempt to open a file (sharing 3). What it knows grows in order: who sent it, what has to be checked,
// what came of that. It is for one goroutine.
type FileEntry struct {
	Sender PersonID // as this store knows them

	k       *Kernel
	by      Authority
	arrival Arrival
	tenant  string // of the sender, by this store's record of them
	mine    bool   // an archive of one's own
	set     []SharedObservation
	lines   []OpenLine
	own     Contents
	started time.Time
}

// Contents are what the sealed part of a file says, once it was opened.
type Contents struct {
	Until    int
	Tenant   string // that the sender says they belong to
	Mine     string // that whoever opens belongs to, by their identity
	Set      []SharedObservation
	Manifest string // hash of the sealed manifest
}

// Arrive looks at a file before anything sealed is opened: who sent it, and whether it is past its time, taken back, or
// older than one that was opened before. What does not open is a row of the record too. It is a decision of a person.
func (k *Kernel) Arrive(ctx context.Context, a Arrival, by Authority) (*FileEntry, error) {
	by, err := k.authorize(ctx, by)
	if err != nil {
		return nil, err
	}
	e := &FileEntry{k: k, by: by, arrival: a, started: k.clock.Now()}
	err = k.store.Read(ctx, func(v View) error {
		if err := e.sender(v); err != nil {
			return err
		}
		return e.stands(v)
	})
	return e, e.noted(ctx, err)
}

func (e *FileEntry) refusal(reason, hint string) error {
	return &FileRefusedError{File: e.arrival.File, Reason: reason, Hint: hint}
}

// sender finds who signed the file. A key that nobody compared the fingerprint of is nobody's.
func (e *FileEntry) sender(v View) error {
	a := e.arrival
	if a.Sender == a.Own {
		if a.Level != LevelArchive {
			return e.refusal("you sealed it yourself, or somebody signed it with your key", "open the session it came from")
		}
		e.Sender, e.mine = e.by.Person, true
		return nil
	}
	if a.Level == LevelArchive {
		return e.refusal("it is an archive of somebody else", "")
	}
	people, err := v.People()
	if err != nil {
		return err
	}
	for _, p := range people {
		if p.Signing == a.Sender {
			e.Sender, e.tenant = p.ID, p.Tenant
			return nil
		}
	}
	return e.refusal("signed by somebody this store does not know", "add them with gatehouse people add, after you compared the fingerprint")
}

// clockSlack is how far two clocks may be apart.
const clockSlack = 24 * time.Hour

// stands looks for what speaks against the file itself.
func (e *FileEntry) stands(v View) error {
	a := e.arrival
	if a.Created.After(e.k.clock.Now().Add(clockSlack)) {
		return e.refusal("dated "+a.Created.UTC().Format("2006-01-02")+", which is ahead of the clock here", "check the clock of this machine, then ask the sender to check theirs")
	}
	if !a.Expires.IsZero() && !e.k.clock.Now().Before(a.Expires) {
		return e.refusal("expired at "+a.Expires.UTC().Format("2006-01-02 15:04 UTC"), "ask its sender for a new one")
	}
	seen, err := v.SeenFiles(a.File)
	if err != nil {
		return err
	}
	for _, s := range seen {
		switch {
		case s.Sender != a.Sender && s.Serial > 0:
			return &FileRefusedError{File: a.File, Stale: true, Reason: "sender key differs: this file came from somebody else before"}
		case s.Sender != a.Sender:
		case s.Revoked >= a.Serial:
			return e.refusal("was taken back by its sender", "")
		case s.Serial > a.Serial:
			return &FileRefusedError{
				File: a.File, Stale: true, Hint: "open the newer one",
				Reason: fmt.Sprintf("older than one that was opened before: serial %d, and %d was seen", a.Serial, s.Serial),
			}
		}
	}
	return nil
}

// noted writes a row where a file was not let in.
func (e *FileEntry) noted(ctx context.Context, err error) error {
	var refused *FileRefusedError
	if !errors.As(err, &refused) {
		return err
	}
	return errors.Join(err, e.k.store.Write(ctx, func(tx Tx) error { return tx.Append(e.row("refused", nil, "", refused.Reason)) }))
}

func (e *FileEntry) row(event string, units []Unit, session SessionID, why string) Entry {
	verdicts := make(map[Access]int)
	for _, l := range e.lines {
		verdicts[l.Check.Access]++
	}
	return Entry{
		At: e.k.clock.Now(), Type: EventImport, Session: session, Actor: string(e.by.Person), Authority: e.by.String(), Units: units,
		Digest: e.own.Manifest, Subject: "file " + shortFile(e.arrival.File),
		Detail: detail(map[string]any{
			"event": event, "file": e.arrival.File, "serial": e.arrival.Serial, "level": e.arrival.Level, "sender": e.Sender,
			"until": e.own.Until, "verdicts": verdicts, "why": textHash(why),
		}),
	}
}

// Check asks about every unit of the manifest with connections of whoever opens, freshly and all at once. Whoever opens
// their own archive is asked nothing.
func (e *FileEntry) Check(ctx context.Context, c Contents) error {
	e.own, e.set = c, c.Set
	return e.runAll(ctx)
}

func (e *FileEntry) runAll(ctx context.Context) error {
	if e.mine {
		return nil
	}
	own, err := e.k.connectionsOf(ctx, e.by.Person)
	if err != nil {
		return err
	}
	lines := make([]OpenLine, len(e.set))
	atOnce(len(lines), func(i int) { lines[i] = e.line(ctx, own, e.set[i]) })
	e.lines = lines
	return ctx.Err()
}

func (e *FileEntry) line(ctx context.Context, own []Connection, o SharedObservation) OpenLine {
	line := e.k.openLine(ctx, own, o.Found, e.by.Person)
	if o.Public && !o.Found.OwnerOnly && e.k.strategyOf(o.Found.Unit.Gatekeeper) == StrategyVisibility {
		line.Check = e.ofTenant()
	}
	return line
}

// ofTenant reports whether whoever opens belongs to the tenant that a collection is public in: by the record of the
// sender, by what the file says, and by their own word.
func (e *FileEntry) ofTenant() AccessCheck {
	if e.tenant == "" || e.tenant != e.own.Tenant || e.tenant != e.own.Mine {
		return AccessCheck{Access: AccessDenied, Reason: "you are not of the tenant that it is public in"}
	}
	return AccessCheck{Access: AccessPassed}
}

// Lines are the verdicts so far, one a unit.
func (e *FileEntry) Lines() []OpenLine { return slices.Clone(e.lines) }

// Again runs one line again (K17).
func (e *FileEntry) Again(ctx context.Context, line int) error {
	if line < 0 || line >= len(e.lines) {
		return Invalid("line %d: there are %d", line+1, len(e.lines))
	}
	own, err := e.k.connectionsOf(ctx, e.by.Person)
	if err != nil {
		return err
	}
	e.lines[line] = e.line(ctx, own, e.set[line])
	return ctx.Err()
}

// Passed says whether every line has; else it is an *OpenDeniedError. It writes the row of a refusal.
func (e *FileEntry) Passed(ctx context.Context) error {
	var refused []Unit
	for i, l := range e.lines {
		if !l.Check.Passed() {
			refused = append(refused, e.set[i].Found.Unit)
		}
	}
	if len(refused) == 0 {
		return nil
	}
	denied := &OpenDeniedError{File: e.arrival.File, Lines: e.Lines()}
	return errors.Join(denied, e.k.store.Write(ctx, func(tx Tx) error { return tx.Append(e.row("refused", refused, "", "not passed")) }))
}

// Pieces hands out what a body holds. It is run twice: to the end before a byte of it is kept, and then to keep it.
type Pieces func(each func(Piece) error) error

// Release runs every line again and, where all pass, reads the body to its end and then makes the session: read-only,
// without bindings, with the set and so the labels of the file. Nothing of the body is written before that (X2, X3, X4).
func (e *FileEntry) Release(ctx context.Context, pieces Pieces) (Session, error) {
	if e.k.clock.Now().Sub(e.started) > openFor {
		return Session{}, errOpenTooLong
	}
	if err := e.runAll(ctx); err != nil {
		return Session{}, err
	}
	if err := e.Passed(ctx); err != nil {
		return Session{}, err
	}
	if err := pieces(func(Piece) error { return ctx.Err() }); err != nil {
		return Session{}, err
	}
	var out Session
	err := e.k.store.Write(ctx, func(tx Tx) (err error) {
		if err := e.stands(tx); err != nil {
			return err
		}
		out, err = e.keep(tx, pieces)
		return err
	})
	return out, e.noted(ctx, err)
}

func (e *FileEntry) keep(tx Tx, pieces Pieces) (Session, error) {
	a, now := e.arrival, e.k.clock.Now()
	into := &intake{tx: tx, k: e.k, owner: e.by.Person, from: e.Sender, at: now}
	if err := pieces(into.take); err != nil {
		return Session{}, err
	}
	s := into.session
	for _, o := range e.set {
		if err := tx.Observe(s.ID, o.Turn, o.FirstSeenAt, []Found{o.Found}); err != nil {
			return Session{}, err
		}
		if !o.Found.OwnerOnly || s.Latched {
			continue
		}
		latch := Latch{Session: s.ID, At: now, Turn: o.Turn, Unit: o.Found.Unit, Read: "a read before it was archived"}
		if _, err := tx.SetLatch(latch); err != nil {
			return Session{}, err
		}
		s.Latched = true
	}
	err := tx.InsertImported(Imported{
		Session: s.ID, File: a.File, Serial: a.Serial, Level: a.Level, Sender: e.Sender, Until: e.own.Until, At: now,
	})
	if err != nil {
		return Session{}, err
	}
	if err := tx.PutSeenFile(SeenFile{Sender: a.Sender, File: a.File, Serial: a.Serial, At: now}); err != nil {
		return Session{}, err
	}
	s.ReadOnly = true
	units := make([]Unit, len(e.set))
	for i, o := range e.set {
		units[i] = o.Found.Unit
	}
	return s, tx.Append(e.row("opened", units, s.ID, ""))
}

// Withdraw keeps a signed notice that files are not to be opened any more (X7). Whether it was signed by their sender is
// for whoever read it to have checked.
func (k *Kernel) Withdraw(ctx context.Context, s SeenFile, by Authority) error {
	by, err := k.authorize(ctx, by)
	if err != nil {
		return err
	}
	s.At, s.Serial = k.clock.Now(), 0
	return k.store.Write(ctx, func(tx Tx) error {
		if err := tx.PutSeenFile(s); err != nil {
			return err
		}
		return tx.Append(Entry{
			At: s.At, Type: EventShare, Actor: string(by.Person), Authority: by.String(), Subject: "file " + shortFile(s.File),
			Detail: detail(map[string]any{"event": "withdrawn", "file": s.File, "serial": s.Revoked, "sender": textHash(s.Sender)}),
		})
	})
}

// ContinueShared makes a session that came in a file one to work in. It has no bindings: what its agent may reach is what
// its owner connects from now on, and what it was told before is somebody else's words (sharing 3).
func (k *Kernel) ContinueShared(ctx context.Context, ref string, by Authority) (Session, error) {
	by, err := k.authorize(ctx, by)
	if err != nil {
		return Session{}, err
	}
	var s Session
	err = k.store.Write(ctx, func(tx Tx) error {
		if s, err = sessionFor(tx, ref, by.Person, RoleOwner); err != nil {
			return err
		}
		now := k.clock.Now()
		changed, err := tx.ContinueImported(s.ID, now)
		if err != nil {
			return err
		}
		if !changed {
			return Invalid("session %s: is one to work in already", s.ID)
		}
		s.ReadOnly = false
		return tx.Append(Entry{
			At: now, Type: EventImport, Session: s.ID, Actor: string(by.Person), Authority: by.String(), Subject: "session " + string(s.ID),
			Detail: detail(map[string]any{"event": "continued"}),
		})
	})
	return s, err
}

// SharedFrom says where a session came from; false for one that was made here.
func (k *Kernel) SharedFrom(ctx context.Context, ref string) (from Imported, shared bool, err error) {
	err = k.store.Read(ctx, func(v View) error {
		s, err := findSession(v, ref)
		if err != nil {
			return err
		}
		from, err = v.Imported(s.ID)
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		shared = err == nil
		return err
	})
	return from, shared, err
}

// MadeHere finds the file that this store sent under an id; false where there is none.
func (k *Kernel) MadeHere(ctx context.Context, file string) (s Share, made bool, err error) {
	err = k.store.Read(ctx, func(v View) error {
		s, err = v.ShareOf(file)
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		made = err == nil
		return err
	})
	return s, made, err
}

// sharedName makes a name for a session out of what a file says: one clean line that nobody here has.
func sharedName(v sessionView, wanted string, from PersonID) (string, error) {
	clean, _ := text.CleanLine(wanted, nameLimit-30)
	clean, _ = text.CleanLine(fmt.Sprintf("%s from %s", clean, from), nameLimit-6)
	if checkName("session name", clean) != nil {
		clean = "a session from a file"
	}
	name := clean
	for n := 2; ; n++ {
		_, err := v.Session(name)
		if errors.Is(err, ErrNotFound) {
			return name, nil
		}
		if err != nil {
			return "", err
		}
		name = fmt.Sprintf("%s %d", clean, n)
	}
}

// SharedProposals lists what was pending in a session where it came from. Nothing of it is queued (X12).
func (k *Kernel) SharedProposals(ctx context.Context, ref string) ([]StoredProposal, error) {
	var out []StoredProposal
	err := k.store.Read(ctx, func(v View) error {
		s, err := findSession(v, ref)
		if err != nil {
			return err
		}
		out, err = v.Proposals(s.ID)
		return err
	})
	return out, err
}
