package manifest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/utils/ptr"
)

// Pod templates are found by their shape, so that kinds that nobody here has heard of have them too.

const (
	maxTemplateDepth = 16 // maps and lists above a pod template; the deepest of known kinds have 8
	maxTemplates     = 64 // of one object
)

// podTemplate is a place in an object that has the shape of a pod template.
type podTemplate struct {
	// steps lead to the spec of the pod: keys (string) and indexes (int).
	steps []any
	// spec is the spec of the pod, and template what holds it together with the metadata of the pod; nil if the spec
	// stands by itself.
	spec, template map[string]any
	// label tells templates of one object apart; it may be empty.
	label    string
	replicas *int64
	// unseen is for a spec without containers: see inspect.Workload.
	unseen bool
}

// path is where the template stands, in the style of messages.
func (t *podTemplate) path() string {
	steps := t.steps
	if t.template != nil {
		steps = steps[:len(steps)-1]
	}
	var path string
	for _, step := range steps {
		switch step := step.(type) {
		case string:
			path = joinPath(path, step)
		case int:
			path += fmt.Sprintf("[%d]", step)
		}
	}
	return path
}

// pointer is where the spec stands, as a JSON pointer (RFC 6901).
func (t *podTemplate) pointer() string {
	var out strings.Builder
	for _, step := range t.steps {
		text := strings.NewReplacer("~", "~0", "/", "~1").Replace(fmt.Sprint(step))
		out.WriteString("/" + text)
	}
	return out.String()
}

// findPodTemplates finds the pod templates of an object, in the order of their paths. What controllers report is no
// template: metadata and status are not looked at.
func findPodTemplates(object map[string]any) []podTemplate {
	f := templateFinder{}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if key != "metadata" && key != "status" {
			f.walk(object[key], level{key: key, value: object, replicas: nil}, []any{key})
		}
	}
	return f.found
}

type templateFinder struct{ found []podTemplate }

// level is a map on the way to a template.
type level struct {
	key      string // of what follows within value
	value    map[string]any
	replicas *int64 // what the maps above multiply to; nil if none of them says anything
	label    string
}

func (f *templateFinder) walk(value any, above level, steps []any) {
	if len(steps) > maxTemplateDepth || len(f.found) == maxTemplates {
		return
	}
	switch value := value.(type) {
	case map[string]any:
		if f.isPodSpec(value, above, steps) {
			return
		}
		for _, key := range slices.Sorted(maps.Keys(value)) {
			next := level{key: key, value: value, label: labelOf(key, value, above.label)}
			next.replicas = times(above.replicas, replicasIn(value, key))
			f.walk(value[key], next, append(slices.Clip(steps), key))
		}
	case []any:
		for i, item := range value {
			f.walk(item, above, append(slices.Clip(steps), i))
		}
	}
}

// isPodSpec reports whether a map is the spec of a pod, and then keeps it.
func (f *templateFinder) isPodSpec(value map[string]any, above level, steps []any) bool {
	unseen := false
	switch {
	case hasItems(value["containers"], "name", "image"):
	case hasItems(value["resourceClaims"], "resourceClaimName", "resourceClaimTemplateName"):
		unseen = true
	default:
		return false
	}
	t := podTemplate{steps: steps, spec: value, label: above.label, replicas: above.replicas, unseen: unseen}
	if above.key == "spec" && len(steps) > 1 && steps[len(steps)-1] == "spec" {
		t.template = above.value
	}
	// What counts a spec that stands by itself stands beside its fields.
	t.replicas = times(t.replicas, replicasIn(value, ""))
	f.found = append(f.found, t)
	return true
}

// hasItems reports whether a value is a list of objects of which each has one of some fields.
func hasItems(value any, fields ...string) bool {
	list, _ := value.([]any)
	for _, item := range list {
		object, _ := item.(map[string]any)
		if !slices.ContainsFunc(fields, func(field string) bool { _, ok := object[field].(string); return ok }) {
			return false
		}
	}
	return len(list) > 0
}

// replicasIn is how often a map wants what it has at a key, or nil if it does not say.
func replicasIn(value map[string]any, key string) *int64 {
	var out *int64
	for _, field := range []string{"replicas", "parallelism", "numOfHosts"} {
		out = times(out, number(value[field]))
	}
	if completions := number(value["completions"]); out != nil && completions != nil && value["parallelism"] != nil {
		out = ptr.To(min(*out, *completions)) // a Job never runs more
	}
	if _, pods := value["template"]; pods && key == "template" {
		out = times(out, number(value["count"])) // a pod set of a Kueue Workload
	}
	return times(out, groupSize(value, key))
}

// groupSize is how many of the pods of one group of a LeaderWorkerSet come from the template at a key.
func groupSize(value map[string]any, key string) *int64 {
	size := ptr.Deref(number(value["size"]), 1)
	switch _, leader := value["leaderTemplate"]; {
	case value["workerTemplate"] == nil || key != "leaderTemplate" && key != "workerTemplate":
		return nil
	case key == "leaderTemplate":
		return ptr.To[int64](1)
	case leader:
		return ptr.To(max(size-1, 0))
	}
	return ptr.To(size)
}

// number is a count that a field gives, or nil if it gives none.
func number(value any) *int64 {
	text, ok := value.(json.Number)
	if !ok {
		return nil
	}
	n, err := text.Int64()
	if err != nil || n < 0 {
		return nil
	}
	return &n
}

// maxReplicas bounds a product of counts; it is far beyond what a cluster bears.
const maxReplicas int64 = 1_000_000_000

// times multiplies counts of which each may be unknown.
func times(a, b *int64) *int64 {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	x, y := min(*a, maxReplicas), min(*b, maxReplicas)
	return ptr.To(min(x*y, maxReplicas))
}

// labelOf is what tells a template at a key apart from others: the name of the nearest item that has one, else the
// nearest key that says more than where templates stand anyway.
func labelOf(key string, value map[string]any, above string) string {
	for _, field := range []string{"name", "groupName"} {
		if name, ok := value[field].(string); ok && name != "" {
			return name
		}
	}
	short := key
	for _, suffix := range []string{"Template", "GroupSpec", "Spec"} {
		short = strings.TrimSuffix(short, suffix)
	}
	switch short {
	case "", "spec", "template", "job", "pod":
		return above
	}
	return strings.ToLower(short)
}
