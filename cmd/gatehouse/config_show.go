package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

func (a *app) configCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "config",
		Short: "Show what is configured, and where each value comes from",
		Long: `Show every key with the value that holds here and where it comes from: default,
the configuration file with its line, the environment, or a flag, each over the
one before. gatehouse help configuration explains the keys.`,
		Args: exactly(),
		RunE: func(*cobra.Command, []string) error { return a.showConfiguration() },
	}
}

// keyObject is what --json prints of a configuration key.
type keyObject struct {
	Key    string `json:"key"`
	Value  any    `json:"value"`
	Source string `json:"source"` // default, file, environment or flag
	Line   int    `json:"line"`   // in the file; 0 elsewhere
	Env    string `json:"env"`
	About  string `json:"about"`
}

func (a *app) showConfiguration() error {
	c, err := a.settings()
	if err != nil {
		return err
	}
	t := newTable("KEY", "VALUE", "FROM", "VARIABLE")
	t.whole = true
	values := c.values()
	for _, k := range configKeys() {
		o := keyObject{Key: k.name, Value: values[k.name], Source: c.source[k.name], Env: k.env, About: k.about}
		from := o.Source
		if at, inFile := strings.CutPrefix(o.Source, "file:"); inFile {
			o.Source, from = "file", c.path+":"+at
			if _, err := fmt.Sscan(at, &o.Line); err != nil {
				return fmt.Errorf("configuration key %s: line %q", k.name, at)
			}
		}
		if a.json {
			if err := a.object(o); err != nil {
				return err
			}
			continue
		}
		t.add(k.name, valueWords(o.Value), from, k.env)
	}
	if a.json {
		return nil
	}
	if err := t.print(a.out, ""); err != nil {
		return err
	}
	a.say("the file is %s; gatehouse help configuration explains the keys", c.path)
	return nil
}

// values are the settings by key, as they would stand in the file.
func (c *configuration) values() map[string]any {
	return map[string]any{
		"store":                 c.Store,
		"queue.cap":             c.Queue.Cap,
		"decisions.require_key": c.Decisions.RequireKey,
		"decisions.agent_marks": list(c.Decisions.AgentMarks),
		"turns.steps":           c.Turns.Steps,
		"turns.time":            shortTime(c.Turns.Time),
		"provider":              c.Provider,
		"openai.base_url":       c.OpenAI.BaseURL,
		"openai.model":          c.OpenAI.Model,
		"openai.key_env":        c.OpenAI.KeyEnv,
		"openai.timeout":        shortTime(c.OpenAI.Timeout),
		"openai.max_output":     c.OpenAI.MaxOutput,
		"models":                prices(list(c.Models)),
		"budget.session_tokens": c.Budget.SessionTokens,
		"budget.day_tokens":     c.Budget.DayTokens,
		"budget.session_cost":   c.Budget.SessionCost,
		"budget.day_cost":       c.Budget.DayCost,
		"egress.rules":          egressRules(list(c.Egress.Rules)),
		"web.loopback":          list(c.Web.Loopback),
		"ui.theme":              c.UI.Theme,
		"ui.bell":               c.UI.Bell,
		"ui.notify":             c.UI.Notify,
		"ui.status":             c.UI.Status,
		"ui.progress":           c.UI.Progress,
		"log.file":              c.Log.File,
		"log.level":             c.Log.Level,
	}
}

// shortTime is 30m for 30m0s.
func shortTime(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func valueWords(v any) string {
	if words, isList := v.([]string); isList {
		return strings.Join(words, ", ")
	}
	return fmt.Sprint(v)
}
