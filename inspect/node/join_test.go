package node_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/node"
)

func claimObject(name string, uid types.UID, devices ...string) *resourcev1.ResourceClaim {
	c := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: name, UID: uid}}
	for _, d := range devices {
		if c.Status.Allocation == nil {
			c.Status.Allocation = &resourcev1.AllocationResult{}
		}
		c.Status.Allocation.Devices.Results = append(c.Status.Allocation.Devices.Results, resourcev1.DeviceRequestAllocationResult{
			Request: "for-" + d + "/first", Driver: "gpu.example.test", Pool: "n1", Device: d})
	}
	return c
}

func podObject(name string, phase corev1.PodPhase, claims ...string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: name}, Spec: corev1.PodSpec{NodeName: "n1"}, Status: corev1.PodStatus{Phase: phase}}
	for _, c := range claims {
		p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, corev1.PodResourceClaim{Name: c, ResourceClaimName: &c})
	}
	return p
}

// asks are containers that ask for a request of a claim each.
func asks(pod *corev1.Pod, claim string, requests ...string) *corev1.Pod {
	for _, r := range requests {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: r,
			Resources: corev1.ResourceRequirements{Claims: []corev1.ResourceClaim{{Name: claim, Request: r}}}})
	}
	return pod
}

func cluster(o inspect.Objects, unread ...inspect.Resource) *inspect.Snapshot {
	health := map[inspect.Resource]inspect.Health{}
	for _, r := range inspect.Resources() {
		health[r] = inspect.Health{State: inspect.Synced}
	}
	for _, r := range unread {
		health[r] = inspect.Health{State: inspect.Forbidden}
	}
	var devices []resourcev1.Device
	for _, name := range []string{"gpu-0", "gpu-1", "gpu-2"} {
		devices = append(devices, resourcev1.Device{Name: name})
	}
	o.Slices = append(o.Slices, &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: resourcev1.ResourceSliceSpec{
		Driver: "gpu.example.test", NodeName: new("n1"), Pool: resourcev1.ResourcePool{Name: "n1", ResourceSliceCount: 1}, Devices: devices}})
	o.Nodes = append(o.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}, Status: corev1.NodeStatus{
		Capacity:    corev1.ResourceList{"example.com/widget": resource.MustParse("4"), "cpu": resource.MustParse("8")},
		Allocatable: corev1.ResourceList{"example.com/widget": resource.MustParse("3")}}})
	return inspect.New(o, inspect.Config{Health: health})
}

// viewOf is the view of a kubelet all of whose sources were read, but for the Pods API, with the driver that
// answers unless there are other plugins.
func viewOf(v node.View) *node.View {
	if v.Plugins == nil {
		v.Plugins = answering
	}
	v.Health = map[node.Source]inspect.Health{}
	for _, s := range node.Sources() {
		v.Health[s] = inspect.Health{State: inspect.Synced}
	}
	v.Health[node.PodsAPI] = inspect.Health{State: inspect.NotServed}
	return &v
}

func ref(name string) inspect.ClaimRef { return inspect.ClaimRef{Namespace: "ml", Name: name} }

// preparedAs is an entry of the checkpoint.
func preparedAs(name string, uid types.UID, devices ...string) node.PreparedClaim {
	c := node.PreparedClaim{Claim: ref(name), UID: uid, Pods: []types.UID{"pod-" + uid}, Drivers: []string{"gpu.example.test"}}
	for _, d := range devices {
		c.Devices = append(c.Devices, node.PreparedDevice{Device: dra("n1", d, ""), CDI: []string{"x=" + d}})
	}
	return c
}

var answering = []node.Plugin{{Type: node.DRAPlugin, Name: "gpu.example.test", Health: inspect.Health{State: inspect.Synced}}}

// problemCodes are those of the problems of a report, each of which has a sentence.
func problemCodes(t *testing.T, r *node.Report) []string {
	t.Helper()
	var out []string
	for _, p := range r.Problems {
		out = append(out, string(p.Code))
		if p.Sentence() == string(p.Code) {
			t.Errorf("%s has no sentence", p.Code)
		}
	}
	return out
}

func TestProblems(t *testing.T) {
	uses := func(phase corev1.PodPhase) inspect.Objects {
		return inspect.Objects{Claims: []*resourcev1.ResourceClaim{claimObject("c", "u", "gpu-0")}, Pods: []*corev1.Pod{podObject("p", phase, "c")}}
	}
	for name, test := range map[string]struct {
		view    node.View
		objects inspect.Objects
		unread  []inspect.Resource
		want    []string
	}{
		"all is well":         {node.View{Claims: []node.PreparedClaim{preparedAs("c", "u", "gpu-0")}, Plugins: answering}, uses(corev1.PodRunning), nil, nil},
		"no such claim":       {node.View{Claims: []node.PreparedClaim{preparedAs("c", "u", "gpu-0")}, Plugins: answering}, inspect.Objects{}, nil, []string{"PreparedUnknown"}},
		"claims are unknown":  {node.View{Claims: []node.PreparedClaim{preparedAs("c", "u", "gpu-0")}, Plugins: answering}, inspect.Objects{}, []inspect.Resource{inspect.Claims}, nil},
		"another of the name": {node.View{Claims: []node.PreparedClaim{preparedAs("c", "old", "gpu-0")}, Plugins: answering}, uses(corev1.PodRunning), nil, []string{"PreparedUnknown"}},
		"not allocated": {node.View{Claims: []node.PreparedClaim{preparedAs("c", "u", "gpu-0")}, Plugins: answering},
			inspect.Objects{Claims: []*resourcev1.ResourceClaim{claimObject("c", "u")}}, nil, []string{"PreparedNotAllocated"}},
		"the pod has ended":  {node.View{Claims: []node.PreparedClaim{preparedAs("c", "u", "gpu-0")}, Plugins: answering}, uses(corev1.PodSucceeded), nil, []string{"PreparedForNobody"}},
		"pods are unknown":   {node.View{Claims: []node.PreparedClaim{preparedAs("c", "u", "gpu-0")}, Plugins: answering}, uses(corev1.PodSucceeded), []inspect.Resource{inspect.Pods}, nil},
		"not prepared":       {node.View{}, uses(corev1.PodRunning), nil, []string{"NotPrepared"}},
		"not prepared yet":   {node.View{}, uses(corev1.PodPending), nil, nil},
		"prepare fails":      {node.View{Claims: []node.PreparedClaim{preparedAs("c", "u")}, Plugins: answering}, uses(corev1.PodPending), nil, []string{"PrepareUnfinished"}},
		"nothing to prepare": {node.View{Claims: []node.PreparedClaim{preparedAs("c", "u")}, Plugins: answering}, uses(corev1.PodRunning), nil, nil},
		"prepared for whom":  {node.View{Claims: []node.PreparedClaim{preparedAs("c", "u")}, Plugins: answering}, uses(corev1.PodPending), []inspect.Resource{inspect.Pods}, nil},
		"another device":     {node.View{Claims: []node.PreparedClaim{preparedAs("c", "u", "gpu-1")}, Plugins: answering}, uses(corev1.PodRunning), nil, []string{"OtherDevice"}},
		"not published":      {node.View{Claims: []node.PreparedClaim{preparedAs("c", "u", "gpu-0", "gpu-9")}, Plugins: answering}, uses(corev1.PodRunning), nil, []string{"DeviceUnpublished", "OtherDevice"}},
		"slices are unknown": {node.View{Claims: []node.PreparedClaim{preparedAs("c", "u", "gpu-0", "gpu-9")}, Plugins: answering}, uses(corev1.PodRunning), []inspect.Resource{inspect.Slices}, []string{"OtherDevice"}},
		"the driver is gone": {node.View{Claims: []node.PreparedClaim{preparedAs("c", "u", "gpu-0")}, Plugins: []node.Plugin{}}, uses(corev1.PodRunning), nil, []string{"DriverSilent"}},
		"a socket is left":   {node.View{Plugins: append([]node.Plugin{{Socket: "x", Health: inspect.Health{State: inspect.Broken}}}, answering...)}, inspect.Objects{}, nil, []string{"PluginSilent"}},
		"no healthy device": {node.View{Pods: []node.Pod{{Containers: []node.Container{{Devices: []node.PluginDevice{{Resource: "example.com/widget", ID: "w"}}}}}}},
			inspect.Objects{}, nil, []string{"ResourceGone"}},
		"CPUs elsewhere than memory": {node.View{NUMAOfCPU: map[int64]int64{2: 1}, Pods: []node.Pod{{Containers: []node.Container{{CPUs: []int64{2}, Memory: []node.Memory{{Type: "memory", NUMA: []int64{0}}}}}}}},
			inspect.Objects{}, nil, []string{"NUMASpread"}},
		"CPUs with their memory": {node.View{NUMAOfCPU: map[int64]int64{2: 1}, Pods: []node.Pod{{Containers: []node.Container{{CPUs: []int64{2}, Memory: []node.Memory{{Type: "memory", NUMA: []int64{1}}}}}}}},
			inspect.Objects{}, nil, nil},
		"two NUMA nodes": {node.View{Pods: []node.Pod{{Containers: []node.Container{{Devices: []node.PluginDevice{{Resource: "a/b", ID: "w", NUMA: []int64{1}}},
			Memory: []node.Memory{{Type: "memory", NUMA: []int64{0}}}}}}}, Allocatable: node.Allocatable{Devices: []node.PluginDevice{{Resource: "a/b", ID: "w"}}}}, inspect.Objects{}, nil, []string{"NUMASpread"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := node.Join(viewOf(test.view), cluster(test.objects, test.unread...), "n1")
			if diff := cmp.Diff(test.want, problemCodes(t, r)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			nothing := node.Join(&node.View{}, cluster(test.objects, test.unread...), "n1")
			if len(nothing.Problems) > 0 {
				t.Errorf("without a kubelet there are problems: %+v", nothing.Problems)
			}
			before := len(r.Problems)
			r.KeepCommon(node.Join(viewOf(test.view), cluster(test.objects, test.unread...), "n1"))
			if len(r.Problems) != before {
				t.Errorf("of %d problems that are still there, %d are kept", before, len(r.Problems))
			}
			r.KeepCommon(nothing)
			if len(r.Problems) > 0 {
				t.Errorf("problems are kept that the other report has not: %+v", r.Problems)
			}
		})
	}
}

// TestPrepareFailed: a claim that a driver was asked to prepare, and gave no device for, is not prepared,
// unless a pod with it has begun.
func TestPrepareFailed(t *testing.T) {
	v := viewOf(node.View{Claims: []node.PreparedClaim{preparedAs("c", "u")}})
	for _, test := range []struct {
		phase  corev1.PodPhase
		unread []inspect.Resource
		want   node.Answer
	}{{corev1.PodPending, nil, node.No}, {corev1.PodRunning, nil, node.Yes}, {corev1.PodPending, []inspect.Resource{inspect.Pods}, node.Unknown}} {
		s := cluster(inspect.Objects{Claims: []*resourcev1.ResourceClaim{claimObject("c", "u", "gpu-0")}, Pods: []*corev1.Pod{podObject("p", test.phase, "c")}}, test.unread...)
		if got := node.Join(v, s, "n1").Claims[0].Prepared; got != test.want {
			t.Errorf("%s, %v: prepared %s, want %s", test.phase, test.unread, got, test.want)
		}
	}
}

// TestHolders: a claim that holds a device of the node is listed, whether or not a pod uses it, and one on
// another node is not.
func TestHolders(t *testing.T) {
	far := claimObject("far", "v", "gpu-0")
	far.Status.Allocation.Devices.Results[0].Pool = "n2"
	r := node.Join(&node.View{}, cluster(inspect.Objects{Claims: []*resourcev1.ResourceClaim{far, claimObject("idle", "u", "gpu-1")}}), "n1")
	if len(r.Claims) != 1 || r.Claims[0].Claim != ref("idle") || len(r.Claims[0].Devices) != 1 {
		t.Errorf("claims %+v", r.Claims)
	}
}

// TestReservedCPUs: CPUs that are reserved cannot be exclusive, and are shared by all other containers.
func TestReservedCPUs(t *testing.T) {
	v := viewOf(node.View{Allocatable: node.Allocatable{CPUs: []int64{1}}, CPUs: &node.CPUState{Policy: "static", Shared: []int64{0}},
		Pods: []node.Pod{{Containers: []node.Container{{Name: "c", CPUs: []int64{1}}}}}})
	want := &node.CPUReport{Policy: "static", Allocatable: []int64{1}, Exclusive: []int64{1}, Shared: []int64{0}}
	if diff := cmp.Diff(want, node.Join(v, cluster(inspect.Objects{}), "n1").CPUs); diff != "" {
		t.Errorf("CPUs (-want +got):\n%s", diff)
	}
}

// TestJoin has a claim whose two requests are for a container each: the kubelet lists both devices with both.
func TestJoin(t *testing.T) {
	both := []node.ClaimUse{{Claim: ref("c"), Devices: []node.Device{dra("n1", "gpu-0", ""), dra("n1", "gpu-1", "")}}}
	v := viewOf(node.View{
		Pods: []node.Pod{{Ref: inspect.PodRef{Namespace: "ml", Name: "p"}, CPUs: []int64{2, 3}, Containers: []node.Container{
			{Name: "for-gpu-0", Claims: both, CPUs: []int64{2}}, {Name: "for-gpu-1", Claims: both, Devices: []node.PluginDevice{{Resource: "example.com/widget", ID: "w"}}}, {Name: "idle"}}}},
		Allocatable: node.Allocatable{CPUs: []int64{0, 1, 2, 3}, Devices: []node.PluginDevice{{Resource: "example.com/widget", ID: "w"}}},
		Registered:  []node.RegisteredDevices{{Resource: "example.com/widget", IDs: []string{"v", "w"}}},
		Claims:      []node.PreparedClaim{preparedAs("c", "u", "gpu-0", "gpu-1")}, CPUs: &node.CPUState{Policy: "static"}, Plugins: answering,
	})
	s := cluster(inspect.Objects{Claims: []*resourcev1.ResourceClaim{claimObject("c", "u", "gpu-0", "gpu-1")},
		Pods: []*corev1.Pod{asks(podObject("p", corev1.PodRunning, "c"), "c", "for-gpu-0", "for-gpu-1")}})
	r := node.Join(v, s, "n1")
	if len(r.Containers) != 2 || len(r.Problems) != 0 {
		t.Fatalf("containers %+v, problems %+v", r.Containers, r.Problems)
	}
	for i, other := range []string{"gpu-1", "gpu-0"} {
		if diff := cmp.Diff(map[node.Device]bool{dra("n1", other, ""): true}, r.Containers[i].Others); diff != "" {
			t.Errorf("devices of others of %s (-want +got):\n%s", r.Containers[i].Name, diff)
		}
	}
	device := func(name string) node.ClaimDevice {
		return node.ClaimDevice{Device: dra("n1", name, ""), Published: node.Yes, Allocated: node.Yes, Prepared: node.Yes, CDI: []string{"x=" + name}}
	}
	if diff := cmp.Diff([]node.ClaimReport{{Claim: ref("c"), Known: node.Yes, Allocated: node.Yes, Prepared: node.Yes, Pods: []inspect.PodRef{{Namespace: "ml", Name: "p"}},
		Devices: []node.ClaimDevice{device("gpu-0"), device("gpu-1")}}}, r.Claims); diff != "" {
		t.Errorf("claims (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]node.ResourceReport{{Resource: "example.com/widget", Capacity: new(int64(4)), Allocatable: new(int64(3)), Healthy: new(int64(1)),
		Registered: new(int64(2)), Used: new(int64(1))}}, r.Resources); diff != "" {
		t.Errorf("resources (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&node.CPUReport{Policy: "static", Allocatable: []int64{0, 1, 2, 3}, Exclusive: []int64{2, 3}, Shared: []int64{0, 1}}, r.CPUs); diff != "" {
		t.Errorf("CPUs (-want +got):\n%s", diff)
	}

	alone := node.Join(&node.View{}, s, "n1")
	if alone.CPUs != nil || len(alone.Containers) != 0 || len(alone.Claims) != 1 || alone.Claims[0].Prepared != node.Unknown || alone.Claims[0].Devices[0].Allocated != node.Yes {
		t.Errorf("what the API server knows alone: %+v", alone)
	}
	if diff := cmp.Diff([]node.ResourceReport{{Resource: "example.com/widget", Capacity: new(int64(4)), Allocatable: new(int64(3))}}, alone.Resources); diff != "" {
		t.Errorf("resources (-want +got):\n%s", diff)
	}
	kubelet := node.Join(v, inspect.New(inspect.Objects{}, inspect.Config{}), "n1")
	if len(kubelet.Problems) != 0 || kubelet.Claims[0].Known != node.Unknown || kubelet.Claims[0].Devices[0].Published != node.Unknown {
		t.Errorf("what the kubelet knows alone: %+v", kubelet)
	}
}
