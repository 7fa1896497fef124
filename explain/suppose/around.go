package suppose

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Change is a change of what is around a pod, as a plain value.
type Change interface {
	// Key names what is changed.
	Key() string
	// Make changes copies of objects, which take their place.
	Make(o *inspect.Objects)
}

// ChangeNode changes a copy of a node, which takes its place.
func ChangeNode(o *inspect.Objects, name inspect.NodeName, change func(*corev1.Node)) {
	for i, node := range o.Nodes {
		if node.Name == string(name) {
			o.Nodes[i] = node.DeepCopy()
			change(o.Nodes[i])
		}
	}
}

// Uncordoned makes a node schedulable.
type Uncordoned struct{ Node inspect.NodeName }

// Key names the node.
func (c Uncordoned) Key() string { return "uncordon " + string(c.Node) }

// Make changes copies.
func (c Uncordoned) Make(o *inspect.Objects) {
	ChangeNode(o, c.Node, func(n *corev1.Node) {
		n.Spec.Unschedulable = false
		n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeUnschedulable })
	})
}

// ManyPods allows more pods on a node than anybody has. It is a setting of the kubelet.
type ManyPods struct{ Node inspect.NodeName }

// Key names the node.
func (c ManyPods) Key() string { return "more pods on " + string(c.Node) }

// Make changes copies.
func (c ManyPods) Make(o *inspect.Objects) {
	ChangeNode(o, c.Node, func(n *corev1.Node) {
		if n.Status.Allocatable == nil {
			n.Status.Allocatable = corev1.ResourceList{}
		}
		n.Status.Allocatable[corev1.ResourcePods] = *resource.NewQuantity(1<<20, resource.DecimalSI)
	})
}

// Declared makes a node declare features, as another version of the kubelet does.
type Declared struct {
	Node     inspect.NodeName
	Features []string
}

// Key names the node and the features.
func (c Declared) Key() string { return fmt.Sprintf("features of %s %q", c.Node, c.Features) }

// Make changes copies.
func (c Declared) Make(o *inspect.Objects) {
	ChangeNode(o, c.Node, func(n *corev1.Node) {
		n.Status.DeclaredFeatures = append(slices.Clip(n.Status.DeclaredFeatures), c.Features...)
		slices.Sort(n.Status.DeclaredFeatures)
	})
}

// NotRepelling drops the anti-affinity of pods. It says what they have against others, apart from the room
// that they take.
type NotRepelling struct{ Pods []inspect.PodRef }

// Key names the pods.
func (c NotRepelling) Key() string { return fmt.Sprintf("not repelling %v", c.Pods) }

// Make changes copies.
func (c NotRepelling) Make(o *inspect.Objects) {
	for i, pod := range o.Pods {
		if slices.Contains(c.Pods, inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name}) {
			o.Pods[i] = pod.DeepCopy()
			o.Pods[i].Spec.Affinity.PodAntiAffinity = nil
		}
	}
}

// ManyVolumes lifts the limits of all volume drivers on a node.
type ManyVolumes struct{ Node inspect.NodeName }

// Key names the node.
func (c ManyVolumes) Key() string { return "more volumes on " + string(c.Node) }

// Make changes copies.
func (c ManyVolumes) Make(o *inspect.Objects) {
	for i, node := range o.CSINodes {
		if node.Name != string(c.Node) {
			continue
		}
		o.CSINodes[i] = node.DeepCopy()
		for k := range o.CSINodes[i].Spec.Drivers {
			o.CSINodes[i].Spec.Drivers[k].Allocatable = nil
		}
	}
}

// ChangeVolumeClaim changes a copy of a volume claim, which takes its place.
func ChangeVolumeClaim(o *inspect.Objects, namespace, name string, change func(*corev1.PersistentVolumeClaim)) {
	o.VolumeClaims = slices.Clone(o.VolumeClaims)
	for i, claim := range o.VolumeClaims {
		if claim.Namespace == namespace && claim.Name == name {
			o.VolumeClaims[i] = claim.DeepCopy()
			change(o.VolumeClaims[i])
		}
	}
}

// bindCompleted is the annotation of a claim that has its volume.
const bindCompleted = "pv.kubernetes.io/bind-completed"

// BoundClaim binds a volume claim.
type BoundClaim struct{ Namespace, Name string }

// Key names the claim.
func (c BoundClaim) Key() string { return fmt.Sprintf("bind volume claim %q", c.Namespace+"/"+c.Name) }

// Make changes copies.
func (c BoundClaim) Make(o *inspect.Objects) {
	ChangeVolumeClaim(o, c.Namespace, c.Name, func(claim *corev1.PersistentVolumeClaim) {
		if claim.Annotations == nil {
			claim.Annotations = map[string]string{}
		}
		claim.Annotations[bindCompleted] = "yes"
		claim.Status.Phase = corev1.ClaimBound
	})
}

// WithClass gives a volume claim a storage class, as the controller gives one that names none the default.
type WithClass struct{ Namespace, Name, Class string }

// Key names the claim and the class.
func (c WithClass) Key() string {
	return fmt.Sprintf("volume claim %q has class %q", c.Namespace+"/"+c.Name, c.Class)
}

// Make changes copies.
func (c WithClass) Make(o *inspect.Objects) {
	ChangeVolumeClaim(o, c.Namespace, c.Name, func(claim *corev1.PersistentVolumeClaim) { claim.Spec.StorageClassName = &c.Class })
}
