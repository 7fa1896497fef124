package nodeshape

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

const (
	labelPool         = "karpenter.sh/nodepool"
	labelCapacityType = "karpenter.sh/capacity-type"
)

// instanceType is a node that can be bought.
type instanceType struct {
	Name             string              `json:"name"`
	Labels           map[string]string   `json:"labels"`
	Taints           []corev1.Taint      `json:"taints"`
	Architecture     string              `json:"architecture"`
	Capacity         corev1.ResourceList `json:"capacity"`
	Resources        corev1.ResourceList `json:"resources"`
	Allocatable      corev1.ResourceList `json:"allocatable"`
	Offerings        []offering          `json:"offerings"`
	ResourceSlices   []sliceTemplate     `json:"resourceSlices"`
	DynamicResources struct {
		ResourceSliceTemplates []sliceTemplate `json:"resourceSliceTemplates"`
	} `json:"dynamicResources"`
}

// offering is where, and on what terms, an instance type can be bought.
type offering struct {
	CapacityType string `json:"capacityType"`
	Zone         string `json:"zone"`
	Available    *bool  `json:"available"`
}

// sliceTemplate is a ResourceSlice of a node, which names neither the node nor what else is not known before.
// Its fields stand in a spec, as in a ResourceSlice, or outside.
type sliceTemplate struct {
	Spec *resourcev1.ResourceSliceSpec `json:"spec"`
	resourcev1.ResourceSliceSpec
}

// requirement is what a NodePool or NodeOverlay asks of nodes.
type requirement struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values"`
}

// nodePool is a NodePool of Karpenter.
type nodePool struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		Template struct {
			Metadata struct {
				Labels map[string]string `json:"labels"`
			} `json:"metadata"`
			Spec struct {
				Taints       []corev1.Taint `json:"taints"`
				Requirements []requirement  `json:"requirements"`
			} `json:"spec"`
		} `json:"template"`
	} `json:"spec"`
}

// nodeOverlay is a NodeOverlay of Karpenter: what it says of instance types that the provider does not know.
type nodeOverlay struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		Requirements   []requirement       `json:"requirements"`
		Capacity       corev1.ResourceList `json:"capacity"`
		ResourceSlices []sliceTemplate     `json:"resourceSlices"`
		Weight         int                 `json:"weight"`
	} `json:"spec"`
}

// ofTypes are the instance types, in each NodePool that takes them and as each offering.
func (f *file) ofTypes() ([]Shape, error) {
	if len(f.types) == 0 && len(f.pools)+len(f.overlays) > 0 {
		return nil, fmt.Errorf("there are a NodePool or a NodeOverlay, but no instance types: give a list of them in the same file, under instanceTypes")
	}
	slices.SortStableFunc(f.overlays, func(a, b nodeOverlay) int {
		return cmp.Or(cmp.Compare(a.Spec.Weight, b.Spec.Weight), strings.Compare(b.Metadata.Name, a.Metadata.Name))
	})
	var out []Shape
	for i := range f.types {
		t := &f.types[i]
		if t.Name == "" {
			return nil, fmt.Errorf("instance type %d has no name", i+1)
		}
		for _, o := range offeringsOf(t) {
			shapes, err := f.ofOffering(t, o, len(t.Offerings) > 1)
			if err != nil {
				return nil, fmt.Errorf("instance type %s: %w", t.Name, err)
			}
			if out = append(out, shapes...); len(out) > maxShapes {
				return nil, fmt.Errorf("instance types and NodePools make more than %d kinds of nodes", maxShapes)
			}
		}
	}
	if len(out) == 0 && len(f.types) > 0 {
		return nil, fmt.Errorf("no NodePool takes any of the instance types")
	}
	return out, nil
}

// offeringsOf are those that can be bought.
func offeringsOf(t *instanceType) []offering {
	if len(t.Offerings) == 0 {
		return []offering{{}}
	}
	return slices.DeleteFunc(slices.Clone(t.Offerings), func(o offering) bool { return o.Available != nil && !*o.Available })
}

// ofOffering is an instance type on the terms of an offering: by itself, or in each NodePool that takes it.
func (f *file) ofOffering(t *instanceType, o offering, several bool) ([]Shape, error) {
	shape, err := t.shape(o, several)
	if err != nil {
		return nil, err
	}
	if len(f.pools) == 0 {
		return []Shape{*shape}, f.overlay(shape)
	}
	var out []Shape
	for i := range f.pools {
		own := *shape
		own.Node = shape.Node.DeepCopy()
		takes, err := f.pools[i].take(&own)
		if err == nil && takes {
			err = f.overlay(&own)
		}
		if err != nil {
			return nil, err
		}
		if takes {
			out = append(out, own)
		}
	}
	return out, nil
}

// shape is an instance type as an offering has it.
func (t *instanceType) shape(o offering, several bool) (*Shape, error) {
	name := t.Name
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: t.Name, Labels: map[string]string{corev1.LabelInstanceTypeStable: t.Name}}}
	if t.Architecture != "" {
		node.Labels[corev1.LabelArchStable] = t.Architecture
	}
	for key, value := range map[string]string{corev1.LabelTopologyZone: o.Zone, labelCapacityType: o.CapacityType} {
		if value != "" {
			node.Labels[key] = value
		}
	}
	maps.Copy(node.Labels, t.Labels)
	if several {
		name = strings.Join(slices.DeleteFunc([]string{t.Name, o.Zone, o.CapacityType}, func(s string) bool { return s == "" }), "/")
	}
	node.Spec.Taints = slices.Clone(t.Taints)
	node.Status.Allocatable = maps.Clone(t.Allocatable)
	node.Status.Capacity = maps.Clone(t.Resources)
	if len(t.Capacity) > 0 {
		node.Status.Capacity = maps.Clone(t.Capacity)
	}
	if len(node.Status.Capacity)+len(node.Status.Allocatable) == 0 {
		return nil, fmt.Errorf("it has no capacity")
	}
	shape := &Shape{Name: name, Source: Karpenter, Node: node}
	return shape, shape.addSlices(append(slices.Clone(t.ResourceSlices), t.DynamicResources.ResourceSliceTemplates...))
}

// addSlices adds slices to the company of a node.
func (s *Shape) addSlices(templates []sliceTemplate) error {
	all := slices.Clone(s.Company.Slices)
	for i, template := range templates {
		spec := template.ResourceSliceSpec
		if template.Spec != nil {
			spec = *template.Spec
		}
		switch {
		case spec.Driver == "":
			return fmt.Errorf("ResourceSlice %d names no driver", i+1)
		case spec.NodeSelector != nil || spec.AllNodes != nil && *spec.AllNodes:
			return fmt.Errorf("ResourceSlice %d is not of one node", i+1)
		case len(spec.Devices) > maxPerNode:
			return fmt.Errorf("ResourceSlice %d has more than %d devices", i+1, maxPerNode)
		}
		spec.NodeName = &s.Node.Name
		spec.Pool = resourcev1.ResourcePool{Name: cmp.Or(spec.Pool.Name, fmt.Sprint(spec.Driver, "-", i)), Generation: 1, ResourceSliceCount: 1}
		for _, other := range all {
			if other.Spec.Driver == spec.Driver && other.Spec.Pool.Name == spec.Pool.Name {
				spec.Pool.Name = fmt.Sprint(spec.Pool.Name, "-", i)
			}
		}
		all = append(all, &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(s.Node.Name, "-", len(all))}, Spec: spec})
	}
	s.Company.Slices = all
	return nil
}

// take makes a node one of a NodePool, if that takes it.
func (p *nodePool) take(s *Shape) (bool, error) {
	template := &p.Spec.Template
	s.Name, s.Node.Name = p.Metadata.Name+"/"+s.Name, p.Metadata.Name+"-"+s.Node.Name
	s.Node.Labels[labelPool] = p.Metadata.Name
	maps.Copy(s.Node.Labels, template.Metadata.Labels)
	s.Node.Spec.Taints = append(s.Node.Spec.Taints, template.Spec.Taints...)
	for _, r := range template.Spec.Requirements {
		if _, has := s.Node.Labels[r.Key]; !has && r.Operator == string(corev1.NodeSelectorOpIn) && len(r.Values) > 0 {
			s.Node.Labels[r.Key] = r.Values[0] // as Karpenter labels what its provider knows nothing of
			if len(r.Values) > 1 {
				s.Assumes = fmt.Sprintf("that it is made with %s=%s, where the NodePool leaves the choice", r.Key, r.Values[0])
			}
		}
	}
	return holds(template.Spec.Requirements, s.Node.Labels)
}

// overlay makes the changes of NodeOverlays, those last that weigh most.
func (f *file) overlay(s *Shape) error {
	for i := range f.overlays {
		spec := &f.overlays[i].Spec
		applies, err := holds(spec.Requirements, s.Node.Labels)
		if err != nil {
			return fmt.Errorf("NodeOverlay %s: %w", f.overlays[i].Metadata.Name, err)
		}
		if !applies {
			continue
		}
		for _, list := range []*corev1.ResourceList{&s.Node.Status.Capacity, &s.Node.Status.Allocatable} {
			if len(*list) > 0 {
				*list = maps.Clone(*list)
				maps.Copy(*list, spec.Capacity)
			}
		}
		if err := s.addSlices(spec.ResourceSlices); err != nil {
			return fmt.Errorf("NodeOverlay %s: %w", f.overlays[i].Metadata.Name, err)
		}
	}
	return nil
}

// holds reports whether labels meet all requirements.
func holds(requirements []requirement, given map[string]string) (bool, error) {
	for _, r := range requirements {
		q, err := r.toLabels()
		if err != nil {
			return false, err
		}
		if !q.Matches(labels.Set(given)) {
			return false, nil
		}
	}
	return true, nil
}

// toLabels is the requirement in terms of a label selector, which knows neither Gte nor Lte.
func (r *requirement) toLabels() (*labels.Requirement, error) {
	operators := map[string]selection.Operator{
		"In": selection.In, "NotIn": selection.NotIn, "Exists": selection.Exists, "DoesNotExist": selection.DoesNotExist,
		"Gt": selection.GreaterThan, "Lt": selection.LessThan, "Gte": selection.GreaterThan, "Lte": selection.LessThan,
	}
	operator, ok := operators[r.Operator]
	if !ok {
		return nil, fmt.Errorf("requirement %s: %q is no operator", r.Key, r.Operator)
	}
	values := r.Values
	if step := map[string]int64{"Gte": -1, "Lte": 1}[r.Operator]; step != 0 && len(values) == 1 {
		n, err := strconv.ParseInt(values[0], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("requirement %s: %q is no number", r.Key, values[0])
		}
		values = []string{strconv.FormatInt(n+step, 10)}
	}
	q, err := labels.NewRequirement(r.Key, operator, values)
	if err != nil {
		return nil, fmt.Errorf("requirement %s: %w", r.Key, err)
	}
	return q, nil
}
