package main

import (
	"embed"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// pages are the topics of the help: what belongs to no single command.
//
//go:embed help/*.txt
var pages embed.FS

// topicTitles are the topics in the order in which help lists them.
func topicTitles() [][2]string {
	return [][2]string{
		{"start", "The first quarter of an hour"},
		{"deciding", "What stands in the queue, and what deciding does"},
		{"agents", "Running agents: run, scripts, stopping and going on"},
		{"sharing", "Sharing a session: on one store, by a file, or its shape alone"},
		{"guarantees", "What Gatehouse promises, and what not; how to run agents apart"},
		{"configuration", "The configuration file, its keys and their variables"},
		{"scripts", "Exit codes, JSON, and deciding from scripts"},
		{"data", "Where your data lies, backups, the log"},
	}
}

// topics are commands that only hold a page.
func topics() []*cobra.Command {
	var out []*cobra.Command
	for _, t := range topicTitles() {
		page, err := pages.ReadFile("help/" + t[0] + ".txt")
		if err != nil {
			panic("gatehouse: help topic without a page: " + err.Error())
		}
		out = append(out, &cobra.Command{Use: t[0], Short: t[1], Long: strings.TrimSpace(strings.ReplaceAll(string(page), "{{keys}}", keyHelp()))})
	}
	return out
}

// keyHelp is the part of the page on configuration that the table of keys makes.
func keyHelp() string {
	var b strings.Builder
	for _, k := range configKeys() {
		fmt.Fprintf(&b, "    %-23s %s\n", k.name, k.about)
		fmt.Fprintf(&b, "    %-23s %s\n", "", k.env)
		if len(k.choices) > 1 {
			fmt.Fprintf(&b, "    %-23s one of %s\n", "", strings.Join(k.choices, ", "))
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// helpCommand prints the help of a command or a topic.
func (a *app) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND|TOPIC]",
		Short: "Help about a command or a topic",
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				hint := "see gatehouse help"
				var all []string
				for _, c := range cmd.Root().Commands() {
					all = append(all, c.Name())
				}
				if near, ok := nearest(args[0], all); ok {
					hint = "did you mean gatehouse help " + near + "?"
				}
				return usage(hint, "no help for %q", strings.Join(args, " "))
			}
			if found.IsAdditionalHelpTopicCommand() {
				_, err := fmt.Fprintln(a.out, found.Long)
				return err
			}
			return found.Help()
		},
	}
}
