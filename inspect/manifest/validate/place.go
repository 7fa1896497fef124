package validate

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// place is where in an object a field is. To spell out all paths costs more than to look at what is there,
// and few objects have a problem. So each is looked at without paths first, when every place is the same.
type place struct{ path *field.Path }

// at returns the place of a field, by the names that lead to it.
func (v *validator) at(name string, more ...string) place {
	if !v.spelled {
		return place{}
	}
	return place{field.NewPath(name, more...)}
}

// Child returns the place of a field of the one that is here.
func (p place) Child(name string, more ...string) place {
	if p.path == nil {
		return p
	}
	return place{p.path.Child(name, more...)}
}

// Index returns the place of an element of the list that is here.
func (p place) Index(i int) place {
	if p.path == nil {
		return p
	}
	return place{p.path.Index(i)}
}

// Key returns the place of a value of the map that is here.
func (p place) Key(key string) place {
	if p.path == nil {
		return p
	}
	return place{p.path.Key(key)}
}

// keys are the keys of a map: sorted where paths are spelled out, and problems are told in their order.
func keys[K cmp.Ordered, V any](v *validator, of map[K]V) iter.Seq[K] {
	if !v.spelled {
		return maps.Keys(of)
	}
	return slices.Values(slices.Sorted(maps.Keys(of)))
}
