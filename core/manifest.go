package core

import (
	"errors"
	"fmt"
	"strings"
)

// Lane says what becomes of a call (kernel R15). The zero value is undeclared and does not load.
type Lane string

// The lanes.
const (
	LaneRead     Lane = "read"     // returns data through the gate
	LaneSimulate Lane = "simulate" // queued; the caller goes on and its reads show the effect
	LaneAwait    Lane = "await"    // queued; a turn suspends until it is settled
)

// Strategy says how it is found out whether another person may read a unit (kernel R11). The zero value is private.
type Strategy string

// The observer strategies.
const (
	StrategyPrivate    Strategy = "private" // never
	StrategyACL        Strategy = "acl"     // one live check a unit
	StrategyVisibility Strategy = "visibility"
	StrategyPublic     Strategy = "public"
)

// ParamType is the JSON type of an argument or of a field.
type ParamType string

// The types that arguments and fields can have.
const (
	TypeString  ParamType = "string"
	TypeInteger ParamType = "integer"
	TypeBoolean ParamType = "boolean"
	TypeArray   ParamType = "array"
	TypeObject  ParamType = "object"
	TypeBytes   ParamType = "bytes" // base64 in JSON
)

// Param is one argument of an operation.
type Param struct {
	Name     string    `json:"name"`
	Type     ParamType `json:"type"`
	Optional bool      `json:"optional,omitempty"`
	About    string    `json:"about"` // one sentence for the model and the operator
}

// Reach says how a read names what it depends on, before the fetch.
type Reach string

// How far a read reaches.
const (
	ReachExact  Reach = "exact"
	ReachPrefix Reach = "prefix"
	ReachAll    Reach = "all"
)

// Operation is one method of a binding.
type Operation struct {
	Name        string   `json:"name"`
	About       string   `json:"about"`
	Lanes       []Lane   `json:"lanes"`                  // those it may take; where several, the driver picks one per call
	AwaitReason string   `json:"await_reason,omitempty"` // required where LaneAwait is among the lanes
	Params      []Param  `json:"params"`
	Returns     string   `json:"returns"`            // the shape of the value, for the model
	Depends     Reach    `json:"depends,omitempty"`  // for a read
	Observes    string   `json:"observes,omitempty"` // for a read: which units it yields, in words
	Kinds       []string `json:"kinds,omitempty"`    // action kinds that a write may become
	Unsimulated string   `json:"unsimulated,omitempty"`
}

// ActionKind declares what one kind of action carries.
type ActionKind struct {
	Name         string     `json:"name"`
	Fields       []FieldDef `json:"fields"`
	Reverts      bool       `json:"reverts,omitempty"` // made by reverts alone, by no operation
	Revertible   []bool     `json:"revertible"`        // the values an action of this kind may have
	Irreversible []bool     `json:"irreversible"`      // likewise
	CostsMoney   []bool     `json:"costs_money"`       // likewise
}

// FieldDef declares one field of a kind: predicates and diffs use it.
type FieldDef struct {
	Name          string    `json:"name"`
	Type          ParamType `json:"type"`
	Unpredictable bool      `json:"unpredictable,omitempty"` // a value only the service knows (GK12)
}

// Manifest is what a driver says of itself (GK1). It is checked when the program starts.
type Manifest struct {
	Kind          string       `json:"kind"`
	About         string       `json:"about"`
	Forms         []string     `json:"forms"` // binding URLs, with examples of every narrowing
	Operations    []Operation  `json:"operations"`
	Kinds         []ActionKind `json:"kinds"`
	Observers     Strategy     `json:"observers"`
	Unpredictable []string     `json:"unpredictable,omitempty"` // fields of values that only the service knows (GK12)
	Local         bool         `json:"local"`                   // nothing it does leaves this machine
}

// Operation finds a method by name.
func (m Manifest) Operation(name string) (Operation, bool) { return findOperation(m.Operations, name) }

func findOperation(operations []Operation, name string) (Operation, bool) {
	for _, o := range operations {
		if o.Name == name {
			return o, true
		}
	}
	return Operation{}, false
}

// IsRead reports whether an operation only reads.
func (o Operation) IsRead() bool { return len(o.Lanes) == 1 && o.Lanes[0] == LaneRead }

func (o Operation) allows(lane Lane) bool {
	for _, l := range o.Lanes {
		if l == lane {
			return true
		}
	}
	return false
}

// Validate refuses a manifest that leaves a lane, a reason or a kind undeclared (kernel R15). It reports every fault at once.
func (m Manifest) Validate() error {
	var faults []error
	if m.Kind == "" {
		faults = append(faults, errors.New("manifest without a kind"))
	}
	if len(m.Operations) == 0 {
		faults = append(faults, fmt.Errorf("manifest %s: no operations", m.Kind))
	}
	faults = append(faults, validateOperations(m.Kind, m.Operations, m.Kinds)...)
	return errors.Join(faults...)
}

func validateOperations(kind string, operations []Operation, kinds []ActionKind) []error {
	var faults []error
	declared := make(map[string]bool, len(kinds))
	for _, k := range kinds {
		declared[k.Name] = true
	}
	seen := make(map[string]bool, len(operations))
	for _, o := range operations {
		if seen[o.Name] {
			faults = append(faults, fmt.Errorf("operation %s.%s: declared twice", kind, o.Name))
		}
		seen[o.Name] = true
		faults = append(faults, o.validate(kind, declared)...)
	}
	return faults
}

func (o Operation) validate(kind string, declared map[string]bool) []error {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("operation %s.%s: "+format, append([]any{kind, o.Name}, args...)...))
	}
	if len(o.Lanes) == 0 {
		fault("no lane declared")
	}
	for _, l := range o.Lanes {
		switch l {
		case LaneRead:
			if len(o.Lanes) > 1 {
				fault("a read cannot take other lanes")
			}
			switch o.Depends {
			case ReachExact, ReachPrefix, ReachAll:
			case "":
				fault("a read must say what it depends on")
			default:
				fault("depends on %q, which does not exist", o.Depends)
			}
		case LaneAwait:
			if strings.TrimSpace(o.AwaitReason) == "" {
				fault("await without a reason")
			}
		case LaneSimulate:
		default:
			fault("lane %q does not exist", l)
		}
	}
	if !o.IsRead() && len(o.Kinds) == 0 {
		fault("a write must name its action kinds")
	}
	for _, k := range o.Kinds {
		if !declared[k] {
			fault("action kind %q is not declared", k)
		}
	}
	return faults
}
