package flowcontrol

import (
	"testing"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/utils/ptr"
)

// TestRealCurrentLimits: the current limits that real servers computed follow from their demand metrics.
func TestRealCurrentLimits(t *testing.T) {
	for _, version := range []string{"1.31", "1.35"} {
		m := parse(t, string(readFile(t, "metrics-"+version+".txt")))
		limits := Compute(bootstrapLevels(), 600)
		got := m.CurrentLimits(&limits)
		if len(got) != 8 {
			t.Fatalf("%s: %+v", version, got)
		}
		for _, c := range got {
			if want := *m.Levels[c.Level].Current; c.Limit != want {
				t.Errorf("%s: %s has %d seats, computed are %+v", version, c.Level, want, c)
			}
		}
	}
}

// wanting is what a level wants, for TestCurrentLimits.
type wanting struct {
	name                  string
	exempt                bool
	nominal, lower, upper int
	high                  int
	smoothed              float64
	want                  int
	rule                  CurrentRule
}

// TestCurrentLimits has each rule, worked out by hand.
func TestCurrentLimits(t *testing.T) {
	for name, levels := range map[string][]wanting{
		// 300 seats for targets of 10 and 40: 6 for each.
		"fair": {{"a", false, 100, 0, 700, 5, 10, 60, CurrentFair}, {"b", false, 200, 0, 800, 10, 40, 240, CurrentFair}},
		// a keeps its 60; 240 seats for b.
		"least": {{"a", false, 100, 60, 700, 5, 10, 60, CurrentLeast}, {"b", false, 200, 0, 800, 10, 400, 240, CurrentFair}},
		// b may not have more than 210; the rest is for a.
		"most": {{"a", false, 100, 0, 700, 5, 10, 90, CurrentFair}, {"b", false, 200, 200, 210, 10, 400, 210, CurrentMost}},
		// Nobody wants anything: targets are 0.001 each.
		"idle": {{"a", false, 100, 0, 700, 0, 0, 150, CurrentFair}, {"b", false, 200, 0, 800, 0, 0, 150, CurrentFair}},
		// 300 − 250 = 50 ≤ 20 + 40.
		"lower": {{"a", false, 100, 20, 700, 90, 99, 20, CurrentLower}, {"b", false, 200, 40, 800, 90, 99, 40, CurrentLower}, {"exempt", true, 0, 0, 600, 250, 9, 250, CurrentExempt}},
		// 300 − 180 = 120, which is half way between the lower limits, 60, and what they keep, 180.
		"share": {{"a", false, 100, 20, 700, 90, 99, 55, CurrentShare}, {"b", false, 200, 40, 800, 90, 99, 65, CurrentShare}, {"exempt", true, 0, 0, 600, 180, 9, 180, CurrentExempt}},
		// What the exempt level takes is not taken from the sum that is shared out.
		"exempt": {{"a", false, 100, 0, 700, 5, 10, 60, CurrentFair}, {"b", false, 200, 0, 800, 10, 40, 240, CurrentFair}, {"exempt", true, 0, 0, 600, 100, 9, 100, CurrentExempt}},
	} {
		m, limits := &Metrics{Levels: map[string]*Load{}}, Limits{}
		for _, l := range levels {
			kind := flowcontrolv1.PriorityLevelEnablementLimited
			if l.exempt {
				kind = flowcontrolv1.PriorityLevelEnablementExempt
			}
			limits.Levels = append(limits.Levels, Level{Name: l.name, Type: kind})
			m.Levels[l.name] = &Load{Nominal: &l.nominal, Lower: &l.lower, Upper: &l.upper, Demand: Demand{HighWatermark: ptr.To(float64(l.high)), Smoothed: &l.smoothed}}
		}
		for i, c := range m.CurrentLimits(&limits) {
			if c.Limit != levels[i].want || c.Rule != levels[i].rule {
				t.Errorf("%s: %s: %d by %s, want %d by %s: %s", name, c.Level, c.Limit, c.Rule, levels[i].want, levels[i].rule, c.Message())
			}
		}
		delete(m.Levels, "a")
		if got := m.CurrentLimits(&limits); got != nil {
			t.Errorf("%s: with metrics of some levels only: %v", name, got)
		}
	}
}
