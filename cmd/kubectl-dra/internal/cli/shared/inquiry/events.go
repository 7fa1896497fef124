package inquiry

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
	"github.com/kubectl-dra/kubectl-dra/explain/lifecycle"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
)

// EventsOf returns the Events that belong to the answers about some objects. Those in files that were read
// are all there are without a cluster; of a cluster those of the objects are read, and no others.
func EventsOf(ctx context.Context, r *sources.Reader, s *inspect.Snapshot, subjects []metav1.Object) (inspect.Events, error) {
	given := r.GivenEvents()
	if r.Offline() {
		return given, nil
	}
	involved := involvedIn(s, subjects)
	if len(involved) == 0 {
		return given, nil
	}
	config, err := r.Connection.RESTConfig()
	if err != nil {
		return inspect.Events{}, err
	}
	events, err := live.Events(ctx, config, involved)
	events.List = append(events.List, given.List...)
	return events, err
}

// involvedIn are the objects of the cluster whose Events belong to the answers about some objects, each once.
// An object of a file has no UID, or one that it had when it was saved.
func involvedIn(s *inspect.Snapshot, subjects []metav1.Object) []inspect.ObjectRef {
	var out []inspect.ObjectRef
	seen := map[inspect.ObjectRef]bool{}
	for _, subject := range subjects {
		if _, workload := subject.(*inspect.Workload); workload {
			continue // its pods are other objects
		}
		for _, ref := range WithUID(lifecycle.Concerned(s, KindName(subject), subject.GetNamespace(), subject.GetName())) {
			if !seen[ref] {
				seen[ref] = true
				out = append(out, ref)
			}
		}
	}
	return out
}

// WithUID are the objects that have a UID: without one there may be no such object in the cluster.
func WithUID(objects []inspect.ObjectRef) []inspect.ObjectRef {
	return slices.DeleteFunc(objects, func(o inspect.ObjectRef) bool { return o.UID == "" })
}

// KindName is the kind of an object that can be asked about.
func KindName(object metav1.Object) string {
	switch object.(type) {
	case *corev1.Pod, *inspect.Workload:
		return Pod.Kind
	case *resourcev1.ResourceClaimTemplate:
		return Template.Kind
	}
	return Claim.Kind
}

// StartingPods are pods that are on a node and have no running container yet, of which Events tell what is in
// the way. left is how many more there are.
func StartingPods(s *inspect.Snapshot) (pods []metav1.Object, left int) {
	for _, pod := range s.Objects().Pods {
		if pod.Spec.NodeName == "" || pod.Status.Phase != corev1.PodPending || pod.DeletionTimestamp != nil {
			continue
		}
		if len(pods) == maxStarting {
			left++
			continue
		}
		pods = append(pods, pod)
	}
	return pods, left
}

// maxStarting is the number of pods that are starting of which Events are read.
const maxStarting = 30
