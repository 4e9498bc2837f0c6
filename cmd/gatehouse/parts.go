package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"time"

	"gatehouse/core"
	"gatehouse/core/predicate"
	"gatehouse/core/text"
	"gatehouse/gatekeepers/files"
	"gatehouse/gatekeepers/kit"
	"gatehouse/gatekeepers/web"
	"gatehouse/store"
)

// ownMark is the variable that every process carries which we start for an
// agent. It always counts, whatever the configuration says.
const ownMark = "GATEHOUSE_AGENT"

// operatorKey is the variable that holds an operator key.
const operatorKey = "GATEHOUSE_OPERATOR_KEY"

// parts is the product put together: what every command but a few works with.
type parts struct {
	settings *configuration
	live     *liveSettings
	store    *store.DB
	library  libraryParts
	kernel   *core.Kernel
	alive    core.Alive
	person   core.PersonID // who runs this process, or whom it rehearses
	log      *slog.Logger

	rehearsed bool // the person is one of --as
}

// parts builds the parts at the first call and gives them again later. They are
// closed at the end of the invocation.
func (a *app) parts(ctx context.Context) (*parts, error) {
	if a.opened != nil {
		return a.opened, nil
	}
	settings, err := a.settings()
	if err != nil {
		return nil, err
	}
	p, closers, err := assemble(ctx, settings, a.more)
	a.closers = append(a.closers, closers...)
	if err != nil {
		return nil, err
	}
	if _, err := p.kernel.Recover(ctx); err != nil {
		return nil, err
	}
	if gone, purged, err := p.kernel.PurgeExpired(ctx); err != nil {
		p.log.Warn("a removed session was not purged", "session", string(gone.ID), "error", err.Error())
	} else if purged {
		p.log.Info("a removed session was purged", "session", string(gone.ID))
	}
	if err := a.actAs(ctx, p); err != nil {
		return nil, err
	}
	a.opened = p
	return p, nil
}

// settings loads the configuration at the first call.
func (a *app) settings() (*configuration, error) {
	if a.config != nil {
		return a.config, nil
	}
	c, err := loadConfiguration(a.flags)
	if err != nil {
		return nil, err
	}
	a.config = c
	return c, nil
}

// assemble is the wiring. What it opened is in closers, in order, also when it
// fails halfway.
func assemble(ctx context.Context, c *configuration, more additions) (p *parts, closers []func() error, err error) {
	p = &parts{settings: c}
	if p.person, err = systemUser(); err != nil {
		return nil, nil, err
	}
	log, closeLog := newLog(c.Log.File, c.Log.Level)
	p.log, closers = log, append(closers, closeLog)
	if p.store, err = store.Open(ctx, store.Options{
		Path: c.Store, Anchors: anchorDir(), AnchorFault: func(err error) { log.Warn("the record was not anchored", "error", err.Error()) },
	}); err != nil {
		return nil, closers, err
	}
	closers = append(closers, p.store.Close)
	processes, err := store.Join(p.store.Path())
	if err != nil {
		return nil, closers, err
	}
	p.alive, closers = processes, append(closers, processes.Close)
	p.live = followed(c, log)
	if p.library, err = openLibrary(ctx, p.store); err != nil {
		return nil, closers, err
	}
	p.kernel, err = core.New(core.Options{
		Store: p.store, Gatekeepers: gatekeepers(c, p, more), Clock: systemClock{}, Rand: rand.Reader, Alive: processes,
		Fault: more.fault, Budgets: c.budgets(), Predicates: predicate.Compiler{}, Log: log, Settings: p.live.now,
		Egress: livePolicy{p.live}, Anchors: p.store, Scrub: p.store.Scrub,
	})
	if err != nil {
		return nil, closers, err
	}
	return p, append(closers, p.kernel.Close), nil
}

// gatekeepers are the drivers of this program.
func gatekeepers(c *configuration, p *parts, more additions) []core.Gatekeeper {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	git, err := exec.LookPath("git")
	if err != nil {
		git = "" // status, diff and log are refused, and say so
	}
	drivers := []core.Gatekeeper{files.New(files.Options{
		Host: host, User: p.person, Protected: protected(c, p.store.Path()), Git: git, Fault: more.fault,
		Trusted: p.store.Shelf().Places,
	}), p.library.driver}
	drivers = append(drivers, web.New(kit.NewHTTP(kit.HTTPOptions{Loopback: c.Web.Loopback, Agent: "gatehouse"})))
	if more.gatekeepers != nil {
		drivers = append(drivers, more.gatekeepers()...)
	}
	return drivers
}

// protected are the places that no binding may hold or lie in. They are found
// by stat alone; what does not exist needs no protection.
func protected(c *configuration, path string) []files.Place {
	var places []files.Place
	for _, place := range [][2]string{
		{"the store", path},
		{"the store's log of changes", path + "-wal"},
		{"the store's shared memory", path + "-shm"},
		{"the store's lock", path + ".lock"},
		{"the store's list of processes", path + ".proc"},
		{"the anchors of stores", anchorDir()},
		{"the configuration", c.path},
		{"the configuration folder", configDir()},
		{"the folder of stores", dataDir()},
		{"the identity", identityFile()},
	} {
		if found, err := files.PlaceAt(place[0], place[1]); err == nil {
			places = append(places, found)
		}
	}
	return places
}

// authority says who decides, from what kind of process (kernel R34). The
// kernel judges it.
func (a *app) authority(p *parts) core.Authority {
	means := core.MeansPipe
	if a.in.tty.stdin {
		means = core.MeansTerminal
	}
	return core.Authority{
		Person: p.person, Means: means, AgentMark: agentMark(p.settings.Decisions.AgentMarks), Key: os.Getenv(operatorKey),
	}
}

// agentMark is the first variable that shows that an agent started this process.
func agentMark(configured []string) string {
	for _, name := range append([]string{ownMark}, configured...) {
		if os.Getenv(name) != "" {
			return name
		}
	}
	return ""
}

// systemUser is the person on whose account this process runs.
func systemUser() (core.PersonID, error) {
	current, err := user.Current()
	if err != nil {
		return "", fmt.Errorf("system user: %w", err)
	}
	name, _ := text.CleanLine(current.Username, 64)
	if name == "" {
		name = "uid" + current.Uid
	}
	return core.PersonID(strings.ReplaceAll(name, " ", "_")), nil
}

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

// newLog makes a logger that opens its file at the first row, so that a command
// that has nothing to note costs nothing. It never writes to the screen: what
// cannot be noted is lost.
func newLog(path, level string) (*slog.Logger, func() error) {
	file := &logFile{path: path}
	var threshold slog.Level
	if err := threshold.UnmarshalText([]byte(level)); err != nil {
		threshold = slog.LevelInfo
	}
	return slog.New(slog.NewJSONHandler(file, &slog.HandlerOptions{Level: threshold})), file.close
}

// logLimit is the size at which a log file is put aside for a new one.
const logLimit = 8 << 20

// logFile is opened when it is written to. slog calls it from one goroutine at
// a time.
type logFile struct {
	path   string
	file   *os.File
	failed bool
}

func (l *logFile) Write(row []byte) (int, error) {
	if l.file == nil && !l.failed {
		l.failed = l.open() != nil
	}
	if l.failed {
		return len(row), nil
	}
	return l.file.Write(row)
}

func (l *logFile) open() error {
	if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		return err
	}
	if info, err := os.Stat(l.path); err == nil && info.Size() > logLimit {
		_ = os.Rename(l.path, l.path+".1") // else it goes on growing
	}
	file, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	l.file = file
	return err
}

func (l *logFile) close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}
