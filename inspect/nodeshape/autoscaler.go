package nodeshape

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// The annotations by which Cluster Autoscaler knows the nodes of a group that has none.
const (
	capacityPrefix = "capacity.cluster-autoscaler.kubernetes.io/"
	annotationCPU  = capacityPrefix + "cpu"
	annotationMem  = capacityPrefix + "memory"
	annotationDisk = capacityPrefix + "ephemeral-disk"
	annotationPods = capacityPrefix + "maxPods"
	annotationGPU  = capacityPrefix + "gpu-type"
	annotationNGPU = capacityPrefix + "gpu-count"
	annotationDRA  = capacityPrefix + "dra-driver"
	annotationCSI  = capacityPrefix + "csi-driver"
	annotationLbl  = capacityPrefix + "labels"
	annotationTnt  = capacityPrefix + "taints"
	maxSizeSuffix  = "/cluster-api-autoscaler-node-group-max-size"
)

// nodeGroup is an object that makes machines: a MachineDeployment, MachineSet or MachinePool.
type nodeGroup struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		Template struct {
			Metadata struct {
				Labels map[string]string `json:"labels"`
			} `json:"metadata"`
			Spec struct {
				Taints []corev1.Taint `json:"taints"`
			} `json:"spec"`
		} `json:"template"`
	} `json:"spec"`
}

// given reports whether the object describes nodes.
func (g *nodeGroup) given() bool {
	for key := range g.Metadata.Annotations {
		if strings.HasPrefix(key, capacityPrefix) {
			return true
		}
	}
	return false
}

// ofGroups are the nodes of the groups. If there is one group, the slices of the file are of its nodes.
func (f *file) ofGroups(m *manifests) ([]Shape, error) {
	if len(f.groups) == 0 {
		return nil, nil
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	if len(m.nodes) > 0 || len(m.slices) > 0 && len(f.groups) > 1 {
		return nil, errors.New("nodes and their slices stand beside groups of machines, so that it is not clear which slices are of which nodes; give them in files of their own")
	}
	var out []Shape
	for i := range f.groups {
		shape, err := f.groups[i].shape()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.groups[i].Metadata.Name, err)
		}
		if len(m.slices) > 0 {
			shape.Company.Slices = m.slices
		}
		out = append(out, *shape)
	}
	return out, nil
}

// shape is a node as Cluster Autoscaler expects it.
func (g *nodeGroup) shape() (*Shape, error) {
	name := g.Metadata.Name
	if name == "" {
		return nil, errors.New("it has no name")
	}
	shape := &Shape{Name: name, Source: ClusterAutoscaler, Node: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}}
	gpus, err := g.capacity(shape.Node)
	if err != nil {
		return nil, err
	}
	if shape.Node.Labels, err = g.labels(); err != nil {
		return nil, err
	}
	if shape.Node.Spec.Taints, err = g.taints(); err != nil {
		return nil, err
	}
	if driver := g.Metadata.Annotations[annotationDRA]; driver != "" && gpus > 0 {
		shape.Company.Slices = []*resourcev1.ResourceSlice{expectedSlice(name, driver, gpus)}
		shape.Assumes = fmt.Sprintf("that driver %s publishes nothing of a device but type=gpu: this is what Cluster Autoscaler makes of the annotations", driver)
	}
	if shape.Company.CSINodes, err = g.volumes(); err != nil {
		return nil, err
	}
	shape.Max, err = g.maxSize()
	return shape, err
}

// capacity writes what a node has of each resource. gpus are those that are devices of a driver.
func (g *nodeGroup) capacity(node *corev1.Node) (gpus int, err error) {
	node.Status.Capacity = corev1.ResourceList{}
	for key, name := range map[string]corev1.ResourceName{
		annotationCPU: corev1.ResourceCPU, annotationMem: corev1.ResourceMemory, annotationDisk: corev1.ResourceEphemeralStorage, annotationPods: corev1.ResourcePods,
	} {
		text := g.Metadata.Annotations[key]
		if text == "" {
			continue
		}
		q, err := resource.ParseQuantity(text)
		if err != nil || q.Sign() < 0 {
			return 0, fmt.Errorf("annotation %s: %q is no quantity", key, text)
		}
		node.Status.Capacity[name] = q
	}
	for _, needed := range []string{annotationCPU, annotationMem} {
		if g.Metadata.Annotations[needed] == "" {
			return 0, fmt.Errorf("annotation %s is missing, without which Cluster Autoscaler adds no first node", needed)
		}
	}
	text := g.Metadata.Annotations[annotationNGPU]
	if text == "" {
		return 0, nil
	}
	if gpus, err = strconv.Atoi(text); err != nil || gpus < 0 || gpus > maxPerNode {
		return 0, fmt.Errorf("annotation %s: %q is no number from 0 to %d", annotationNGPU, text, maxPerNode)
	}
	if kind := g.Metadata.Annotations[annotationGPU]; kind != "" {
		node.Status.Capacity[corev1.ResourceName(kind)] = *resource.NewQuantity(int64(gpus), resource.DecimalSI)
	}
	return gpus, nil
}

// labels are those that the Cluster API gives to nodes, and those of the annotation.
func (g *nodeGroup) labels() (map[string]string, error) {
	out := map[string]string{}
	for key, value := range g.Spec.Template.Metadata.Labels {
		prefix, _, _ := strings.Cut(key, "/")
		if prefix == "node-role.kubernetes.io" || underDomain(prefix, "node-restriction.kubernetes.io") || underDomain(prefix, "node.cluster.x-k8s.io") {
			out[key] = value
		}
	}
	own, err := pairs(g.Metadata.Annotations[annotationLbl], annotationLbl)
	maps.Copy(out, own)
	return out, err
}

func underDomain(name, domain string) bool {
	return name == domain || strings.HasSuffix(name, "."+domain)
}

// pairs reads key=value,….
func pairs(text, annotation string) (map[string]string, error) {
	out := map[string]string{}
	if text == "" {
		return out, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		key, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok || key == "" {
			return nil, fmt.Errorf("annotation %s: %q is not key=value", annotation, part)
		}
		out[key] = value
	}
	return out, nil
}

// taints are those of the machines, and those of the annotation in their place.
func (g *nodeGroup) taints() ([]corev1.Taint, error) {
	out := slices.Clone(g.Spec.Template.Spec.Taints)
	text := g.Metadata.Annotations[annotationTnt]
	if text == "" {
		return out, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		at := strings.LastIndexByte(part, ':')
		if at < 0 {
			return nil, fmt.Errorf("annotation %s: %q is not key=value:effect", annotationTnt, part)
		}
		taint := corev1.Taint{Effect: corev1.TaintEffect(strings.TrimSpace(part[at+1:]))}
		taint.Key, taint.Value, _ = strings.Cut(strings.TrimSpace(part[:at]), "=")
		switch taint.Effect {
		case corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute:
		default:
			return nil, fmt.Errorf("annotation %s: %q is no effect of a taint", annotationTnt, taint.Effect)
		}
		out = slices.DeleteFunc(out, func(t corev1.Taint) bool { return t.Key == taint.Key && t.Effect == taint.Effect })
		out = append(out, taint)
	}
	return out, nil
}

// expectedSlice is what Cluster Autoscaler expects of a driver.
func expectedSlice(node, driver string, gpus int) *resourcev1.ResourceSlice {
	slice := &resourcev1.ResourceSlice{
		ObjectMeta: metav1.ObjectMeta{Name: node + "-" + driver},
		Spec: resourcev1.ResourceSliceSpec{
			Driver: driver, NodeName: &node, Pool: resourcev1.ResourcePool{Name: node, Generation: 1, ResourceSliceCount: 1},
		},
	}
	for i := range gpus {
		slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{
			Name:       fmt.Sprint("gpu-", i),
			Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"type": {StringValue: ptr.To("gpu")}},
		})
	}
	return slice
}

// volumes are how many volumes of each driver a node attaches.
func (g *nodeGroup) volumes() ([]*storagev1.CSINode, error) {
	limits, err := pairs(g.Metadata.Annotations[annotationCSI], annotationCSI)
	if err != nil || len(limits) == 0 {
		return nil, err
	}
	out := &storagev1.CSINode{}
	for _, driver := range slices.Sorted(maps.Keys(limits)) {
		count, err := strconv.ParseInt(limits[driver], 10, 32)
		if err != nil || count < 0 {
			return nil, fmt.Errorf("annotation %s: %q is no number of volumes", annotationCSI, limits[driver])
		}
		out.Spec.Drivers = append(out.Spec.Drivers, storagev1.CSINodeDriver{
			Name: driver, NodeID: driver, Allocatable: &storagev1.VolumeNodeResources{Count: ptr.To(int32(count))},
		})
	}
	return []*storagev1.CSINode{out}, nil
}

// maxSize is the most nodes that the group may have. How many it has is not known, so that as many are taken
// to be free.
func (g *nodeGroup) maxSize() (int, error) {
	for key, text := range g.Metadata.Annotations {
		if !strings.HasSuffix(key, maxSizeSuffix) {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return 0, fmt.Errorf("annotation %s: %q is no number of nodes", key, text)
		}
		if n == 0 {
			return 0, fmt.Errorf("annotation %s: it may have no nodes", key)
		}
		return n, nil
	}
	return 0, nil
}
