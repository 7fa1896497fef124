package node_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

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
