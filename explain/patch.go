package explain

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
)

// patch writes the edits as RFC 6902 operations on the subject. Removals from a list come from the back,
// so that the indices stay true. nil for a pod: its claims are other objects.
func (q *question) patch(ctx context.Context, edits []edit) []PatchOperation {
	root := "/spec"
	switch q.subject.Kind {
	case "Pod":
		return nil
	case "ResourceClaimTemplate":
		root = "/spec/spec"
	}
	p := &patcher{q: q, root: root + "/devices"}
	for i := range edits {
		if edits[i].aboutClaim() {
			p.field(&edits[i])
		}
	}
	s := sortEdits(edits)
	p.selectors(ctx, s)
	p.removals(s)
	return p.operations
}

type patcher struct {
	q          *question
	root       string
	operations []PatchOperation
	tolerated  map[alternative]bool // has tolerations by now
}

func (p *patcher) add(op, path string, value any) {
	p.operations = append(p.operations, PatchOperation{Op: op, Path: path, Value: value})
}

func (p *patcher) request(at alternative) string {
	path := fmt.Sprintf("%s/requests/%d", p.root, at.request)
	if at.sub >= 0 {
		return fmt.Sprintf("%s/firstAvailable/%d", path, at.sub)
	}
	return path + "/exactly"
}

// escape makes a reference token of a JSON pointer.
func escape(token string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(token)
}

// field writes the edits that are a matter of one field.
func (p *patcher) field(e *edit) {
	path := p.request(e.at)
	switch e.kind {
	case editCount:
		if *fieldsOf(p.q.claims, e.at).mode != resourcev1.DeviceAllocationModeExactCount {
			p.add("replace", path+"/allocationMode", string(resourcev1.DeviceAllocationModeExactCount))
			p.add("add", path+"/count", e.count)
			return
		}
		p.add("replace", path+"/count", e.count)
	case editCapacity:
		if e.amount == nil {
			p.add("remove", path+"/capacity/requests/"+escape(string(e.capacity)), nil)
			return
		}
		p.add("replace", path+"/capacity/requests/"+escape(string(e.capacity)), e.amount.String())
	case editToleration:
		value := tolerationValue(&e.toleration)
		if len(*fieldsOf(p.q.claims, e.at).tolerations) > 0 || p.tolerated[e.at] {
			p.add("add", path+"/tolerations/-", value)
			return
		}
		p.add("add", path+"/tolerations", []any{value})
		if p.tolerated == nil {
			p.tolerated = map[alternative]bool{}
		}
		p.tolerated[e.at] = true
	case editClass:
		p.add("replace", path+"/deviceClassName", e.class)
	case editAttribute:
		p.add("replace", fmt.Sprintf("%s/constraints/%d/matchAttribute", p.root, e.constraint), string(e.attribute))
	}
}

func tolerationValue(t *resourcev1.DeviceToleration) map[string]any {
	out := map[string]any{"operator": string(t.Operator)}
	for name, value := range map[string]string{"key": t.Key, "value": t.Value, "effect": string(t.Effect)} {
		if value != "" {
			out[name] = value
		}
	}
	return out
}

// selectors writes changed selectors, and removes those of which nothing is left.
func (p *patcher) selectors(ctx context.Context, s sorted) {
	keys := slices.SortedFunc(maps.Keys(s.terms), func(a, b selectorAt) int {
		if a.at != b.at {
			return compareAlternatives(a.at, b.at)
		}
		return b.index - a.index
	})
	for _, key := range keys {
		old := (*fieldsOf(p.q.claims, key.at).selectors)[key.index].CEL
		path := fmt.Sprintf("%s/selectors/%d", p.request(key.at), key.index)
		if cel := p.q.rewrite(ctx, old, s.terms[key]); cel != nil {
			p.add("replace", path+"/cel/expression", cel.Expression)
			continue
		}
		p.add("remove", path, nil)
	}
}

func compareAlternatives(a, b alternative) int {
	return slices.Compare([]int{a.claim, a.request, a.sub}, []int{b.claim, b.request, b.sub})
}

// removals writes what happens to constraints and requests.
func (p *patcher) removals(s sorted) {
	for _, key := range slices.SortedFunc(maps.Keys(s.constraints), reversed) {
		path := fmt.Sprintf("%s/constraints/%d", p.root, key[1])
		if requests := s.constraints[key]; requests != nil {
			p.add("add", path+"/requests", requests)
			continue
		}
		p.add("remove", path, nil)
	}
	for _, key := range slices.SortedFunc(maps.Keys(s.requests), reversed) {
		p.add("remove", fmt.Sprintf("%s/requests/%d", p.root, key[1]), nil)
	}
}

func reversed(a, b [2]int) int { return slices.Compare(b[:], a[:]) }
