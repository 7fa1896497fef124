package manifest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

func readObjects(t *testing.T, text string) *inspect.Objects {
	t.Helper()
	r, err := ReadBytes("f", []byte(text), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Warnings) > 0 {
		t.Errorf("warnings: %v", r.Warnings)
	}
	return &r.Objects
}

func TestPriorityLevelDefaults(t *testing.T) {
	for name, test := range map[string]struct {
		version, annotations, shares string
		want                         int32
	}{
		"v1 without shares":         {"v1", "{}", "", 30},
		"v1 with zero":              {"v1", "{}", "nominalConcurrencyShares: 0", 0},
		"v1 with five":              {"v1", "{}", "nominalConcurrencyShares: 5", 5},
		"v1beta3 without shares":    {"v1beta3", "{}", "", 30},
		"v1beta3 with zero":         {"v1beta3", "{}", "nominalConcurrencyShares: 0", 30},
		"v1beta3 with zero kept":    {"v1beta3", `{flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares: ""}`, "nominalConcurrencyShares: 0", 0},
		"v1beta3 with five":         {"v1beta3", "{}", "nominalConcurrencyShares: 5", 5},
		"v1 ignores the annotation": {"v1", `{flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares: ""}`, "", 30},
	} {
		t.Run(name, func(t *testing.T) {
			o := readObjects(t, `
apiVersion: flowcontrol.apiserver.k8s.io/`+test.version+`
kind: PriorityLevelConfiguration
metadata: {name: level, annotations: `+test.annotations+`}
spec:
  type: Limited
  limited:
    `+test.shares+`
    limitResponse: {type: Queue, queuing: {queues: 7}}
`)
			want := &flowcontrolv1.LimitedPriorityLevelConfiguration{
				NominalConcurrencyShares: ptr.To(test.want), LendablePercent: ptr.To[int32](0),
				LimitResponse: flowcontrolv1.LimitResponse{
					Type: "Queue", Queuing: &flowcontrolv1.QueuingConfiguration{Queues: 7, HandSize: 8, QueueLengthLimit: 50},
				},
			}
			if diff := cmp.Diff(want, o.PriorityLevels[0].Spec.Limited); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestBetaExemptLevel: the annotation is no part of what a server kept, also of a level without shares of its
// own.
func TestBetaExemptLevel(t *testing.T) {
	o := readObjects(t, `
apiVersion: flowcontrol.apiserver.k8s.io/v1beta3
kind: PriorityLevelConfiguration
metadata: {name: exempt, annotations: {flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares: "", a: b}}
spec: {type: Exempt}
`)
	if diff := cmp.Diff(map[string]string{"a": "b"}, o.PriorityLevels[0].Annotations); diff != "" {
		t.Error(diff)
	}
}

func TestOtherDefaults(t *testing.T) {
	o := readObjects(t, `
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: PriorityLevelConfiguration
metadata: {name: exempt}
spec: {type: Exempt, exempt: {}}
---
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: PriorityLevelConfiguration
metadata: {name: reject}
spec: {type: Limited, limited: {limitResponse: {type: Queue, queuing: {}}}}
---
apiVersion: flowcontrol.apiserver.k8s.io/v1beta3
kind: FlowSchema
metadata: {name: a}
spec: {priorityLevelConfiguration: {name: x}}
---
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: FlowSchema
metadata: {name: b}
spec: {priorityLevelConfiguration: {name: x}, matchingPrecedence: 5}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: s}
provisioner: p
---
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: d}
spec: {storageCapacity: true}
---
apiVersion: storage.k8s.io/v1beta1
kind: CSIStorageCapacity
metadata: {name: c}
storageClassName: s
capacity: 1Gi
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: c}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: v}
---
apiVersion: v1
kind: Pod
metadata: {name: p}
---
apiVersion: v1
kind: Pod
metadata: {name: q}
spec: {schedulerName: mine}
status: {phase: Running}
`)
	want := []any{
		ptr.To[int32](0), ptr.To[int32](0), int32(64), int32(1000), int32(5),
		ptr.To(corev1.PersistentVolumeReclaimDelete), ptr.To(storagev1.VolumeBindingImmediate),
		true, true, "default", corev1.ClaimPending, corev1.PersistentVolumeReclaimRetain,
		corev1.PodPending, "default-scheduler", corev1.PodRunning, "mine",
	}
	exempt, queuing := o.PriorityLevels[0].Spec.Exempt, o.PriorityLevels[1].Spec.Limited.LimitResponse.Queuing
	driver := o.CSIDrivers[0].Spec
	got := []any{
		exempt.NominalConcurrencyShares, exempt.LendablePercent, queuing.Queues,
		o.FlowSchemas[0].Spec.MatchingPrecedence, o.FlowSchemas[1].Spec.MatchingPrecedence,
		o.StorageClasses[0].ReclaimPolicy, o.StorageClasses[0].VolumeBindingMode,
		*driver.AttachRequired, *driver.StorageCapacity, o.StorageCapacities[0].Namespace,
		o.VolumeClaims[0].Status.Phase, o.Volumes[0].Spec.PersistentVolumeReclaimPolicy,
		o.Pods[0].Status.Phase, o.Pods[0].Spec.SchedulerName, o.Pods[1].Status.Phase, o.Pods[1].Spec.SchedulerName,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A bare quantity was a capacity in v1alpha3; in v1beta1 it is {value: quantity}, and some wrote that
// already under v1alpha3.
func TestCapacitiesOfV1alpha3(t *testing.T) {
	o := readObjects(t, `
apiVersion: resource.k8s.io/v1alpha3
kind: ResourceSlice
metadata: {name: s}
spec:
  driver: d
  nodeName: node
  pool: {name: p, resourceSliceCount: 1}
  devices:
  - name: d
    basic:
      capacity: {a: 16Gi, b: 4, c: {value: 2k}}
`)
	device := o.Slices[0].Spec.Devices[0]
	for name, want := range map[string]string{"a": "16Gi", "b": "4", "c": "2k"} {
		capacity := device.Capacity[resourcev1.QualifiedName(name)]
		if got := capacity.Value.String(); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	if node := o.Slices[0].Spec.NodeName; node == nil || *node != "node" || o.Slices[0].Spec.AllNodes != nil {
		t.Errorf("got node %v, all nodes %v", node, o.Slices[0].Spec.AllNodes)
	}
}
