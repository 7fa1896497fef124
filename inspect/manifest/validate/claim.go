package validate

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

const requestReference = "no such request in this claim; write the name of a request, or <request>/<subrequest>"

// claimSpec checks the spec of a ResourceClaim or of a template.
func (v *validator) claimSpec(spec *resourcev1.ResourceClaimSpec, path place) {
	path = path.Child("devices")
	devices := &spec.Devices
	if len(devices.Requests) == 0 {
		v.note(path.Child("requests"), "there is no request, so nothing will be allocated")
	}
	if v.size(len(devices.Requests), resourcev1.DeviceRequestsMaxSize, path.Child("requests")) {
		seen := map[string]bool{}
		for i := range devices.Requests {
			at := path.Child("requests").Index(i)
			unique(v, seen, devices.Requests[i].Name, at.Child("name"))
			v.request(&devices.Requests[i], devices.Constraints, at)
		}
	}
	names := requestNames(devices)
	if v.size(len(devices.Constraints), resourcev1.DeviceConstraintsMaxSize, path.Child("constraints")) {
		for i := range devices.Constraints {
			v.constraint(&devices.Constraints[i], names, path.Child("constraints").Index(i))
		}
	}
	if v.size(len(devices.Config), resourcev1.DeviceConfigMaxSize, path.Child("config")) {
		for i := range devices.Config {
			at := path.Child("config").Index(i)
			v.requestRefs(devices.Config[i].Requests, names, at.Child("requests"))
			v.configuration(&devices.Config[i].DeviceConfiguration, at)
		}
	}
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

func (v *validator) request(request *resourcev1.DeviceRequest, constraints []resourcev1.DeviceConstraint, path place) {
	v.label(request.Name, path.Child("name"))
	var set []string
	if request.Exactly != nil {
		set = append(set, "exactly")
	}
	if len(request.FirstAvailable) > 0 {
		set = append(set, "firstAvailable")
	}
	v.oneOf(set, path, "exactly and firstAvailable")
	if exactly := request.Exactly; exactly != nil {
		at := path.Child("exactly")
		v.ask(&ask{
			name: request.Name, class: exactly.DeviceClassName, mode: exactly.AllocationMode, count: exactly.Count,
			selectors: exactly.Selectors, tolerations: exactly.Tolerations, capacity: exactly.Capacity,
			derived: exactly.DerivedAttributes, constraints: constraints,
		}, at)
	}
	path = path.Child("firstAvailable")
	if !v.size(len(request.FirstAvailable), resourcev1.FirstAvailableDeviceRequestMaxSize, path) {
		return
	}
	seen := map[string]bool{}
	for i := range request.FirstAvailable {
		sub, at := &request.FirstAvailable[i], path.Index(i)
		v.label(sub.Name, at.Child("name"))
		unique(v, seen, sub.Name, at.Child("name"))
		v.ask(&ask{
			name: request.Name + "/" + sub.Name, class: sub.DeviceClassName, mode: sub.AllocationMode, count: sub.Count,
			selectors: sub.Selectors, tolerations: sub.Tolerations, capacity: sub.Capacity,
			derived: sub.DerivedAttributes, constraints: constraints,
		}, at)
	}
}

// ask is what a request and a subrequest have in common.
type ask struct {
	name        string // as constraints refer to it
	class       string
	mode        resourcev1.DeviceAllocationMode
	count       int64
	selectors   []resourcev1.DeviceSelector
	tolerations []resourcev1.DeviceToleration
	capacity    *resourcev1.CapacityRequirements
	derived     []resourcev1.DeviceDerivedAttribute
	constraints []resourcev1.DeviceConstraint
}

func (v *validator) ask(a *ask, path place) {
	v.className(a.class, path.Child("deviceClassName"))
	v.selectors(a.selectors, path.Child("selectors"))
	switch a.mode {
	case resourcev1.DeviceAllocationModeAll:
		if a.count != 0 {
			v.refuse(field.Invalid(path.Child("count").path, a.count, "must not be set when allocationMode is All"))
		}
	case resourcev1.DeviceAllocationModeExactCount:
		if a.count < 1 {
			v.refuse(field.Invalid(path.Child("count").path, a.count, "must be greater than zero"))
		}
	default:
		v.refuse(field.NotSupported(path.Child("allocationMode").path, a.mode, []resourcev1.DeviceAllocationMode{
			resourcev1.DeviceAllocationModeAll, resourcev1.DeviceAllocationModeExactCount,
		}))
	}
	for i := range a.tolerations {
		v.toleration(&a.tolerations[i], path.Child("tolerations").Index(i))
	}
	if a.capacity != nil {
		for _, name := range slices.Sorted(maps.Keys(a.capacity.Requests)) {
			at := path.Child("capacity", "requests").Key(string(name))
			if quantity := a.capacity.Requests[name]; quantity.Sign() < 0 {
				v.note(at, "a negative capacity (%s) makes the scheduler give up", quantity.String())
			}
		}
	}
	v.derivedAttributes(a, path.Child("derivedAttributes"))
}

func (v *validator) derivedAttributes(a *ask, path place) {
	if !v.size(len(a.derived), resourcev1.DeviceDerivedAttributesMaxSize, path) {
		return
	}
	seen := map[string]bool{}
	for i := range a.derived {
		name, at := string(a.derived[i].Name), path.Index(i)
		v.fullyQualifiedName(name, at.Child("name"))
		unique(v, seen, name, at.Child("name"))
		if !constrained(a, name) {
			v.refuse(field.Invalid(at.Child("name").path, name, "no constraint of this request uses it"))
		}
		v.expression(a.derived[i].Expression, at.Child("expression"))
	}
}

// constrained reports whether a constraint that covers the request reads an attribute.
func constrained(a *ask, attribute string) bool {
	request, _, _ := strings.Cut(a.name, "/")
	for i := range a.constraints {
		c := &a.constraints[i]
		used := c.MatchAttribute
		if used == nil {
			used = c.DistinctAttribute
		}
		if used == nil || string(*used) != attribute {
			continue
		}
		covers := len(c.Requests) == 0
		for _, name := range c.Requests {
			covers = covers || name == a.name || name == request
		}
		if covers {
			return true
		}
	}
	return false
}

func (v *validator) selectors(selectors []resourcev1.DeviceSelector, path place) {
	if !v.size(len(selectors), resourcev1.DeviceSelectorsMaxSize, path) {
		return
	}
	for i := range selectors {
		if selectors[i].CEL == nil {
			v.refuse(field.Required(path.Index(i).Child("cel").path, "a selector needs a CEL expression; the scheduler gives up on this one"))
			continue
		}
		v.expression(selectors[i].CEL.Expression, path.Index(i).Child("cel", "expression"))
	}
}

func (v *validator) expression(expression string, path place) {
	switch {
	case strings.TrimSpace(expression) == "":
		v.refuse(field.Required(path.path, "the CEL expression is empty"))
	case len(expression) > resourcev1.CELSelectorExpressionMaxLength:
		v.refuse(field.TooLong(path.path, "", resourcev1.CELSelectorExpressionMaxLength))
	}
}

func (v *validator) constraint(c *resourcev1.DeviceConstraint, names map[string]bool, path place) {
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
	if !v.size(len(refs), resourcev1.DeviceRequestsMaxSize, path) {
		return
	}
	seen := map[string]bool{}
	for i, ref := range refs {
		unique(v, seen, ref, path.Index(i))
		if !names[ref] {
			v.refuse(field.Invalid(path.Index(i).path, inspect.SanitizeShort(ref, maxSnippetLength), requestReference))
		}
	}
}

func (v *validator) configuration(config *resourcev1.DeviceConfiguration, path place) {
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
	case len(raw) > resourcev1.OpaqueParametersMaxLength:
		v.refuse(field.TooLong(path.path, "", resourcev1.OpaqueParametersMaxLength))
	case json.Unmarshal(raw, &object) != nil:
		v.refuse(field.Invalid(path.path, field.OmitValueType{}, "must be an object"))
	}
}

// class checks the spec of a DeviceClass.
func (v *validator) class(spec *resourcev1.DeviceClassSpec, path place) {
	v.selectors(spec.Selectors, path.Child("selectors"))
	if v.size(len(spec.Config), resourcev1.DeviceConfigMaxSize, path.Child("config")) {
		for i := range spec.Config {
			v.configuration(&spec.Config[i].DeviceConfiguration, path.Child("config").Index(i))
		}
	}
	if name := spec.ExtendedResourceName; name != nil {
		v.extendedResource(*name, path.Child("extendedResourceName"))
	}
}

// extendedResource checks the name under which containers may request the devices of a class: a
// qualified name outside of Kubernetes' own domain.
func (v *validator) extendedResource(name string, path place) {
	domain, _, qualified := strings.Cut(name, "/")
	native := domain == "kubernetes.io" || strings.HasSuffix(domain, ".kubernetes.io")
	if !qualified || native || strings.HasPrefix(name, "requests.") {
		v.refuse(field.Invalid(path.path, inspect.SanitizeShort(name, maxSnippetLength), "must be an extended resource name, such as example.com/gpu"))
		return
	}
	v.labelKey(name, path)
}
