package nodeshape

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
		return m.withoutNode()
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

// withoutNode is a node of which only the devices are described.
func (m *manifests) withoutNode() ([]Shape, error) {
	name := *m.slices[0].Spec.NodeName
	for _, slice := range m.slices {
		if *slice.Spec.NodeName != name {
			return nil, errors.New("the ResourceSlices are of several nodes, none of which is in the file")
		}
	}
	shape := Shape{Name: name, Source: Manifest, Unsure: true, Assumes: "that it has enough CPU and memory, and the labels that pods ask for: the file has no Node"}
	shape.Company.Slices = m.slices
	shape.Node = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	shape.Node.Status.Allocatable = corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("1M"), corev1.ResourceMemory: resource.MustParse("1Pi"),
		corev1.ResourceEphemeralStorage: resource.MustParse("1Pi"), corev1.ResourcePods: resource.MustParse("10k"),
	}
	return []Shape{shape}, nil
}
