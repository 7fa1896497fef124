package explain_test

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// equalDevices is a cluster of nodes with so many equal devices each.
func equalDevices(devices ...int) inspect.Objects {
	o := inspect.Objects{Classes: []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "any"}}}}
	for i, n := range devices {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName(i)}}
		slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: node.Name}, Spec: resourcev1.ResourceSliceSpec{
			Driver: "gpu.example.com", NodeName: &node.Name,
			Pool: resourcev1.ResourcePool{Name: node.Name, Generation: 1, ResourceSliceCount: 1},
		}}
		for d := range n {
			slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{Name: fmt.Sprintf("d%02d", d)})
		}
		o.Nodes, o.Slices = append(o.Nodes, node), append(o.Slices, slice)
	}
	return o
}

// TestSearchCost asks for more devices than there are. A search without pruning looks at every set of them.
func TestSearchCost(t *testing.T) {
	const would = "more than fit in the 10 s of its filter timeout, and the pod's attempt then ends with an error instead of \"unschedulable\", also when other nodes fit"
	for _, tt := range []struct {
		devices  []int
		count    int64
		features inspect.Features
		want     *explain.SearchCost
	}{
		{devices: []int{4, 7}, count: 8}, // 128 steps need no mention
		{devices: []int{12}, count: 13, want: &explain.SearchCost{
			Node: "n0", Nodes: 1, Steps: allocator.StepCount{Steps: 1 << 12}, Risk: explain.NoTimeout,
		}},
		{devices: []int{22, 3, 22}, count: 23, want: &explain.SearchCost{
			Node: "n0", Nodes: 2, Steps: allocator.StepCount{Steps: 1 << 22}, Risk: explain.MayTimeOut,
			Message: "on each of 2 nodes such as n0 kube-scheduler's own search takes about 4.19 million steps; on a slow machine that " +
				"may exceed the 10 s of its filter timeout, and the pod's attempt then ends with an error instead of \"unschedulable\", also when other nodes fit",
		}},
		// One node fits, but the scheduler may come to another first.
		{devices: []int{31, 32}, count: 32, want: &explain.SearchCost{
			Node: "n0", Nodes: 1, Steps: allocator.StepCount{Steps: 1 << 31}, Risk: explain.WouldTimeOut,
			Message: "on node n0 kube-scheduler's own search takes about 2.14 billion steps, " + would,
		}},
		{devices: []int{31}, count: 32, features: inspect.DefaultFeatures(33), want: &explain.SearchCost{
			Node: "n0", Nodes: 1, Steps: allocator.StepCount{Steps: 1 << 31}, Risk: explain.NoTimeout,
		}},
	} {
		if tt.features.Minor == 0 {
			tt.features = inspect.DefaultFeatures(inspect.NewestMinor)
		}
		c := allocator.NewCluster(inspect.New(equalDevices(tt.devices...), inspect.Config{Features: tt.features}), allocator.Options{})
		e, err := explain.ClaimObject(context.Background(), c, gpuClaim(tt.count, "any"), explain.Options{})
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case e.Search == nil && tt.want == nil:
		case e.Search == nil || tt.want == nil || *e.Search != *tt.want:
			t.Errorf("%d of %v devices:\ngot  %+v\nwant %+v", tt.count, tt.devices, e.Search, tt.want)
		}
	}
}
