package main

import (
	"log/slog"
	"sync"

	"gatehouse/core"
	"gatehouse/tui"
)

// liveSettings follows the configuration file while the program runs. It reads
// a copy of its own, so that nothing changes under those who hold the first one.
type liveSettings struct {
	mu     sync.Mutex
	config configuration
	log    *slog.Logger
	fault  string // of the file as it is now; "" where it is good
}

func followed(c *configuration, log *slog.Logger) *liveSettings {
	return &liveSettings{config: *c, log: log}
}

// now is what the kernel goes by now.
func (l *liveSettings) now() core.Settings {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reload()
	return core.Settings{Cap: l.config.Queue.Cap, RequireKey: l.config.Decisions.RequireKey}
}

// notices is how the screens tell a person now (terminal UI T10).
func (l *liveSettings) notices() tui.Notices {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reload()
	ui := l.config.UI
	return tui.Notices{Bell: ui.Bell, Note: ui.Notify, Status: ui.Status, Progress: ui.Progress}
}

// current is a copy of all that holds now.
func (l *liveSettings) current() configuration {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reload()
	return l.config
}

// reload takes in a changed file. One that is broken leaves the last valid
// values and is told of once, in the log.
func (l *liveSettings) reload() {
	_, err := l.config.reload()
	switch {
	case err == nil:
		l.fault = ""
	case err.Error() != l.fault:
		l.fault = err.Error()
		l.log.Warn("configuration is broken, the last valid values stay", "path", l.config.path, "fault", l.fault)
	}
}
