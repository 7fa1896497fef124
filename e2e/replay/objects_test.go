package replay

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

const (
	driver = "gpu.example.com"
	// perNode is the number of claims, and of pods, for each node. Of a node's eight devices each claim has
	// two, except that the last claim of every tenth node, or every stuckEvery-th, asks for more than any
	// node has.
	perNode, devicesPerNode = 4, 8
)

// stuckEvery is 10 unless [stuckVariable] says otherwise.
var stuckEvery = 10

// meta is what the API server and those who write an object put into its metadata.
func meta(namespace, name string, manager string, age time.Duration) metav1.ObjectMeta {
	created := metav1.NewTime(time.Now().Add(-age).Truncate(time.Second))
	fields := `{"f:metadata":{"f:labels":{".":{},"f:app.kubernetes.io/name":{},"f:team":{}}},"f:spec":{"f:devices":{".":{},"f:requests":{".":{},"k:{\"name\":\"gpu\"}":{".":{},"f:name":{}}}}},"f:status":{"f:allocation":{".":{},"f:devices":{}},"f:reservedFor":{}}}`
	return metav1.ObjectMeta{
		Namespace: namespace, Name: name, CreationTimestamp: created,
		UID:           types.UID(fmt.Sprintf("%s/%s/0b7e7a52-7f0b-4f0c-9d5e-2f1c4c1b7a00", namespace, name)),
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, Time: &created, FieldsType: "FieldsV1", FieldsV1: &metav1.FieldsV1{Raw: []byte(fields)}}},
	}
}

func nodeName(n int) string { return fmt.Sprintf("node-%05d", n) }

func newNode(n int) *corev1.Node {
	name := nodeName(n)
	node := &corev1.Node{ObjectMeta: meta("", name, "kubelet", 100*time.Hour)}
	node.Labels = map[string]string{
		"kubernetes.io/hostname": name, "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux",
		"topology.kubernetes.io/zone": fmt.Sprintf("zone-%d", n%3), "node.kubernetes.io/instance-type": "gpu-8",
	}
	quantities := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("128"), corev1.ResourceMemory: resource.MustParse("1Ti"), corev1.ResourcePods: resource.MustParse("110"),
	}
	node.Status.Capacity, node.Status.Allocatable = quantities, quantities
	for _, kind := range []corev1.NodeConditionType{corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure, corev1.NodeReady} {
		status := corev1.ConditionFalse
		if kind == corev1.NodeReady {
			status = corev1.ConditionTrue
		}
		node.Status.Conditions = append(node.Status.Conditions, corev1.NodeCondition{
			Type: kind, Status: status, LastHeartbeatTime: node.CreationTimestamp, LastTransitionTime: node.CreationTimestamp,
			Reason: "KubeletReports", Message: "what the kubelet has to say about this condition",
		})
	}
	for i := range 40 {
		node.Status.Images = append(node.Status.Images, corev1.ContainerImage{Names: []string{fmt.Sprintf("registry.example.com/image-%d@sha256:%064d", i, i)}, SizeBytes: 1 << 28})
	}
	return node
}

// newCSINode says which drivers for volumes a node has.
func newCSINode(n int) *storagev1.CSINode {
	name := nodeName(n)
	node := &storagev1.CSINode{ObjectMeta: meta("", name, "kubelet", 100*time.Hour)}
	node.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: name, UID: types.UID(name)}}
	node.Spec.Drivers = []storagev1.CSINodeDriver{{
		Name: "disk.csi.example.com", NodeID: "i-" + name, TopologyKeys: []string{"topology.kubernetes.io/zone"},
		Allocatable: &storagev1.VolumeNodeResources{Count: ptr.To[int32](25)},
	}}
	return node
}

func newSlice(n int) *resourcev1.ResourceSlice {
	name := nodeName(n)
	slice := &resourcev1.ResourceSlice{ObjectMeta: meta("", name+"-gpu", "gpu-driver", 99*time.Hour)}
	slice.Spec = resourcev1.ResourceSliceSpec{
		Driver: driver, NodeName: ptr.To(name), Pool: resourcev1.ResourcePool{Name: name, Generation: 1, ResourceSliceCount: 1},
	}
	model := []string{"A100", "H100", "L40S", "B200"}[n%4]
	for d := range devicesPerNode {
		slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{
			Name: fmt.Sprintf("gpu-%d", d),
			Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
				"model": {StringValue: ptr.To(model)}, "numa": {IntValue: ptr.To(int64(d / 4))},
				"uuid":          {StringValue: ptr.To(fmt.Sprintf("GPU-%05d-%d", n, d))},
				"driverVersion": {VersionValue: ptr.To("550.54.15")},
			},
			Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse("80Gi")}},
		})
	}
	return slice
}

func claimName(n, c int) string { return fmt.Sprintf("train-%05d-%d", n, c) }

// teams is the number of namespaces.
const teams = 20

func namespaceOf(n int) string { return fmt.Sprintf("team-%02d", n%teams) }

// newClaim makes a claim of a node; allocated unless it asks for more than there is.
func newClaim(n, c int) *resourcev1.ResourceClaim {
	claim := &resourcev1.ResourceClaim{ObjectMeta: meta(namespaceOf(n), claimName(n, c), "kube-scheduler", 10*time.Hour)}
	claim.Labels = map[string]string{"app.kubernetes.io/name": "train", "team": namespaceOf(n)}
	count := int64(2)
	stuck := isStuck(n, c)
	if stuck {
		count = devicesPerNode + 1 + int64(n%3)
	}
	claim.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "gpu", Exactly: &resourcev1.ExactDeviceRequest{
		DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: count,
	}}}
	if !stuck {
		allocate(claim, n, c)
	}
	return claim
}

func isStuck(n, c int) bool { return n%stuckEvery == 0 && c == perNode-1 }

// allocate writes into a claim what the scheduler would.
func allocate(claim *resourcev1.ResourceClaim, n, c int) {
	name := nodeName(n)
	claim.Finalizers = []string{resourcev1.Finalizer}
	allocation := &resourcev1.AllocationResult{NodeSelector: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{name}}},
	}}}}
	for d := 2 * c; d < 2*c+2; d++ {
		allocation.Devices.Results = append(allocation.Devices.Results, resourcev1.DeviceRequestAllocationResult{
			Request: "gpu", Driver: driver, Pool: name, Device: fmt.Sprintf("gpu-%d", d),
		})
	}
	claim.Status.Allocation = allocation
	claim.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: claim.Name, UID: claim.UID}}
}

// newPod makes the pod that uses a claim, as large as pods are.
func newPod(n, c int) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: meta(namespaceOf(n), claimName(n, c), "kube-controller-manager", 10*time.Hour)}
	pod.Labels = map[string]string{"app.kubernetes.io/name": "train", "team": namespaceOf(n), "pod-template-hash": "5d8f"}
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "train", UID: pod.UID, Controller: ptr.To(true)}}
	container := corev1.Container{Name: "main", Image: "registry.example.com/train:1.2.3", Command: []string{"/bin/train", "--epochs=10"}}
	for i := range 20 {
		container.Env = append(container.Env, corev1.EnvVar{Name: fmt.Sprintf("SETTING_%d", i), Value: "a value of some length, as they have"})
	}
	container.Resources.Claims = []corev1.ResourceClaim{{Name: "gpu"}}
	container.VolumeMounts = []corev1.VolumeMount{{Name: "token", MountPath: "/var/run/secrets/kubernetes.io/serviceaccount"}}
	pod.Spec = corev1.PodSpec{
		Containers: []corev1.Container{container}, NodeName: nodeName(n), SchedulerName: corev1.DefaultSchedulerName,
		Volumes:        []corev1.Volume{{Name: "token"}},
		ResourceClaims: []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: ptr.To(pod.Name)}},
	}
	pod.Status.Phase = corev1.PodRunning
	if isStuck(n, c) {
		pod.Spec.NodeName, pod.Status.Phase = "", corev1.PodPending
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", Ready: true, Image: container.Image, ContainerID: "containerd://" + fmt.Sprintf("%064d", n)}}
	return pod
}
