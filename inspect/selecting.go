package inspect

import (
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-dra/kubectl-dra/inspect/schedulerconfig"
)

// Selecting are the objects by whose selectors kube-scheduler spreads pods that have no constraints of their
// own: all that there are. It is nil if they are not known.
type Selecting struct {
	// Namespaces are those in which they are known, all if there is none.
	Namespaces             []string
	Services               []*corev1.Service
	ReplicationControllers []*corev1.ReplicationController
	ReplicaSets            []*appsv1.ReplicaSet
	StatefulSets           []*appsv1.StatefulSet
}

// Of selects the pods that a pod is spread with: those of its services and of its controller. It is empty if
// there are none, and false if they are not known.
func (w *Selecting) Of(pod *corev1.Pod) (labels.Selector, bool) {
	owner := metav1.GetControllerOfNoCopy(pod)
	if w == nil || len(w.Namespaces) > 0 && !slices.Contains(w.Namespaces, pod.Namespace) {
		return labels.Everything(), len(pod.Labels) == 0 && !SelectsPods(owner)
	}
	set := labels.Set{}
	for _, service := range w.Services {
		if service.Namespace == pod.Namespace && service.Spec.Selector != nil && labels.Set(service.Spec.Selector).AsSelectorPreValidated().Matches(labels.Set(pod.Labels)) {
			maps.Copy(set, service.Spec.Selector)
		}
	}
	if !SelectsPods(owner) {
		return set.AsSelector(), true
	}
	return w.ofController(pod.Namespace, owner, set), true
}

// SelectsPods reports whether pods of a controller are spread because of its selector.
func SelectsPods(owner *metav1.OwnerReference) bool {
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
func (w *Selecting) ofController(namespace string, owner *metav1.OwnerReference, set labels.Set) labels.Selector {
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

// DefaultSpread are the constraints that have to be met for a pod because it has none of its own, and its
// profile has some for such pods, with what selects the pods that count. It is false if it is not known
// whether there are any: then all are there that there may be, and the selector is nil.
func (s *Snapshot) DefaultSpread(pod *corev1.Pod) ([]corev1.TopologySpreadConstraint, labels.Selector, bool) {
	profile, _ := s.Scheduler().Profile(pod.Spec.SchedulerName)
	if profile == nil || len(pod.Spec.TopologySpreadConstraints) > 0 || !profile.On("PodTopologySpread", schedulerconfig.Filter) {
		return nil, nil, true
	}
	constraints, _ := profile.DefaultConstraints(corev1.DoNotSchedule)
	if len(constraints) == 0 {
		return nil, nil, true
	}
	selector, known := s.config.Selecting.Of(pod)
	switch created := pod.UID != "" || metav1.GetControllerOfNoCopy(pod) != nil; {
	case !known || !created: // or a controller is to make it, which may select its pods
		return constraints, nil, false
	case selector.Empty():
		return nil, nil, true
	}
	return constraints, selector, true
}

// SpreadsFirmly reports whether a kube-scheduler may refuse nodes to pods that have no constraints of their
// own because of how they are spread.
func SpreadsFirmly(c *schedulerconfig.Config) bool {
	return slices.ContainsFunc(c.ListedConstraints(), func(c corev1.TopologySpreadConstraint) bool {
		return c.WhenUnsatisfiable == corev1.DoNotSchedule
	})
}

// Selecting are the objects by whose selectors pods are spread that do not say how.
func (s *Snapshot) Selecting() *Selecting { return s.config.Selecting }
