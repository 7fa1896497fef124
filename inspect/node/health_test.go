package node_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/node"
)

// withHealth is a pod whose container says so much of one resource.
func withHealth(pod *corev1.Pod, resource string, units ...corev1.ResourceHealth) *corev1.Pod {
	pod = pod.DeepCopy()
	pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{Name: "main", AllocatedResourcesStatus: []corev1.ResourceStatus{{Name: corev1.ResourceName(resource), Resources: units}}})
	return pod
}

func unit(id string, health corev1.ResourceHealthStatus) corev1.ResourceHealth {
	return corev1.ResourceHealth{ResourceID: corev1.ResourceID(id), Health: health}
}

// fromTemplate is the pod with a claim from a template, whose name is in the status if it is given.
func fromTemplate(pod *corev1.Pod, name string) *corev1.Pod {
	pod = pod.DeepCopy()
	pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "c", ResourceClaimTemplateName: new("t")}}
	if name != "" {
		pod.Status.ResourceClaimStatuses = []corev1.PodResourceClaimStatus{{Name: "c", ResourceClaimName: &name}}
	}
	return pod
}

// TestHealth has what kubelets write for device plugins and for DRA, with and without CDI devices.
func TestHealth(t *testing.T) {
	const bad, good, unknown = corev1.ResourceHealthStatusUnhealthy, corev1.ResourceHealthStatusHealthy, corev1.ResourceHealthStatusUnknown
	claims := []*resourcev1.ResourceClaim{claimObject("c", "u", "gpu-0", "gpu-1")}
	prepared := []node.PreparedClaim{preparedAs("c", "u", "gpu-0", "gpu-1")}
	pod := podObject("p", corev1.PodRunning, "c")
	said := unit("x=gpu-1", bad)
	said.Message = new("it is hot")
	stale := withHealth(pod, "claim:c", unit("x=gpu-1", good))
	stale.UID = "pod-u"
	newer := withHealth(pod, "claim:c", unit("x=gpu-1", bad))
	newer.UID = "pod-u"
	other := newer.DeepCopy()
	other.UID = "another"
	widgets := node.View{
		Pods:        []node.Pod{{Ref: inspect.PodRef{Namespace: "ml", Name: "p"}, Containers: []node.Container{{Name: "main", Devices: []node.PluginDevice{{Resource: "example.com/widget", ID: "w0"}, {Resource: "example.com/widget", ID: "w1"}}}}}},
		Allocatable: node.Allocatable{Devices: []node.PluginDevice{{Resource: "example.com/widget", ID: "w1"}}},
	}
	for name, test := range map[string]struct {
		view node.View
		pod  *corev1.Pod
		want []string
	}{
		"a CDI device": {node.View{Claims: prepared}, withHealth(pod, "claim:c", unit("x=gpu-0", good), said), []string{"main claim:c x=gpu-0 ml/c gpu-0 Healthy ", "main claim:c x=gpu-1 ml/c gpu-1 Unhealthy it is hot"}},
		"of a request": {node.View{Claims: prepared}, withHealth(pod, "claim:c/for-gpu-0", unit("x=gpu-0", bad)), []string{"main claim:c/for-gpu-0 x=gpu-0 ml/c gpu-0 Unhealthy "}},
		"one CDI device for two": {node.View{Claims: []node.PreparedClaim{{Claim: ref("c"), Devices: []node.PreparedDevice{{Device: dra("n1", "gpu-0", ""), CDI: []string{"x"}}, {Device: dra("n1", "gpu-1", ""), CDI: []string{"x"}}}}}},
			withHealth(pod, "claim:c", unit("x", bad)), []string{"main claim:c x ml/c  Unhealthy "}},
		"without CDI":                {node.View{}, withHealth(pod, "claim:c", unit("gpu.example.test/n1/gpu-0", bad)), []string{"main claim:c gpu.example.test/n1/gpu-0 ml/c gpu-0 Unhealthy "}},
		"nobody knows the ID":        {node.View{}, withHealth(pod, "claim:c", unit("x=gpu-0", bad)), []string{"main claim:c x=gpu-0 ml/c  Unhealthy "}},
		"a device plugin":            {node.View{}, withHealth(pod, "example.com/widget", unit("w0", bad)), []string{"main example.com/widget w0 /  Unhealthy "}},
		"nothing is known":           {node.View{}, withHealth(pod, "claim:c", unit("gpu.example.test/n1/gpu-0", unknown)), []string{"main claim:c gpu.example.test/n1/gpu-0 ml/c gpu-0 Unknown "}},
		"ended":                      {node.View{}, ended(withHealth(pod, "example.com/widget", unit("w0", bad))), nil},
		"the kubelet is newer":       {node.View{Claims: prepared, KubeletPods: []*corev1.Pod{newer}}, stale, []string{"main claim:c x=gpu-1 ml/c gpu-1 Unhealthy "}},
		"it has another pod":         {node.View{Claims: prepared, KubeletPods: []*corev1.Pod{other}}, stale, []string{"main claim:c x=gpu-1 ml/c gpu-1 Healthy "}},
		"its status lacks the claim": {node.View{Claims: prepared, KubeletPods: []*corev1.Pod{fromTemplate(newer, "")}}, fromTemplate(stale, "c"), []string{"main claim:c x=gpu-1 ml/c gpu-1 Unhealthy "}},
		"nobody names the claim":     {node.View{Claims: prepared, KubeletPods: []*corev1.Pod{fromTemplate(newer, "")}}, fromTemplate(stale, ""), []string{"main claim:c x=gpu-1 ml/c gpu-1 Unhealthy "}},
		"not in the status":          {widgets, pod, []string{"main example.com/widget w0 /  Unhealthy "}},
		"in the status":              {widgets, withHealth(pod, "example.com/widget", unit("w0", good)), []string{"main example.com/widget w0 /  Healthy "}},
	} {
		t.Run(name, func(t *testing.T) {
			r := node.Join(viewOf(test.view), cluster(inspect.Objects{Claims: claims, Pods: []*corev1.Pod{test.pod}}), "n1")
			var got []string
			unhealthy := 0
			for _, h := range r.Health {
				got = append(got, fmt.Sprint(h.Container, " ", h.Resource, " ", h.ID, " ", h.Claim, " ", h.Device.Device, " ", h.State, " ", h.Message))
				if h.State == bad {
					unhealthy++
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("health (-want +got):\n%s", diff)
			}
			for _, p := range r.Problems {
				if p.Code == node.DeviceUnhealthy {
					unhealthy--
				}
			}
			if unhealthy != 0 {
				t.Errorf("%d devices more are unhealthy than there are problems: %+v", unhealthy, r.Problems)
			}
		})
	}
}

// TestHealthOfWhich has IDs that are of other pods, claims and devices as well: what a status says is about
// the one that is meant, or about none that can be told.
func TestHealthOfWhich(t *testing.T) {
	const bad, good = corev1.ResourceHealthStatusUnhealthy, corev1.ResourceHealthStatusHealthy
	kept := func(claim, pod, device string, cdi ...string) node.PreparedClaim {
		return node.PreparedClaim{Claim: ref(claim), Pods: []types.UID{types.UID(pod)}, Devices: []node.PreparedDevice{{Device: dra("n1", device, ""), CDI: cdi}}}
	}
	widget := func(resource, id string) node.PluginDevice { return node.PluginDevice{Resource: resource, ID: id} }
	named := podObject("p", corev1.PodRunning, "c")
	named.UID = "pod-u"
	unnamed := fromTemplate(named, "")
	const plain = "gpu.example.test/n1/gpu-1"
	for name, test := range map[string]struct {
		prepared []node.PreparedClaim
		pod      *corev1.Pod
		id       string
		devices  []string // of claim c, as the API server has it
		want     string   // claim and device
	}{
		"another pod's claim":       {[]node.PreparedClaim{kept("o", "x", "gpu-1", "x"), kept("c", "pod-u", "gpu-1", "x")}, unnamed, "x", nil, "ml/c gpu-1"},
		"another claim of the pod":  {[]node.PreparedClaim{kept("o", "pod-u", "gpu-2", "y"), kept("c", "pod-u", "gpu-1", "x")}, unnamed, "x", nil, "ml/c gpu-1"},
		"by its name":               {[]node.PreparedClaim{kept("o", "pod-u", "gpu-2"), kept("c", "pod-u", "gpu-1")}, unnamed, plain, nil, "ml/c gpu-1"},
		"of none":                   {[]node.PreparedClaim{kept("o", "pod-u", "gpu-2", "y")}, unnamed, "x", nil, "ml/ "},
		"another claim's device":    {[]node.PreparedClaim{kept("o", "pod-u", "gpu-5", "x"), kept("c", "pod-u", "gpu-1", "x")}, named, "x", nil, "ml/c gpu-1"},
		"the only one":              {nil, named, "x", []string{"gpu-0"}, "ml/c gpu-0"},
		"one of two":                {nil, named, "x", []string{"gpu-0", "gpu-1"}, "ml/c "},
		"one of two, by its name":   {nil, named, plain, []string{"gpu-0", "gpu-1"}, "ml/c gpu-1"},
		"the node knows it better":  {[]node.PreparedClaim{kept("c", "pod-u", "gpu-1", "x")}, named, "x", []string{"gpu-0"}, "ml/c gpu-1"},
		"and it is the second name": {[]node.PreparedClaim{kept("c", "pod-u", "gpu-1", "y", "x")}, named, "x", []string{"gpu-0"}, "ml/c gpu-0"},
	} {
		o := inspect.Objects{Pods: []*corev1.Pod{withHealth(test.pod, "claim:c", unit(test.id, bad))}}
		if len(test.devices) > 0 {
			o.Claims = []*resourcev1.ResourceClaim{claimObject("c", "u", test.devices...)}
		}
		r := node.Join(viewOf(node.View{Claims: test.prepared}), cluster(o), "n1")
		if len(r.Health) != 1 || fmt.Sprint(r.Health[0].Claim, " ", r.Health[0].Device.Device) != test.want {
			t.Errorf("%s: %+v, want %s", name, r.Health, test.want)
		}
	}
	view := node.View{
		Pods:        []node.Pod{{Ref: inspect.PodRef{Namespace: "ml", Name: "p"}, Containers: []node.Container{{Name: "main", Devices: []node.PluginDevice{widget("a", "0"), widget("a", "1"), widget("b", "0")}}}}},
		Allocatable: node.Allocatable{Devices: []node.PluginDevice{widget("a", "1")}},
	}
	for name, pod := range map[string]*corev1.Pod{
		"another device":    withHealth(named, "a", unit("1", good)),
		"another resource":  withHealth(named, "b", unit("0", good)),
		"another container": withHealth(named, "a", unit("0", good)),
	} {
		if name == "another container" {
			pod.Status.ContainerStatuses[0].Name = "other"
		}
		withdrawn := ""
		for _, h := range node.Join(viewOf(view), cluster(inspect.Objects{Pods: []*corev1.Pod{pod}}), "n1").Health {
			if h.Withdrawn {
				withdrawn += h.Resource + h.ID
			}
		}
		if withdrawn != "a0" {
			t.Errorf("%s has a status: %q is withdrawn", name, withdrawn)
		}
	}
}
