package question_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestTaintRulesAreNamed asks for devices that only a DeviceTaintRule keeps off, and for one that its driver
// taints.
func TestTaintRulesAreNamed(t *testing.T) {
	c := explaintest.DemoCluster(t)
	rules := []explain.TaintRule{{Name: "firmware-gpu-a-04", Age: "150m", Manager: "firmware-updater"}}
	e, err := question.Claim(t.Context(), c, inspect.ClaimRef{Namespace: "ml", Name: "driver-canary"}, question.Options{})
	if err != nil || e.Conflict == nil {
		t.Fatal(e, err)
	}
	named := 0
	check := func(what string, got []explain.TaintRule, message string) {
		t.Helper()
		named++
		if !reflect.DeepEqual(got, rules) {
			t.Errorf("%s: rules %v, want %v", what, got, rules)
		}
		if !strings.Contains(message, "DeviceTaintRule firmware-gpu-a-04") {
			t.Errorf("%s does not name the rule: %s", what, message)
		}
	}
	for _, g := range e.Groups {
		for _, r := range g.Reasons {
			if r.Code == allocator.DeviceTainted {
				check("reason", r.TaintRules, r.Message)
			} else if r.TaintRules != nil {
				t.Errorf("%s has rules %v", r.Code, r.TaintRules)
			}
		}
	}
	for _, r := range e.Conflict.Requirements {
		if r.Kind == explain.TaintRequired {
			check("requirement", r.TaintRules, r.Message)
		}
	}
	for _, f := range e.Fixes {
		if f.Kind == explain.TolerateTaint || f.Kind == explain.RemoveTaint {
			check("fix", f.TaintRules, f.Message)
		} else if f.TaintRules != nil {
			t.Errorf("%s has rules %v", f.Kind, f.TaintRules)
		}
	}
	if named != 4 {
		t.Errorf("%d of reason, requirement and two fixes are about the taint", named)
	}

	broken, _ := c.Snapshot().Claim(inspect.ClaimRef{Namespace: "dev", Name: "ecc-debug"})
	broken = broken.DeepCopy()
	broken.Spec.Devices.Requests[0].Exactly.Tolerations = nil
	e, err = question.ClaimObject(t.Context(), c, broken, question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tolerated := false
	for _, f := range e.Fixes {
		tolerated = tolerated || f.Kind == explain.TolerateTaint
		if f.TaintRules != nil || strings.Contains(f.Message, "DeviceTaintRule") {
			t.Errorf("the driver's own taint is said to be of a rule: %s", f.Message)
		}
	}
	if !tolerated {
		t.Errorf("no fix tolerates the driver's taint: %v", e.Fixes)
	}
}
