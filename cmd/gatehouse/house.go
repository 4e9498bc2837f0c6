package main

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"gatehouse/core"
)

func (a *app) backupCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the store to a new file",
		Long: `Copy the store, as it is now, to a new file. Others may go on working meanwhile.
Copying the live file by other means can lose what was just written.`,
		Args: exactly("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.backup(cmd.Context(), args[0]) },
	}
}

func (a *app) backup(ctx context.Context, file string) error {
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	if err := p.store.Backup(ctx, file); err != nil {
		return err
	}
	absolute, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	if a.json {
		return a.object(map[string]string{"store": p.store.Path(), "backup": absolute})
	}
	_, err = fmt.Fprintf(a.out, "%s\n", line(absolute))
	return err
}

func (a *app) fsckCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "fsck",
		Short: "Check the whole store: the file, the tables, the record",
		Args:  exactly(),
		RunE:  func(cmd *cobra.Command, _ []string) error { return a.fsck(cmd.Context()) },
	}
}

func (a *app) fsck(ctx context.Context) error {
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	v, err := p.store.Fsck(ctx)
	if err != nil {
		return err
	}
	return a.printVerification(v, "the store is sound: %s in the record\n", func(bad core.BadRow) *fault {
		return &fault{code: codeFailed, message: "the store is not sound: " + bad.Reason, hint: "restore a backup, or keep this file aside and ask for help"}
	})
}

func (a *app) identityCommand() *cobra.Command {
	return a.family(
		"identity", "Your keys: for files, and to decide from scripts",
		a.identityInitCommand(), a.identityShowCommand(), a.identityExportCommand(),
		&cobra.Command{
			Use:   "operator-key",
			Short: "Make a key with which you decide from scripts",
			Long: `Make a key with which decisions count that come from a process without a
terminal, or from one that an agent started: set GATEHOUSE_OPERATOR_KEY to it.
It is shown once; the store keeps only its hash. Keep it where no agent can read.`,
			Args: exactly(),
			RunE: func(cmd *cobra.Command, _ []string) error { return a.newOperatorKey(cmd.Context()) },
		},
	)
}

func (a *app) newOperatorKey(ctx context.Context) error {
	p, err := a.parts(ctx)
	if err != nil {
		return err
	}
	key, err := p.kernel.NewOperatorKey(ctx, a.authority(p))
	if err != nil {
		return err
	}
	if a.json {
		return a.object(map[string]string{"key": key})
	}
	a.say("shown once; set %s to it where you decide, and keep it from agents", operatorKey)
	_, err = fmt.Fprintln(a.out, key)
	return err
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  exactly(),
		RunE: func(*cobra.Command, []string) error {
			v := version()
			if a.json {
				return a.object(v)
			}
			_, err := fmt.Fprintf(a.out, "gatehouse %s (%s, %s)\n", v.Version, v.Go, v.Platform)
			return err
		},
	}
}

// versionObject is what --json prints of the version.
type versionObject struct {
	Version  string `json:"version"`
	Revision string `json:"revision"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// version is what the build noted of itself.
func version() versionObject {
	v := versionObject{Version: "devel", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, found := debug.ReadBuildInfo()
	if !found {
		return v
	}
	if info.Main.Version != "" && info.Main.Version != "(devel)" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			v.Revision = s.Value
		}
	}
	return v
}

func (a *app) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "Print a script with which your shell completes commands",
		Example: `  source <(gatehouse completion bash)
  gatehouse completion fish > ~/.config/fish/completions/gatehouse.fish`,
		ValidArgs: []string{"bash", "zsh", "fish"},
		Args:      exactly("bash, zsh or fish"),
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(a.out, true)
			case "zsh":
				return root.GenZshCompletion(a.out)
			case "fish":
				return root.GenFishCompletion(a.out, true)
			}
			return usage("use bash, zsh or fish", "%s: no script for %q", words(cmd), args[0])
		},
	}
}
