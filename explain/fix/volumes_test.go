package fix_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/internal/scenario"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// TestVolumeChanges: less is written into the claim, or into the pod that makes the claim for itself.
func TestVolumeChanges(t *testing.T) {
	s, err := scenario.LoadPods("../../testdata/pods/volume-too-large.txtar")
	if err != nil {
		t.Fatal(err)
	}
	own := s.Snapshot.With(func(o *inspect.Objects) {
		pod, claim := o.Pods[0].DeepCopy(), o.VolumeClaims[0].DeepCopy()
		pod.UID = "uid-of-p"
		pod.Spec.Volumes = []corev1.Volume{{Name: "data"}}
		pod.Spec.Volumes[0].Ephemeral = &corev1.EphemeralVolumeSource{}
		claim.Name = "p-data"
		claim.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "p", UID: pod.UID, Controller: ptr.To(true)}}
		o.Pods, o.VolumeClaims = []*corev1.Pod{pod}, []*corev1.PersistentVolumeClaim{claim}
	})
	less := func(path string) []explain.PatchOperation {
		return []explain.PatchOperation{{Op: "replace", Path: path + "/resources/requests/storage", Value: "10Gi"}}
	}
	inPod := less("/spec/volumes/0/ephemeral/volumeClaimTemplate/spec")
	for _, tt := range []struct {
		name     string
		snapshot *inspect.Snapshot
		patch    []explain.PatchOperation
		changes  []explain.ObjectChange
	}{
		{"claim", s.Snapshot, nil, []explain.ObjectChange{{APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: "default", Name: "data", Patch: less("/spec")}}},
		{"of the pod", own, inPod, []explain.ObjectChange{{APIVersion: "v1", Kind: "Pod", Namespace: "default", Name: "p", Patch: inPod}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, err := question.Pod(t.Context(), scheduler.NewCluster(tt.snapshot, scheduler.Options{}), inspect.PodRef{Namespace: "default", Name: "p"}, question.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if len(e.Fixes) != 1 || e.Fixes[0].Kind != explain.ReduceVolume || e.Fixes[0].Node != "n1" || e.Fixes[0].Nodes != 1 {
				t.Fatalf("fixes %+v", e.Fixes)
			}
			if diff := cmp.Diff([]any{tt.patch, tt.changes}, []any{e.Fixes[0].Patch, e.Fixes[0].Changes}); diff != "" {
				t.Error(fmt.Sprint("patch and changes (-want +got):\n", diff))
			}
		})
	}
}

// heldCluster has two nodes, of which n1 alone has a device of the class of the extended resource
// example.com/gpu, and a pod whose volume is of a class that binds at once.
const heldCluster = `{apiVersion: v1, kind: Node, metadata: {name: n0, labels: {kubernetes.io/hostname: n0}}, status: {allocatable: {cpu: "8", memory: 64Gi, pods: "110"}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {kubernetes.io/hostname: n1}}, status: {allocatable: {cpu: "8", memory: 64Gi, pods: "110"}}}
---
{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu}, spec: {extendedResourceName: example.com/gpu}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: s}, spec: {driver: d.example.com, nodeName: n1, pool: {name: n1, generation: 1, resourceSliceCount: 1}, devices: [{name: gpu-0}]}}
---
{apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: {name: csi.example.com}}
---
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: early}, provisioner: csi.example.com, volumeBindingMode: Immediate}
---
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: waits}, provisioner: csi.example.com, volumeBindingMode: WaitForFirstConsumer}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: p-data, namespace: default, annotations: {volume.kubernetes.io/selected-node: n0}, ownerReferences: [{apiVersion: v1, kind: Pod, name: p, uid: u, controller: true}]}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 10Gi}}, storageClassName: early}, status: {phase: Pending}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default, uid: u}, spec: {containers: [{name: c, image: i, resources: {limits: {%s}}}], volumes: [{name: data, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 10Gi}}, storageClassName: early}}}}]}}
`

// TestOtherClassOfOwnVolume: a claim that is made from the pod is made anew with it, for no node yet, and the
// pod still needs all that its containers ask for.
func TestOtherClassOfOwnVolume(t *testing.T) {
	for limits, want := range map[string]string{"": "n0 2", `cpu: "1"`: "n0 2", `example.com/gpu: "1"`: "n1 1", `example.com/gpu: "2"`: ""} {
		read, err := manifest.ReadBytes("cluster", fmt.Appendf(nil, heldCluster, limits), manifest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s := inspect.New(read.Objects, inspect.Config{Revision: 1, Features: inspect.DefaultFeatures(inspect.NewestMinor)})
		e, err := question.Pod(t.Context(), scheduler.NewCluster(s, scheduler.Options{}), inspect.PodRef{Namespace: "default", Name: "p"}, question.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, f := range e.Fixes {
			if f.Kind == explain.ChangeStorageClass {
				got += fmt.Sprint(f.Node, " ", f.Nodes)
			}
		}
		if got != want {
			t.Errorf("{%s}: another class helps on %q, want %q: %+v", limits, got, want, e.Fixes)
		}
	}
}
