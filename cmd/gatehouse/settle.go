package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"gatehouse/core"
)

func (a *app) settleCommand() *cobra.Command {
	var (
		applied, notApplied bool
		created             []string
		reason              string
	)
	c := &cobra.Command{
		Use:   "settle ID --applied|--not-applied",
		Short: "Say how an action with an unknown outcome really ended",
		Long: `Say how an action ended whose outcome was never heard: look at the service, then
say --applied or --not-applied. What an applied one created is looked for, or
said with --created ~1=ID. It is never sent again.`,
		Example: `  gatehouse queue settle 12 --applied
  gatehouse queue settle 14 --applied --created '~1=issue-77'`,
		Args: exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if applied == notApplied {
				return usage("look at the service, then say one of the two", "%s: --applied or --not-applied?", words(cmd))
			}
			names, err := parseCreated(created)
			if err != nil {
				return err
			}
			if notApplied && len(names) > 0 {
				return usage("leave one of them out", "--created: what was not applied has created nothing")
			}
			return a.settle(cmd.Context(), args[0], core.Settlement{Applied: applied, Created: names, Reason: reason})
		},
	}
	c.Flags().BoolVar(&applied, "applied", false, "it has happened")
	c.Flags().BoolVar(&notApplied, "not-applied", false, "it has not happened")
	c.Flags().StringArrayVar(&created, "created", nil, "what it created, as `~N=ID`; may be repeated")
	c.Flags().StringVarP(&reason, "reason", "r", "", "a `TEXT` for the agent")
	return c
}

// parseCreated reads the values of --created.
func parseCreated(given []string) (map[string]string, error) {
	names := make(map[string]string, len(given))
	for _, word := range given {
		name, real, found := strings.Cut(word, "=")
		if !found || name == "" || real == "" {
			return nil, usage("write it as ~1=ID", "--created %q: not a name and what it became", word)
		}
		if _, twice := names[name]; twice {
			return nil, usage("keep one of them", "--created: %s stands there twice", name)
		}
		names[name] = real
	}
	return names, nil
}

func (a *app) settle(ctx context.Context, word string, s core.Settlement) error {
	id, err := oneID(word)
	if err != nil {
		return err
	}
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	result, err := p.kernel.Settle(ctx, id, a.authority(p), s)
	return a.oneResult(result, err)
}

func (a *app) retryCommand() *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use:   "retry ID",
		Short: "Send a failed action again",
		Long: `Send an action again that failed and can be retried. One with an unknown outcome
may have happened: settle it, or send it again with --force.`,
		Args: exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := oneID(args[0])
			if err != nil {
				return err
			}
			p, err := a.parts(cmd.Context())
			if err != nil {
				return err
			}
			result, err := p.kernel.Retry(cmd.Context(), id, a.authority(p), force, a.progress())
			return a.oneResult(result, err)
		},
	}
	c.Flags().BoolVar(&force, "force", false, "also one whose outcome is unknown")
	return c
}

func (a *app) answerCommand() *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use:     "answer ID CHOICE",
		Short:   "Answer a question of an agent",
		Example: `  gatehouse queue answer 9 yes --reason "the old page is linked from outside"`,
		Args:    exactly("ID", "CHOICE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := oneID(args[0])
			if err != nil {
				return err
			}
			p, err := a.parts(cmd.Context())
			if err != nil {
				return err
			}
			result, err := p.kernel.Answer(cmd.Context(), id, args[1], reason, a.authority(p))
			return a.oneResult(result, err)
		},
	}
	c.Flags().StringVarP(&reason, "reason", "r", "", "a `TEXT` for the agent")
	return c
}

// oneResult ends a command that decided one item.
func (a *app) oneResult(result core.Result, err error) error {
	if err != nil {
		return err
	}
	results := []core.Result{result}
	if err := a.printResults(results); err != nil {
		return err
	}
	return a.endOf(results)
}
