package flowcontrol

import (
	"testing"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestTakesBack: the API server restores the spec of what it ships (pkg/registry/flowcontrol/ensurer,
// shouldUpdateSpec): the annotation decides, and without it whether anybody has changed the spec before.
func TestTakesBack(t *testing.T) {
	const certain, unsure, kept = "certain", "unsure", "kept"
	for name, test := range map[string]struct {
		level, annotation, given string // given is in the file that is applied
		generation               int64
		created                  bool // there is no such level yet
		want                     string
	}{
		"as the server makes it":        {"workload-low", "true", "", 1, false, certain},
		"changed before, and annotated": {"workload-low", "true", "", 7, false, certain},
		"kept":                          {"workload-low", "false", "", 2, false, kept},
		"kept by the file":              {"workload-low", "true", "false", 1, false, kept},
		"the file asks for it":          {"workload-low", "false", "true", 1, false, certain},
		"no boolean":                    {"workload-low", "perhaps", "", 1, false, unsure},
		"no boolean, changed before":    {"workload-low", "perhaps", "", 2, false, kept},
		"no annotation":                 {"workload-low", "", "", 0, false, unsure},
		"no annotation, changed before": {"workload-low", "", "", 3, false, kept},
		"another level":                 {"mine", "true", "", 1, false, kept},
		"a level that comes":            {"workload-low", "", "", 0, true, unsure},
	} {
		was := &flowcontrolv1.PriorityLevelConfiguration{}
		was.Name, was.Generation = test.level, test.generation
		was.Spec.Limited = &flowcontrolv1.LimitedPriorityLevelConfiguration{}
		if test.annotation != "" {
			was.Annotations = map[string]string{AutoUpdate: test.annotation}
		}
		is := was.DeepCopy()
		is.Annotations = nil
		if test.given != "" {
			is.Annotations = map[string]string{AutoUpdate: test.given}
		}
		before := &inspect.Objects{PriorityLevels: []*flowcontrolv1.PriorityLevelConfiguration{was}}
		if test.created {
			before = &inspect.Objects{}
		} else if found := TakesBack(before, &inspect.Objects{PriorityLevels: []*flowcontrolv1.PriorityLevelConfiguration{is}}); len(found) > 0 {
			t.Errorf("%s: what is not changed is taken back: %v", name, found)
		}
		is.Spec.Limited.NominalConcurrencyShares = new(int32(150))
		got := kept
		if found := TakesBack(before, &inspect.Objects{PriorityLevels: []*flowcontrolv1.PriorityLevelConfiguration{is}}); len(found) > 0 {
			if got = unsure; found[0].Certain {
				got = certain
			}
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}
