package validate

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

const requestReference = "no such request in this claim; write the name of a request, or <request>/<subrequest>"

// checkClaimSpec checks the spec of a ResourceClaim or of a template.
func checkClaimSpec(v *validator, spec *resourcev1.ResourceClaimSpec, path place) {
	path = path.Child("devices")
	devices := &spec.Devices
	if len(devices.Requests) == 0 {
		v.note(path.Child("requests"), "there is no request, so nothing will be allocated")
	}
	seen := map[string]bool{}
	each(v, devices.Requests, resourcev1.DeviceRequestsMaxSize, path.Child("requests"),
		func(r *resourcev1.DeviceRequest, at place) {
			unique(v, seen, r.Name, at.Child("name"))
			checkRequest(v, r, devices.Constraints, at)
		})
	names := requestNames(devices)
	each(v, devices.Constraints, resourcev1.DeviceConstraintsMaxSize, path.Child("constraints"),
		func(c *resourcev1.DeviceConstraint, at place) {
			checkConstraint(v, c, names, at)
		})
	each(v, devices.Config, resourcev1.DeviceConfigMaxSize, path.Child("config"),
		func(c *resourcev1.DeviceClaimConfiguration, at place) {
			v.requestRefs(c.Requests, names, at.Child("requests"))
			checkConfiguration(v, &c.DeviceConfiguration, at)
		})
}

// requestNames returns every name by which a constraint, a config or a result may refer to a request.
func requestNames(devices *resourcev1.DeviceClaim) map[string]bool {
	names := map[string]bool{}
	for i := range devices.Requests {
		request := &devices.Requests[i]
		names[request.Name] = true
		for j := range request.FirstAvailable {
			names[request.Name+"/"+request.FirstAvailable[j].Name] = true
		}
	}
	return names
}

func checkRequest(v *validator, request *resourcev1.DeviceRequest,
	constraints []resourcev1.DeviceConstraint, path place) {
	v.label(request.Name, path.Child("name"))
	v.oneOf(path, "exactly and firstAvailable",
		choice{"exactly", request.Exactly != nil}, choice{"firstAvailable", len(request.FirstAvailable) > 0})
	if exactly := request.Exactly; exactly != nil {
		checkExactly(v, request.Name, exactly, constraints, path.Child("exactly"))
	}
	seen := map[string]bool{}
	subrequests := path.Child("firstAvailable")
	each(v, request.FirstAvailable, resourcev1.FirstAvailableDeviceRequestMaxSize, subrequests,
		func(sub *resourcev1.DeviceSubRequest, at place) {
			v.label(sub.Name, at.Child("name"))
			unique(v, seen, sub.Name, at.Child("name"))
			checkExactly(v, request.Name+"/"+sub.Name, &resourcev1.ExactDeviceRequest{
				DeviceClassName: sub.DeviceClassName, Selectors: sub.Selectors,
				AllocationMode: sub.AllocationMode, Count: sub.Count, Tolerations: sub.Tolerations,
				Capacity: sub.Capacity, DerivedAttributes: sub.DerivedAttributes,
			}, constraints, at)
		})
}

// checkExactly checks what a request and a subrequest have in common. name is how constraints refer to it.
func checkExactly(v *validator, name string, r *resourcev1.ExactDeviceRequest,
	constraints []resourcev1.DeviceConstraint, path place) {
	class := path.Child("deviceClassName")
	if v.required(r.DeviceClassName, class, "a request names its DeviceClass") {
		v.messages(r.DeviceClassName, class, validation.IsDNS1123Subdomain(r.DeviceClassName))
	}
	checkSelectors(v, r.Selectors, path.Child("selectors"))
	const all, exactCount = resourcev1.DeviceAllocationModeAll, resourcev1.DeviceAllocationModeExactCount
	switch {
	case !supported(v, r.AllocationMode, path.Child("allocationMode"), all, exactCount):
	case r.AllocationMode == all && r.Count != 0:
		v.refuse(field.Invalid(path.Child("count").path, r.Count, "must not be set when allocationMode is All"))
	case r.AllocationMode == exactCount && r.Count < 1:
		v.refuse(field.Invalid(path.Child("count").path, r.Count, "must be greater than zero"))
	}
	for i := range r.Tolerations {
		checkToleration(v, &r.Tolerations[i], path.Child("tolerations").Index(i))
	}
	if r.Capacity != nil {
		requests := path.Child("capacity", "requests")
		v.from38(func() { checkAmounts(v, r.Capacity.Requests, requests) })
		for _, name := range slices.Sorted(maps.Keys(r.Capacity.Requests)) {
			at := requests.Key(string(name))
			if quantity := r.Capacity.Requests[name]; quantity.Sign() < 0 {
				v.note(at, "a negative capacity (%s) makes the scheduler give up", quantity.String())
			}
		}
	}
	seen := map[string]bool{}
	derived := path.Child("derivedAttributes")
	each(v, r.DerivedAttributes, resourcev1.DeviceDerivedAttributesMaxSize, derived,
		func(d *resourcev1.DeviceDerivedAttribute, at place) {
			attribute := string(d.Name)
			v.fullyQualifiedName(attribute, at.Child("name"))
			unique(v, seen, attribute, at.Child("name"))
			if !constrained(name, constraints, attribute) {
				v.refuse(field.Invalid(at.Child("name").path, attribute, "no constraint of this request uses it"))
			}
			v.expression(d.Expression, at.Child("expression"))
		})
}

// constrained reports whether a constraint that covers a request reads an attribute.
func constrained(name string, constraints []resourcev1.DeviceConstraint, attribute string) bool {
	request, _, _ := strings.Cut(name, "/")
	for i := range constraints {
		c := &constraints[i]
		used := c.MatchAttribute
		if used == nil {
			used = c.DistinctAttribute
		}
		if used == nil || string(*used) != attribute {
			continue
		}
		if len(c.Requests) == 0 || slices.Contains(c.Requests, name) || slices.Contains(c.Requests, request) {
			return true
		}
	}
	return false
}

func checkSelectors(v *validator, selectors []resourcev1.DeviceSelector, path place) {
	each(v, selectors, resourcev1.DeviceSelectorsMaxSize, path, func(s *resourcev1.DeviceSelector, at place) {
		if s.CEL == nil {
			v.refuse(field.Required(at.Child("cel").path, "a selector needs a CEL expression; the scheduler gives up on this one"))
			return
		}
		v.expression(s.CEL.Expression, at.Child("cel", "expression"))
	})
}

func (v *validator) expression(expression string, path place) {
	if v.required(strings.TrimSpace(expression), path, "the CEL expression is empty") {
		v.length(expression, resourcev1.CELSelectorExpressionMaxLength, path)
	}
}

func checkConstraint(v *validator, c *resourcev1.DeviceConstraint, names map[string]bool, path place) {
	v.requestRefs(c.Requests, names, path.Child("requests"))
	if c.MatchAttribute != nil {
		v.fullyQualifiedName(string(*c.MatchAttribute), path.Child("matchAttribute"))
	}
	if c.DistinctAttribute != nil && c.MatchAttribute == nil {
		v.fullyQualifiedName(string(*c.DistinctAttribute), path.Child("distinctAttribute"))
	}
	switch {
	case c.MatchAttribute == nil && c.DistinctAttribute == nil:
		v.refuse(field.Required(path.path, "exactly one of matchAttribute and distinctAttribute must be set"))
	case c.MatchAttribute != nil && c.DistinctAttribute != nil:
		v.note(path, "only one of matchAttribute and distinctAttribute may be set: distinctAttribute is ignored")
	}
}

func (v *validator) requestRefs(refs []string, names map[string]bool, path place) {
	seen := map[string]bool{}
	each(v, refs, resourcev1.DeviceRequestsMaxSize, path, func(ref *string, at place) {
		unique(v, seen, *ref, at)
		if !names[*ref] {
			v.refuse(field.Invalid(at.path, inspect.SanitizeShort(*ref, maxSnippetLength), requestReference))
		}
	})
}

func checkConfiguration(v *validator, config *resourcev1.DeviceConfiguration, path place) {
	path = path.Child("opaque")
	if config.Opaque == nil {
		v.refuse(field.Required(path.path, ""))
		return
	}
	v.driver(config.Opaque.Driver, path.Child("driver"))
	raw := config.Opaque.Parameters.Raw
	path = path.Child("parameters")
	var object map[string]json.RawMessage
	switch {
	case len(raw) == 0 || string(raw) == "null":
		v.refuse(field.Required(path.path, ""))
	case !v.length(string(raw), resourcev1.OpaqueParametersMaxLength, path):
	case json.Unmarshal(raw, &object) != nil:
		v.refuse(field.Invalid(path.path, field.OmitValueType{}, "must be an object"))
	}
}

// checkClass checks the spec of a DeviceClass.
func checkClass(v *validator, spec *resourcev1.DeviceClassSpec, path place) {
	checkSelectors(v, spec.Selectors, path.Child("selectors"))
	each(v, spec.Config, resourcev1.DeviceConfigMaxSize, path.Child("config"),
		func(c *resourcev1.DeviceClassConfiguration, at place) {
			checkConfiguration(v, &c.DeviceConfiguration, at)
		})
	if name := spec.ExtendedResourceName; name != nil {
		checkExtendedResource(v, *name, path.Child("extendedResourceName"))
	}
}

// checkExtendedResource checks the name under which containers may request the devices of a class: a
// qualified name outside of Kubernetes' own domain.
func checkExtendedResource(v *validator, name string, path place) {
	domain, _, qualified := strings.Cut(name, "/")
	native := domain == "kubernetes.io" || strings.HasSuffix(domain, ".kubernetes.io")
	if !qualified || native || strings.HasPrefix(name, "requests.") {
		v.refuse(field.Invalid(path.path, inspect.SanitizeShort(name, maxSnippetLength), "must be an extended resource name, such as example.com/gpu"))
		return
	}
	v.labelKey(name, path)
}
