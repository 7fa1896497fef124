package nodeshape

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Source says by what a shape is described.
type Source string

// The sources.
const (
	Cluster           Source = "Cluster"           // a node that there is
	Manifest          Source = "Manifest"          // manifests of a Node and ResourceSlices
	ClusterAutoscaler Source = "ClusterAutoscaler" // annotations of a node group
	Karpenter         Source = "Karpenter"         // an instance type, perhaps of a NodePool
)

// Shape is a kind of node.
type Shape struct {
	// Name is unique among the shapes of a question.
	Name   string
	Source Source
	// From is the file that describes it, or how many nodes of the cluster are alike.
	From string
	// Max is the most that there can be of it. 0 is no limit.
	Max int
	// Assumes says what is supposed about the node that the source does not tell. It is "" if nothing is.
	Assumes string
	// Node is the node as it would be. Its name is replaced for each that is added.
	Node *corev1.Node
	// Company are the slices of the node, how many volumes it attaches and, of a node that there is, the pods
	// that every such node gets. There is nothing else in it.
	Company inspect.Objects
}

// Devices is the number of devices of a node.
func (s *Shape) Devices() int {
	n := 0
	for _, slice := range s.Company.Slices {
		n += len(slice.Spec.Devices)
	}
	return n
}

// NodeName is the name of the nth node that is added of a shape, counted from 0.
func (s *Shape) NodeName(n int) inspect.NodeName {
	return inspect.NodeName(fmt.Sprintf("%s.new-%d", s.Node.Name, n))
}

// Add adds the nth node of a shape, with all that comes with it.
func (s *Shape) Add(o *inspect.Objects, n int) {
	name := string(s.NodeName(n))
	rename := func(of string) string { return fmt.Sprintf("%s.%s", of, name) }
	node := s.Node.DeepCopy()
	node.Name, node.UID = name, types.UID(name)
	if node.Labels == nil {
		node.Labels = map[string]string{}
	}
	node.Labels[corev1.LabelHostname] = name
	o.Nodes = append(o.Nodes, node)
	for _, slice := range s.Company.Slices {
		slice = slice.DeepCopy()
		slice.Name, slice.UID, slice.Spec.Pool.Name = rename(slice.Name), types.UID(rename(slice.Name)), rename(slice.Spec.Pool.Name)
		slice.Spec.NodeName = &name
		o.Slices = append(o.Slices, slice)
	}
	for _, drivers := range s.Company.CSINodes {
		drivers = drivers.DeepCopy()
		drivers.Name = name
		o.CSINodes = append(o.CSINodes, drivers)
	}
	for _, pod := range s.Company.Pods {
		pod = pod.DeepCopy()
		pod.Name, pod.UID, pod.Spec.NodeName, pod.Spec.ResourceClaims = rename(pod.Name), types.UID(rename(string(pod.UID))), name, nil
		o.Pods = append(o.Pods, pod)
	}
}

// MakeUnique gives shapes of the same name names that tell them apart. The names of nodes follow, so that
// each has its own.
func MakeUnique(shapes []Shape) {
	names, nodes := map[string]bool{}, map[string]bool{}
	for i := range shapes {
		s := &shapes[i]
		s.Name = unused(names, s.Name, "#")
		if name := unused(nodes, s.Node.Name, "-"); name != s.Node.Name {
			s.Node = s.Node.DeepCopy()
			s.Node.Name = name
		}
	}
}

// unused returns a name that is not in use, and notes that it is.
func unused(used map[string]bool, name, separator string) string {
	out := name
	for n := 2; used[out]; n++ {
		out = fmt.Sprint(name, separator, n)
	}
	used[out] = true
	return out
}
