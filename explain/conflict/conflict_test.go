package conflict_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestConflictOfDemo compares conflicts with what the comments in inspect/demo/cluster say is in the way.
func TestConflictOfDemo(t *testing.T) {
	cluster := explaintest.DemoCluster(t)
	for _, test := range []struct {
		claim, node, requirements string
		sole                      bool
	}{
		{"ml/train-0", "gpu-b-04", "Count Constraint", true},
		{"ml/llama-405b-eval", "gpu-b-04", "Term", true},
		{"ml/pretrain-2", "gpu-b-04", "Count HeldBy:infer/moderation", true},
		{"ml/driver-canary", "gpu-a-04", "Taint", true},
		{"infer/whisper-large", "mig-01", "Term Counters HeldBy:infer/asr-batch HeldBy:infer/embed-pair", true},
		{"net/cdn-egress-2", "cpu-01", "Capacity HeldBy:net/cdn-egress-0 HeldBy:net/vpn-gateway", true},
		// Without its model it would take any FPGA, but the others are held as well or are not published.
		{"dev/video-transcode-1", "cpu-02", "Term HeldBy:dev/video-transcode-0 HeldBy:net/packet-capture", false},
		{"dev/transcode-8k", "cpu-02", "Term PoolComplete", false},
	} {
		t.Run(test.claim, func(t *testing.T) {
			namespace, name, _ := strings.Cut(test.claim, "/")
			e, err := question.Claim(context.Background(), cluster, inspect.ClaimRef{Namespace: namespace, Name: name}, question.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if e.Conflict == nil {
				t.Fatal("no conflict")
			}
			var have []string
			for _, r := range e.Conflict.Requirements {
				text := string(r.Kind)
				if r.Holder != nil {
					text += ":" + r.Holder.Claim.String()
				}
				have = append(have, text)
			}
			if !slices.Equal(have, strings.Fields(test.requirements)) || e.Conflict.Sole != test.sole || string(e.Conflict.Node) != test.node {
				t.Errorf("%s: %v, sole %t; want %s: %s, sole %t", e.Conflict.Node, have, e.Conflict.Sole, test.node, test.requirements, test.sole)
			}
		})
	}
}

// TestNearestLacksLeast: of nodes with the same in the way, the conflict is that of the one that lacks least,
// also where there are more nodes than are compared.
func TestNearestLacksLeast(t *testing.T) {
	for _, test := range []struct {
		devices []int
		count   int64
		node    inspect.NodeName
	}{
		{[]int{1, 3, 2}, 4, "n1"},
		{[]int{3, 1}, 4, "n0"},
		{[]int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 13, "n11"},
		{[]int{12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, 13, "n0"},
		{[]int{1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 10, 11}, 13, "n9"},
	} {
		o := explaintest.NodesWithDevices(test.devices...)
		e, err := question.ClaimObject(context.Background(), explaintest.NewCluster(o), explaintest.GPUClaim(test.count, "any"), question.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if e.Conflict == nil || e.Conflict.Node != test.node {
			t.Errorf("%d of %v: conflict %+v, want it on %s", test.count, test.devices, e.Conflict, test.node)
		}
	}
}
