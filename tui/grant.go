package tui

import (
	"strings"

	"gatehouse/core"
)

// grantLines says all that a grant holds. Where a session is named it is of a
// binding.
func grantLines(g core.Grant, session string) []line {
	c := g.Connection
	var out []line
	add := func(r role, name, value string) {
		clean, _ := cleanLine(value, titleLimit)
		out = append(out, line{r, pad(name, proposalHang-2) + "  " + clean, true})
	}
	if session != "" {
		add(rolePlain, "session", session)
		add(roleTitle, "binding", "env."+string(g.Binding))
		add(roleTitle, "resource", g.URL)
	}
	if g.Fresh() {
		add(rolePlain, "connects", c.Kind+", a new connection")
	} else {
		add(rolePlain, "through", string(c.ID)+", a connection that is there already")
	}
	add(rolePlain, "name", c.Name)
	add(roleTitle, "root", c.Root)
	out = append(out, line{})
	add(roleAccent, "can be read", or(strings.Join(g.Reads, ", "), "nothing")+"; at once, and on record")
	add(roleWarn, "can be queued", or(strings.Join(g.Queues, ", "), "nothing")+"; nothing happens before you approve")
	out = append(out, line{})
	add(rolePlain, "unit", g.Unit.String())
	add(rolePlain, "service", c.Service)
	add(rolePlain, "labels", or(strings.Join(c.Labels, ", "), "none"))
	add(rolePlain, "owner", string(c.Owner))
	add(rolePlain, "who could see", whoSees(c))
	return out
}

// whoSees says to whom what was read could be shown later.
func whoSees(c core.Connection) string {
	people := []string{string(c.Owner)}
	for _, r := range c.Readers {
		if r != c.Owner {
			people = append(people, string(r))
		}
	}
	if len(people) == 1 {
		return people[0] + " alone"
	}
	return strings.Join(people, ", ")
}
