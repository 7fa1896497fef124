package flowcontrol

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"
)

func TestSchemasOf(t *testing.T) {
	got := SchemasOf(append(bootstrap.SuggestedFlowSchemas, bootstrap.MandatoryFlowSchemas...))
	want := map[string][]string{
		"exempt": {"exempt", "probes"}, "leader-election": {"system-leader-election"}, "node-high": {"system-node-high"},
		"system": {"system-nodes"}, "workload-low": {"service-accounts"}, "global-default": {"global-default"}, "catch-all": {"catch-all"},
		"workload-high": {"kube-controller-manager", "kube-scheduler", "kube-system-service-accounts"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestDanglingSchemas: a mandatory level is there without an object, and one that the server does not take is
// not.
func TestDanglingSchemas(t *testing.T) {
	schema := func(name, level string, precedence int32) *flowcontrolv1.FlowSchema {
		return &flowcontrolv1.FlowSchema{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: flowcontrolv1.FlowSchemaSpec{
			MatchingPrecedence: precedence, PriorityLevelConfiguration: flowcontrolv1.PriorityLevelConfigurationReference{Name: level},
		}}
	}
	broken := &flowcontrolv1.PriorityLevelConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "broken"}, Spec: flowcontrolv1.PriorityLevelConfigurationSpec{
		Type: flowcontrolv1.PriorityLevelEnablementLimited,
	}}
	limits := Compute([]*flowcontrolv1.PriorityLevelConfiguration{broken}, 100)
	got := DanglingSchemas([]*flowcontrolv1.FlowSchema{schema("late", "gone", 900), schema("a", "broken", 500), schema("b", "catch-all", 1), schema("c", "exempt", 2)}, &limits)
	if diff := cmp.Diff([]Dangling{{"a", "broken"}, {"late", "gone"}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
