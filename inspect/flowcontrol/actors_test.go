package flowcontrol

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// plugin is a pod of a DaemonSet that registers with the kubelet, as it is kept in a snapshot.
func plugin(namespace, account, node string) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: account + "-" + node, OwnerReferences: []metav1.OwnerReference{{Kind: "DaemonSet", Name: account, Controller: ptr.To(true)}}},
		Spec: corev1.PodSpec{NodeName: node, ServiceAccountName: account, Volumes: []corev1.Volume{{
			Name: "r", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/var/lib/kubelet/plugins_registry"}},
		}}},
	}
	inspect.ReducePod(pod)
	return pod
}

// TestDRAActors: a driver in kube-system does not share its level with all service accounts, one elsewhere
// does. The pods that run on all nodes of a driver are taken for its own.
func TestDRAActors(t *testing.T) {
	objects := inspect.Objects{PriorityLevels: bootstrapLevels(), FlowSchemas: bootstrapSchemas()}
	slice := func(driver, node string) {
		objects.Slices = append(objects.Slices, &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: driver + node},
			Spec: resourcev1.ResourceSliceSpec{Driver: driver, NodeName: &node, Pool: resourcev1.ResourcePool{Name: node, ResourceSliceCount: 1}}})
	}
	slice("a.example.com", "n1")
	slice("a.example.com", "n2")
	slice("b.example.com", "n3")
	slice("c.example.com", "n4")
	slice("d.example.com", "n5")
	ended := plugin("late", "gone", "n5")
	ended.Status.Phase = corev1.PodFailed
	objects.Pods = []*corev1.Pod{
		plugin("gpu", "driver", "n1"), plugin("gpu", "driver", "n2"), plugin("half", "driver", "n1"), plugin("kube-system", "b", "n3"),
		plugin("x", "one", "n4"), plugin("y", "two", "n4"), ended,
	}
	var got []string
	for _, a := range DRAActors(inspect.New(objects, inspect.Config{})) {
		got = append(got, fmt.Sprint(a.Role, a.Driver, " ", a.User, " ", a.Evidence, " ", a.Levels(), a.Crowded()))
	}
	const account = "system:serviceaccount:"
	want := []string{
		"Drivera.example.com " + account + "gpu:driver Pods [workload-low] true",
		"Driverb.example.com " + account + "kube-system:b Pods [workload-high] false",
		"Driverc.example.com " + account + "x:one Possible [workload-low] true",
		"Driverc.example.com " + account + "y:two Possible [workload-low] true",
		"Driverd.example.com " + AnyAccount + " None [workload-low] true",
		"ClaimController " + account + "kube-system:resource-claim-controller Name [workload-high] false",
		"Scheduler system:kube-scheduler Name [workload-high] false",
		"Kubelet system:node:n1 Name [system] false",
	}
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got := DRAActors(inspect.New(inspect.Objects{Slices: objects.Slices}, inspect.Config{})); got != nil {
		t.Errorf("without levels: %v", got)
	}
}
