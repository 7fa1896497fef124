package flowcontrol

import (
	"testing"

	"github.com/google/go-cmp/cmp"
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
