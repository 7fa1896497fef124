package scores

import (
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Workloads are the objects by whose selectors the scheduler spreads pods that have no constraints of their
// own: all that there are in the namespaces of the pods that are asked about.
type Workloads struct {
	Services               []*corev1.Service
	ReplicationControllers []*corev1.ReplicationController
	ReplicaSets            []*appsv1.ReplicaSet
	StatefulSets           []*appsv1.StatefulSet
}

// defaultSelector selects the pods that the pod is spread with: those of its services and of its controller.
// It is empty if there are none, and false if they are not known.
func (s *Scorer) defaultSelector() (labels.Selector, bool) {
	owner := metav1.GetControllerOfNoCopy(s.pod)
	w := s.options.Workloads
	if w == nil {
		return labels.Everything(), len(s.pod.Labels) == 0 && !spreads(owner)
	}
	set := labels.Set{}
	for _, service := range w.Services {
		if service.Namespace == s.pod.Namespace && service.Spec.Selector != nil && labels.Set(service.Spec.Selector).AsSelectorPreValidated().Matches(labels.Set(s.pod.Labels)) {
			maps.Copy(set, service.Spec.Selector)
		}
	}
	if !spreads(owner) {
		return set.AsSelector(), true
	}
	return w.ofController(s.pod.Namespace, owner, set), true
}

// spreads reports whether pods of a controller are spread because of its selector.
func spreads(owner *metav1.OwnerReference) bool {
	if owner == nil {
		return false
	}
	switch owner.APIVersion + " " + owner.Kind {
	case "v1 ReplicationController", "apps/v1 ReplicaSet", "apps/v1 StatefulSet":
		return true
	}
	return false
}

// ofController is what labels and the selector of a controller select together. A controller that does not
// exist adds nothing.
func (w *Workloads) ofController(namespace string, owner *metav1.OwnerReference, set labels.Set) labels.Selector {
	of := func(o metav1.Object) bool { return o.GetNamespace() == namespace && o.GetName() == owner.Name }
	var selector *metav1.LabelSelector
	for _, rc := range w.ReplicationControllers {
		if owner.Kind == "ReplicationController" && of(rc) {
			maps.Copy(set, rc.Spec.Selector)
		}
	}
	for _, rs := range w.ReplicaSets {
		if owner.Kind == "ReplicaSet" && of(rs) {
			selector = rs.Spec.Selector
		}
	}
	for _, ss := range w.StatefulSets {
		if owner.Kind == "StatefulSet" && of(ss) {
			selector = ss.Spec.Selector
		}
	}
	out := set.AsSelector()
	if selector == nil {
		return out
	}
	other, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return out
	}
	if requirements, ok := other.Requirements(); ok {
		out = out.Add(requirements...)
	}
	return out
}

// mayBeSpread reports whether nodes could differ by how constraints spread the pod, whatever selects the pods
// that count. It selects pods of the namespace that have a label of the pod, if only services can; where
// there is none, nodes differ only if one has the label of a constraint and another one has not.
func (s *Scorer) mayBeSpread(constraints []corev1.TopologySpreadConstraint) bool {
	controlled := spreads(metav1.GetControllerOfNoCopy(s.pod))
	labelled := make([]int, len(constraints))
	for _, n := range s.nodes {
		for pod := range n.Pods() {
			if pod.Namespace == s.pod.Namespace && pod.DeletionTimestamp == nil && (controlled || share(pod.Labels, s.pod.Labels)) {
				return true
			}
		}
		for i := range constraints {
			if _, ok := n.Object().Labels[constraints[i].TopologyKey]; ok {
				labelled[i]++
			}
		}
	}
	return slices.ContainsFunc(labelled, func(n int) bool { return n != 0 && n != len(s.nodes) })
}

// share reports whether two sets of labels have one in common.
func share(a, b map[string]string) bool {
	for key, value := range a {
		if other, ok := b[key]; ok && other == value {
			return true
		}
	}
	return false
}
