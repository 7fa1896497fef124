package inspect

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Workload is one pod template of an object whose controller makes pods, such as a Deployment. It is no part
// of a Snapshot, since its pods are.
type Workload struct {
	// Pod is a pod as the controller would make it, as far as the object tells. It has the namespace and the
	// name of the object; where that has several templates, what tells them apart is added to the name.
	*corev1.Pod
	// Type and Name are those of the object.
	Type metav1.TypeMeta
	Name string
	// Path is where in the object the template stands, such as "spec.template", and SpecPointer where the
	// spec of the pod does, as a JSON pointer, such as "/spec/template/spec".
	Path, SpecPointer string
	// Replicas is how many such pods there are to be at a time. It is nil if that is not known.
	Replicas *int64
	// EachNode means that there is to be one on each node, as for a DaemonSet. Replicas is nil then.
	EachNode bool
	// Unseen means that the object has no pod template: its controller makes the pod from other things and
	// takes only the claims, and where the pod may run, from here. This is so for virtual machines.
	Unseen bool
	// Controller is the object that made this one. It is nil if a user did.
	Controller *metav1.OwnerReference
	// Held says why the controller makes no pods. It is nil if it does. The pod is held back then as by a
	// scheduling gate: see HeldBy.
	Held *Held
	// Queue is the queue of Kueue that will hold the object back once it is created, or "". Whether Kueue is
	// there is not known.
	Queue string
	// Kueue are the labels and annotations of the object that Kueue heeds, by their whole names.
	Kueue map[string]string
}

// Held is what keeps a controller from making pods.
type Held struct {
	// Why is a sentence about the object, such as "Job train makes no pods: it is suspended (spec.suspend)".
	Why string
	// Until says what has to happen, such as "set spec.suspend to false".
	Until string
	// Pointer is the field that does it, as a JSON pointer, with the value that it has to get. It is "" if no
	// field does.
	Pointer string
	Value   any
	// Suspended says that the object is suspended, as Kueue does it.
	Suspended bool
}

// heldGate begins the name of a scheduling gate of a pod that nobody makes. No API server takes such a name.
const heldGate = "held: "

// Hold makes the pod one that is held back by its controller.
func (w *Workload) Hold(h *Held) {
	w.Held = h
	w.Spec.SchedulingGates = append(w.Spec.SchedulingGates, corev1.PodSchedulingGate{Name: heldGate + h.Why})
}

// HeldBy says why the controller of a pod does not make it. It is "" if that is not so.
func HeldBy(pod *corev1.Pod) string {
	for i := range pod.Spec.SchedulingGates {
		if why, ok := strings.CutPrefix(pod.Spec.SchedulingGates[i].Name, heldGate); ok {
			return why
		}
	}
	return ""
}

// GetName returns the name of the pod: the names of the pod and of the object would be ambiguous.
func (w *Workload) GetName() string { return w.Pod.Name }
