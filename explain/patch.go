package explain

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
)

// patchOf writes the edits as RFC 6902 operations on the subject. Removals from a list come from the back, so that
// the indices stay true. There are none for a pod, because its claims are other objects.
func patchOf(ctx context.Context, q *question, edits []edit) []PatchOperation {
	root := "/spec"
	switch q.subject.Kind {
	case "Pod":
		return nil
	case "ResourceClaimTemplate":
		root = "/spec/spec"
	}
	p := &patch{q: q, root: root + "/devices"}
	lists := &draft{q: q, claims: q.claims}
	for _, e := range edits {
		if s, ok := e.(specEdit); ok {
			s.patch(p)
			s.apply(lists)
		}
	}
	p.selectors(ctx, lists.terms)
	p.removals(lists)
	return p.operations
}

// patch collects operations.
type patch struct {
	q          *question
	root       string
	operations []PatchOperation
	tolerated  map[requestRef]bool // has tolerations by now
}

func (p *patch) add(op, path string, value any) {
	p.operations = append(p.operations, PatchOperation{Op: op, Path: path, Value: value})
}

// request returns the path of a request or subrequest.
func (p *patch) request(at requestRef) string {
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
func (p *patch) selectors(ctx context.Context, changed map[selectorRef]map[int]string) {
	keys := slices.SortedFunc(maps.Keys(changed), func(a, b selectorRef) int {
		if a.at != b.at {
			return compareRequestRefs(a.at, b.at)
		}
		return b.index - a.index
	})
	for _, key := range keys {
		old := (*fieldsOf(p.q.claims, key.at).selectors)[key.index].CEL
		path := fmt.Sprintf("%s/selectors/%d", p.request(key.at), key.index)
		if cel := rewrite(ctx, p.q, old, changed[key]); cel != nil {
			p.add("replace", path+"/cel/expression", cel.Expression)
			continue
		}
		p.add("remove", path, nil)
	}
}

// removals writes what happens to constraints and requests.
func (p *patch) removals(lists *draft) {
	for _, key := range slices.SortedFunc(maps.Keys(lists.constraints), constraintRef.reversed) {
		path := fmt.Sprintf("%s/constraints/%d", p.root, key.constraint)
		if requests := lists.constraints[key]; requests != nil {
			p.add("add", path+"/requests", requests)
			continue
		}
		p.add("remove", path, nil)
	}
	for _, at := range slices.SortedFunc(maps.Keys(lists.requests), reversedRequests) {
		p.add("remove", fmt.Sprintf("%s/requests/%d", p.root, at.request), nil)
	}
}
