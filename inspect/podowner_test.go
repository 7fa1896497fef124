package inspect

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

func ownerKind(t *testing.T, word string) OwnerKind {
	t.Helper()
	for _, k := range OwnerKinds() {
		if k.Called(word) {
			return k
		}
	}
	t.Fatalf("no kind is called %q", word)
	return OwnerKind{}
}

func TestOwnerKindIsCalled(t *testing.T) {
	for word, want := range map[string]string{
		"job": "Job", "jobs": "Job", "Jobs.batch": "Job", "job.v1.batch": "Job", "job.v1": "Job", "deploy": "Deployment", "sts": "StatefulSet", "ds": "DaemonSet",
		"rs": "ReplicaSet", "replicaset.apps": "ReplicaSet", "cj": "CronJob", "podgroups.scheduling.k8s.io": "PodGroup", "replicationcontroller": "ReplicationController",
		"jobs.batch.volcano.sh": "", "job.": "", "podgroup.scheduling.x-k8s.io": "", "rc": "", "": "", "statefulset.": "", "v1": "",
	} {
		got := ""
		for _, k := range OwnerKinds() {
			if k.Called(word) {
				got += k.Name
			}
		}
		if got != want {
			t.Errorf("%q is %q, want %q", word, got, want)
		}
	}
}

// TestPodsOwnedBy finds pods by their controllers, by those of these, by the names of ReplicaSets, and by
// their group.
func TestPodsOwnedBy(t *testing.T) {
	pod := func(name, apiVersion, kind, owner string, uid types.UID) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: name}}
		if kind != "" {
			p.OwnerReferences = []metav1.OwnerReference{
				{APIVersion: "v1", Kind: "Node", Name: "a bystander"},
				{APIVersion: apiVersion, Kind: kind, Name: owner, UID: uid, Controller: ptr.To(true)},
			}
		}
		return p
	}
	serve := pod("serve-0", "apps/v1", "ReplicaSet", "serve-5d8f", "rs")
	serve.Labels = map[string]string{"pod-template-hash": "5d8f"}
	ended := pod("train-2", "batch/v1", "Job", "train", "job")
	ended.Status.Phase = corev1.PodFailed
	elsewhere := pod("train-0", "batch/v1", "Job", "train", "job")
	elsewhere.Namespace = "dev"
	grouped := pod("lone", "", "", "", "")
	grouped.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: ptr.To("gang")}
	s := New(Objects{
		Pods: []*corev1.Pod{
			elsewhere, grouped, pod("hash-0", "apps/v1", "ReplicaSet", "serve-5d8f", "rs"), serve, pod("set-0", "apps/v1", "StatefulSet", "set", ""),
			pod("train-0", "batch/v1", "Job", "train", "job"), pod("train-1", "batch/v1", "Job", "train", "old"), ended,
			pod("volcano-0", "batch.volcano.sh/v1alpha1", "Job", "train", "job"),
		},
		PodGroups: []*schedulingv1beta1.PodGroup{{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "empty"}}},
	}, Config{})
	parents := func(namespace string, of *metav1.OwnerReference) *metav1.OwnerReference {
		switch {
		case namespace == "ml" && of.Kind == "Job" && of.UID == "job":
			return &metav1.OwnerReference{APIVersion: "jobset.x-k8s.io/v1alpha2", Kind: "JobSet", Name: "many"}
		case of.Kind == "StatefulSet": // whoever owns itself
			return of
		}
		return nil
	}
	jobSet := OwnerKind{Group: "jobset.x-k8s.io", Version: "v1alpha2", Resource: "jobsets", Name: "JobSet", Singular: "jobset"}
	for _, tt := range []struct {
		owner PodOwner
		want  string
	}{
		{PodOwner{Kind: ownerKind(t, "job"), Name: "train", UID: "job"}, "[train-0]"},
		{PodOwner{Kind: ownerKind(t, "job"), Name: "train"}, "[train-0 train-1]"},
		{PodOwner{Kind: ownerKind(t, "deploy"), Name: "serve", UID: "deployment"}, "[serve-0]"},
		{PodOwner{Kind: ownerKind(t, "rs"), Name: "serve-5d8f"}, "[hash-0 serve-0]"},
		{PodOwner{Kind: ownerKind(t, "sts"), Name: "set", UID: "known"}, "[set-0]"},
		{PodOwner{Kind: ownerKind(t, "sts"), Name: "other"}, "[]"},
		{PodOwner{Kind: ownerKind(t, "podgroup"), Name: "gang"}, "[lone]"},
		{PodOwner{Kind: jobSet, Name: "many"}, "[train-0 volcano-0]"},
	} {
		tt.owner.Namespace = "ml"
		var got []string
		for _, p := range s.PodsOwnedBy(&tt.owner, parents) {
			got = append(got, p.Name)
		}
		if fmt.Sprint(got) != tt.want {
			t.Errorf("%s %s: %v, want %s", tt.owner.Kind.Name, tt.owner.Name, got, tt.want)
		}
	}
	for word, want := range map[string]string{"deployment": "[serve]", "job": "[train]", "podgroup": "[empty gang]", "ds": "[]"} {
		if got := fmt.Sprint(s.OwnerNames(ownerKind(t, word), "ml")); got != want {
			t.Errorf("%s: %s, want %s", word, got, want)
		}
	}
}
