package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"
)

// app is one invocation at work.
type app struct {
	in   invocation
	more additions
	out  *bufio.Writer // results
	json bool

	flags   globalFlags
	config  *configuration // loaded by the first who asks
	opened  *parts         // built by the first who asks
	closers []func() error
}

type globalFlags struct {
	store   string
	config  string
	noColor bool
	as      string
}

func newApp(in invocation, more additions) *app {
	// An error in the flags themselves is already an object with --json.
	return &app{in: in, more: more, out: bufio.NewWriter(in.stdout), json: slices.Contains(in.args, "--json")}
}

func terminal(f *os.File) bool { return isatty.IsTerminal(f.Fd()) }

// execute runs the command that the arguments name.
func (a *app) execute(ctx context.Context) error {
	root := a.root()
	root.SetArgs(a.in.args)
	return root.ExecuteContext(ctx)
}

func (a *app) close() error {
	var first error
	for i := len(a.closers) - 1; i >= 0; i-- {
		if err := a.closers[i](); err != nil && first == nil {
			first = err
		}
	}
	a.closers = nil
	return first
}

// root builds the tree of commands.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "gatehouse",
		Short: "Let agents work; decide later what really happens",
		Long: `Gatehouse lets agents work on real things without touching them. What an agent
wants to change is simulated and queued, and its reads show the effect; you
approve or reject later, one by one or in bulk. Everything it read is on record.

Without a command it opens the screens. Every decision that a key can make has
a command too.`,
		Example: `  gatehouse demo                          a folder, a session and a queue to try
  gatehouse queue list                    what waits for you
  gatehouse queue approve 3-7             shows the plan, asks, carries it out
  gatehouse help guarantees               what it promises, and what not`,
		Args:                       a.subcommand,
		RunE:                       func(cmd *cobra.Command, _ []string) error { return a.openScreens(cmd.Context()) },
		SilenceErrors:              true,
		SilenceUsage:               true,
		DisableAutoGenTag:          true,
		SuggestionsMinimumDistance: 2,
		CompletionOptions:          cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	flags := root.PersistentFlags()
	flags.StringVar(&a.flags.store, "store", "", "the store `FILE` (GATEHOUSE_STORE)")
	flags.StringVar(&a.flags.config, "config", "", "the configuration `FILE`")
	flags.BoolVar(&a.json, "json", false, "print objects for programs, one a line")
	flags.BoolVar(&a.flags.noColor, "no-color", false, "no colour on the screens (NO_COLOR)")
	flags.StringVar(&a.flags.as, "as", "", "rehearse as another `PERSON` of this store; it protects nothing")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage("see "+cmd.CommandPath()+" --help", "%s", err)
	})
	root.SetOut(a.out)
	root.SetErr(a.in.stderr)
	root.AddGroup(
		&cobra.Group{ID: groupWork, Title: "Work:"},
		&cobra.Group{ID: groupDecide, Title: "Decide:"},
		&cobra.Group{ID: groupLook, Title: "Look into it:"},
		&cobra.Group{ID: groupHouse, Title: "The house:"},
	)
	root.AddCommand(a.commands()...)
	root.AddCommand(topics()...)
	root.SetHelpCommand(a.helpCommand())
	return root
}

// The groups under which help lists the commands.
const (
	groupWork   = "work"
	groupDecide = "decide"
	groupLook   = "look"
	groupHouse  = "house"
)

// commands are the first level of the tree; each family has a file.
func (a *app) commands() []*cobra.Command {
	return slices.Concat(
		grouped(groupWork, a.demoCommand(), a.runCommand(), a.sessionCommand(), a.blueprintCommand(), a.peopleCommand(), a.connectCommand(), a.disconnectCommand(), a.bindCommand(), a.unbindCommand(), a.bindingsCommand(), a.callCommand()),
		grouped(groupDecide, a.queueCommand(), a.ruleCommand()),
		grouped(groupLook, a.observationsCommand(), a.connectionsCommand(), a.gatekeeperCommand(), a.logCommand(), a.whyCommand(), a.egressCommand(), a.recordCommand(), a.skillsCommand()),
		grouped(groupHouse, a.identityCommand(), a.configCommand(), a.doctorCommand(), a.backupCommand(), a.fsckCommand(),
			a.versionCommand(), a.completionCommand(), a.manCommand()),
	)
}

func grouped(id string, commands ...*cobra.Command) []*cobra.Command {
	for _, c := range commands {
		c.GroupID = id
	}
	return commands
}

// family is a command that only holds others.
func (a *app) family(use, short string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: a.subcommand, SuggestionsMinimumDistance: 2}
	c.AddCommand(commands...)
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		return usage("see "+cmd.CommandPath()+" --help", "%s: which one? %s", words(cmd), strings.Join(names(cmd), ", "))
	}
	return c
}

// subcommand refuses a word that is no command and names the nearest.
func (a *app) subcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := "see " + cmd.CommandPath() + " --help"
	if near, found := nearest(args[0], names(cmd)); found {
		hint = fmt.Sprintf("did you mean %s %s?", cmd.CommandPath(), near)
	}
	if !cmd.HasParent() {
		return usage(hint, "no command %q", args[0])
	}
	return usage(hint, "%s: no command %q", words(cmd), args[0])
}

// words are what a person types to reach a command, the program's name aside.
func words(cmd *cobra.Command) string {
	return strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
}

// writtenAs is how a command is written, its flags aside.
func writtenAs(cmd *cobra.Command) string {
	return strings.TrimSuffix(cmd.CommandPath(), cmd.Name()) + cmd.Use
}

// names lists what can follow a command, topics of the help aside.
func names(cmd *cobra.Command) []string {
	var out []string
	for _, c := range cmd.Commands() {
		if c.Runnable() && !c.Hidden {
			out = append(out, c.Name())
		}
	}
	return out
}

// exactly wants the named arguments and no others.
func exactly(named ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		hint := "write it as " + writtenAs(cmd)
		switch {
		case len(args) < len(named):
			return usage(hint, "%s: %s is missing", words(cmd), named[len(args)])
		case len(args) > len(named):
			return usage(hint, "%s: %q is one too many", words(cmd), args[len(named)])
		}
		return nil
	}
}

// nearest finds the candidate that a misspelt word most likely meant.
func nearest(word string, candidates []string) (string, bool) {
	best, distance := "", 3
	for _, c := range candidates {
		d := editDistance(strings.ToLower(word), strings.ToLower(c))
		if strings.HasPrefix(c, word) && len(word) > 1 {
			d = min(d, 1)
		}
		if d < distance && d < len(c) {
			best, distance = c, d
		}
	}
	return best, best != ""
}

// editDistance counts the insertions, deletions, replacements and swaps of
// neighbours that turn a into b.
func editDistance(a, b string) int {
	older, old, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range old {
		old[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(old[j]+1, row[j-1]+1, old[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], older[j-2]+1)
			}
		}
		older, old, row = old, row, older
	}
	return old[len(b)]
}
