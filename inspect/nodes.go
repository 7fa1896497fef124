package inspect

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PseudoNode is the name of the stand-in for "any node" that a Snapshot has when it was given neither
// nodes nor anything that names one.
const PseudoNode NodeName = "any-node"

// indexNodes indexes the nodes. A question about devices is always a question about a node, so when
// no Node objects are known (only the driver's slices were saved, or listing nodes is forbidden) the
// nodes that other objects name stand in for them, without labels.
//
// Stand-ins of a Snapshot before are used again, so that what was found out for them can be shared.
func (s *Snapshot) indexNodes(before *Snapshot) {
	if len(s.objects.Nodes) > 0 {
		return
	}
	s.assumed = true
	s.objects.Nodes = s.assumedNodes()
	if !before.assumed {
		return
	}
	for i, node := range s.objects.Nodes {
		if known, ok := before.Node(NodeName(node.Name)); ok {
			s.objects.Nodes[i] = known
		}
	}
}

func (s *Snapshot) assumedNodes() []*corev1.Node {
	names := map[string]bool{}
	for _, info := range s.byNode {
		names[info.node()] = true
	}
	for _, info := range s.slices {
		for i := range info.slice.Spec.Devices {
			if n := info.slice.Spec.Devices[i].NodeName; n != nil && *n != "" {
				names[*n] = true
			}
		}
	}
	if len(names) == 0 {
		names[string(PseudoNode)] = true
	}
	var nodes []*corev1.Node
	for _, name := range slices.Sorted(maps.Keys(names)) {
		nodes = append(nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	return nodes
}

// NodesAssumed reports that no Node objects were known and that Nodes are stand-ins, without labels,
// for the nodes that ResourceSlices name.
func (s *Snapshot) NodesAssumed() bool { return s.assumed }
