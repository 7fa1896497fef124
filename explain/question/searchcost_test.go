package question_test

import (
	"context"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestSearchCost asks for more devices than there are. A search without pruning tries every set of them.
func TestSearchCost(t *testing.T) {
	const would = "more than fit in the 10 s of its filter timeout, and the pod's attempt then ends with an error instead of \"unschedulable\", also when other nodes fit"
	for _, tt := range []struct {
		devices  []int
		count    int64
		features inspect.Features
		want     *explain.SearchCost
	}{
		{devices: []int{4, 7}, count: 8}, // 128 steps are not mentioned
		{devices: []int{12}, count: 13, want: &explain.SearchCost{
			Node: "n0", Nodes: 1, Steps: allocator.StepCount{Steps: 1 << 12}, Risk: explain.NoTimeout,
		}},
		{devices: []int{22, 3, 22}, count: 23, want: &explain.SearchCost{
			Node: "n0", Nodes: 2, Steps: allocator.StepCount{Steps: 1 << 22}, Risk: explain.MayTimeOut,
			Message: "on each of 2 nodes such as n0 kube-scheduler's own search takes about 4.19 million steps; on a slow machine that " +
				"may exceed the 10 s of its filter timeout, and the pod's attempt then ends with an error instead of \"unschedulable\", also when other nodes fit",
		}},
		// The second node fits, but the scheduler may ask the first before it.
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
		c := allocator.NewCluster(inspect.New(explaintest.NodesWithDevices(tt.devices...), inspect.Config{Features: tt.features}), allocator.Options{})
		e, err := question.ClaimObject(context.Background(), c, explaintest.GPUClaim(tt.count, "any"), question.Options{})
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
