package main_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestGuarantees_EachTestNamedExists holds the page of promises against the tests that are to show them.
func TestGuarantees_EachTestNamedExists(t *testing.T) {
	declared := make(map[string]bool)
	function := regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9_]+)\(t \*testing\.T\)`)
	for _, rel := range files(t) {
		if !strings.HasSuffix(rel, "_test.go") {
			continue
		}
		for _, m := range function.FindAllStringSubmatch(read(t, rel), -1) {
			declared[m[1]] = true
		}
	}
	named := regexp.MustCompile(`Test[A-Za-z0-9_]+`).FindAllString(read(t, "cmd/gatehouse/help/guarantees.txt"), -1)
	if len(named) < 20 {
		t.Errorf("the page names %d tests", len(named))
	}
	for _, name := range named {
		if !declared[name] {
			t.Errorf("the page names %s, which does not exist", name)
		}
	}
}

// TestGuarantees_EveryCaseOfTheKernelHasATest lists the cases that no test is named after.
func TestGuarantees_EveryCaseOfTheKernelHasATest(t *testing.T) {
	waiting := map[string]string{
		"K22": "waits for gadgets",
	}
	shown := make(map[string]bool)
	test := regexp.MustCompile(`(?m)^func Test(K[0-9]+a?)_`)
	for _, rel := range files(t) {
		if strings.HasSuffix(rel, "_test.go") {
			for _, m := range test.FindAllStringSubmatch(read(t, rel), -1) {
				shown[m[1]] = true
			}
		}
	}
	for _, name := range kernelCases() {
		if why, waits := waiting[name]; waits {
			t.Logf("%s: %s", name, why)
			continue
		}
		if !shown[name] {
			t.Errorf("%s: no test is named after it", name)
		}
	}
}

// kernelCases are the numbered cases of the kernel.
func kernelCases() []string {
	var out []string
	for n := 1; n <= 71; n++ {
		out = append(out, "K"+strconv.Itoa(n))
	}
	return append(out, "K41a")
}
