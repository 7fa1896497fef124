package question_test

import (
	"context"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
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
			Node: "n0", Nodes: 1, StepCount: allocator.StepCount{Steps: 1 << 12}, Risk: explain.NoTimeout,
		}},
		{devices: []int{22, 3, 22}, count: 23, want: &explain.SearchCost{
			Node: "n0", Nodes: 2, StepCount: allocator.StepCount{Steps: 1 << 22}, Risk: explain.MayTimeOut,
			Message: "on each of 2 nodes such as n0 kube-scheduler's own search takes about 4.19 million steps; on a slow machine that " +
				"may exceed the 10 s of its filter timeout, and the pod's attempt then ends with an error instead of \"unschedulable\", also when other nodes fit",
		}},
		// The second node fits, but the scheduler may ask the first before it.
		{devices: []int{31, 32}, count: 32, want: &explain.SearchCost{
			Node: "n0", Nodes: 1, StepCount: allocator.StepCount{Steps: 1 << 31}, Risk: explain.WouldTimeOut,
			Message: "on node n0 kube-scheduler's own search takes about 2.14 billion steps, " + would,
		}},
		{devices: []int{31}, count: 32, features: inspect.DefaultFeatures(33), want: &explain.SearchCost{
			// Before 1.36 every order of the devices is tried.
			Node: "n0", Nodes: 1, StepCount: allocator.StepCount{Steps: 1 << 31, AtLeast: true}, Risk: explain.NoTimeout,
		}},
	} {
		if tt.features.Minor == 0 {
			tt.features = inspect.DefaultFeatures(inspect.NewestMinor)
		}
		c := scheduler.NewCluster(inspect.New(explaintest.NodesWithDevices(tt.devices...), inspect.Config{Features: tt.features}), scheduler.Options{})
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

// TestAnswerTheSchedulerHasNoTimeFor asks for devices on one NUMA node. Where the first half is one device
// too small, the scheduler tries every set of it before it finds the second.
func TestAnswerTheSchedulerHasNoTimeFor(t *testing.T) {
	for _, tt := range []struct {
		halves  []int // of the nodes: so many devices, and one more
		count   int64
		minor   int
		message string
	}{
		{[]int{10}, 11, 37, "Allocatable: ml/question can be allocated on node n0"},
		{[]int{22}, 23, 37, "Unknown: ml/question can be allocated on node n0, if kube-scheduler's own search ends in time"},
		{[]int{28}, 29, 37, "Invalid: ml/question makes the scheduler give up with an error: it would fit on node n0, but kube-scheduler's own search does not end in time"},
		{[]int{28}, 29, 35, "Unsatisfiable: ml/question cannot be allocated: it would fit on node n0, but kube-scheduler's own search does not end in time"},
		{[]int{28}, 29, 33, "Allocatable: ml/question can be allocated on node n0"}, // without a timeout
		// A node that takes too long spoils the others from 1.36 on, whether it fits or not.
		{[]int{28, 30}, 29, 37, "Invalid: ml/question makes the scheduler give up with an error: it would fit on 2 of 2 nodes, but kube-scheduler's own search does not end in time"},
		{[]int{27, 30}, 29, 37, "Invalid: ml/question makes the scheduler give up with an error: it would fit on 1 of 2 nodes, but kube-scheduler's own search does not end in time"},
		{[]int{28, 30}, 29, 35, "Allocatable: ml/question can be allocated on 1 of 2 nodes"},
		{[]int{27, 30}, 29, 35, "Allocatable: ml/question can be allocated on 1 of 2 nodes"},
	} {
		o := explaintest.NodesWithDevices()
		for _, half := range tt.halves {
			more := explaintest.NodesWithDevices(append(make([]int, len(o.Nodes)), half+half+1)...)
			o.Nodes, o.Slices = append(o.Nodes, more.Nodes[len(o.Nodes)]), append(o.Slices, more.Slices[len(o.Nodes)])
			devices := o.Slices[len(o.Slices)-1].Spec.Devices
			for i := range devices {
				devices[i].Attributes = map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"numa": {IntValue: ptr.To(int64(words.Btoi(i >= half)))}}
			}
		}
		c := scheduler.NewCluster(inspect.New(o, inspect.Config{Features: inspect.DefaultFeatures(tt.minor)}), scheduler.Options{})
		claim := explaintest.GPUClaim(tt.count, "any", resourcev1.DeviceConstraint{MatchAttribute: ptr.To(resourcev1.FullyQualifiedName(explaintest.Driver + "/numa"))})
		e, err := question.ClaimObject(t.Context(), c, claim, question.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := string(e.Verdict) + ": " + e.Message; got != tt.message {
			t.Errorf("%d of %v, 1.%d:\n%s\nwant\n%s", tt.count, tt.halves, tt.minor, got, tt.message)
		}
		if e.Verdict == explain.Allocatable && len(tt.halves) > 1 && e.Allocation.Node != "n1" {
			t.Errorf("%d of %v, 1.%d: devices of %s, where the search does not end in time", tt.count, tt.halves, tt.minor, e.Allocation.Node)
		}
	}
}
