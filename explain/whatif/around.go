package whatif

import (
	"fmt"

	"github.com/kubectl-dra/kubectl-dra/explain/suppose"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// aroundEdit changes what is around the pod: nodes, other pods, or volume claims.
type aroundEdit struct {
	key    string
	change interface{ Make(o *inspect.Objects) }
	// possible says that somebody can do that. Otherwise it says what is in the way.
	possible bool
}

func (e aroundEdit) Key() string             { return e.key }
func (e aroundEdit) Apply(d *Draft)          { d.around[e.key] = e.change.Make }
func (e aroundEdit) feasible(*Question) bool { return e.possible }

// Uncordon makes a node schedulable.
func Uncordon(node inspect.NodeName) Edit {
	return aroundEdit{"uncordon " + string(node), suppose.Uncordoned{Node: node}, true}
}

// MorePods lets a node have any number of pods. It is a setting of the kubelet, so nobody can do that.
func MorePods(node inspect.NodeName) Edit {
	return aroundEdit{"more pods on " + string(node), suppose.ManyPods{Node: node}, false}
}

// DeclareFeatures makes a node declare features. Nobody can do that but with another version of the kubelet.
func DeclareFeatures(node inspect.NodeName, features []string) Edit {
	return aroundEdit{fmt.Sprintf("features of %s %q", node, features), suppose.Declared{Node: node, Features: features}, false}
}

// NotRepelling makes other pods keep nobody away. Nobody can do that; it says what they have against the pod,
// apart from the room that they take.
func NotRepelling(pods []inspect.PodRef) Edit {
	return aroundEdit{fmt.Sprintf("not repelling %v", pods), suppose.NotRepelling{Pods: pods}, false}
}

// MoreVolumes lets a node attach any number of volumes. Nobody can do that.
func MoreVolumes(node inspect.NodeName) Edit {
	return aroundEdit{"more volumes on " + string(node), suppose.ManyVolumes{Node: node}, false}
}

// BindClaim binds a volume claim to the volume that it names.
func BindClaim(namespace, name string) Edit {
	return aroundEdit{fmt.Sprintf("bind volume claim %q", namespace+"/"+name), suppose.BoundClaim{Namespace: namespace, Name: name}, true}
}

// GiveClass gives a volume claim that names no storage class the default one, as the controller does once
// there is one.
func GiveClass(namespace, name, class string) Edit {
	return aroundEdit{fmt.Sprintf("volume claim %q has class %q", namespace+"/"+name, class), suppose.WithClass{Namespace: namespace, Name: name, Class: class}, true}
}
