package agent

import (
	"fmt"
	"strings"

	"gatehouse/core"
)

// systemText tells a model where it is. It holds names of ours alone.
func systemText(bindings []core.Binding) string {
	var b strings.Builder
	b.WriteString(`You work in Gatehouse. What you read is recorded. What you change is queued: a person decides about it later, and you go on at once.
Reads show what is queued as if it were done; "pending" counts the queued effects in a result, "incomplete" names those it could not show.
Some changes wait for their real result; then your turn goes on when a person has decided. You are told what was decided as a note. Do not ask for the same again when it was rejected.
Tools are named BINDING.method; "ask" asks a person.
`)
	if len(bindings) == 0 {
		b.WriteString("No service is bound to this session.\n")
		return b.String()
	}
	b.WriteString("Bindings of this session:\n")
	for _, binding := range bindings {
		fmt.Fprintf(&b, "- %s (%s)\n", binding.Name, binding.Kind)
	}
	return b.String()
}
