package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/viper"

	"gatehouse/core/egress"
	"gatehouse/gatekeepers/model/openai"
)

// settings are the values that hold for one process. The tags are the names in
// the file; the table of keys says what else belongs to each.
type settings struct {
	Store string `mapstructure:"store"`
	Queue struct {
		Cap int `mapstructure:"cap"`
	} `mapstructure:"queue"`
	Decisions struct {
		RequireKey bool     `mapstructure:"require_key"`
		AgentMarks []string `mapstructure:"agent_marks"`
	} `mapstructure:"decisions"`
	Turns struct {
		Steps int           `mapstructure:"steps"`
		Time  time.Duration `mapstructure:"time"`
	} `mapstructure:"turns"`
	Provider string `mapstructure:"provider"`
	OpenAI   struct {
		BaseURL   string        `mapstructure:"base_url"`
		Model     string        `mapstructure:"model"`
		KeyEnv    string        `mapstructure:"key_env"`
		Timeout   time.Duration `mapstructure:"timeout"`
		MaxOutput int           `mapstructure:"max_output"`
	} `mapstructure:"openai"`
	Models prices `mapstructure:"models"`
	Budget struct {
		SessionTokens tokenLimit `mapstructure:"session_tokens"`
		DayTokens     tokenLimit `mapstructure:"day_tokens"`
		SessionCost   costLimit  `mapstructure:"session_cost"`
		DayCost       costLimit  `mapstructure:"day_cost"`
	} `mapstructure:"budget"`
	Egress struct {
		Rules egressRules `mapstructure:"rules"`
	} `mapstructure:"egress"`
	Web struct {
		Loopback []string `mapstructure:"loopback"`
	} `mapstructure:"web"`
	UI struct {
		Theme    string `mapstructure:"theme"`
		Bell     bool   `mapstructure:"bell"`
		Notify   bool   `mapstructure:"notify"`
		Status   bool   `mapstructure:"status"`
		Progress bool   `mapstructure:"progress"`
	} `mapstructure:"ui"`
	Log struct {
		File  string `mapstructure:"file"`
		Level string `mapstructure:"level"`
	} `mapstructure:"log"`
}

// key is one configuration key. The type of its default is its type.
type key struct {
	name     string
	env      string
	value    any // the default
	about    string
	choices  []string // for a string: what it may be; none is anything
	min, max int      // for a number
	path     bool     // relative to the folder of the configuration file, where it stands there
}

// configKeys is the one table of keys: default, environment, limits, meaning.
func configKeys() []key {
	return []key{
		{name: "store", env: "GATEHOUSE_STORE", value: filepath.Join(dataDir(), "gatehouse.db"), path: true, about: "the file that holds everything"},
		{name: "queue.cap", env: "GATEHOUSE_QUEUE_CAP", value: 200, min: 1, max: 100000, about: "undecided actions that one binding may have"},
		{name: "decisions.require_key", env: "GATEHOUSE_DECISIONS_REQUIRE_KEY", value: false, about: "decisions need a terminal or an operator key"},
		{name: "decisions.agent_marks", env: "GATEHOUSE_DECISIONS_AGENT_MARKS", value: []string{"CLAUDECODE", "GEMINI_CLI", "CODEX_SANDBOX"}, about: "variables by which a process that an agent started is known, beside " + ownMark},
		{name: "turns.steps", env: "GATEHOUSE_TURNS_STEPS", value: 30, min: 1, max: 10000, about: "model responses in one turn"},
		{name: "turns.time", env: "GATEHOUSE_TURNS_TIME", value: 30 * time.Minute, about: "how long one turn may take, such as 30m"},
		{name: "provider", env: "GATEHOUSE_PROVIDER", value: providerScript, choices: []string{providerScript, providerOpenAI}, about: "where the agent's model comes from"},
		{name: "openai.base_url", env: "GATEHOUSE_OPENAI_BASE_URL", value: openai.DefaultBase, about: "the endpoint, such as http://localhost:11434/v1"},
		{name: "openai.model", env: "GATEHOUSE_OPENAI_MODEL", value: "", about: "the model's name there"},
		{name: "openai.key_env", env: "GATEHOUSE_OPENAI_KEY_ENV", value: "OPENAI_API_KEY", about: "the variable that holds the key; the key itself is never stored"},
		{name: "openai.timeout", env: "GATEHOUSE_OPENAI_TIMEOUT", value: openai.DefaultTimeout, about: "how long one response may take"},
		{name: "openai.max_output", env: "GATEHOUSE_OPENAI_MAX_OUTPUT", value: 0, max: 10_000_000, about: "tokens that one response may have; 0 leaves it to the server"},
		{name: "models", env: "GATEHOUSE_MODELS", value: prices{}, about: "what models cost: name, input_per_million, output_per_million of each; in the variable NAME=INPUT/OUTPUT"},
		{name: "budget.session_tokens", env: "GATEHOUSE_BUDGET_SESSION_TOKENS", value: tokenLimit(noLimit), about: "tokens that one session may take; 0 is nothing"},
		{name: "budget.day_tokens", env: "GATEHOUSE_BUDGET_DAY_TOKENS", value: tokenLimit(noLimit), about: "tokens that all sessions may take in a day"},
		{name: "budget.session_cost", env: "GATEHOUSE_BUDGET_SESSION_COST", value: costLimit(noLimit), about: "what one session may cost, by the prices of models"},
		{name: "budget.day_cost", env: "GATEHOUSE_BUDGET_DAY_COST", value: costLimit(noLimit), about: "what all sessions may cost in a day"},
		{name: "egress.rules", env: "GATEHOUSE_EGRESS_RULES", value: egressRules{}, about: "what may leave, ask or never leave: name, when, decide of each; in the variable as JSON; see gatehouse help egress"},
		{name: "web.loopback", env: "GATEHOUSE_WEB_LOOPBACK", value: []string{}, about: "HOST:PORT on this machine that the web gatekeeper may reach, by http too"},
		{name: "ui.theme", env: "GATEHOUSE_UI_THEME", value: "default", choices: []string{"default", "none"}, about: "the colours of the screens"},
		{name: "ui.bell", env: "GATEHOUSE_UI_BELL", value: true, about: "ring when something starts to need you"},
		{name: "ui.notify", env: "GATEHOUSE_UI_NOTIFY", value: true, about: "note it on the desktop, where the terminal does that (OSC 9)"},
		{name: "ui.status", env: "GATEHOUSE_UI_STATUS", value: true, about: "tell the terminal while something waits for you (OSC 7501)"},
		{name: "ui.progress", env: "GATEHOUSE_UI_PROGRESS", value: true, about: "tell it how far a plan is that is carried out (OSC 9;4)"},
		{name: "log.file", env: "GATEHOUSE_LOG_FILE", value: filepath.Join(stateDir(), "gatehouse.log"), path: true, about: "what the program notes about itself; ids only"},
		{name: "log.level", env: "GATEHOUSE_LOG_LEVEL", value: "info", choices: []string{"debug", "info", "warn", "error"}, about: "how much it notes"},
	}
}

func dataDir() string   { return xdg("XDG_DATA_HOME", ".local/share") }
func stateDir() string  { return xdg("XDG_STATE_HOME", ".local/state") }
func anchorDir() string { return filepath.Join(stateDir(), "anchors") } // kernel R33: not in, nor beside, a store
func configDir() string { return xdg("XDG_CONFIG_HOME", ".config") }

// xdg is our folder in one of the XDG base directories.
func xdg(variable, below string) string {
	if base := os.Getenv(variable); filepath.IsAbs(base) {
		return filepath.Join(base, "gatehouse")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = string(filepath.Separator)
	}
	return filepath.Join(home, filepath.FromSlash(below), "gatehouse")
}

// configuration is what holds now, and where each value comes from. File <
// environment < flags.
type configuration struct {
	settings
	path   string            // of the file, whether it exists or not
	source map[string]string // by key: "default", "file:LINE", "environment", "flag"

	named   bool   // the file was named by a flag and must exist
	store   string // the flag
	content []byte // of the file, as it was read last
	policy  *egress.Policy
}

// loadConfiguration reads the file, the environment and the flags.
func loadConfiguration(flags globalFlags) (*configuration, error) {
	c := &configuration{path: flags.config, named: flags.config != "", store: flags.store}
	if !c.named {
		c.path = filepath.Join(configDir(), "config.yaml")
	}
	content, err := c.read()
	if err != nil {
		return nil, err
	}
	return c, c.load(content)
}

// reload reads a changed file again. When that is broken the last valid values
// stay, and the fault says what is wrong with it.
func (c *configuration) reload() (changed bool, err error) {
	content, err := c.read()
	if err != nil {
		return false, err
	}
	if bytes.Equal(content, c.content) {
		return false, nil
	}
	fresh := &configuration{path: c.path, named: c.named, store: c.store}
	if err := fresh.load(content); err != nil {
		return false, err
	}
	*c = *fresh
	return true, nil
}

func (c *configuration) read() ([]byte, error) {
	content, err := os.ReadFile(c.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !c.named:
		return nil, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, &fault{code: codeNotFound, message: fmt.Sprintf("configuration %s: no such file", c.path), hint: "see gatehouse config"}
	case err != nil:
		return nil, invalidFile("gatehouse help configuration says what it may hold", "configuration %s: %s", c.path, reason(err))
	}
	return content, nil
}

// load puts the layers on one another and decodes them strictly.
func (c *configuration) load(content []byte) error {
	keys := configKeys()
	lines, err := checkFile(c.path, content, keys)
	if err != nil {
		return err
	}
	v := viper.New()
	v.SetConfigType("yaml")
	if err := v.ReadConfig(bytes.NewReader(content)); err != nil {
		return invalidFile("", "configuration %s: %s", c.path, err)
	}
	c.source = make(map[string]string, len(keys))
	for _, k := range keys {
		v.SetDefault(k.name, k.value)
		if err := v.BindEnv(k.name, k.env); err != nil {
			return fmt.Errorf("configuration key %s: %w", k.name, err)
		}
		c.source[k.name] = "default"
		if at, found := lines[k.name]; found {
			c.source[k.name] = fmt.Sprintf("file:%d", at)
			if k.path {
				v.Set(k.name, c.absolute(v.GetString(k.name)))
			}
		}
		if value := os.Getenv(k.env); value != "" {
			if wrong := k.check(value); wrong != "" {
				return usage("correct the variable or unset it", "%s=%s: %s", k.env, value, wrong)
			}
			c.source[k.name] = "environment"
			if k.path {
				v.Set(k.name, value)
			}
			if _, isPrices := k.value.(prices); isPrices {
				v.Set(k.name, pricesFrom(value))
			}
			if _, isRules := k.value.(egressRules); isRules {
				rules, err := egressRulesFrom(value)
				if err != nil {
					return fmt.Errorf("configuration key %s: %w", k.name, err)
				}
				v.Set(k.name, rules)
			}
		}
	}
	if c.store != "" {
		v.Set("store", c.store)
		c.source["store"] = "flag"
	}
	if err := v.UnmarshalExact(&c.settings); err != nil {
		return invalidFile("", "configuration %s: %s", c.path, err)
	}
	if c.policy, err = c.Egress.Rules.policy(); err != nil {
		return invalidFile("", "configuration %s: %s", c.path, err)
	}
	c.content = content
	return nil
}

// absolute finds a path that stands in the file.
func (c *configuration) absolute(path string) string {
	if below, found := strings.CutPrefix(path, "~/"); found {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, below)
		}
	}
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(c.path), path)
}

// check says what is wrong with a value that stands as text; "" is nothing.
func (k key) check(value string) string {
	switch k.value.(type) {
	case int:
		n, err := strconv.Atoi(value)
		if err != nil || n < k.min || n > k.max {
			return fmt.Sprintf("not a number from %d to %d", k.min, k.max)
		}
	case bool:
		if value != "true" && value != "false" {
			return "neither true nor false"
		}
	case time.Duration:
		d, err := time.ParseDuration(value)
		if err != nil || d <= 0 {
			return "not a time such as 90s, 30m or 2h"
		}
	case tokenLimit:
		return checkTokenLimit(value)
	case costLimit:
		return checkCostLimit(value)
	case prices:
		return checkPrices(value)
	case egressRules:
		return checkEgressRules(value)
	case string:
		for _, choice := range k.choices {
			if value == choice {
				return ""
			}
		}
		if len(k.choices) > 0 {
			return "not one of " + strings.Join(k.choices, ", ")
		}
		if value == "" {
			return "empty"
		}
	}
	return ""
}

// reason is an error of the file system without the path, which is named already.
func reason(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}
