package demo

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/storage"
)

// TestFlowControlIsThatOfTheAPIServer: the demo cluster has what an API server creates by itself.
func TestFlowControlIsThatOfTheAPIServer(t *testing.T) {
	objects := snapshotOf(t).Objects()
	options := []cmp.Option{
		cmpopts.IgnoreTypes(metav1.TypeMeta{}), cmpopts.IgnoreFields(metav1.ObjectMeta{}, "CreationTimestamp"),
		cmpopts.SortSlices(func(a, b *flowcontrolv1.PriorityLevelConfiguration) bool { return a.Name < b.Name }),
		cmpopts.SortSlices(func(a, b *flowcontrolv1.FlowSchema) bool { return a.Name < b.Name }),
	}
	levels := append(append([]*flowcontrolv1.PriorityLevelConfiguration{}, bootstrap.MandatoryPriorityLevelConfigurations...), bootstrap.SuggestedPriorityLevelConfigurations...)
	if diff := cmp.Diff(levels, objects.PriorityLevels, options...); diff != "" {
		t.Errorf("priority levels (-server +demo):\n%s", diff)
	}
	schemas := append(append([]*flowcontrolv1.FlowSchema{}, bootstrap.MandatoryFlowSchemas...), bootstrap.SuggestedFlowSchemas...)
	if diff := cmp.Diff(schemas, objects.FlowSchemas, options...); diff != "" {
		t.Errorf("flow schemas (-server +demo):\n%s", diff)
	}
}

// TestStorage: scratch space is on the eight GPU servers, datasets are in three racks of four nodes.
func TestStorage(t *testing.T) {
	nodes := map[string]map[inspect.NodeName]int{"scratch": {}, "datasets": {}}
	unknown, fragmented := 0, 0
	for _, c := range storage.Capacities(snapshotOf(t)) {
		for _, node := range c.Nodes {
			nodes[c.Class][node]++
		}
		switch {
		case c.Total == nil:
			unknown++
		case c.Class == "scratch" && c.Largest.Cmp(*c.Total) < 0:
			fragmented++
		}
	}
	scratch, datasets := map[inspect.NodeName]int{}, map[inspect.NodeName]int{}
	for _, node := range snapshotOf(t).Nodes() {
		datasets[inspect.NodeName(node.Name)] = 1
		if rack := node.Labels["topology.example.com/rack"]; rack == "a" || rack == "b" {
			scratch[inspect.NodeName(node.Name)] = 1
		}
	}
	if diff := cmp.Diff(map[string]map[inspect.NodeName]int{"scratch": scratch, "datasets": datasets}, nodes); diff != "" {
		t.Errorf("objects per node (-want +got):\n%s", diff)
	}
	if unknown != 1 || fragmented != 1 {
		t.Errorf("%d capacities are unknown and %d fragmented, want one each", unknown, fragmented)
	}
}
