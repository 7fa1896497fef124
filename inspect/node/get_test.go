package node_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	podresources "k8s.io/kubelet/pkg/apis/podresources/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/node"
)

// TestOnePod asks kubelets that can give one pod, and one that only lists, for one that they know and one
// that they do not.
func TestOnePod(t *testing.T) {
	k := newKubelet(t)
	k.list, k.all = message(t, &podresources.ListPodResourcesResponse{}, listed), &podresources.AllocatableResourcesResponse{}
	k.servePodResources(t)
	only := func(name string) *node.View {
		return node.Read(t.Context(), node.Options{Dir: k.dir, Pod: inspect.PodRef{Namespace: "kl-test", Name: name}})
	}
	for _, k.noGet = range []bool{false, true} {
		if v := only("uses-claim"); len(v.Pods) != 1 || v.Pods[0].Ref.Name != "uses-claim" || len(v.Pods[0].Containers[0].Claims) != 1 || !v.Read(node.PodResources) {
			t.Errorf("only lists %v: pods %+v, %+v", k.noGet, v.Pods, v.Health[node.PodResources])
		}
		if v := only("none"); len(v.Pods) != 0 || !v.Read(node.PodResources) {
			t.Errorf("only lists %v: of a pod that it does not know: %+v, %+v", k.noGet, v.Pods, v.Health[node.PodResources])
		}
	}
	k.err = errors.New("no")
	if v := only("uses-claim"); v.Health[node.PodResources].State != inspect.Broken || !strings.HasPrefix(v.Health[node.PodResources].Message, "Unimplemented") {
		t.Errorf("it neither gives nor lists: %+v", v.Health[node.PodResources])
	}
	k.noGet = false
	if v := only("none"); len(v.Pods) != 0 || !v.Read(node.PodResources) {
		t.Errorf("of a pod that it does not know, and it cannot list: %+v", v.Health[node.PodResources])
	}
}

// TestBusyKubelet has a kubelet that others ask too often, for a moment and for long.
func TestBusyKubelet(t *testing.T) {
	k := newKubelet(t)
	k.list, k.all = message(t, &podresources.ListPodResourcesResponse{}, listed), &podresources.AllocatableResourcesResponse{}
	k.servePodResources(t)
	k.busy.Store(2)
	if v := read(t, k); !v.Read(node.PodResources) || len(v.Pods) != 3 {
		t.Errorf("of a kubelet that is busy for a moment: %+v", v.Health[node.PodResources])
	}
	k.busy.Store(1000)
	if v := read(t, k); v.Health[node.PodResources].State != inspect.Broken {
		t.Errorf("of a kubelet that is busy for long: %+v", v.Health[node.PodResources])
	}
}

// TestPodsOneByOne has a kubelet that cannot list its pods but gives each.
func TestPodsOneByOne(t *testing.T) {
	k := newKubelet(t)
	k.list, k.all, k.err = message(t, &podresources.ListPodResourcesResponse{}, listed), &podresources.AllocatableResourcesResponse{}, errors.New("no list")
	k.servePodResources(t)
	v := read(t, k)
	refs := []inspect.PodRef{{Namespace: "kl-test", Name: "uses-widget"}, {Namespace: "kl-test", Name: "none"}, {Namespace: "kl-test", Name: "stuck"}}
	v.ReadPods(t.Context(), node.Options{Dir: k.dir}, refs)
	var names []string
	for _, p := range v.Pods {
		names = append(names, p.Ref.Name)
	}
	if diff := cmp.Diff([]string{"stuck", "uses-widget"}, names); diff != "" {
		t.Errorf("pods (-want +got):\n%s", diff)
	}
	if h := v.Health[node.PodResources]; h.State != inspect.Broken || !strings.HasSuffix(h.Message, "no list; asked one by one, it told of 2 of 3 pods") {
		t.Errorf("%+v, want that the view is not complete", h)
	}
	k.err = nil
	whole := read(t, k)
	whole.ReadPods(t.Context(), node.Options{Dir: k.dir}, refs[:1])
	if len(whole.Pods) != 3 {
		t.Errorf("a complete view was replaced by %+v", whole.Pods)
	}
}

// TestRestricted has a pod with a claim and a widget, and another one with everything else that is wrong.
func TestRestricted(t *testing.T) {
	use := func(claim, device string) node.Container {
		return node.Container{Name: "main", Claims: []node.ClaimUse{{Claim: ref(claim), Devices: []node.Device{dra("n1", device, "")}}}, Devices: []node.PluginDevice{{Resource: "example.com/" + claim, ID: "w"}}}
	}
	silent := node.Plugin{Type: node.CSIPlugin, Name: "csi.example.test", Health: inspect.Health{State: inspect.Synced}}
	view := node.View{Only: inspect.PodRef{Namespace: "ml", Name: "p"}, Pods: []node.Pod{{Ref: inspect.PodRef{Namespace: "ml", Name: "p"}, CPUs: []int64{1}, Containers: []node.Container{use("c", "gpu-0")}}},
		Plugins: append([]node.Plugin{silent}, answering...), Claims: []node.PreparedClaim{preparedAs("c", "u", "gpu-0"), preparedAs("gone", "g", "gpu-1")}}
	objects := inspect.Objects{Claims: []*resourcev1.ResourceClaim{claimObject("c", "u", "gpu-0"), claimObject("d", "d", "gpu-1")}, Pods: []*corev1.Pod{
		withHealth(podObject("p", corev1.PodRunning, "c"), "claim:c", unit("x=gpu-0", corev1.ResourceHealthStatusUnhealthy)),
		withHealth(podObject("q", corev1.PodRunning, "d"), "claim:d", unit("x", corev1.ResourceHealthStatusUnhealthy))}}
	r := node.Join(viewOf(view), cluster(objects), "n1")
	if diff := cmp.Diff([]string{"DeviceUnhealthy", "PluginMissing", "ResourceGone"}, problemCodes(t, r)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if len(r.Claims) != 1 || r.Claims[0].Claim != ref("c") || len(r.Health) != 1 || r.CPUs != nil || len(r.Plugins) != 1 || r.Plugins[0].Type != node.DRAPlugin {
		t.Errorf("%+v", r)
	}
	if len(r.Resources) != 1 || r.Resources[0].Resource != "example.com/c" || r.Resources[0].Used != nil {
		t.Errorf("resources %+v, want the one of the pod, without how many others have", r.Resources)
	}
	view.Only = inspect.PodRef{}
	if all := node.Join(viewOf(view), cluster(objects), "n1"); len(all.Problems) < 6 || len(all.Claims) != 3 || len(all.Plugins) != 2 {
		t.Errorf("of the whole node: %+v", all)
	}
}
