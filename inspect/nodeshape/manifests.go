package nodeshape

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// manifests are the nodes of a file, with what comes with them.
type manifests struct {
	nodes   []*corev1.Node
	slices  []*resourcev1.ResourceSlice
	drivers []*storagev1.CSINode
}

// shapes are the nodes. If there is only one, all slices are of it, whatever node they name: a template names
// none that there is.
func (m *manifests) shapes() ([]Shape, error) {
	if err := m.check(); err != nil || len(m.nodes)+len(m.slices) == 0 {
		return nil, err
	}
	if len(m.nodes) == 0 {
		return nil, errors.New("the file has ResourceSlices and no Node, whose CPU, memory and labels count too")
	}
	var out []Shape
	given := 0
	for _, node := range m.nodes {
		if len(node.Status.Allocatable)+len(node.Status.Capacity) == 0 {
			return nil, fmt.Errorf("node %s has neither status.allocatable nor status.capacity", node.Name)
		}
		shape := Shape{Name: node.Name, Source: Manifest, Node: node}
		shape.Company.Slices = m.slices
		if len(m.nodes) > 1 {
			shape.Company.Slices = slices.DeleteFunc(slices.Clone(m.slices), func(s *resourcev1.ResourceSlice) bool {
				return *s.Spec.NodeName != node.Name
			})
		}
		given += len(shape.Company.Slices)
		for _, d := range m.drivers {
			if d.Name == node.Name || len(m.nodes) == 1 {
				shape.Company.CSINodes = []*storagev1.CSINode{d}
			}
		}
		out = append(out, shape)
	}
	if given < len(m.slices) {
		return nil, fmt.Errorf("%d ResourceSlices are of none of the nodes in the file", len(m.slices)-given)
	}
	return out, nil
}

// check refuses slices that are not of one node: what is added with each would be there for all nodes.
func (m *manifests) check() error {
	for _, slice := range m.slices {
		if slice.Spec.NodeName == nil || *slice.Spec.NodeName == "" {
			return fmt.Errorf("ResourceSlice %s names no node; give spec.nodeName, which may be any name", slice.Name)
		}
	}
	return nil
}
