package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"gatehouse/core"
	"gatehouse/core/text"
)

func (a *app) revertCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "revert ID",
		Short: "Queue an action that takes an applied one back",
		Long: `Queue an action that takes an applied one back: it restores what was there before,
or removes what was made. Nothing has happened yet: look at it with gatehouse queue
show, and approve or reject it like any other. The original is reverted once its
revert was applied. A revert can be reverted too.

What was changed since is not overwritten unseen: such a revert is drifted from the
start, and has to be shown before it can be approved.`,
		Example: `  gatehouse queue revert 12
  gatehouse queue revert 12 --json | jq '.results[0].id' | gatehouse queue approve - --yes`,
		Args: exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.revert(cmd.Context(), args[0]) },
	}
}

func (a *app) revert(ctx context.Context, word string) error {
	id, err := oneID(word)
	if err != nil {
		return err
	}
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	result, err := p.kernel.Revert(ctx, id, a.authority(p))
	return a.oneResult(result, err)
}

// notRevertible words why nothing was queued, and where to look.
func notRevertible(e *core.NotRevertibleError) *fault {
	look := e.Action
	if e.By != 0 {
		look = e.By
	}
	return &fault{code: codeFailed, message: e.Error(), hint: fmt.Sprintf("see gatehouse queue show %d", look)}
}

// revertRows tell both ways of a revert.
func revertRows(d core.Detail) [][2]string {
	var rows [][2]string
	if r := d.Reverts; r != nil {
		rows = append(rows, [2]string{"reverts", fmt.Sprintf("%d  %s (%s)", r.Action, r.Title, r.State)})
	}
	for _, r := range d.RevertedBy {
		name := "reverted by"
		if r.State != core.StateApplied && r.State != core.StateReverted {
			name = "to be reverted by"
		}
		rows = append(rows, [2]string{name, fmt.Sprintf("%d  %s (%s)", r.Action, r.Title, r.State)})
	}
	return rows
}

// revertedBy is what reverted an action; 0 where nothing has.
func revertedBy(d core.Detail) core.ActionID {
	for _, r := range d.RevertedBy {
		if r.State == core.StateApplied || r.State == core.StateReverted {
			return r.Action
		}
	}
	return 0
}

// printSides shows what was changed under a drifted action beside what the
// action was to change: base, theirs and ours in one text (F5).
func (a *app) printSides(x core.Action) {
	const context = 3
	for _, s := range x.Sides() {
		base, theirs, ours := fieldText(s.Base), fieldText(s.Theirs), fieldText(s.Ours)
		if !manyLines(base) && !manyLines(theirs) && !manyLines(ours) {
			continue // before and after say it
		}
		three := text.ThreeWay(sideLines(base), sideLines(theirs), sideLines(ours), context)
		fmt.Fprintf(a.out, "\n  %s, against what it was made on\n", line(s.Name))
		fmt.Fprintln(a.out, "  first sign: changed there since; second sign: changed by this action")
		for i, l := range three {
			if l.Skipped || i == 0 {
				fmt.Fprintf(a.out, "  @@ line %d @@\n", l.Base)
			}
			if l.Clash {
				fmt.Fprintln(a.out, "  ! both changed this")
			}
			fmt.Fprintf(a.out, "  %s %s\n", l.Gutter(), line(l.Text))
		}
	}
}

// sideLines are the lines of a side, clean; none where there is nothing.
func sideLines(s *string) []string {
	if s == nil || *s == "" {
		return nil
	}
	return strings.Split(block(strings.TrimSuffix(*s, "\n")), "\n")
}
