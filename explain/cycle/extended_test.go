package cycle

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// container is a container with requests, each "name=amount".
func container(requests ...string) corev1.Container {
	c := corev1.Container{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{}}}
	for _, r := range requests {
		name, amount, _ := strings.Cut(r, "=")
		c.Resources.Requests[corev1.ResourceName(name)] = resource.MustParse(amount)
	}
	return c
}

// sidecar is an init container that keeps running.
func sidecar(requests ...string) corev1.Container {
	c := container(requests...)
	c.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
	return c
}

// gpuClass is a class, created at some second, that may provide an extended resource.
func gpuClass(name, extendedName string, created int64) *resourcev1.DeviceClass {
	c := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(time.Unix(created, 0))}}
	if extendedName != "" {
		c.Spec.ExtendedResourceName = &extendedName
	}
	return c
}

// TestExtendedRequests compares the requests of the special claim with those that the rules of the
// scheduler's plugin give (createRequestsAndMappings in Kubernetes 1.37).
func TestExtendedRequests(t *testing.T) {
	tests := []struct {
		name        string
		init, plain []corev1.Container
		classes     []*resourcev1.DeviceClass
		allocatable string
		want        string // "name=class×count", or the misfit
	}{
		{"one container", nil, []corev1.Container{container("cpu=1", "example.com/gpu=2")},
			[]*resourcev1.DeviceClass{gpuClass("gpu", "example.com/gpu", 0)}, "", "container-0-request-1=gpu×2"},
		{"the device plugin provides it", nil, []corev1.Container{container("example.com/gpu=2")},
			[]*resourcev1.DeviceClass{gpuClass("gpu", "example.com/gpu", 0)}, "example.com/gpu=4", ""},
		{"a plugin without devices does not", nil, []corev1.Container{container("example.com/gpu=2")},
			[]*resourcev1.DeviceClass{gpuClass("gpu", "example.com/gpu", 0)}, "example.com/gpu=0", "container-0-request-0=gpu×2"},
		{"the implicit name of a class", nil, []corev1.Container{container("deviceclass.resource.kubernetes.io/gpu=1")},
			[]*resourcev1.DeviceClass{gpuClass("gpu", "", 0)}, "", "container-0-request-0=gpu×1"},
		{"the newer of two classes", nil, []corev1.Container{container("example.com/gpu=1")},
			[]*resourcev1.DeviceClass{gpuClass("a", "example.com/gpu", 1), gpuClass("b", "example.com/gpu", 2)}, "", "container-0-request-0=b×1"},
		{"the first by name of two equally old ones", nil, []corev1.Container{container("example.com/gpu=1")},
			[]*resourcev1.DeviceClass{gpuClass("b", "example.com/gpu", 1), gpuClass("a", "example.com/gpu", 1)}, "", "container-0-request-0=a×1"},
		{"an init container reuses later devices", []corev1.Container{container("example.com/gpu=3"), container("example.com/gpu=5")},
			[]corev1.Container{container("example.com/gpu=2"), container("example.com/gpu=1")},
			[]*resourcev1.DeviceClass{gpuClass("gpu", "example.com/gpu", 0)}, "",
			"container-1-request-0=gpu×2 container-2-request-0=gpu×2 container-3-request-0=gpu×1"},
		{"an earlier sidecar is not reused", []corev1.Container{sidecar("example.com/gpu=1"), container("example.com/gpu=2")},
			[]corev1.Container{container("cpu=1")},
			[]*resourcev1.DeviceClass{gpuClass("gpu", "example.com/gpu", 0)}, "",
			"container-0-request-0=gpu×1 container-1-request-0=gpu×2"},
		{"a resource that nobody provides", nil, []corev1.Container{container("example.com/gpu=1", "example.com/nic=1")},
			[]*resourcev1.DeviceClass{gpuClass("gpu", "example.com/gpu", 0)}, "",
			"neither the node nor a device class provides the extended resource example.com/nic"},
		{"requests are sorted as text", nil, append(make([]corev1.Container, 2), container("example.com/gpu=1"), corev1.Container{}, corev1.Container{}, corev1.Container{},
			corev1.Container{}, corev1.Container{}, corev1.Container{}, corev1.Container{}, container("example.com/gpu=1")),
			[]*resourcev1.DeviceClass{gpuClass("gpu", "example.com/gpu", 0)}, "", "container-10-request-0=gpu×1 container-2-request-0=gpu×1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := inspect.New(inspect.Objects{Classes: tt.classes}, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)})
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p"}, Spec: corev1.PodSpec{InitContainers: tt.init, Containers: tt.plain}}
			node := &corev1.Node{Status: corev1.NodeStatus{Allocatable: container(strings.Fields(tt.allocatable)...).Resources.Requests}}
			x := extendedOf(s, pod)
			if x == nil {
				t.Fatal("no class provides the resources")
			}
			claim, misfit := x.On(node)
			got := ""
			if misfit != nil {
				got = misfit.Message
			}
			if claim != nil {
				var parts []string
				for _, r := range claim.Spec.Devices.Requests {
					parts = append(parts, fmt.Sprintf("%s=%s×%d", r.Name, r.Exactly.DeviceClassName, r.Exactly.Count))
				}
				got = strings.Join(parts, " ")
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestNoExtendedResources checks that there is no special claim unless a class provides a resource of the
// pod.
func TestNoExtendedResources(t *testing.T) {
	s := inspect.New(inspect.Objects{Classes: []*resourcev1.DeviceClass{gpuClass("gpu", "example.com/gpu", 0)}},
		inspect.Config{Features: inspect.DefaultFeatures(35)}) // the gate is off by default in 1.35
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{container("example.com/gpu=1")}}}
	if x := extendedOf(s, pod); x != nil {
		t.Errorf("with the gate off: %+v", x)
	}
	pod.Spec.Containers = []corev1.Container{container("cpu=1", "example.com/nic=1", "example.com/gpu=0")}
	if x := extendedOf(s.WithFeatures(inspect.DefaultFeatures(37)), pod); x != nil {
		t.Errorf("without a resource of a class: %+v", x)
	}
}
