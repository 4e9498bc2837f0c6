package main

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"gatehouse/core"
)

// noLimit stands where there is no budget.
const noLimit = "none"

// tokenLimit and costLimit are budgets as they are written: a number, or
// noLimit. Zero is a budget of nothing.
type (
	tokenLimit string
	costLimit  string
)

// price is what a model costs, as it is written.
type price struct {
	Name   string `mapstructure:"name" json:"name"`
	Input  string `mapstructure:"input_per_million" json:"input_per_million"`
	Output string `mapstructure:"output_per_million" json:"output_per_million"`
}

// prices is the price list.
type prices []price

// String is the list as the variable has it.
func (p prices) String() string {
	words := make([]string, len(p))
	for i, one := range p {
		words[i] = fmt.Sprintf("%s=%s/%s", one.Name, one.Input, one.Output)
	}
	return strings.Join(words, ",")
}

// of finds what a model costs.
func (p prices) of(model string) (core.Price, bool) {
	for _, one := range p {
		if one.Name != model {
			continue
		}
		in, err := core.ParseCost(one.Input)
		if err != nil {
			return core.Price{}, false
		}
		out, err := core.ParseCost(one.Output)
		return core.Price{Input: in, Output: out}, err == nil
	}
	return core.Price{}, false
}

func checkTokenLimit(value string) string {
	if n, err := strconv.ParseInt(value, 10, 64); value != noLimit && (err != nil || n < 0 || n > 1e15) {
		return "neither a number of tokens nor " + noLimit
	}
	return ""
}

func checkCostLimit(value string) string {
	if _, err := core.ParseCost(value); value != noLimit && err != nil {
		return "neither an amount such as 2.50 nor " + noLimit
	}
	return ""
}

// checkPrices says what is wrong with a list as the variable has it.
func checkPrices(value string) string {
	seen := map[string]bool{}
	for _, p := range pricesFrom(value) {
		_, in := core.ParseCost(p["input_per_million"])
		_, out := core.ParseCost(p["output_per_million"])
		if in != nil || out != nil || p["name"] == "" {
			return "not a list of NAME=INPUT/OUTPUT with commas between, prices as 2.50 for a million tokens"
		}
		if seen[p["name"]] {
			return fmt.Sprintf("a list with %q twice", p["name"])
		}
		seen[p["name"]] = true
	}
	return ""
}

// pricesFrom takes the variable apart, right or wrong. Names may hold = and /.
func pricesFrom(value string) []map[string]string {
	var out []map[string]string
	for _, one := range strings.Split(value, ",") {
		at := strings.LastIndexByte(one, '=')
		name, both := strings.TrimSpace(one[:max(at, 0)]), one[at+1:]
		in, cost, _ := strings.Cut(both, "/")
		out = append(out, map[string]string{
			"name": name, "input_per_million": strings.TrimSpace(in), "output_per_million": strings.TrimSpace(cost),
		})
	}
	return out
}

// prices checks the list of models in the file.
func (c fileCheck) prices(k key, n *yaml.Node) error {
	const hint = "write each as - name: NAME, with input_per_million and output_per_million"
	if n.Kind != yaml.SequenceNode {
		return c.at(n.Line, hint, "key %s: not a list", k.name)
	}
	seen := map[string]bool{}
	for _, entry := range n.Content {
		if entry.Kind != yaml.MappingNode {
			return c.at(entry.Line, hint, "key %s: an entry that is no model", k.name)
		}
		given := map[string]string{}
		for i := 0; i < len(entry.Content); i += 2 {
			name, value := entry.Content[i], entry.Content[i+1]
			_, twice := given[name.Value]
			switch {
			case name.Value != "name" && name.Value != "input_per_million" && name.Value != "output_per_million":
				return c.at(name.Line, hint, "key %s: unknown key %s", k.name, name.Value)
			case twice:
				return c.at(name.Line, "keep one of them", "key %s: %s stands here a second time", k.name, name.Value)
			case value.Kind != yaml.ScalarNode || value.Value == "":
				return c.at(value.Line, "", "key %s: %s is not a single value", k.name, name.Value)
			}
			if name.Value != "name" {
				if _, err := core.ParseCost(value.Value); err != nil {
					return c.at(value.Line, "", "key %s: %s %s", k.name, name.Value, err)
				}
			}
			given[name.Value] = value.Value
		}
		switch {
		case len(given) < 3:
			return c.at(entry.Line, hint, "key %s: a model without all of name, input_per_million, output_per_million", k.name)
		case seen[given["name"]]:
			return c.at(entry.Line, "keep one of them", "key %s: model %q stands here a second time", k.name, given["name"])
		}
		seen[given["name"]] = true
	}
	return nil
}

// budgets are those that are set.
func (c *configuration) budgets() []core.Budget {
	var out []core.Budget
	tokens := func(per core.BudgetScope, limit tokenLimit) {
		if n, err := strconv.ParseInt(string(limit), 10, 64); err == nil {
			out = append(out, core.Budget{Per: per, Of: core.BudgetTokens, Limit: n})
		}
	}
	cost := func(per core.BudgetScope, limit costLimit) {
		if n, err := core.ParseCost(string(limit)); err == nil {
			out = append(out, core.Budget{Per: per, Of: core.BudgetCost, Limit: int64(n)})
		}
	}
	tokens(core.BudgetSession, c.Budget.SessionTokens)
	tokens(core.BudgetDay, c.Budget.DayTokens)
	cost(core.BudgetSession, c.Budget.SessionCost)
	cost(core.BudgetDay, c.Budget.DayCost)
	return out
}
