package main

import (
	"errors"
	"os"
	"strings"

	"gatehouse/core"
	"gatehouse/gatekeepers/model/openai"
)

// The providers of models.
const (
	providerScript = "script"
	providerOpenAI = "openai"
)

// sourceProvider begins the source of a turn whose model a provider gives; what
// follows is the provider. A script's source is its path.
const sourceProvider = "provider:"

// model finds the model of a new turn: a script, or what the flag or the
// configuration names. Source is where a continued turn finds it again.
func (a *app) model(f runFlags) (m core.Model, source string, err error) {
	if f.script != "" {
		return playScript(f.script)
	}
	c, err := a.settings()
	if err != nil {
		return nil, "", err
	}
	provider := c.Provider
	if f.provider != "" {
		provider = f.provider
	}
	if provider == providerOpenAI {
		m, err := openaiModel(c)
		return m, sourceProvider + providerOpenAI, err
	}
	return playScript("")
}

// modelOf finds the model of a turn that goes on; flags go before what it had.
func (a *app) modelOf(f runFlags, turn core.Turn) (core.Model, error) {
	if f.script == "" && f.provider == "" {
		provider, found := strings.CutPrefix(turn.Source, sourceProvider)
		if !found {
			m, _, err := playScript(turn.Source)
			return m, err
		}
		f.provider = provider
	}
	m, _, err := a.model(f)
	return m, err
}

// openaiModel makes a model of the configuration. It reaches for nothing.
func openaiModel(c *configuration) (core.Model, error) {
	price, priced := c.Models.of(c.OpenAI.Model)
	if limited := c.Budget.SessionCost != noLimit || c.Budget.DayCost != noLimit; limited && !priced {
		return nil, usage("add it to models, with 0 if it costs nothing", "model %q: there is a budget of cost, and models has no price of it", c.OpenAI.Model)
	}
	m, err := openai.New(openai.Options{
		Base: c.OpenAI.BaseURL, Model: c.OpenAI.Model, Key: os.Getenv(c.OpenAI.KeyEnv), KeyEnv: c.OpenAI.KeyEnv,
		Timeout: c.OpenAI.Timeout, MaxOutput: c.OpenAI.MaxOutput, Price: price, Priced: priced,
	})
	var wrong *openai.SettingError
	if errors.As(err, &wrong) {
		return nil, usage(wrong.Hint, "%s", wrong)
	}
	return m, err
}
