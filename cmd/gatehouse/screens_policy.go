package main

import (
	"context"

	"gatehouse/core"
	"gatehouse/core/egress"
)

// screenPolicy is the policy over what leaves, for the screens: the one that
// every sink asks, as the configuration says it now.
type screenPolicy struct{ p *parts }

// Tiers lists its rules.
func (s screenPolicy) Tiers() []egress.Tier { return s.p.live.policy().Rules() }

// Test asks it, and nobody else.
func (s screenPolicy) Test(ctx context.Context, r core.EgressRequest, sends ...string) (core.EgressVerdict, core.EgressRequest, error) {
	return s.p.kernel.TestEgress(ctx, r, sends...)
}
