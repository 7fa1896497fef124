package fix_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/scenario"
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
			e, err := question.Pod(t.Context(), allocator.NewCluster(tt.snapshot, allocator.Options{}), inspect.PodRef{Namespace: "default", Name: "p"}, question.Options{})
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
