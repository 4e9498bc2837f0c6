package tui

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"
)

func sizes() [][2]int { return [][2]int{{60, 15}, {80, 24}, {120, 40}, {200, 50}} }

// TestGoldenFrames holds the frames as people see them at the four sizes.
// go test ./tui -run Golden -update writes them anew: look at the difference.
func TestGoldenFrames(t *testing.T) {
	states := []struct {
		name string
		make func(t *testing.T, w, h int) *driver
	}{
		{"empty", func(t *testing.T, w, h int) *driver { return newDriver(t, newFake(), w, h) }},
		{"loading", func(t *testing.T, w, h int) *driver {
			d := newDriver(t, site(), w, h)
			d.a.queue.slow = true
			d.a.dirty = true
			return d
		}},
		{"error", func(t *testing.T, w, h int) *driver {
			k := newFake()
			k.broken = errors.New("gatehouse.db: the disk does not answer")
			return newDriver(t, k, w, h)
		}},
		{"queue", func(t *testing.T, w, h int) *driver {
			d := newDriver(t, site(), w, h)
			d.a.queue.goToRow(t, d, 38)
			d.press("A", "j", "A")
			d.a.queue.goToRow(t, d, 43)
			d.press("x")
			d.typeText("keep it, linked from press")
			d.press("enter")
			d.a.queue.goToRow(t, d, 41)
			return d
		}},
	}
	for _, name := range []string{"detail", "plan", "outcome", "settle", "answer", "sessions", "transcript", "help"} {
		states = append(states, struct {
			name string
			make func(t *testing.T, w, h int) *driver
		}{name, func(t *testing.T, w, h int) *driver {
			d := newDriver(t, site(), w, h)
			d.press(places()[name]...)
			return d
		}})
	}
	for name, typed := range map[string]string{"palette": "", "palette-found": "re", "palette-none": "zzz", "palette-disabled": "settle"} {
		states = append(states, struct {
			name string
			make func(t *testing.T, w, h int) *driver
		}{name, func(t *testing.T, w, h int) *driver {
			d := newDriver(t, site(), w, h)
			d.press(":")
			d.typeText(typed)
			if name == "palette-disabled" {
				d.press("enter")
			}
			return d
		}})
	}
	for _, s := range states {
		for _, size := range sizes() {
			t.Run(fmt.Sprintf("%s-%dx%d", s.name, size[0], size[1]), func(t *testing.T) {
				d := s.make(t, size[0], size[1])
				d.intact()
				lines := strings.Split(d.frame(), "\n")
				for i, line := range lines {
					lines[i] = strings.TrimRight(line, " ")
				}
				golden.RequireEqual(t, strings.Join(lines, "\n")+"\n")
			})
		}
	}
}
