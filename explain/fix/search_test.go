package fix_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// TestFixesOfDemo checks what is among the fixes of each impossible claim of the demo cluster, and that each
// fix helps.
func TestFixesOfDemo(t *testing.T) {
	cluster := explaintest.DemoCluster(t)
	for claim, want := range map[string][]string{
		// gpu-b-03 and gpu-b-04 have four free on one NUMA node, gpu-b-04 has six in all.
		"ml/train-0": {
			"ReduceCount gpu-b-04 2 replace " + exactly + "count 4",
			"DropConstraint gpu-b-04 1 remove /spec/devices/constraints/0",
			"AddDevices gpu-b-04 1",
		},
		// 80 GiB are on gpu-b-03 and gpu-b-04; other GPUs are free on gpu-a-02 and gpu-a-03 as well.
		"ml/llama-405b-eval": {
			"RelaxSelector gpu-b-04 2 replace " + exactly + `selectors/0/cel/expression "device.capacity['gpu.example.com'].memory.compareTo(quantity('80Gi')) >= 0"`,
			"RelaxSelector gpu-b-04 4 remove " + exactly + "selectors/0",
		},
		"ml/pretrain-2": {
			"ReduceCount gpu-b-04 1 replace " + exactly + "count 6",
			"ReleaseClaim gpu-b-04 1 infer/moderation",
			"AddDevices gpu-b-04 1",
		},
		"ml/driver-canary": {
			"TolerateTaint gpu-a-04 1 add " + exactly + `tolerations [{"effect":"NoSchedule","key":"example.com/maintenance","operator":"Equal","value":"firmware"}]`,
			"RelaxSelector gpu-b-04 2 replace " + exactly + `selectors/0/cel/expression "device.attributes['gpu.example.com'].driverVersion.compareTo(semver('580.95.5')) >= 0"`,
		},
		"infer/whisper-large": {
			"RelaxSelector mig-02 1 replace " + exactly + `selectors/0/cel/expression "device.attributes['mig.example.com'].profile == '2g.20gb'"`,
			"ReleaseClaim mig-02 1 infer/rank-0",
		},
		"infer/rerank-0": {
			"UseClass gpu-b-03 2 replace " + exactly + `deviceClassName "gpu-80gb.example.com"`,
			"UseClass gpu-a-02 4 replace " + exactly + `deviceClassName "gpu.example.com"`,
			"CreateClass cpu-01 12",
		},
		// 35G are left on cpu-01, 20G on cpu-02. Without an amount the default of 10G is taken.
		"net/cdn-egress-2": {
			"ReduceCapacity cpu-01 1 replace " + exactly + `capacity/requests/bandwidth "35G"`,
			"ReduceCapacity cpu-01 2 remove " + exactly + "capacity",
			"ReleaseClaim cpu-02 1 net/cdn-egress-1",
			"ReleaseClaim cpu-01 1 net/cdn-egress-0",
		},
		// Both FPGAs are in a pool that all of rack c can use.
		"dev/video-transcode-1": {
			"ReleaseClaim cpu-02 4 dev/video-transcode-0",
			"ReleaseClaim cpu-02 4 net/packet-capture",
			"AddDevices cpu-02 1",
		},
		"dev/transcode-8k": {"AddDevices cpu-02 4"},
	} {
		t.Run(claim, func(t *testing.T) {
			namespace, name, _ := strings.Cut(claim, "/")
			ref := inspect.ClaimRef{Namespace: namespace, Name: name}
			e, err := question.Claim(context.Background(), cluster, ref, question.Options{})
			if err != nil {
				t.Fatal(err)
			}
			checkFixes(t, e, want...)
			for i := range e.Fixes {
				applyToDemo(t, ref, &e.Fixes[i])
			}
		})
	}
}

// applyToDemo makes the change of a fix in the demo cluster and checks on how many nodes it helps. A fix that
// has neither a patch nor claims does not say what exactly changes and is skipped.
func applyToDemo(t *testing.T, ref inspect.ClaimRef, f *explain.Fix) {
	t.Helper()
	if len(f.Patch) == 0 && len(f.Claims) == 0 {
		return
	}
	o, err := demo.Objects()
	if err != nil {
		t.Fatal(err)
	}
	nodes := o.Nodes
	var asked *resourcev1.ResourceClaim
	for i, c := range o.Claims {
		if c.Namespace == ref.Namespace && c.Name == ref.Name {
			o.Claims[i] = patched(t, c, f.Patch)
			asked = o.Claims[i]
		}
		if slices.ContainsFunc(f.Claims, func(h explain.Holder) bool { return h.Claim.Namespace == c.Namespace && h.Claim.Name == c.Name }) {
			c.Status = resourcev1.ResourceClaimStatus{}
		}
	}
	n := 0
	for _, node := range nodes {
		if fitsOn(t, o, asked, node.Name) {
			n++
		} else if node.Name == string(f.Node) {
			t.Errorf("does not help on its node: %s", describeFix(f))
		}
	}
	if n != f.Nodes {
		t.Errorf("helps on %d nodes: %s", n, describeFix(f))
	}
}

// TestFixesOfTemplate checks that paths and patches are those of the template.
func TestFixesOfTemplate(t *testing.T) {
	cluster := explaintest.DemoCluster(t)
	claim, _ := cluster.Snapshot().Claim(inspect.ClaimRef{Namespace: "ml", Name: "train-0"})
	template := &resourcev1.ResourceClaimTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "train"}}
	template.Spec.Spec = claim.Spec
	e, err := question.TemplateObject(context.Background(), cluster, template, question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	checkFixes(t, e, "ReduceCount gpu-b-04 2 replace /spec/spec/devices/requests/0/exactly/count 4")
	if path := e.Conflict.Requirements[0].Path; path != "spec.spec.devices.requests[0].exactly.count" {
		t.Errorf("path %s", path)
	}
}

// TestFixesOfPod checks that the fix of a pod has no patch, since the claims are other objects, and that its
// message names the claim.
func TestFixesOfPod(t *testing.T) {
	e, err := question.PodObject(context.Background(), explaintest.DemoCluster(t), podWith("train-0"), question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	checkFixes(t, e, "ReduceCount gpu-b-04 2")
	if m := e.Fixes[0].Message; m != "in claim train-0: ask for 4 devices instead of 5" {
		t.Errorf("message %q", m)
	}
}

// TestEnableFeature checks that a feature gate that is off is found to be in the way.
func TestEnableFeature(t *testing.T) {
	for gate, claim := range map[inspect.Gate]string{
		inspect.GatePrioritizedList:         "ml/sweep-3",
		inspect.GatePartitionableDevices:    "infer/whisper-tiny",
		inspect.GateDeviceBindingConditions: "dev/fpga",
	} {
		t.Run(string(gate), func(t *testing.T) {
			s := explaintest.DemoCluster(t).Snapshot()
			if claim == "dev/fpga" { // the only FPGA for all nodes is attached with a binding condition
				s = s.With(func(o *inspect.Objects) {
					at := slices.IndexFunc(o.Claims, func(c *resourcev1.ResourceClaim) bool { return c.Name == "genome-align" })
					o.Claims[at] = o.Claims[at].DeepCopy()
					o.Claims[at].Name, o.Claims[at].Status = "fpga", resourcev1.ResourceClaimStatus{}
				})
			}
			s = s.WithFeatures(s.Features().With(map[inspect.Gate]bool{gate: false}))
			namespace, name, _ := strings.Cut(claim, "/")
			e, err := question.Claim(context.Background(), scheduler.NewCluster(s, scheduler.Options{}), inspect.ClaimRef{Namespace: namespace, Name: name}, question.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if e.Verdict != explain.Unsatisfiable {
				t.Fatal(e.Message)
			}
			if !slices.ContainsFunc(e.Fixes, func(f explain.Fix) bool {
				return f.Kind == explain.EnableFeature && strings.Contains(f.Message, string(gate)) && f.Nodes > 0
			}) {
				t.Errorf("fixes %+v", e.Fixes)
			}
		})
	}
}
