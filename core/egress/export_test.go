package egress

import (
	"context"
	"testing"

	"gatehouse/core"
)

// Read reports whether the conditions were read.
func (p *Policy) Read() bool { return p.reads.Load() > 0 }

// DecideByRules is Decide without the short way.
func (p *Policy) DecideByRules(ctx context.Context, r core.EgressRequest) core.EgressVerdict {
	return p.decide(ctx, r)
}

// Orders reads the rules once and decides by them in any order.
func Orders(t *testing.T, rules []Rule) func([]Rule, core.EgressRequest) core.EgressVerdict {
	t.Helper()
	c, err := compile(rules)
	if err != nil {
		t.Fatal(err)
	}
	read := make(map[string]conditioned)
	for _, r := range c.tiers[1] {
		read[r.rule.Name] = r
	}
	return func(order []Rule, r core.EgressRequest) core.EgressVerdict {
		tier := make([]conditioned, len(order))
		for i, one := range order {
			tier[i] = read[one.Name]
		}
		verdict, _ := strongest(context.Background(), tier, factsOf(r))
		return verdict
	}
}
