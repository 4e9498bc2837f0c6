package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"gatehouse/core"
	"gatehouse/core/text"
	"gatehouse/gatekeepers/library"
	"gatehouse/skills"
	"gatehouse/store"
)

// libraryParts is the skill library of this store, the built-in skills
// included, as its driver and the person at the terminal use it.
type libraryParts struct {
	driver *library.Driver
	reads  *skills.Library
	uses   skills.Uses
}

func openLibrary(ctx context.Context, db *store.DB) (libraryParts, error) {
	stored := db.Shelf()
	service, err := stored.Service(ctx)
	if err != nil {
		return libraryParts{}, err
	}
	shelf, engine, err := skills.WithBundled(stored, db.SkillEngine())
	if err != nil {
		return libraryParts{}, err
	}
	driver := library.New(library.Options{Shelf: shelf, Engine: engine, Service: service, Pins: stored})
	return libraryParts{driver: driver, reads: skills.New(shelf, engine), uses: stored}, nil
}

// slashes are the slash commands of the person who runs this process.
type slashes struct{ p *parts }

func (s slashes) account() skills.AccountID { return skills.AccountID(s.p.person) }

func (s slashes) scope() skills.Scope { return skills.For(s.account()) }

// Offers lists the commands that the person may call.
func (s slashes) Offers(ctx context.Context) ([]skills.Offer, error) {
	return s.p.library.reads.Offers(ctx, s.account())
}

// Invoke finds what a command means and what it becomes.
func (s slashes) Invoke(ctx context.Context, c skills.Command) (skills.Invocation, error) {
	return s.p.library.reads.Invoke(ctx, s.account(), c, s.p.library.uses)
}

// InvokeRef is Invoke for one of several skills of a name.
func (s slashes) InvokeRef(ctx context.Context, c skills.Command, ref skills.Ref) (skills.Invocation, error) {
	return s.p.library.reads.InvokeRef(ctx, s.account(), c, ref, s.p.library.uses)
}

// Take reads what was shown into the session, through the gate.
func (s slashes) Take(ctx context.Context, session core.SessionID, i skills.Invocation) (string, error) {
	binding, err := s.binding(ctx, session, i.Ref.Collection)
	if err != nil {
		return "", err
	}
	args, err := json.Marshal(map[string]string{"id": i.Ref.String(), "args": i.Command.Args})
	if err != nil {
		return "", err
	}
	out, err := s.p.kernel.Call(ctx, core.CallRequest{
		Session: string(session), Binding: binding, Method: library.OpExpand, Args: args,
		Caller: core.Caller{Kind: core.CallerPerson, Person: s.p.person},
	})
	if err != nil {
		return "", err
	}
	switch out.Status() {
	case core.StatusOK:
	case core.StatusRefused:
		return "", &fault{code: codeDenied, message: out.Reason()}
	default:
		return "", &fault{code: codeOfCall(out.Code()), message: out.Reason()}
	}
	var taken struct{ SHA256, Text string }
	if err := json.Unmarshal(out.Value(), &taken); err != nil {
		return "", fmt.Errorf("skill %s: %w", i.Ref, err)
	}
	if taken.SHA256 != i.SHA256 || taken.Text != i.Text {
		return "", &fault{code: codeFailed, message: fmt.Sprintf("skill %s: changed since it was shown; nothing was sent", line(i.Ref.String())), hint: "look at it again"}
	}
	err = s.p.library.uses.Used(ctx, skills.Use{
		Account: s.account(), Ref: i.Ref, SHA256: i.SHA256, At: systemClock{}.Now(), Text: i.Source,
	})
	return taken.Text, err
}

// libraryBinding is the name under which a session gets the library with the
// first skill that a person calls in it.
const libraryBinding = "LIBRARY"

// binding finds a binding of the session that reaches the collection, or binds
// the library where the session has none.
func (s slashes) binding(ctx context.Context, session core.SessionID, id skills.CollectionID) (core.BindingName, error) {
	bound, err := s.p.kernel.Bindings(ctx, string(session))
	if err != nil {
		return "", err
	}
	narrowed := false
	for _, b := range bound {
		if b.Kind == library.Kind {
			if library.Reaches(b.URL, id) {
				return b.Name, nil
			}
			narrowed = true
		}
	}
	if narrowed {
		return "", &fault{
			code: codeDenied, message: fmt.Sprintf("session %s: its library is narrowed, and does not reach collection %s", session, line(string(id))),
			hint: fmt.Sprintf("gatehouse bind %s SKILLS %s lets it", session, library.Whole),
		}
	}
	b, err := s.p.kernel.Bind(ctx, core.BindRequest{Session: string(session), Name: libraryBinding, URL: library.Whole, Person: s.p.person})
	if errors.Is(err, core.ErrNameTaken) {
		return "", &fault{
			code: codeFailed, message: fmt.Sprintf("session %s: has no library, and %s is the name of something else", session, libraryBinding),
			hint: fmt.Sprintf("bind it by another name: gatehouse bind %s SKILLS %s", session, library.Whole),
		}
	}
	return b.Name, err
}

// lendLibrary binds the library to a session before its first turn, where its
// person can read a collection that was added to this store: else no agent
// would ever know of it. A person who unbinds or narrows it is not overruled.
func (p *parts) lendLibrary(ctx context.Context, session string) (lent bool, err error) {
	_, _, err = p.kernel.OpenTurn(ctx, session)
	var none *core.NoTurnError
	if !errors.As(err, &none) || none.Turn > 0 {
		return false, nil // it has had its turns; any other fault is met again
	}
	readable, err := p.store.Shelf().Collections(ctx, slashes{p}.scope())
	if err != nil || len(readable) == 0 {
		return false, err
	}
	return p.bindLibrary(ctx, session)
}

// bindLibrary binds the library to a session that has none and no other use for
// its name.
func (p *parts) bindLibrary(ctx context.Context, session string) (bool, error) {
	bound, err := p.kernel.Bindings(ctx, session)
	if err != nil || slices.ContainsFunc(bound, func(b core.Binding) bool { return b.Kind == library.Kind || b.Name == libraryBinding }) {
		return false, err
	}
	_, err = p.kernel.Bind(ctx, core.BindRequest{Session: session, Name: libraryBinding, URL: library.Whole, Person: p.person})
	return err == nil, err
}

// slashTask reads a task that may call a skill. The invocation is nil for one
// that calls none; then the task is what is to be sent.
func (a *app) slashTask(ctx context.Context, p *parts, task string) (string, *skills.Invocation, error) {
	m, err := skills.ParseMessage(task)
	if err != nil {
		return "", nil, slashFault(err)
	}
	if m.Command == nil {
		return m.Text, nil, nil
	}
	called, err := slashes{p}.Invoke(ctx, *m.Command)
	if err != nil {
		return "", nil, slashFault(err)
	}
	if called.Builtin != "" {
		return "", nil, usage("see gatehouse --help; begin with // to send a text that starts with a slash", "run: /%s is a command of the screens", called.Builtin)
	}
	return "", &called, nil
}

// slashFault places the refusals of a slash command among ours. Several skills
// of one name are named.
func slashFault(err error) error {
	var refused *skills.RefusedError
	if !errors.As(err, &refused) {
		return err
	}
	f := usage(refused.Hint, "%s", refused.Text)
	switch refused.Code {
	case skills.CodeNotFound:
		f.code = codeNotFound
	case skills.CodeSkillTooLarge:
		f.code = codeFailed
	}
	if len(refused.Choices) > 0 {
		names := make([]string, len(refused.Choices))
		for i, ref := range refused.Choices {
			names[i] = line(ref.String())
		}
		f.message += ": " + strings.Join(names, ", ")
	}
	return f
}

// invocationObject is what --json prints of a skill before it is sent.
type invocationObject struct {
	Kind    string `json:"kind"`
	ID      string `json:"id"`
	SHA256  string `json:"sha256"`
	Text    string `json:"text"`
	Changed bool   `json:"changed"`
	Diff    string `json:"diff,omitempty"`
}

// errUnsent ends a command at whose prompt a person did not confirm.
var errUnsent = errors.New("nothing was sent")

// showInvocation shows what is going to be sent, before it is. At a terminal it
// asks; without one it goes on, unless the skill changed since this person used
// it last.
func (a *app) showInvocation(ctx context.Context, i *skills.Invocation, yes bool) error {
	if a.json {
		o := invocationObject{"skill", i.Ref.String(), i.SHA256, i.Text, i.Change.Changed, i.Change.Diff}
		if err := a.object(o); err != nil {
			return err
		}
	} else {
		a.say("%s, sha256 %s, becomes:", "skill "+i.Ref.String(), i.SHA256[:min(12, len(i.SHA256))])
		shown, _ := text.CleanBlock(i.Text)
		fmt.Fprint(a.in.stderr, shown)
		if i.Change.Changed {
			a.say("It changed since you used it on %s:", i.Change.Since.Format("2006-01-02 15:04"))
			fmt.Fprint(a.in.stderr, i.Change.Diff)
		}
	}
	switch {
	case yes:
		return nil
	case !a.in.tty.stdin && i.Change.Changed:
		return usage("look at what changed, then add --yes", "nothing was sent: skill %s changed since you used it", line(i.Ref.String()))
	case !a.in.tty.stdin:
		return nil
	}
	if err := a.out.Flush(); err != nil {
		return err
	}
	fmt.Fprint(a.in.stderr, "Type yes to send it: ")
	answer, err := interruptibly(ctx, func() (string, error) { return bufio.NewReader(a.in.stdin).ReadString('\n') })
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("standard input: %w", err)
	}
	if strings.TrimSpace(answer) != "yes" {
		return failedWith(errUnsent)
	}
	return nil
}
