// Package podrequests is what pods ask for as Kueue counts it, without devices: limits stand for requests,
// some resources are left out, and others are counted for what the Configuration says.
package podrequests

import (
	"maps"
	"slices"
	"strings"

	"gopkg.in/inf.v0"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/scheduler/kueue/quota"
)

// Transformation counts a request for other resources.
type Transformation struct {
	Input corev1.ResourceName
	// Replace drops the input, which is kept otherwise.
	Replace    bool
	MultiplyBy corev1.ResourceName
	Outputs    map[corev1.ResourceName]resource.Quantity
}

// Adjusted is a pod's spec with limits as requests where there are none. The spec itself stays as it is.
func Adjusted(spec *corev1.PodSpec) *corev1.PodSpec {
	out := *spec
	keepFirst := func(r corev1.ResourceRequirements) corev1.ResourceRequirements {
		requests := maps.Clone(r.Requests)
		for name, q := range r.Limits {
			if _, ok := requests[name]; !ok {
				if requests == nil {
					requests = corev1.ResourceList{}
				}
				requests[name] = q
			}
		}
		r.Requests = requests
		return r
	}
	containers := func(in []corev1.Container) []corev1.Container {
		in = slices.Clone(in)
		for i := range in {
			in[i].Resources = keepFirst(in[i].Resources)
		}
		return in
	}
	out.InitContainers, out.Containers = containers(spec.InitContainers), containers(spec.Containers)
	if spec.Resources != nil {
		out.Resources = new(keepFirst(*spec.Resources))
	}
	return &out
}

// ExceedsLimits names a container whose requests are larger than its limits, or "".
func ExceedsLimits(spec *corev1.PodSpec) string {
	exceeds := func(r *corev1.ResourceRequirements) bool {
		for name, q := range r.Requests {
			if limit, ok := r.Limits[name]; ok && quota.RequestAmount(name, q) > quota.RequestAmount(name, limit) {
				return true
			}
		}
		return false
	}
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			if exceeds(&containers[i].Resources) {
				return containers[i].Name
			}
		}
	}
	if spec.Resources != nil && exceeds(spec.Resources) {
		return "pod"
	}
	return ""
}

// Transformed leaves out the resources that need no quota, and counts others for what the Configuration says.
func Transformed(in corev1.ResourceList, excludePrefixes []string, all []Transformation) corev1.ResourceList {
	requests := corev1.ResourceList{}
	for name, q := range in {
		if !slices.ContainsFunc(excludePrefixes, func(prefix string) bool { return strings.HasPrefix(string(name), prefix) }) {
			requests[name] = q
		}
	}
	kept, made := corev1.ResourceList{}, corev1.ResourceList{}
	for name, q := range requests {
		t := transformationOf(name, all)
		if t == nil {
			kept[name] = q
			continue
		}
		input := q
		if factor, ok := requests[t.MultiplyBy]; ok && t.MultiplyBy != "" {
			input = product(q, factor)
		}
		for output, factor := range t.Outputs {
			Add(made, output, product(input, factor))
		}
		if !t.Replace {
			kept[name] = q
		}
	}
	for name, q := range made {
		if q.Sign() > 0 { // what is below zero takes nothing from what was asked for
			Add(kept, name, q)
		} else if _, ok := kept[name]; !ok {
			kept[name] = resource.Quantity{}
		}
	}
	return kept
}

func transformationOf(name corev1.ResourceName, all []Transformation) *Transformation {
	var found *Transformation
	for i := range all {
		if all[i].Input == name {
			found = &all[i] // the last one counts
		}
	}
	return found
}

func product(a, b resource.Quantity) resource.Quantity {
	a, b = a.DeepCopy(), b.DeepCopy()
	out := inf.Dec{}
	out.Mul(a.AsDec(), b.AsDec())
	return *resource.NewDecimalQuantity(out, a.Format)
}

// Add adds to what a list has of a resource.
func Add(list corev1.ResourceList, name corev1.ResourceName, q resource.Quantity) {
	sum := list[name].DeepCopy()
	sum.Add(q)
	list[name] = sum
}

// IsExtended reports whether a resource is none of Kubernetes' own.
func IsExtended(name corev1.ResourceName) bool {
	return strings.Contains(string(name), "/") && !strings.HasPrefix(string(name), corev1.ResourceDefaultNamespacePrefix) &&
		!strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}
