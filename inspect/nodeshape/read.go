package nodeshape

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
)

const (
	// maxFile is the number of bytes of a file up to which it is read, and maxShapes the number of shapes
	// that files may describe.
	maxFile, maxShapes = 8 << 20, 200
	// maxPerNode is the number of devices of one node up to which an annotation is believed.
	maxPerNode = 1024
)

// Read reads the nodes that a file describes, in the order in which they stand there. name is that of the
// file, for messages.
func Read(name string, data []byte) ([]Shape, error) {
	shapes, err := read(name, data)
	if err != nil {
		return nil, fmt.Errorf("reading nodes from %s: %w", name, err)
	}
	for i := range shapes {
		shapes[i].From = name
		complete(shapes[i].Node)
	}
	return shapes, nil
}

func read(name string, data []byte) ([]Shape, error) {
	if len(data) > maxFile {
		return nil, fmt.Errorf("it has more than %d bytes", maxFile)
	}
	documents, err := split(data)
	if err != nil {
		return nil, err
	}
	f := &file{name: name}
	for _, d := range documents {
		if err := f.add(d); err != nil {
			return nil, err
		}
	}
	shapes, err := f.shapes()
	switch {
	case err != nil:
		return nil, err
	case len(shapes) == 0:
		return nil, errors.New("it describes no node: give a Node with its ResourceSlices, a MachineDeployment, MachineSet or MachinePool with the annotations of Cluster Autoscaler, or a list of instance types")
	case len(shapes) > maxShapes:
		return nil, fmt.Errorf("it describes %d nodes; the limit is %d", len(shapes), maxShapes)
	}
	return shapes, nil
}

// split returns the documents of a file of YAML or JSON, as JSON.
func split(data []byte) ([]json.RawMessage, error) {
	var out []json.RawMessage
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		text, err := yaml.YAMLToJSONStrict(document)
		if err != nil {
			return nil, err
		}
		if len(bytes.TrimSpace(text)) > 0 && !bytes.Equal(text, []byte("null")) {
			out = append(out, text)
		}
	}
}

// file is what was read of a file.
type file struct {
	name      string
	manifests []json.RawMessage // of Nodes, ResourceSlices and CSINodes
	groups    []nodeGroup
	pools     []nodePool
	overlays  []nodeOverlay
	types     []instanceType
}

// header is what tells objects apart.
type header struct {
	metav1.TypeMeta `json:",inline"`
	Items           []json.RawMessage `json:"items"`
	InstanceTypes   []json.RawMessage `json:"instanceTypes"`
}

// add takes an object, a list of objects, or a list of instance types.
func (f *file) add(document json.RawMessage) error {
	if bytes.HasPrefix(document, []byte("[")) {
		return into(document, "instance types", &f.types)
	}
	var h header
	if err := json.Unmarshal(document, &h); err != nil {
		return err
	}
	switch {
	case h.InstanceTypes != nil:
		for _, item := range h.InstanceTypes {
			if err := intoList(item, "instance type", &f.types); err != nil {
				return err
			}
		}
		return nil
	case h.Items != nil:
		for _, item := range h.Items {
			if err := f.add(item); err != nil {
				return err
			}
		}
		return nil
	}
	switch h.Kind {
	case "Node", "ResourceSlice", "CSINode":
		f.manifests = append(f.manifests, document)
		return nil
	case "NodePool":
		return intoList(document, "NodePool", &f.pools)
	case "NodeOverlay":
		return intoList(document, "NodeOverlay", &f.overlays)
	case "":
		return errors.New("an object has no kind")
	}
	group := nodeGroup{}
	if err := into(document, h.Kind, &group); err != nil {
		return err
	}
	if group.given() {
		f.groups = append(f.groups, group)
	}
	return nil
}

func into(text json.RawMessage, what string, value any) error {
	if err := json.Unmarshal(text, value); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

func intoList[T any](text json.RawMessage, what string, list *[]T) error {
	var value T
	if err := into(text, what, &value); err != nil {
		return err
	}
	*list = append(*list, value)
	return nil
}

// shapes are those of all formats.
func (f *file) shapes() ([]Shape, error) {
	given, err := f.objects()
	if err != nil {
		return nil, err
	}
	out, err := f.ofGroups(given)
	if err != nil {
		return nil, err
	}
	types, err := f.ofTypes()
	if err != nil {
		return nil, err
	}
	if len(out) == 0 {
		out, err = given.shapes()
	}
	return append(out, types...), err
}

// complete fills in what every node has that runs.
func complete(node *corev1.Node) {
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	node.Spec.Unschedulable, node.Spec.ProviderID = false, ""
	if len(node.Status.Allocatable) == 0 {
		node.Status.Allocatable = maps.Clone(node.Status.Capacity)
	}
	if node.Status.Allocatable == nil {
		node.Status.Allocatable = corev1.ResourceList{}
	}
	if _, ok := node.Status.Allocatable[corev1.ResourcePods]; !ok {
		node.Status.Allocatable[corev1.ResourcePods] = *resource.NewQuantity(defaultPods, resource.DecimalSI)
	}
	if node.Labels == nil {
		node.Labels = map[string]string{}
	}
	for label, usual := range map[string]string{corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64"} {
		if node.Labels[label] == "" {
			node.Labels[label] = usual
		}
	}
	node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeNotReady })
}

// defaultPods is how many pods a kubelet takes unless it is told otherwise.
const defaultPods = 110

// objects are the manifests of a file.
func (f *file) objects() (*manifests, error) {
	m := &manifests{}
	for _, text := range f.manifests {
		read, err := manifest.ReadBytes(f.name, text, manifest.Options{})
		if err != nil {
			return nil, err
		}
		if len(read.Warnings) > 0 {
			w := read.Warnings[0]
			return nil, fmt.Errorf("%s: %s: %s", w.Object, w.Path, w.Message)
		}
		m.nodes = append(m.nodes, read.Objects.Nodes...)
		m.slices = append(m.slices, read.Objects.Slices...)
		m.drivers = append(m.drivers, read.Objects.CSINodes...)
	}
	return m, nil
}
