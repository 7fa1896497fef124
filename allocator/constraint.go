package allocator

import (
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
)

// Constraints over the devices of a claim.
//
// With matchAttribute all devices have the same value of an attribute, with distinctAttribute no two have the
// same. While DRAListTypeAttributes is on, values are sets (a scalar is a set of one): "same" means a
// non-empty intersection of all of them, "distinct" pairwise disjoint. Example: {1,2} {1} {2} do not
// match, because the three have nothing in common.
//
// A device that lacks the attribute satisfies neither kind, not even alone.

// constraintState is a constraint of a claim and what it has seen of the devices picked so far.
type constraintState struct {
	index    int
	requests []string // "request" or "request/subrequest"; all if it is empty
	name     resourcev1.FullyQualifiedName
	distinct bool
	lists    bool
	exact    bool // rules.exactValues
	// picked are the attributes of the devices picked so far, in order.
	picked []*resourcev1.DeviceAttribute
	// shared are, for a match over lists, the values in common after each pick.
	shared [][]scalar
	// last are, where rules.distinctByRequest, the attributes by request, and count the number of devices.
	// byDevice is rules.distinctByDevice.
	byRequest, byDevice bool
	last                map[string]*resourcev1.DeviceAttribute
	lastDevice          map[string]int
	count               int
}

func newConstraints(claim *resourcev1.ResourceClaim, cluster *Cluster) []*constraintState {
	var out []*constraintState
	for i := range claim.Spec.Devices.Constraints {
		c := &claim.Spec.Devices.Constraints[i]
		s := &constraintState{index: i, requests: c.Requests, lists: cluster.features.ListTypeAttributes, exact: cluster.rules.exactValues}
		// A constraint with both, which the API refuses, counts as a match.
		switch {
		case c.MatchAttribute != nil:
			s.name = *c.MatchAttribute
		case c.DistinctAttribute != nil:
			s.name, s.distinct = *c.DistinctAttribute, true
			s.byRequest, s.byDevice = cluster.rules.distinctByRequest, cluster.rules.distinctByDevice
		}
		out = append(out, s)
	}
	return out
}

// applies reports whether the constraint is about devices of that request.
func (c *constraintState) applies(a *alternative) bool {
	return len(c.requests) == 0 || slices.Contains(c.requests, a.request.name) || slices.Contains(c.requests, a.name)
}

// values returns what the constraint sees in an attribute: nothing when it cannot compare it.
func (c *constraintState) values(attribute *resourcev1.DeviceAttribute) []scalar {
	if c.lists {
		return valuesOf(attribute)
	}
	if s, ok := scalarOf(attribute); ok {
		return []scalar{s}
	}
	return nil
}

// add lets a device join, or returns why it may not. A constraint that does not apply is satisfied.
func (c *constraintState) add(w *walk, a *alternative, candidate int) (Code, error) {
	if !c.applies(a) {
		return "", nil
	}
	attribute, err := w.attributeOf(a, candidate, c.name)
	if err != nil {
		return "", err
	}
	if attribute == nil {
		return AttributeMissing, nil
	}
	var code Code
	switch {
	case c.lists:
		code = c.addValues(attribute)
	case c.byRequest:
		code = c.checkByRequest(a.request.name, candidate, attribute)
	case c.distinct:
		code = c.checkDistinct(attribute)
	default:
		code = c.checkMatch(attribute)
	}
	if code == "" {
		c.picked = append(c.picked, attribute)
	}
	return code, nil
}

// remove undoes a successful add.
func (c *constraintState) remove(a *alternative) {
	if !c.applies(a) {
		return
	}
	c.picked = c.picked[:len(c.picked)-1]
	if c.byRequest {
		delete(c.last, a.request.name)
		c.count--
	}
	if c.lists && !c.distinct {
		c.shared = c.shared[:len(c.shared)-1]
	}
}

// checkMatch compares with the first device. The first is taken whatever its type is.
func (c *constraintState) checkMatch(attribute *resourcev1.DeviceAttribute) Code {
	if len(c.picked) == 0 {
		return ""
	}
	if !equalsScalar(attribute, c.picked[0]) {
		return MatchAttributeConflict
	}
	return ""
}

// checkDistinct compares with all devices before. Values of different types never clash.
func (c *constraintState) checkDistinct(attribute *resourcev1.DeviceAttribute) Code {
	if len(c.picked) == 0 {
		return ""
	}
	if _, ok := scalarOf(attribute); !ok {
		return DistinctAttributeConflict
	}
	for _, before := range c.picked {
		if equalsScalar(attribute, before) {
			return DistinctAttributeConflict
		}
	}
	return ""
}

// checkByRequest is checkDistinct where rules.distinctByRequest.
func (c *constraintState) checkByRequest(request string, candidate int, attribute *resourcev1.DeviceAttribute) Code {
	if c.count > 0 {
		_, ok := scalarOf(attribute)
		for name, before := range c.last {
			same := equalsScalar(attribute, before)
			if c.byDevice {
				same = c.lastDevice[name] == candidate
			}
			if !ok || same {
				return DistinctAttributeConflict
			}
		}
	}
	if c.last == nil {
		c.last, c.lastDevice = map[string]*resourcev1.DeviceAttribute{}, map[string]int{}
	}
	c.last[request], c.lastDevice[request] = attribute, candidate
	c.count++
	return ""
}

// equalsScalar reports whether other has the scalar value of attribute.
func equalsScalar(attribute, other *resourcev1.DeviceAttribute) bool {
	switch {
	case attribute.StringValue != nil:
		return other.StringValue != nil && *other.StringValue == *attribute.StringValue
	case attribute.IntValue != nil:
		return other.IntValue != nil && *other.IntValue == *attribute.IntValue
	case attribute.BoolValue != nil:
		return other.BoolValue != nil && *other.BoolValue == *attribute.BoolValue
	case attribute.VersionValue != nil:
		return other.VersionValue != nil && *other.VersionValue == *attribute.VersionValue
	}
	return false
}

func (c *constraintState) addValues(attribute *resourcev1.DeviceAttribute) Code {
	values := valuesOf(attribute)
	if c.distinct {
		if len(values) == 0 && !c.exact {
			return DistinctAttributeConflict
		}
		for _, before := range c.picked {
			if len(common(values, valuesOf(before))) > 0 {
				return DistinctAttributeConflict
			}
		}
		return ""
	}
	if len(c.shared) > 0 {
		values = common(c.shared[len(c.shared)-1], values)
	}
	if len(values) == 0 && (!c.exact || len(c.shared) > 0) { // the first may have an empty list
		return MatchAttributeConflict
	}
	c.shared = append(c.shared, values)
	return ""
}
