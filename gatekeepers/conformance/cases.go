package conformance

import (
	"testing"
)

// namedCase is one case of the suite.
type namedCase struct {
	name string
	run  func(b *bench)
}

// cases lists the suite in its order. Names are what Setup.Lacks uses.
func cases() []namedCase {
	return []namedCase{
		{"manifest is valid and honest", manifestIsHonest},
		{"URLs print as they parse", urlsPrintAsTheyParse},
		{"resource covers its own unit", resourceCoversItsUnit},
		{"arguments are checked before the service", argumentsAreChecked},
		{"missing is out of scope", missingIsOutOfScope},
		{"overlapping bindings", overlappingBindings},
		{"reads are observed inside the narrowing", readsAreObserved},
		{"refusal at intent", refusalAtIntent},
		{"refusal at exact", refusalAtExact},
		{"repeated reads agree", repeatedReadsAgree},
		{"pages make the list", pagesMakeTheList},
		{"cursor of a changed list", cursorOfChangedList},
		{"an ended context", endedContext},
		{"pending writes touch nothing", pendingTouchesNothing},
		{"fields and kinds are declared", fieldsAreDeclared},
		{"replay in order of ids", replayInOrder},
		{"filters after projection", filtersAfterProjection},
		{"own writes never drift", ownWritesNeverDrift},
		{"second edit alone", secondEditAlone},
		{"rejecting the first of two edits", rejectFirstOfTwo},
		{"provisional until bound", provisionalUntilBound},
		{"reject cascade", rejectCascade},
		{"drift", drift},
		{"await is not shown", awaitIsNotShown},
		{"what cannot be projected", cannotBeProjected},
		{"a read while an effect is claimed", readWhileClaimed},
		{"failed before dispatch", failedBefore},
		{"refused, retryable", refusedRetryable},
		{"refused for good", refusedForGood},
		{"unknown outcome", unknownOutcome},
		{"journal of another resource", journalOfAnother},
		{"observers", observers},
		{"revert applied", revertApplied},
		{"revert drifts", revertDrifts},
		{"revert unknown", revertUnknown},
		{"reverts bring back what was", revertFidelity},
		{"fidelity", fidelity},
	}
}

// Run runs every case, each on a kernel and a service of its own.
func Run(t *testing.T, s Setup) {
	t.Helper()
	known := make(map[string]bool)
	for _, c := range cases() {
		known[c.name] = true
	}
	for name := range s.Lacks {
		if !known[name] {
			t.Errorf("setup lacks %q, which is no case", name)
		}
	}
	for _, c := range cases() {
		t.Run(c.name, func(t *testing.T) {
			if why, lacks := s.Lacks[c.name]; lacks {
				t.Logf("%s lacks it: %s", s.Name, why)
				return
			}
			c.run(newBench(t, s))
		})
	}
}
