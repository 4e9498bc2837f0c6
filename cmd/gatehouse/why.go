package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"gatehouse/core"
)

func (a *app) whyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "why ID",
		Short: "Tell the chain from what was read to what an action did",
		Long: `Tell how an action came about, from the record: what its turn had read and sent
to its model before it, when it was queued, who decided in which plan, when it
was sent, and how it ended. ID is an
action, such as 12, or a row of the record, such as log:340. With --json every
row is an object as gatehouse log prints it.`,
		Args: exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.why(cmd.Context(), args[0]) },
	}
}

// why prints the rows of the record that led to an action and followed from it.
func (a *app) why(ctx context.Context, word string) error {
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	chain, err := chainOf(ctx, p, word)
	if err != nil {
		return err
	}
	if err := p.named(string(chain.Session)); err != nil {
		return err
	}
	if err := a.enter(ctx, p, string(chain.Session), core.RoleView); err != nil {
		return err
	}
	for _, r := range chain.Rows {
		if err := a.printRow(r); err != nil {
			return err
		}
	}
	return nil
}

// chainOf asks for the chain of what a word names: an action, a question, or a row of the record.
func chainOf(ctx context.Context, p *parts, word string) (core.Chain, error) {
	place, isRow := strings.CutPrefix(word, "log:")
	if !isRow {
		id, err := oneID(word)
		if err != nil {
			return core.Chain{}, err
		}
		return p.kernel.Why(ctx, id)
	}
	seq, err := strconv.ParseInt(place, 10, 64)
	if err != nil || seq < 1 {
		return core.Chain{}, usage("write a row as log:340", "%q is no row of the record", word)
	}
	return p.kernel.WhyRow(ctx, seq)
}
