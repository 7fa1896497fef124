package fix_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/demo"
)

// describeFix prints what a test compares of a fix.
func describeFix(f *explain.Fix) string {
	text := fmt.Sprintf("%s %s %d", f.Kind, f.Node, f.Nodes)
	for _, op := range f.Patch {
		text += " " + op.Op + " " + op.Path
		if op.Op != "remove" {
			value, _ := json.Marshal(op.Value)
			text += " " + strings.NewReplacer(`\u003e`, ">", `\u003c`, "<", `\"`, `'`).Replace(string(value))
		}
	}
	for _, h := range f.Claims {
		text += " " + h.Claim.String()
	}
	return text
}

const exactly = "/spec/devices/requests/0/exactly/"

// TestFixesOfDemo says for each impossible claim of the demo cluster what has to be among its fixes.
func TestFixesOfDemo(t *testing.T) {
	cluster := explaintest.DemoCluster(t)
	for claim, want := range map[string][]string{
		// gpu-b-03 and gpu-b-04 have four free on one NUMA node, gpu-b-04 has six in all.
		"ml/train-0": {
			"ReduceCount gpu-b-04 2 replace " + exactly + "count 4",
			"DropConstraint gpu-b-04 1 remove /spec/devices/constraints/0",
			"AddDevices gpu-b-04 1",
		},
		// 80 GiB are on gpu-b-03 and gpu-b-04; any are free on gpu-a-02 and gpu-a-03 too.
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
			"ReduceCapacity cpu-02 2 remove " + exactly + "capacity/requests/bandwidth",
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

func checkFixes(t *testing.T, e *explain.Explanation, want ...string) {
	t.Helper()
	var have []string
	for i := range e.Fixes {
		have = append(have, describeFix(&e.Fixes[i]))
	}
	for _, w := range want {
		if !slices.Contains(have, w) {
			t.Errorf("no fix %s among\n%s", w, strings.Join(have, "\n"))
		}
	}
}

// applyToDemo makes the change of a fix to the demo cluster and asks again, where the fix says all of it.
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

// TestAddDevices adds by hand what a fix says in words.
func TestAddDevices(t *testing.T) {
	e, err := question.Claim(context.Background(), explaintest.DemoCluster(t), inspect.ClaimRef{Namespace: "ml", Name: "train-0"}, question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(e.Fixes, func(f explain.Fix) bool { return f.Message == "add 1 device like gpu-0 to gpu-b-04" }) {
		t.Fatalf("no such fix: %+v", e.Fixes)
	}
	o, err := demo.Objects()
	if err != nil {
		t.Fatal(err)
	}
	for _, slice := range o.Slices {
		if slice.Spec.Pool.Name == "gpu-b-04" && slice.Spec.Driver == "gpu.example.com" {
			like := slice.Spec.Devices[0].DeepCopy()
			like.Name = "gpu-8"
			slice.Spec.Devices = append(slice.Spec.Devices, *like)
		}
	}
	at := slices.IndexFunc(o.Claims, func(c *resourcev1.ResourceClaim) bool { return c.Name == "train-0" })
	claim := o.Claims[at]
	if !fitsOn(t, o, claim, "gpu-b-04") {
		t.Error("a ninth GPU does not help")
	}
}

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

// podWith makes a pod that uses claims of the demo cluster.
func podWith(claims ...string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "new"}}
	for _, c := range claims {
		pod.Spec.ResourceClaims = append(pod.Spec.ResourceClaims, corev1.PodResourceClaim{Name: c, ResourceClaimName: ptr.To(c)})
	}
	return pod
}

// The claims of a pod are other objects than the pod, so there is no patch; the message names the claim.
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

// train-1 fits on two nodes, train-1 and train-2 would need both.
func TestFixesOfClaimsTogether(t *testing.T) {
	cluster := explaintest.DemoCluster(t)
	s := cluster.Snapshot().With(func(o *inspect.Objects) {
		at := slices.IndexFunc(o.Claims, func(c *resourcev1.ResourceClaim) bool { return c.Name == "train-1" })
		second := o.Claims[at].DeepCopy()
		second.Name = "train-2"
		o.Claims = append(o.Claims, second)
	})
	e, err := question.PodObject(context.Background(), allocator.NewCluster(s, allocator.Options{}), podWith("train-1", "train-2"), question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if e.Verdict != explain.Unsatisfiable || e.Conflict == nil {
		t.Fatal(e.Message)
	}
	claims := map[string]bool{}
	for _, r := range e.Conflict.Requirements {
		claims[r.Claim.Name] = true
	}
	if !claims["train-1"] || !claims["train-2"] {
		t.Errorf("the conflict is not between the claims: %+v", e.Conflict.Requirements)
	}
	// gpu-b-04 has six free: four for one, two for the other.
	if !slices.ContainsFunc(e.Fixes, func(f explain.Fix) bool {
		return f.Kind == explain.ReduceCount && strings.HasPrefix(f.Message, "in claim train-2: ask for 2 devices instead of 4")
	}) {
		t.Errorf("fixes %+v", e.Fixes)
	}
}

// Nine devices of a model that nobody has: two changes are needed. gpu-b-04 has most to give, six of its eight,
// so it is that node which is spoken of, and not one without a GPU, where not to ask at all would help.
func TestFixOfSeveralChanges(t *testing.T) {
	cluster := explaintest.DemoCluster(t)
	claim, _ := cluster.Snapshot().Claim(inspect.ClaimRef{Namespace: "ml", Name: "pretrain-2"})
	claim = claim.DeepCopy()
	claim.Spec.Devices.Requests[0].Exactly.Count = 9
	claim.Spec.Devices.Requests[0].Exactly.Selectors = explaintest.CelSelectors(explaintest.Field + `model == "zzz"`)
	e, err := question.ClaimObject(context.Background(), cluster, claim, question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	checkFixes(t, e, "ReduceCount gpu-b-04 1 replace "+exactly+"count 6 replace "+exactly+
		`selectors/0/cel/expression "device.attributes['gpu.example.com'].model == 'H100-SXM5-80GB'"`)
	if c := e.Conflict; c.Node != "gpu-b-04" || len(c.Requirements) != 1 || c.Requirements[0].Kind != explain.CountRequired {
		t.Errorf("conflict %+v", c)
	}
	if len(e.Fixes) == 0 {
		t.Fatal("no fix")
	}
	if b := e.Fixes[0].OtherBlockers; len(b) != 1 || b[0].Kind != explain.TermRequired {
		t.Errorf("beside the conflict: %+v", b)
	}
}

// No node has devices of two of the drivers; those of another node are what would have to be added.
func TestAddDevicesOfOtherNodes(t *testing.T) {
	request := func(name, class string) resourcev1.DeviceRequest {
		return resourcev1.DeviceRequest{Name: name, Exactly: &resourcev1.ExactDeviceRequest{
			DeviceClassName: class, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1,
		}}
	}
	gpu, mig, fpga := request("gpu", "gpu.example.com"), request("mig", "mig.example.com"), request("fpga", "fpga.example.com")
	for _, tt := range []struct {
		name     string
		requests []resourcev1.DeviceRequest
		want     string
	}{
		{"one", []resourcev1.DeviceRequest{gpu, mig}, "add 1 device like mig.example.com/mig-01/gpu-0 to gpu-b-04"},
		// The only FPGA that reaches gpu-b-04 is held.
		{"two", []resourcev1.DeviceRequest{gpu, fpga, mig}, "add 1 device like fpga-0 and 1 device like mig.example.com/mig-01/gpu-0 to gpu-b-04"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "mixed"}}
			claim.Spec.Devices.Requests = tt.requests
			e, err := question.ClaimObject(context.Background(), explaintest.DemoCluster(t), claim, question.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if len(e.Fixes) != 1 || e.Fixes[0].Kind != explain.AddDevices || e.Fixes[0].Message != tt.want {
				t.Errorf("fixes %+v", e.Fixes)
			}
		})
	}
}

func TestUseNode(t *testing.T) {
	cluster := explaintest.DemoCluster(t)
	e, err := question.Claim(context.Background(), cluster, inspect.ClaimRef{Namespace: "ml", Name: "train-1"}, question.Options{Node: "gpu-a-01"})
	if err != nil {
		t.Fatal(err)
	}
	checkFixes(t, e, "UseNode gpu-b-03 1")
	pod := podWith("train-1")
	pod.Spec.NodeSelector = map[string]string{"topology.example.com/rack": "a"}
	e, err = question.PodObject(context.Background(), cluster, pod, question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	checkFixes(t, e, "UseNode gpu-b-03 1")
	if !strings.Contains(e.Fixes[0].Message, "node selector") {
		t.Errorf("message %q", e.Fixes[0].Message)
	}
}

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
			e, err := question.Claim(context.Background(), allocator.NewCluster(s, allocator.Options{}), inspect.ClaimRef{Namespace: namespace, Name: name}, question.Options{})
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
