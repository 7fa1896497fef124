package demo

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Each impossible claim is impossible for the reason that it was made for, and for no other: with that reason
// alone taken away, the scheduler allocates it.
func TestImpossibleClaimsForOneReason(t *testing.T) {
	without := map[string]func(*inspect.Objects, *resourcev1.ResourceClaim){
		"ml/train-0: with four GPUs instead of five": func(_ *inspect.Objects, c *resourcev1.ResourceClaim) {
			c.Spec.Devices.Requests[0].Exactly.Count = 4
		},
		"ml/train-0: without the constraint": func(_ *inspect.Objects, c *resourcev1.ResourceClaim) {
			c.Spec.Devices.Constraints = nil
		},
		"ml/llama-405b-eval: with 80Gi instead of 96Gi": func(_ *inspect.Objects, c *resourcev1.ResourceClaim) {
			expression := &c.Spec.Devices.Requests[0].Exactly.Selectors[0].CEL.Expression
			*expression = strings.ReplaceAll(*expression, "96Gi", "80Gi")
		},
		"ml/pretrain-2: without infer/moderation": func(o *inspect.Objects, _ *resourcev1.ResourceClaim) {
			release(o, "infer/moderation")
		},
		"ml/driver-canary: without the taint rule": func(o *inspect.Objects, _ *resourcev1.ResourceClaim) {
			o.TaintRules = nil
		},
		"ml/sweep-2: without the nodes of the old driver": func(o *inspect.Objects, _ *resourcev1.ResourceClaim) {
			o.Nodes = slices.DeleteFunc(o.Nodes, func(n *corev1.Node) bool { return strings.HasPrefix(n.Name, "gpu-a-") })
		},
		"infer/whisper-large: without ml/distill": func(o *inspect.Objects, _ *resourcev1.ResourceClaim) {
			release(o, "ml/distill")
		},
		"infer/rerank-0: with a class that exists": func(_ *inspect.Objects, c *resourcev1.ResourceClaim) {
			c.Spec.Devices.Requests[0].Exactly.DeviceClassName = "gpu.example.com"
		},
		"net/cdn-egress-2: without net/vpn-gateway": func(o *inspect.Objects, _ *resourcev1.ResourceClaim) {
			release(o, "net/vpn-gateway")
		},
		"dev/video-transcode-1: without net/packet-capture": func(o *inspect.Objects, _ *resourcev1.ResourceClaim) {
			release(o, "net/packet-capture")
		},
		"dev/transcode-8k: with a complete pool": func(o *inspect.Objects, _ *resourcev1.ResourceClaim) {
			for i, slice := range o.Slices {
				if slice.Spec.Pool.Name == "shelf-2" {
					o.Slices[i] = slice.DeepCopy()
					o.Slices[i].Spec.Pool.ResourceSliceCount = 1
				}
			}
		},
	}
	base := snapshotOf(t)
	proved := map[string]bool{}
	for name, change := range without {
		t.Run(name, func(t *testing.T) {
			ref, _, _ := strings.Cut(name, ":")
			proved[ref] = true
			claim := claimOf(t, base, ref).DeepCopy()
			if verdict, _, _ := newOracle(t, base, inspect.ClaimRef{}).decide(t.Context(), claim); verdict == "Allocatable" {
				t.Fatal("it can be allocated as it is")
			}
			changed := base.With(func(o *inspect.Objects) { change(o, claim) })
			verdict, _, err := newOracle(t, changed, inspect.ClaimRef{}).decide(t.Context(), claim)
			if verdict != "Allocatable" {
				t.Errorf("verdict %s, error %v; want Allocatable", verdict, err)
			}
		})
	}
	for ref, row := range readTable(t) {
		if len(row.reasons) > 0 && !proved[ref] {
			t.Errorf("nothing proves why %s is %s", ref, row.verdict)
		}
	}
}

// release takes away the allocation of a claim.
func release(o *inspect.Objects, ref string) {
	for i, claim := range o.Claims {
		if inspect.RefOf(claim).String() == ref {
			o.Claims[i] = claim.DeepCopy()
			o.Claims[i].Status = resourcev1.ResourceClaimStatus{}
		}
	}
}

func claimOf(t *testing.T, snapshot *inspect.Snapshot, ref string) *resourcev1.ResourceClaim {
	t.Helper()
	namespace, name, _ := strings.Cut(ref, "/")
	claim, ok := snapshot.Claim(inspect.ClaimRef{Namespace: namespace, Name: name})
	if !ok {
		t.Fatalf("no claim %s", ref)
	}
	return claim
}

// Claims that can be allocated wait for different things, and not all allocated ones are in use.
func TestClaimsInEachPhaseOfTheirLife(t *testing.T) {
	snapshot := snapshotOf(t)
	podOf := func(ref string) *corev1.Pod {
		pods := snapshot.PodsOf(inspect.RefOf(claimOf(t, snapshot, ref)))
		if len(pods) != 1 {
			t.Fatalf("%s is used by %v, want one pod", ref, pods)
		}
		pod, _ := snapshot.Pod(pods[0])
		return pod
	}
	for _, ref := range []string{"dev/scratch-gpu", "dev/ecc-debug", "net/dns-edge"} {
		if pods := snapshot.PodsOf(inspect.RefOf(claimOf(t, snapshot, ref))); len(pods) != 0 {
			t.Errorf("%s is used by %v, want nobody", ref, pods)
		}
	}
	if pod := podOf("ml/eval-nightly-gpu-8dk4w"); len(pod.Spec.SchedulingGates) == 0 {
		t.Error("the pod of ml/eval-nightly-gpu-8dk4w has no scheduling gate")
	}
	if pod := podOf("ml/train-1"); Now().Sub(pod.CreationTimestamp.Time).Minutes() > 1 {
		t.Error("the pod of ml/train-1 is not new")
	}
	cpu := podOf("ml/allreduce-0").Spec.Containers[0].Resources.Requests.Cpu()
	for _, node := range snapshot.Nodes() {
		if node.Status.Allocatable.Cpu().Cmp(*cpu) >= 0 {
			t.Errorf("%s has CPU enough for the pod of ml/allreduce-0", node.Name)
		}
	}
	if phase := podOf("dev/notebook-omar").Status.Phase; phase != corev1.PodSucceeded {
		t.Errorf("the pod of dev/notebook-omar is %s", phase)
	}
	states := map[inspect.ClaimState]int{}
	for _, claim := range snapshot.Objects().Claims {
		states[inspect.StateOf(claim)]++
	}
	for _, state := range []inspect.ClaimState{inspect.ClaimPending, inspect.ClaimAllocated, inspect.ClaimReserved, inspect.ClaimDeleting} {
		if states[state] == 0 {
			t.Errorf("no claim is %s", state)
		}
	}
	for ref, want := range map[string]inspect.ClaimState{
		"dev/notebook-omar": inspect.ClaimAllocated, "dev/notebook-li": inspect.ClaimDeleting, "infer/moderation": inspect.ClaimReserved,
	} {
		if got := inspect.StateOf(claimOf(t, snapshot, ref)); got != want {
			t.Errorf("%s is %s, want %s", ref, got, want)
		}
	}
}

// Both sources of taints and an incomplete pool are there, each once.
func TestTroubleWithDevices(t *testing.T) {
	snapshot := snapshotOf(t)
	tainted := map[string]int{}
	for _, slice := range snapshot.Slices() {
		for _, device := range slice.Spec.Devices {
			for _, taint := range device.Taints {
				tainted[slice.Spec.Pool.Name+" "+taint.Key]++
			}
		}
	}
	if len(tainted) != 2 || tainted["gpu-a-03 gpu.example.com/ecc"] != 1 || tainted["gpu-a-04 example.com/maintenance"] != 8 {
		t.Errorf("tainted devices: %v", tainted)
	}
	for name, want := range map[inspect.NodeName]bool{"cpu-01": true, "gpu-a-01": false} {
		node, _ := snapshot.Node(name)
		pools, err := snapshot.PoolsOn(node)
		if err != nil {
			t.Fatal(err)
		}
		incomplete := slices.ContainsFunc(pools, func(p *inspect.NodePool) bool { return p.Incomplete })
		if incomplete != want {
			t.Errorf("%s sees an incomplete pool: %t, want %t", name, incomplete, want)
		}
		for _, pool := range pools {
			if pool.Invalid != "" {
				t.Errorf("pool %s is invalid: %s", pool.ID, pool.Invalid)
			}
		}
	}
}
