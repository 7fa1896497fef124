package question_test

import (
	"reflect"
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
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

// TestTaintRulesCrash: kube-scheduler of 1.36.0 to 1.36.2 reads DeviceTaintRules as v1beta2 and takes them
// for v1alpha3 (resourceslice/tracker), which ends it. So neither yes nor no is known while there is one.
func TestTaintRulesCrash(t *testing.T) {
	rule := &resourcev1.DeviceTaintRule{ObjectMeta: metav1.ObjectMeta{Name: "r"}}
	rule.Spec.DeviceSelector = &resourcev1.DeviceTaintSelector{Driver: new("none.example.com")}
	rule.Spec.Taint = resourcev1.DeviceTaint{Key: "k", Effect: resourcev1.DeviceTaintEffectNoSchedule}
	for _, test := range []struct {
		server  string
		minor   int
		rules   []*resourcev1.DeviceTaintRule
		off     bool // the gate DRADeviceTaintRules
		yes, no explain.Verdict
	}{
		{"v1.36.0", 36, []*resourcev1.DeviceTaintRule{rule}, false, explain.Unknown, explain.Unknown},
		{"v1.36.2", 36, []*resourcev1.DeviceTaintRule{rule}, false, explain.Unknown, explain.Unknown},
		{"v1.36", 36, []*resourcev1.DeviceTaintRule{rule}, false, explain.Unknown, explain.Unknown},
		{"v1.36.2", 36, nil, false, explain.Allocatable, explain.Unsatisfiable},
		{"v1.36.2", 36, []*resourcev1.DeviceTaintRule{rule}, true, explain.Allocatable, explain.Unsatisfiable},
		{"v1.36.3", 36, []*resourcev1.DeviceTaintRule{rule}, false, explain.Allocatable, explain.Unsatisfiable},
		{"v1.35.10", 35, []*resourcev1.DeviceTaintRule{rule}, false, explain.Allocatable, explain.Unsatisfiable},
		{"v1.37.0", 37, []*resourcev1.DeviceTaintRule{rule}, false, explain.Allocatable, explain.Unsatisfiable},
	} {
		o := explaintest.NodesWithDevices(1)
		o.TaintRules = test.rules
		gates := map[inspect.Gate]bool{inspect.GateDeviceTaints: true, inspect.GateDeviceTaintRules: !test.off}
		s := inspect.New(o, inspect.Config{Features: inspect.DefaultFeatures(test.minor).With(gates), ServerVersion: test.server})
		for count, want := range map[int64]explain.Verdict{1: test.yes, 9: test.no} {
			e, err := question.ClaimObject(t.Context(), scheduler.NewCluster(s, scheduler.Options{}), explaintest.GPUClaim(count, "any"), question.Options{})
			if err != nil {
				t.Fatal(err)
			}
			said := strings.Contains(strings.Join(e.Partial, "\n"), "crashes where there are DeviceTaintRules")
			if e.Verdict != want || said != (want == explain.Unknown) {
				t.Errorf("%s, gate off %t, %d rules, %d devices: %s, %q; want %s", test.server, test.off, len(test.rules), count, e.Verdict, e.Partial, want)
			}
		}
	}
}
