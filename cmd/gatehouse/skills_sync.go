package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gatehouse/core"
	"gatehouse/skills"
	"gatehouse/store"
)

func (a *app) skillsSyncCommand() *cobra.Command {
	var yes, noFetch bool
	c := &cobra.Command{
		Use:   "sync COLLECTION",
		Short: "Read a collection's folder again, and show what changed first",
		Long: `Read the folder of a collection again. A git checkout with a remote is first brought
forward to it, if the egress policy lets it, by git in a process that is given nothing
of this one; --no-fetch leaves that out. What changed is shown, with the lines that
agents wrote through this store, and nobody sees any of it before you say yes. Only
files that changed are read.`,
		Example: `  gatehouse skills sync team
  gatehouse skills sync team --no-fetch --yes`,
		Args: exactly("COLLECTION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.syncSkills(cmd.Context(), args[0], noFetch, yes)
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "take it without asking")
	c.Flags().BoolVar(&noFetch, "no-fetch", false, "read the folder as it is")
	return c
}

func (a *app) syncSkills(ctx context.Context, id string, noFetch, yes bool) error {
	d, err := a.desk(ctx)
	if err != nil {
		return err
	}
	c, err := d.shelf.Entry(ctx, d.scope, skills.CollectionID(id))
	if err != nil {
		return err
	}
	if c.Place == "" {
		return usage("edit its documents with gatehouse skills edit ID", "collection %q: is written here and comes from no folder", id)
	}
	if err := d.kernel.MayChangeLibrary(ctx, a.authority(d.parts)); err != nil {
		return err
	}
	c.Source = skills.Source{Kind: skills.SourceFolder}
	if tree := findCheckout(c.Place); tree != nil {
		if c.Source, err = tree.source(ctx); err != nil {
			return err
		}
		if !noFetch && c.Source.Remote != "" {
			if err := a.fetchSkills(ctx, d, tree, c.Source); err != nil {
				return err
			}
			if c.Source, err = tree.source(ctx); err != nil {
				return err
			}
		}
	}
	return a.importSkills(ctx, d, c, "synced", func(work *imported) error { return a.judgeSync(ctx, d, c, work, yes) })
}

// fetchSkills brings a checkout forward, if the egress policy lets it ask its remote (sharing E1).
func (a *app) fetchSkills(ctx context.Context, d *desk, tree *checkout, from skills.Source) error {
	if err := tree.harmless(ctx); err != nil { // it could lead elsewhere than the policy is told
		return err
	}
	done, err := d.kernel.Permit(ctx, fetchRequest(from.Remote, d.person))
	if err != nil {
		return err
	}
	err = tree.pull(ctx, from.Branch)
	if noted := done(err); err == nil {
		err = noted
	}
	return err
}

// fileDiff is how a document changed.
type fileDiff struct {
	Path   string      `json:"path"`
	Change string      `json:"change"` // added, changed, removed
	Plus   int         `json:"plus"`   // lines
	Minus  int         `json:"minus"`
	Agents []agentLine `json:"agent_lines"`
}

// agentLine is a new line that an agent wrote: an action of it that was applied in the source folder put it there.
type agentLine struct {
	Line    int            `json:"line"`
	Text    string         `json:"text"`
	Action  core.ActionID  `json:"action"`
	Session core.SessionID `json:"session"`
}

// judgeSync shows what a sync would change, and asks.
func (a *app) judgeSync(ctx context.Context, d *desk, c store.SkillCollection, work *imported, yes bool) error {
	if work.changes.None() {
		return nil
	}
	agents, err := agentLines(ctx, d, c, work)
	if err != nil {
		return err
	}
	if !a.json {
		a.noteLeftOut(work.report.LeftOut)
		work.report.LeftOut = nil
		if err := a.printSync(work.report.Changes, agents); err != nil {
			return err
		}
	}
	if yes {
		return nil
	}
	if a.json && !a.in.tty.stdin {
		if err := a.object(work.report); err != nil {
			return err
		}
		f := usage("look at the changes, then add --yes", "nothing was taken over: there is no terminal to ask at")
		f.told = true
		return f
	}
	return a.askYes(ctx, "let agents see this", "nothing was taken over")
}

// agentLines puts into the report what an import would change, and counts the lines of agents in it.
func agentLines(ctx context.Context, d *desk, c store.SkillCollection, work *imported) (agents int, err error) {
	written, err := linesOfAgents(ctx, d, c.Place)
	if err != nil {
		return 0, err
	}
	if err := compareAll(ctx, d, c, work, written); err != nil {
		return 0, err
	}
	for _, f := range work.report.Changes {
		agents += len(f.Agents)
	}
	return agents, nil
}

func compareAll(ctx context.Context, d *desk, c store.SkillCollection, work *imported, written map[string][]agentText) error {
	old := func(path string) ([]byte, error) {
		_, document, err := d.shelf.Document(ctx, d.scope, skills.Ref{Collection: c.ID, Path: path})
		return document.Bytes, err
	}
	for _, part := range []struct {
		change string
		paths  []string
	}{{"added", work.changes.Added}, {"changed", work.changes.Changed}, {"removed", work.changes.Removed}} {
		for _, path := range part.paths {
			var before, after skills.Document
			var err error
			if part.change != "added" {
				if before.Bytes, err = old(path); err != nil {
					return err
				}
			}
			if part.change != "removed" {
				if after, err = work.Staged(ctx, path); err != nil {
					return err
				}
			}
			diff := fileDiff{Path: line(path), Change: part.change, Agents: []agentLine{}}
			diff.compare(before, after, writtenAt(written, path))
			work.report.Changes = append(work.report.Changes, diff)
		}
	}
	return nil
}

// writtenAt is what agents wrote into a file, and what they put where it lies as a whole.
func writtenAt(written map[string][]agentText, file string) []agentText {
	texts := slices.Clone(written[file])
	for folder := path.Dir(file); folder != "."; folder = path.Dir(folder) {
		for _, t := range written[folder] {
			if t.whole {
				texts = append(texts, t)
			}
		}
	}
	return texts
}

// compare counts lines that came and went, wherever they stand, and finds those of agents among what came.
func (f *fileDiff) compare(before, after skills.Document, written []agentText) {
	if before.Binary() || after.Binary() {
		return
	}
	had := map[string]int{}
	for _, l := range linesOf(string(before.Bytes)) {
		had[l]++
		f.Minus++
	}
	for i, l := range linesOf(string(after.Bytes)) {
		if had[l] > 0 {
			had[l]--
			f.Minus--
			continue
		}
		f.Plus++
		for _, w := range written {
			if strings.TrimSpace(l) != "" && w.wrote(l) {
				f.Agents = append(f.Agents, agentLine{i + 1, line(l), w.action, w.session})
				break
			}
		}
	}
}

func linesOf(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(strings.ReplaceAll(s, "\r\n", "\n"), "\n"), "\n")
}

// shownFiles is how many files a summary names, shownLines how many lines of each.
const (
	shownFiles = 100
	shownLines = 20
)

func (a *app) printSync(diffs []fileDiff, agents int) error {
	for i, f := range diffs {
		if i >= shownFiles {
			continue
		}
		words := ""
		if len(f.Agents) > 0 {
			words = fmt.Sprintf(", %s written by agents:", count(len(f.Agents), "line"))
		}
		fmt.Fprintf(a.out, "%-8s %s  +%d -%d%s\n", f.Change, f.Path, f.Plus, f.Minus, words)
		for n, l := range f.Agents {
			if n == shownLines {
				fmt.Fprintf(a.out, "         … and %d more\n", len(f.Agents)-n)
				break
			}
			fmt.Fprintf(a.out, "  %5d  %s  (action %d of %s)\n", l.Line, l.Text, l.Action, l.Session)
		}
	}
	if len(diffs) > shownFiles {
		fmt.Fprintf(a.out, "… and %d more files\n", len(diffs)-shownFiles)
	}
	_, err := fmt.Fprintf(a.out, "\n%s changed; %s written by agents\n", count(len(diffs), "file"), count(agents, "line"))
	return err
}

// agentText is the lines that one action put into a file.
type agentText struct {
	action  core.ActionID
	session core.SessionID
	lines   map[string]bool
	whole   bool // it put there whatever it found elsewhere, as a move does
}

func (t agentText) wrote(l string) bool { return t.whole || t.lines[l] }

// linesOfAgents finds what actions of agents, once approved and applied, wrote into a folder, by the path in it.
func linesOfAgents(ctx context.Context, d *desk, place string) (map[string][]agentText, error) {
	out := map[string][]agentText{}
	roots := map[string][]string{}
	query := core.QueueQuery{States: []string{string(core.StateApplied)}}
	for {
		page, err := d.kernel.Queue(ctx, query)
		if err != nil {
			return nil, err
		}
		for _, row := range page.Rows {
			if row.Question != nil || row.Gatekeeper != "files" || row.Caller.Kind == core.CallerPerson {
				continue
			}
			if err := d.addAgentText(ctx, row.ID, place, roots, out); err != nil {
				return nil, err
			}
		}
		if !page.More || len(page.Rows) == 0 {
			return out, nil
		}
		last := page.Rows[len(page.Rows)-1].Place
		query.After = &last
	}
}

func (d *desk) addAgentText(ctx context.Context, id core.ActionID, place string, roots map[string][]string, out map[string][]agentText) error {
	var action core.Action
	err := d.store.Read(ctx, func(v core.View) (err error) {
		if action, err = v.Action(id); err != nil {
			return err
		}
		key := string(action.Session) + "." + string(action.Binding)
		if _, known := roots[key]; !known {
			b, err := v.Binding(action.Session, action.Binding)
			if err != nil {
				roots[key] = nil // it was unbound: nobody can say where it led
				return nil
			}
			roots[key] = foldersOf(b.URL)
		}
		return nil
	})
	if err != nil {
		return err
	}
	text := agentText{id, action.Session, map[string]bool{}, action.Method == "move"}
	for _, f := range action.Draft.Fields {
		var before, after string
		_ = json.Unmarshal(f.Before, &before) // what is no text stays empty
		_ = json.Unmarshal(f.After, &after)
		for _, l := range linesOf(after) {
			text.lines[l] = true
		}
		for _, l := range linesOf(before) {
			delete(text.lines, l)
		}
	}
	for _, root := range roots[string(action.Session)+"."+string(action.Binding)] {
		for _, target := range action.Draft.Targets {
			inside, err := filepath.Rel(place, filepath.Join(root, filepath.FromSlash(target)))
			if err == nil && filepath.IsLocal(inside) {
				path := filepath.ToSlash(inside)
				out[path] = append(out[path], text)
			}
		}
	}
	return nil
}

// foldersOf are the folders that the targets of a binding can be relative to.
func foldersOf(binding string) []string {
	u, err := url.Parse(binding)
	if err != nil || u.Scheme != "file" {
		return nil
	}
	root, err := filepath.EvalSymlinks(u.Path)
	if err != nil {
		root = u.Path
	}
	folders := []string{root}
	if sub, narrowed := strings.CutPrefix(u.Fragment, "path="); narrowed {
		folders = append(folders, filepath.Join(root, filepath.FromSlash(sub)))
	}
	return folders
}
