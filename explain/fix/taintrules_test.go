package fix_test

import (
	"slices"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
)

// TestDeletedTaintRules: a rule is to be deleted where that helps: alone or with others that set the same
// taint, and not where a driver sets it as well.
func TestDeletedTaintRules(t *testing.T) {
	taint := resourcev1.DeviceTaint{Key: "upgrade", Effect: resourcev1.DeviceTaintEffectNoSchedule}
	rule := func(name string, selector resourcev1.DeviceTaintSelector) *resourcev1.DeviceTaintRule {
		return &resourcev1.DeviceTaintRule{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: resourcev1.DeviceTaintRuleSpec{DeviceSelector: &selector, Taint: taint}}
	}
	driver, pool := resourcev1.DeviceTaintSelector{Driver: ptr.To(explaintest.Driver)}, resourcev1.DeviceTaintSelector{Pool: ptr.To("n0")}
	for _, tt := range []struct {
		name  string
		rules []*resourcev1.DeviceTaintRule
		own   bool // the driver taints its devices as well
		want  []string
	}{
		{"one rule", []*resourcev1.DeviceTaintRule{rule("a", driver)}, false, []string{"delete DeviceTaintRule a on 2"}},
		{"a rule for one pool", []*resourcev1.DeviceTaintRule{rule("a", pool), rule("b", driver)}, false, []string{"delete DeviceTaintRule b on 1"}},
		{"two rules for the same", []*resourcev1.DeviceTaintRule{rule("a", driver), rule("b", driver)}, false, []string{"delete DeviceTaintRule a, DeviceTaintRule b on 2"}},
		{"the driver as well", []*resourcev1.DeviceTaintRule{rule("a", driver)}, true, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := explaintest.NodesWithDevices(1, 1)
			o.TaintRules = tt.rules
			for _, slice := range o.Slices {
				if tt.own {
					slice.Spec.Devices[0].Taints = []resourcev1.DeviceTaint{taint}
				}
			}
			e, err := question.ClaimObject(t.Context(), explaintest.NewCluster(o), explaintest.GPUClaim(1, "any"), question.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i := range e.Fixes {
				if f := &e.Fixes[i]; f.Kind == explain.RemoveTaint {
					got = append(got, f.Message+" on "+string(rune('0'+f.Nodes)))
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%q, want %q; all: %+v", got, tt.want, e.Fixes)
			}
		})
	}
}
