package fit_test

import (
	"context"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/fit"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// TestFitOnDemo compares the numbers with those counted by hand. Of the GPUs, 4 are free on gpu-a-02 (gpu-2
// to gpu-5, 2 on each NUMA node), 4 on gpu-a-03 without the broken one (3 on NUMA node 1), 4 on gpu-b-03, and
// 6 on gpu-b-04.
func TestFitOnDemo(t *testing.T) {
	numa := resourcev1.FullyQualifiedName("gpu.example.com/numa")
	sameNUMA := resourcev1.DeviceConstraint{MatchAttribute: &numa}
	tests := []struct {
		name  string
		claim *resourcev1.ResourceClaim
		total int
		nodes map[inspect.NodeName]int
	}{
		{"one GPU", explaintest.GPUClaim(1, "gpu.example.com"), 18, map[inspect.NodeName]int{"gpu-a-02": 4, "gpu-a-03": 4, "gpu-b-03": 4, "gpu-b-04": 6, "gpu-a-01": 0}},
		{"three GPUs", explaintest.GPUClaim(3, "gpu.example.com"), 5, map[inspect.NodeName]int{"gpu-a-02": 1, "gpu-b-04": 2}},
		{"three GPUs of one NUMA node", explaintest.GPUClaim(3, "gpu.example.com", sameNUMA), 3, map[inspect.NodeName]int{"gpu-a-03": 1, "gpu-b-03": 1, "gpu-b-04": 1, "gpu-a-02": 0}},
		{"nine GPUs", explaintest.GPUClaim(9, "gpu.example.com"), 0, map[inspect.NodeName]int{"gpu-a-02": 0}},
	}
	cluster := explaintest.DemoCluster(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := fit.Claim(context.Background(), cluster, tt.claim, question.Options{})
			if err != nil {
				t.Fatal(err)
			}
			got := map[inspect.NodeName]explain.NodeFit{}
			for _, n := range f.Nodes {
				got[n.Node] = n
			}
			for node, want := range tt.nodes {
				if got[node].Copies != want || got[node].AtLeast {
					t.Errorf("%s: %+v, want %d", node, got[node], want)
				}
				if got[node].Limit.Code == "" {
					t.Errorf("%s: no limit given", node)
				}
			}
			if f.Total != tt.total || f.AtLeast {
				t.Errorf("total %d (at least: %t), want %d", f.Total, f.AtLeast, tt.total)
			}
		})
	}
}

// TestFitOfCommonDevices checks that the FPGAs of rack c, which four nodes can use, are counted once.
func TestFitOfCommonDevices(t *testing.T) {
	f, err := fit.Claim(context.Background(), explaintest.DemoCluster(t), explaintest.GPUClaim(1, "fpga.example.com"), question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range f.Nodes {
		t.Logf("%s %d %s", n.Node, n.Copies, n.Limit.Message)
	}
	if f.Total != 0 {
		t.Errorf("total %d, want 0: all FPGAs in complete pools are held", f.Total)
	}
	// Without the claim that holds one of them, one copy fits, on whatever node.
	snapshot := explaintest.DemoCluster(t).Snapshot().With(func(o *inspect.Objects) {
		for i, c := range o.Claims {
			if c.Name == "packet-capture" {
				o.Claims = append(o.Claims[:i:i], o.Claims[i+1:]...)
				return
			}
		}
	})
	f, err = fit.Claim(context.Background(), scheduler.NewCluster(snapshot, scheduler.Options{}), explaintest.GPUClaim(1, "fpga.example.com"), question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if f.Total != 1 {
		t.Errorf("total %d, want 1", f.Total)
	}
}

// TestFitBlamesThePool: what limits the copies is a pool that offers nothing exactly where one more would fit
// with it, as explain says of the same claim.
func TestFitBlamesThePool(t *testing.T) {
	cluster := explaintest.DemoCluster(t)
	for claim, want := range map[string]map[inspect.NodeName]allocator.Code{
		"transcode-8k":      {"cpu-01": allocator.PoolIncomplete, "gpu-a-01": allocator.SelectorRejected},
		"video-transcode-1": {"cpu-01": allocator.DeviceInUse}, // shelf-2 has no such device
	} {
		c, ok := cluster.Snapshot().Claim(inspect.ClaimRef{Namespace: "dev", Name: claim})
		if !ok {
			t.Fatalf("no claim %s", claim)
		}
		f, err := fit.Claim(context.Background(), cluster, c, question.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range f.Nodes {
			if code, asked := want[n.Node]; asked && n.Limit.Code != code {
				t.Errorf("%s on %s: %s (%s), want %s", claim, n.Node, n.Limit.Code, n.Limit.Message, code)
			}
		}
	}
}
