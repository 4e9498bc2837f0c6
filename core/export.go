package core

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// ExportRequest says what is to leave, and for whom.
type ExportRequest struct {
	Session string // id or name
	For     []PersonID
	Level   ShareLevel
	Until   int    // the last turn that goes along; 0 is all of them
	Tenant  string // of the sender, by their identity
}

// SharedObservation is a unit in the set of a file. Public says that everybody of the sender's tenant may read it, by the
// rule of a library.
type SharedObservation struct {
	Observation
	Public bool
}

// Departure is a session about to leave. Making one writes nothing; it is good for two minutes, and for one goroutine.
type Departure struct {
	Session    Session
	Level      ShareLevel
	Until      int
	People     []Person
	Set        []SharedObservation // what goes along was made from these
	Lines      []ExportLine        // every person and unit that was asked about
	Checkpoint Checkpoint

	k       *Kernel
	by      Authority
	tenant  string
	whole   bool
	cut     time.Time // of a replay: nothing from behind this moment; zero is no bound
	started time.Time
}

// PrepareExport looks at everything that speaks against a session leaving: whose it is, its latch, and for every unit and
// person whether that person may read it, asked from the side of whoever connected (sharing 1). What may not leave is an
// *ExportDeniedError. It is a decision of a person (kernel R34).
func (k *Kernel) PrepareExport(ctx context.Context, r ExportRequest, by Authority) (*Departure, error) {
	by, err := k.authorize(ctx, by)
	if err != nil {
		return nil, err
	}
	d := &Departure{k: k, by: by, Level: r.Level, tenant: r.Tenant, started: k.clock.Now()}
	if err := k.store.Read(ctx, func(v View) error { return d.look(v, r) }); err != nil {
		return nil, err
	}
	if d.Level == LevelArchive {
		return d, nil
	}
	if err := d.ask(ctx); err != nil {
		return nil, err
	}
	return d, d.judge()
}

// look reads what leaves and for whom.
func (d *Departure) look(v View, r ExportRequest) (err error) {
	if d.Session, err = sessionFor(v, r.Session, d.by.Person, RoleOwner); err != nil {
		return err
	}
	switch r.Level {
	case LevelReplay, LevelSealed:
		if err := unlatched(v, d.Session, "share "+string(r.Level)); err != nil {
			return err
		}
		if err := d.audience(v, r.For); err != nil {
			return err
		}
	case LevelArchive:
		if len(r.For) > 0 {
			return Invalid("archive: is sealed to yourself; leave out --for, or use --level sealed")
		}
	default:
		return Invalid("level %q: use replay, sealed or archive", r.Level)
	}
	if err := d.prefix(v, r.Until); err != nil {
		return err
	}
	set, err := v.Observations(d.Session.ID)
	if err != nil {
		return err
	}
	end, err := d.endOf(v)
	if err != nil {
		return err
	}
	for _, o := range set {
		if d.whole || (o.Turn > 0 && o.Turn <= d.Until) || (o.Turn == 0 && !o.FirstSeenAt.After(end)) {
			d.Set = append(d.Set, SharedObservation{Observation: o})
		}
	}
	rows, err := v.Rows(RecordQuery{Before: 1 << 62, Limit: 1})
	if err == nil && len(rows) == 1 {
		d.Checkpoint = Checkpoint{Seq: rows[0].Seq, Hash: rows[0].Hash}
	}
	return err
}

func (d *Departure) audience(v View, names []PersonID) error {
	if len(names) == 0 {
		return Invalid("share: for whom? name them with --for PERSON")
	}
	for _, name := range names {
		p, err := v.Person(name)
		switch {
		case err != nil:
			return missingPerson(name, err)
		case p.ID == d.by.Person:
			return Invalid("person %q: is you; an archive is what one seals to oneself", name)
		case p.Sealing == "":
			return Invalid("person %q: has no key; add them by the line that gatehouse identity export prints for them", name)
		case slices.ContainsFunc(d.People, func(q Person) bool { return q.ID == p.ID }):
			return Invalid("person %q: is named twice", name)
		}
		d.People = append(d.People, p)
	}
	return nil
}

// prefix finds the last turn that leaves. One that has not ended does not.
func (d *Departure) prefix(v View, until int) error {
	turns, err := v.Turns(d.Session.ID)
	if err != nil {
		return err
	}
	last, open := 0, false
	for _, t := range turns {
		if t.State == TurnRunning || t.State == TurnSuspended {
			open = true
			break
		}
		last = t.Number
	}
	switch {
	case until < 0 || until > last:
		return Invalid("turn %d: session %s has turns 1 to %d that have ended", until, d.Session.ID, last)
	case until == 0:
		d.Until, d.whole = last, !open
	default:
		d.Until = until
	}
	if open && last == 0 {
		return Invalid("session %s: its first turn has not ended; stop it, or wait", d.Session.ID)
	}
	return nil
}

func (d *Departure) endOf(v View) (time.Time, error) {
	if d.whole || d.Until == 0 {
		return time.Time{}, nil
	}
	turns, err := v.Turns(d.Session.ID)
	if err != nil {
		return time.Time{}, err
	}
	return turns[d.Until-1].UpdatedAt, nil
}

// ask asks about every person and unit, several at once.
func (d *Departure) ask(ctx context.Context) error {
	sources := make([][]Connection, len(d.Set))
	err := d.k.store.Read(ctx, func(v View) error {
		for i, o := range d.Set {
			var err error
			if sources[i], err = sourcesOf(v, d.Session, o.Found.Unit); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	n := len(d.People)
	d.Lines = make([]ExportLine, n*len(d.Set))
	public := make([]bool, len(d.Set))
	atOnce(len(d.Lines), func(i int) {
		who, o := d.People[i%n], d.Set[i/n]
		d.Lines[i] = ExportLine{Person: who.ID, Unit: o.Found.Unit, Check: d.k.cleared(ctx, sources[i/n], o.Found, who, d.tenant)}
		if i%n == 0 && d.k.strategyOf(o.Found.Unit.Gatekeeper) == StrategyVisibility {
			public[i/n] = d.k.admits(ctx, Connection{}, o.Found.Unit, Observer{}).Passed()
		}
	})
	for i := range d.Set {
		d.Set[i].Public = public[i]
	}
	return ctx.Err()
}

// sourcesOf are the connections that a session read a unit with; where the record does not say, all of the owner's to its
// service: each of them could have been it.
func sourcesOf(v View, s Session, u Unit) ([]Connection, error) {
	const most = 500
	rows, err := v.UnitReads(s.ID, u, 0, most)
	if err != nil {
		return nil, err
	}
	found := make(map[ConnectionID]bool)
	said := len(rows) > 0 && len(rows) < most
	for _, row := range rows {
		var d struct{ Connection ConnectionID }
		if err := json.Unmarshal(row.Entry.Detail, &d); err != nil || d.Connection == "" {
			said = false
			break
		}
		found[d.Connection] = true
	}
	if said {
		out := make([]Connection, 0, len(found))
		for id := range found {
			c, err := v.Connection(id)
			if err != nil {
				return nil, err
			}
			out = append(out, c)
		}
		return out, nil
	}
	all, err := v.Connections()
	return slices.DeleteFunc(all, func(c Connection) bool {
		return c.Owner != s.Owner || c.Kind != u.Gatekeeper || c.Service != u.Service
	}), err
}

// cleared reports whether a person may be sent what came from a unit. Cannot tell counts as cannot.
func (k *Kernel) cleared(ctx context.Context, sources []Connection, f Found, who Person, tenant string) AccessCheck {
	observer := Observer{Person: who.ID, Account: who.account(f.Unit.Gatekeeper)}
	strategy := k.strategyOf(f.Unit.Gatekeeper)
	switch {
	case f.OwnerOnly || strategy == StrategyPrivate:
		return AccessCheck{Access: AccessNotVerifiable, Reason: "nobody else may ever read it"}
	case strategy == StrategyPublic:
		return AccessCheck{Access: AccessPassed}
	case strategy == StrategyVisibility && (tenant == "" || who.Tenant != tenant):
		return AccessCheck{Access: AccessDenied, Reason: "is not of your tenant, which a collection is public in"}
	case strategy == StrategyVisibility:
		return k.admits(ctx, Connection{}, f.Unit, observer)
	case len(sources) == 0:
		return AccessCheck{Access: AccessNotVerifiable, Reason: "no connection of yours is left that could tell"}
	}
	for _, c := range sources {
		if c.Owner == who.ID {
			continue // they read it themselves
		}
		if got := k.admits(ctx, c, f.Unit, observer); !got.Passed() {
			return got
		}
	}
	return AccessCheck{Access: AccessPassed}
}

// judge refuses a sealed file over a unit that somebody is not cleared for, and cuts a replay in front of the first.
func (d *Departure) judge() error {
	var failed []ExportLine
	uncleared := make(map[Unit]bool)
	for _, l := range d.Lines {
		if !l.Check.Passed() {
			failed = append(failed, l)
			uncleared[l.Unit] = true
		}
	}
	if len(failed) == 0 {
		return nil
	}
	if d.Level == LevelSealed {
		return &ExportDeniedError{Session: d.Session.ID, Level: d.Level, Lines: failed, Offers: []ShareLevel{LevelReplay, LevelBlueprint}}
	}
	for _, o := range d.Set {
		if uncleared[o.Found.Unit] && (d.cut.IsZero() || o.FirstSeenAt.Before(d.cut)) {
			d.cut = o.FirstSeenAt
		}
	}
	d.Set = slices.DeleteFunc(d.Set, func(o SharedObservation) bool {
		return uncleared[o.Found.Unit] || o.FirstSeenAt.After(d.cut)
	})
	return nil
}

// Leaving is what is known of a file once it was measured.
type Leaving struct {
	Destination string // as the record names it
	Audience    []string
	Bytes       int64
	Digest      string // of the content
	NewFile     func() (string, error)
}

// Leave is asked once, after a person saw what leaves and before a byte is written: it asks the policy, gives the file its
// id and serial, and writes the row of the record. A session that went on meanwhile has to be looked at again.
func (d *Departure) Leave(ctx context.Context, l Leaving) (Share, error) {
	if d.k.clock.Now().Sub(d.started) > openFor {
		return Share{}, errors.New("share: what was checked is older than two minutes; begin again")
	}
	people := make([]PersonID, len(d.People))
	for i, p := range d.People {
		people[i] = p.ID
	}
	units := make([]Unit, len(d.Set))
	for i, o := range d.Set {
		units[i] = o.Found.Unit
	}
	leave, err := d.k.permit(ctx, EgressRequest{
		Sink: SinkExport, Session: d.Session.ID, Caller: Caller{Kind: CallerPerson, Person: d.by.Person}, Destination: l.Destination,
		Local: d.Level == LevelArchive, Audience: people, Latched: d.Session.Latched,
		Bytes: int(l.Bytes), Digest: l.Digest,
	})
	if err != nil {
		return Share{}, err
	}
	rule := leave.verdict.Rule
	out := Share{Session: d.Session.ID, Level: d.Level, Audience: audienceHash(l.Audience), At: d.k.clock.Now()}
	err = d.k.store.Write(ctx, func(tx Tx) error {
		if err := d.unchanged(tx); err != nil {
			return err
		}
		before, err := tx.Share(out.Session, out.Level, out.Audience)
		switch {
		case errors.Is(err, ErrNotFound):
			if out.File, err = l.NewFile(); err != nil {
				return err
			}
		case err != nil:
			return err
		}
		if before.File != "" {
			out.File = before.File
		}
		out.Serial = before.Serial + 1
		if err := tx.PutShare(out); err != nil {
			return err
		}
		return tx.Append(d.row(rule, units, l, out, "begun"))
	})
	return out, err
}

func audienceHash(keys []string) string {
	sorted := slices.Sorted(slices.Values(keys))
	sum := sha256.Sum256([]byte(strings.Join(sorted, "\n")))
	return hex.EncodeToString(sum[:])
}

// unchanged holds the session against what was checked.
func (d *Departure) unchanged(tx Tx) error {
	now, err := tx.Session(string(d.Session.ID))
	if err != nil {
		return err
	}
	if d.Level != LevelArchive {
		if err := unlatched(tx, now, "share "+string(d.Level)); err != nil {
			return err
		}
	}
	if !d.whole {
		return nil // what has ended stays as it is
	}
	again := &Departure{k: d.k, by: d.by}
	if err := again.look(tx, ExportRequest{Session: string(now.ID), Level: LevelArchive}); err != nil {
		return err
	}
	n, err := tx.CountObservations(now.ID)
	if err == nil && (again.Until != d.Until || (d.Level != LevelReplay && n != len(d.Set))) {
		err = fmt.Errorf("session %s: went on since it was looked at; look again", now.ID)
	}
	return err
}

func (d *Departure) row(rule string, units []Unit, l Leaving, s Share, event string) Entry {
	return Entry{
		At: d.k.clock.Now(), Type: EventShare, Session: d.Session.ID, Actor: string(d.by.Person), Authority: d.by.String(), Rule: rule,
		Units: units, Digest: l.Digest, Subject: "session " + string(d.Session.ID),
		Detail: detail(map[string]any{
			"event": event, "level": d.Level, "until": d.Until, "for": d.names(), "bytes": l.Bytes, "file": s.File, "serial": s.Serial,
		}),
	}
}

func (d *Departure) names() []PersonID {
	out := []PersonID{}
	for _, p := range d.People {
		out = append(out, p.ID)
	}
	return out
}

// Left completes the record: the file was written whole, under this hash of its manifest, or it was not, and why.
func (d *Departure) Left(ctx context.Context, s Share, l Leaving, manifest string, failed error) error {
	event := "written"
	if failed != nil {
		event = "failed"
	}
	return d.k.store.Write(ctx, func(tx Tx) error {
		if failed == nil {
			s.Manifest = manifest
			if err := tx.PutShare(s); err != nil {
				return err
			}
		}
		return tx.Append(d.row("", nil, l, s, event))
	})
}
