package whatif

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
)

// PatchOf writes the edits as RFC 6902 operations on the subject. Removals from a list come from the back, so
// that the indices stay true. For a pod there are only those of edits of the pod itself, because its claims
// are other objects.
func PatchOf(ctx context.Context, q *Question, edits []Edit) []explain.PatchOperation {
	root := "/spec"
	switch q.Subject.Kind {
	case "Pod":
		return patchOfPod(q, edits)
	case "ResourceClaimTemplate":
		root = "/spec/spec"
	}
	return specPatch(ctx, q, edits, root)
}

// specPatch writes the edits of claims, whose spec is at a root.
func specPatch(ctx context.Context, q *Question, edits []Edit, root string) []explain.PatchOperation {
	p := &Patch{
		q: q, root: root + "/devices",
		tolerated: map[RequestRef]bool{}, dropped: map[RequestRef]int{}, asks: map[RequestRef]bool{},
	}
	lists := newDraft(q)
	for _, e := range edits {
		if s, ok := e.(SpecEdit); ok {
			s.Patch(p)
			s.Apply(lists)
		}
	}
	p.selectors(ctx, lists.terms)
	p.removals(lists)
	return p.operations
}

// patchOfPod writes the edits of the pod itself.
func patchOfPod(q *Question, edits []Edit) []explain.PatchOperation {
	p := &Patch{q: q}
	for _, e := range edits {
		if pod, ok := e.(PodEdit); ok {
			pod.PatchPod(p)
		}
	}
	for _, e := range fromTheBack(p.podTerms) {
		p.Add("remove", e.path(), nil)
	}
	return p.operations
}

// Patch collects operations of a JSON patch (RFC 6902).
type Patch struct {
	q          *Question
	root       string
	operations []explain.PatchOperation
	tolerated  map[RequestRef]bool // has tolerations by now
	dropped    map[RequestRef]int  // how many capacities are no longer asked for
	asks       map[RequestRef]bool // that some capacity is asked for, where none was
	podTerms   []PodAffinityEdit   // that the pod no longer has
	// podTolerates says that the pod has tolerations by now, where it had none.
	podTolerates bool
}

// Add adds an operation. The value is nil for "remove".
func (p *Patch) Add(op, path string, value any) {
	p.operations = append(p.operations, explain.PatchOperation{Op: op, Path: path, Value: value})
}

// RequestPath returns the path of a request or subrequest.
func (p *Patch) RequestPath(at RequestRef) string {
	path := fmt.Sprintf("%s/requests/%d", p.root, at.Request)
	if at.Sub >= 0 {
		return fmt.Sprintf("%s/firstAvailable/%d", path, at.Sub)
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
func (p *Patch) selectors(ctx context.Context, changed map[SelectorRef]map[int]string) {
	keys := slices.SortedFunc(maps.Keys(changed), func(a, b SelectorRef) int {
		if a.At != b.At {
			return compareRequestRefs(a.At, b.At)
		}
		return b.Index - a.Index
	})
	for _, key := range keys {
		old := (*FieldsOf(p.q.Claims, key.At).Selectors)[key.Index].CEL
		path := fmt.Sprintf("%s/selectors/%d", p.RequestPath(key.At), key.Index)
		if cel := rewrite(ctx, p.q, old, changed[key]); cel != nil {
			p.Add("replace", path+"/cel/expression", cel.Expression)
			continue
		}
		p.Add("remove", path, nil)
	}
}

// removals writes what happens to constraints and requests.
func (p *Patch) removals(lists *Draft) {
	for _, key := range slices.SortedFunc(maps.Keys(lists.constraints), constraintRef.reversed) {
		path := fmt.Sprintf("%s/constraints/%d", p.root, key.constraint)
		if requests := lists.constraints[key]; requests != nil {
			p.Add("add", path+"/requests", requests)
			continue
		}
		p.Add("remove", path, nil)
	}
	for _, at := range slices.SortedFunc(maps.Keys(lists.requests), reversedRequests) {
		p.Add("remove", fmt.Sprintf("%s/requests/%d", p.root, at.Request), nil)
	}
}
