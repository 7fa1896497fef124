package filters

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// VolumeAnswer is what the scheduler's plugins say of a pod that has nothing but one volume claim, and so of
// the claim.
type VolumeAnswer struct {
	Claim *corev1.PersistentVolumeClaim
	// Bound says that the claim has its volume.
	Bound bool
	// Class is the storage class that the claim names.
	Class ClassName
	// Everywhere is what holds on every node.
	Everywhere Outcome
	// Nodes are sorted by name. There is one for each that was asked about.
	Nodes []ClaimOnNode
	// Users are pods on nodes that use the claim, Waiting those that wait for a node and use it. Both are
	// sorted.
	Users, Waiting []inspect.PodRef
}

// ClassName is the name of a storage class with its provisioner, which is empty if the class is not known.
type ClassName struct{ Name, Provisioner string }

// ClaimOnNode is how a volume claim fares on a node.
type ClaimOnNode struct {
	Node inspect.NodeName
	// VolumeVerdict is that of the plugin VolumeBinding. The rule is empty if the claim is refused
	// everywhere.
	VolumeVerdict
	// Others is what the plugins NodeVolumeLimits and VolumeZone say.
	Others Outcome
	// Together is what becomes of the claim beside others of one pod, for each pod that waits, where the
	// claims do not fit together although each does alone. It is in the order of the pods.
	Together []VolumeTogether
}

// Outcome is what all plugins say of the node.
func (n *ClaimOnNode) Outcome() Outcome {
	out := n.outcome()
	out.and(n.Others)
	return out
}

// VolumeTogether are claims of a pod that fit one by one on a node and not together.
type VolumeTogether struct {
	Pod inspect.PodRef
	// Claims are all of them, the smallest first.
	Claims []Object
	// Wanted is what they ask for in sum, Left what By has left in sum. Both are nil if the claims need
	// volumes that there are already.
	Wanted, Left *resource.Quantity
	By           Object
	// Refused says that the scheduler notices, and refuses the node. It compares each claim alone with what
	// can be made, so it does not notice that the sum is too much.
	Refused bool
}

// maxTogether bounds the pods for which it is tried whether all their claims fit together.
const maxTogether = 16

// VolumeClaim says of a claim of the snapshot how it fares on nodes, all of them if none is given. It is
// false if there is no such claim.
func (x *Index) VolumeClaim(namespace, name string, nodes ...inspect.NodeName) (*VolumeAnswer, bool) {
	claim := x.storage.claims()[objectName{namespace, name}]
	if claim == nil {
		return nil, false
	}
	pod := x.standIn(claim)
	p := &Prepared{Index: x, Pod: pod}
	binding, everywhere := newVolumeBinding(x, pod)
	out := &VolumeAnswer{Claim: x.written(claim), Bound: len(binding.bound) > 0, Class: x.className(claim), Everywhere: everywhere}
	var checks []check
	for _, prepare := range []func(*Prepared) (check, Outcome){prepareNodeVolumeLimits, prepareVolumeZone} {
		c, o := prepare(p)
		out.Everywhere.and(o)
		if c != nil {
			checks = append(checks, c)
		}
	}
	out.Everywhere = out.Everywhere.once()
	for i := range x.nodes {
		n := x.at(i)
		if len(nodes) > 0 && !slices.Contains(nodes, inspect.NodeName(n.Name)) {
			continue
		}
		on := ClaimOnNode{Node: inspect.NodeName(n.Name)}
		if verdicts := binding.verdicts(n); len(verdicts) > 0 {
			on.VolumeVerdict = verdicts[0]
		}
		for _, c := range checks {
			on.Others.and(c.on(n))
		}
		out.Nodes = append(out.Nodes, on)
	}
	x.addPods(out)
	return out, true
}

// written is a claim as the snapshot has it.
func (x *Index) written(claim *corev1.PersistentVolumeClaim) *corev1.PersistentVolumeClaim {
	for _, other := range x.snapshot.Around().VolumeClaims {
		if other.Namespace == claim.Namespace && other.Name == claim.Name {
			return other
		}
	}
	return claim
}

// standIn is a pod that has nothing but a claim: the pod for which the claim was made, or any.
func (x *Index) standIn(claim *corev1.PersistentVolumeClaim) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: claim.Namespace}}
	owner := metav1.GetControllerOf(claim)
	if owner != nil && owner.Kind == "Pod" && strings.HasPrefix(claim.Name, owner.Name+"-") {
		pod.Name, pod.UID = owner.Name, owner.UID
		volume := corev1.Volume{Name: strings.TrimPrefix(claim.Name, owner.Name+"-")}
		volume.Ephemeral = &corev1.EphemeralVolumeSource{}
		pod.Spec.Volumes = []corev1.Volume{volume}
		return pod
	}
	volume := corev1.Volume{Name: "volume"}
	volume.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim.Name}
	pod.Spec.Volumes = []corev1.Volume{volume}
	return pod
}

func (x *Index) className(claim *corev1.PersistentVolumeClaim) ClassName {
	name := ClassName{Name: classOfClaim(claim)}
	if class := x.storage.byName().classes[name.Name]; class != nil {
		name.Provisioner = class.Provisioner
	}
	return name
}

func (x *Index) classOf(claim Object) string {
	return classOfClaim(x.storage.claims()[objectName{claim.Namespace, claim.Name}])
}

// addPods adds the pods that use the claim, and what becomes of it beside their other claims.
func (x *Index) addPods(a *VolumeAnswer) {
	for _, pod := range x.snapshot.Objects().Pods {
		if ended(pod) || pod.Namespace != a.Claim.Namespace || !x.uses(pod, a.Claim) {
			continue
		}
		ref := inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name}
		if pod.Spec.NodeName != "" {
			a.Users = append(a.Users, ref)
			continue
		}
		a.Waiting = append(a.Waiting, ref)
		if len(a.Waiting) <= maxTogether && !a.Bound {
			x.addTogether(a, pod)
		}
	}
}

func (x *Index) uses(pod *corev1.Pod, claim *corev1.PersistentVolumeClaim) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
		return (v.PersistentVolumeClaim != nil || v.Ephemeral != nil) && x.volumeUseOf(pod, &v).name == objectName{claim.Namespace, claim.Name}
	})
}

// addTogether adds what becomes of the claim beside others of a pod.
func (x *Index) addTogether(a *VolumeAnswer, pod *corev1.Pod) {
	binding, _ := newVolumeBinding(x, pod)
	if len(binding.selected)+len(binding.waiting) < 2 {
		return
	}
	ref := inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name}
	at := 0
	for i := range x.nodes {
		n := x.at(i)
		if at == len(a.Nodes) || a.Nodes[at].Node != inspect.NodeName(n.Name) {
			continue
		}
		on := &a.Nodes[at]
		at++
		if on.answer() != fits {
			continue
		}
		verdicts := slices.DeleteFunc(binding.verdicts(n), func(v VolumeVerdict) bool { return x.classOf(v.Claim) != a.Class.Name })
		if t, found := sharedVolumes(verdicts); found {
			t.Pod = ref
			on.Together = append(on.Together, t)
		}
		if t, found := x.sumOfRoom(verdicts, on, a.Class.Name); found {
			t.Pod = ref
			on.Together = append(on.Together, t)
		}
	}
}

// sharedVolumes are the claims of a class that wait for volumes of which there are not enough for all.
func sharedVolumes(verdicts []VolumeVerdict) (VolumeTogether, bool) {
	t := VolumeTogether{Refused: true}
	short := false
	for i := range verdicts {
		if v := &verdicts[i]; v.Rule == VolumeShared || v.Rule == VolumeExisting && v.answer() == fits {
			t.Claims = append(t.Claims, v.Claim)
			short = short || v.Rule == VolumeShared
		}
	}
	return t, short
}

// sumOfRoom are the claims that are compared with the storage capacity that decides about one of them, if
// they ask for more than it has.
func (x *Index) sumOfRoom(verdicts []VolumeVerdict, on *ClaimOnNode, class string) (VolumeTogether, bool) {
	t := VolumeTogether{By: on.By}
	sum := &resource.Quantity{}
	for i := range verdicts {
		if v := &verdicts[i]; v.Rule == VolumeRoom && v.By == on.By && v.answer() == fits {
			t.Claims = append(t.Claims, v.Claim)
			sum.Add(*v.Wanted)
		}
	}
	offer := x.storage.offersOf(class)[on.Node]
	if len(t.Claims) < 2 || offer == nil || offer.Total == nil || sum.Cmp(*offer.Total) <= 0 {
		return t, false
	}
	t.Wanted, t.Left = sum, offer.Total
	return t, true
}

// Words says it in a clause that begins with the pod.
func (t *VolumeTogether) Words() string {
	var names []string
	for _, c := range t.Claims {
		names = append(names, c.Namespace+"/"+c.Name)
	}
	claims := strings.Join(names, " and ")
	if t.Refused {
		return fmt.Sprintf("pod %s needs volumes for %s, and there are not enough for all", t.Pod, claims)
	}
	return fmt.Sprintf("pod %s asks for %s in all (%s), and %s has %s left; the scheduler compares each claim alone", t.Pod, t.Wanted, claims, t.By.Name, t.Left)
}
