package core

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Limits of what is listed of observations and of the reads behind them.
const (
	ObservedLimit  = 10_000 // observations of one list
	UnitReadsLimit = 200    // reads of one page
)

// ObservedQuery picks observations for a list, the newest first sight first.
type ObservedQuery struct {
	Session string // id or name; empty is all
	Limit   int    // 0, or more than ObservedLimit, is ObservedLimit
}

// ObservedPage is the newest part of a set, or of all sets.
type ObservedPage struct {
	Rows  []ObservedUnit
	Total int // observations there are, listed or not
}

// ObservedUnit is an observation with what a list says beside it.
type ObservedUnit struct {
	Observation
	SessionName string
	Strategy    Strategy  // how it is found out who else may read it; private where its driver is not here (kernel R11)
	Reads       int       // rows of the record that released it to the session; 0 where a fork took it over
	LastReadAt  time.Time // zero without reads
}

// UnitReadsQuery picks the reads behind a unit, newest first.
type UnitReadsQuery struct {
	Session string // id or name; empty is all
	Unit    Unit
	Before  int64 // only rows of the record with a smaller Seq; 0 is from the newest
	Limit   int   // 0, or more than UnitReadsLimit, is UnitReadsLimit
}

// UnitReadsPage is one page of reads.
type UnitReadsPage struct {
	Reads []UnitRead
	More  bool // there are older ones
}

// UnitRead is one read that released a unit: a row of the record, with the call behind it where it is known.
type UnitRead struct {
	Seq         int64
	At          time.Time
	Session     SessionID
	SessionName string
	Turn        int // 0 is a person by hand
	Step        int // 0 where the record does not say
	Actor       string
	Subject     string // BINDING.method
	Args        string // as the model wrote them; empty for what did not come from a model
	Why         string // what the read was for where it was not the call itself, such as "prepared action 12"
	Bytes       int64  // released
}

type observedView interface {
	// Observed lists observations with Rows filled but for the strategy; an empty session is all.
	Observed(session SessionID, limit int) (ObservedPage, error)
	// UnitReads lists rows of the record that released a unit, newest first; an empty session is all. The work grows with
	// the page and with how many sessions read the unit, not with how much was read.
	UnitReads(session SessionID, unit Unit, before int64, limit int) ([]Row, error)
	// StepCalls lists the calls that a step asked for; none where there is no such step.
	StepCalls(session SessionID, turn, step int) ([]ToolCall, error)
}

// Observed lists what a session, or every session, has read (kernel R4).
func (k *Kernel) Observed(ctx context.Context, q ObservedQuery) (ObservedPage, error) {
	var page ObservedPage
	err := k.store.Read(ctx, func(v View) error {
		id, err := sessionIn(v, q.Session)
		if err != nil {
			return err
		}
		page, err = v.Observed(id, within(q.Limit, ObservedLimit))
		return err
	})
	for i := range page.Rows {
		page.Rows[i].Strategy = k.strategyOf(page.Rows[i].Found.Unit.Gatekeeper)
	}
	return page, err
}

// UnitReads is one page of the reads behind a unit (kernel R5). Blocked reads are not among them: nothing was seen.
func (k *Kernel) UnitReads(ctx context.Context, q UnitReadsQuery) (UnitReadsPage, error) {
	var page UnitReadsPage
	limit := within(q.Limit, UnitReadsLimit)
	err := k.store.Read(ctx, func(v View) error {
		id, err := sessionIn(v, q.Session)
		if err != nil {
			return err
		}
		rows, err := v.UnitReads(id, q.Unit, q.Before, limit+1)
		if err != nil {
			return err
		}
		if page.More = len(rows) > limit; page.More {
			rows = rows[:limit]
		}
		page.Reads, err = unitReads(v, rows)
		return err
	})
	return page, err
}

func sessionIn(v sessionView, ref string) (SessionID, error) {
	if ref == "" {
		return "", nil
	}
	s, err := findSession(v, ref)
	return s.ID, err
}

func within(asked, most int) int {
	if asked <= 0 || asked > most {
		return most
	}
	return asked
}

// readDetail is what the rows of reads say beside the units.
type readDetail struct {
	Bytes    int64    `json:"bytes"`
	Step     int      `json:"step"`
	Call     string   `json:"call"`
	Cached   bool     `json:"cached"`
	Prepares ActionID `json:"prepares"`
	Previews ActionID `json:"previews"`
	Error    string   `json:"error"`
	Words    string   `json:"words"`
}

func (d readDetail) why() string {
	switch {
	case d.Prepares != 0:
		return fmt.Sprintf("prepared action %d", d.Prepares)
	case d.Previews != 0:
		return fmt.Sprintf("previewed action %d again", d.Previews)
	case d.Error != "":
		return "an error of the service was passed on"
	case d.Words != "":
		return "what the service said was passed on"
	case d.Cached:
		return "from a cache"
	}
	return ""
}

func unitReads(v View, rows []Row) ([]UnitRead, error) {
	names := make(map[SessionID]string)
	out := make([]UnitRead, len(rows))
	for i, row := range rows {
		e := row.Entry
		if _, known := names[e.Session]; !known {
			s, err := v.Session(string(e.Session))
			if err != nil {
				return nil, err
			}
			names[e.Session] = s.Name
		}
		var d readDetail
		if len(e.Detail) > 0 {
			if err := json.Unmarshal(e.Detail, &d); err != nil {
				return nil, fmt.Errorf("log row %d: detail: %w", row.Seq, err)
			}
		}
		out[i] = UnitRead{
			Seq: row.Seq, At: e.At, Session: e.Session, SessionName: names[e.Session], Turn: e.Turn, Step: d.Step,
			Actor: e.Actor, Subject: e.Subject, Why: d.why(), Bytes: d.Bytes,
		}
		if d.Call == "" {
			continue
		}
		calls, err := v.StepCalls(e.Session, e.Turn, d.Step)
		if err != nil {
			return nil, err
		}
		for _, call := range calls {
			if textHash(call.ID) == d.Call {
				out[i].Args = call.Args
			}
		}
	}
	return out, nil
}
