package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func (a *app) manCommand() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "man [COMMAND…]",
		Short: "Print the manual page of a command, or write all pages",
		Example: `  gatehouse man queue approve | man -l -
  gatehouse man --dir ~/.local/share/man/man1`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if dir != "" {
				if len(args) > 0 {
					return usage("leave one of them out", "%s: --dir writes the pages of all commands", words(cmd))
				}
				return a.writePages(cmd.Root(), dir)
			}
			page, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return usage("see gatehouse --help", "no command %q", strings.Join(args, " "))
			}
			return doc.GenMan(page, manHeader(), a.out)
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "write all pages into this `FOLDER`")
	return c
}

// manHeader has a fixed date, so that a page changes only when its text does.
func manHeader() *doc.GenManHeader {
	epoch := time.Unix(0, 0).UTC()
	return &doc.GenManHeader{Section: "1", Source: "gatehouse", Manual: "Gatehouse", Date: &epoch}
}

// writePages writes a page for a command and for each below it.
func (a *app) writePages(cmd *cobra.Command, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	path := filepath.Join(dir, strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".1")
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	err = doc.GenMan(cmd, manHeader(), file)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("manual page %s: %w", path, err)
	}
	for _, below := range cmd.Commands() {
		if below.Hidden || below.Name() == "help" || below.IsAdditionalHelpTopicCommand() {
			continue
		}
		if err := a.writePages(below, dir); err != nil {
			return err
		}
	}
	return nil
}
