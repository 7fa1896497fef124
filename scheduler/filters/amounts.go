package filters

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Amount is how much there is of a resource, in the unit of the scheduler: thousandths of a CPU, otherwise
// what the resource counts (bytes, pages, devices).
type Amount struct {
	Resource corev1.ResourceName
	Value    int64
}

// amounts are sorted by resource, each of which is there once. A resource that is not there is 0.
type amounts []Amount

func (a amounts) of(name corev1.ResourceName) int64 {
	for i := range a {
		if a[i].Resource == name {
			return a[i].Value
		}
	}
	return 0
}

func (a amounts) has(name corev1.ResourceName) bool {
	return slices.ContainsFunc(a, func(e Amount) bool { return e.Resource == name })
}

// add adds other amounts. It changes the receiver where the resources are the same ones.
func (a *amounts) add(other amounts) {
	for i := range other {
		at, found := slices.BinarySearchFunc(*a, other[i].Resource, func(e Amount, name corev1.ResourceName) int {
			return strings.Compare(string(e.Resource), string(name))
		})
		if found {
			(*a)[at].Value = plus((*a)[at].Value, other[i].Value)
		} else {
			*a = slices.Insert(*a, at, other[i])
		}
	}
}

// names remembers which resources the scheduler counts by their names: telling it costs a regular expression.
type names map[corev1.ResourceName]bool

// counted reports whether the scheduler counts a resource.
func (n names) counted(name corev1.ResourceName) bool {
	switch name {
	case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return true
	}
	known, ok := n[name]
	if !ok {
		known = isScalar(name)
		n[name] = known
	}
	return known
}

// isScalar reports whether a resource is one of those that the scheduler knows by their names only.
func isScalar(name corev1.ResourceName) bool {
	text := string(name)
	return strings.HasPrefix(text, corev1.ResourceHugePagesPrefix) || strings.HasPrefix(text, corev1.ResourceAttachableVolumesPrefix) ||
		strings.Contains(text, corev1.ResourceDefaultNamespacePrefix) || isExtended(name)
}

// isExtended reports whether a name is that of a resource that is not part of Kubernetes: one with a domain
// of its own, which a quota could limit.
func isExtended(name corev1.ResourceName) bool {
	text := string(name)
	if !strings.Contains(text, "/") || strings.Contains(text, corev1.ResourceDefaultNamespacePrefix) || strings.HasPrefix(text, corev1.DefaultResourceRequestsPrefix) {
		return false
	}
	return len(validation.IsQualifiedName(corev1.DefaultResourceRequestsPrefix+text)) == 0
}
