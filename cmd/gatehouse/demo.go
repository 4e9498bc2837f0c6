package main

import "github.com/spf13/cobra"

func (a *app) demoCommand() *cobra.Command {
	return &cobra.Command{Use: "demo", Short: "Try it: a folder, a scripted agent, a queue", RunE: func(*cobra.Command, []string) error { return nil }}
}
