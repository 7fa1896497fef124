package sources

import (
	"fmt"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
)

const (
	// maxSelectorText is how much text of selectors is compiled to find mistakes in it, in bytes. That takes
	// a second or two; a file of a MiB can hold selectors that take minutes, and a question compiles those
	// that it needs anyway.
	maxSelectorText = 128 << 10
	// selectorCost is what a selector counts for however short it is, in bytes.
	selectorCost = 64
)

// selectorWarnings finds selectors in files that do not compile. The API server would refuse them; the
// scheduler gives up when it reaches one. Each distinct expression is compiled once.
func selectorWarnings(objects *inspect.Objects) []manifest.Warning {
	cache := selector.NewCache(selector.Features{ConsumableCapacity: true, ListTypeAttributes: true})
	var out []manifest.Warning
	known, left := map[string]bool{}, maxSelectorText
	check := func(object, path string, selectors []resourcev1.DeviceSelector) {
		for i := range selectors {
			if selectors[i].CEL == nil {
				continue
			}
			expression := selectors[i].CEL.Expression
			if !known[expression] {
				left -= selectorCost + len(expression)
				known[expression] = left >= 0
			}
			if !known[expression] {
				continue
			}
			if err := cache.Selector(expression).CompileError(); err != nil {
				message, _, _ := strings.Cut(err.Error(), "\n")
				out = append(out, manifest.Warning{
					Source: "selectors", Object: object, Path: fmt.Sprintf("%s[%d].cel.expression", path, i), Message: message,
				})
			}
		}
	}
	spec := func(object, path string, spec *resourcev1.ResourceClaimSpec) {
		for _, asked := range inspect.AskedBy(spec) {
			check(object, path+"."+asked.Path+".selectors", *asked.Selectors)
		}
	}
	for _, c := range objects.Classes {
		check("DeviceClass "+c.Name, "spec.selectors", c.Spec.Selectors)
	}
	for _, c := range objects.Claims {
		spec("ResourceClaim "+c.Namespace+"/"+c.Name, "spec", &c.Spec)
	}
	for _, t := range objects.Templates {
		spec("ResourceClaimTemplate "+t.Namespace+"/"+t.Name, "spec.spec", &t.Spec.Spec)
	}
	if left < 0 {
		out = append(out, manifest.Warning{Source: "selectors", Message: "there are so many that not all were looked at for mistakes"})
	}
	return out
}
