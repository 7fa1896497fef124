package podtemplate

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	kjson "sigs.k8s.io/json"

	"github.com/kubectl-dra/kubectl-dra/inspect/quantity"
)

const (
	maxTemplateDepth = 16 // maps and lists above a pod template; the deepest of known kinds have 8
	// Most is how many templates of one object are found.
	Most = 64
)

// Template is a place in an object that has the shape of a pod template.
type Template struct {
	// Path is where the template stands, in the style of messages, and Pointer where the spec of the pod
	// does, as a JSON pointer (RFC 6901).
	Path, Pointer string
	// Label tells templates of one object apart; it may be empty.
	Label string
	// Replicas is how many pods the object wants; nil if it does not say.
	Replicas *int64
	// Unseen is for a spec without containers: see inspect.Workload.
	Unseen bool

	// spec is the spec of the pod, and template what holds it together with the metadata of the pod; nil if
	// the spec stands by itself.
	spec, template map[string]any
}

// place says where steps lead: keys (string) and indexes (int).
func place(steps []any) (path, pointer string) {
	var at *field.Path
	var out strings.Builder
	for _, step := range steps {
		out.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(fmt.Sprint(step)))
		switch step := step.(type) {
		case int:
			at = at.Index(step)
		case string:
			if strings.ContainsAny(step, "./[] ") {
				at = at.Key(step)
			} else {
				at = at.Child(step)
			}
		}
	}
	return at.String(), out.String()
}

// Find finds the pod templates of an object, in the order of their paths. What controllers report is no
// template: metadata and status are not looked at.
func Find(object map[string]any) []Template {
	f := finder{}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if key != "metadata" && key != "status" {
			f.walk(object[key], level{key: key, value: object, replicas: nil}, []any{key})
		}
	}
	return f.found
}

type finder struct{ found []Template }

// level is a map on the way to a template.
type level struct {
	key      string // of what follows within value
	value    map[string]any
	replicas *int64 // what the maps above multiply to; nil if none of them says anything
	label    string
}

func (f *finder) walk(value any, above level, steps []any) {
	if len(steps) > maxTemplateDepth || len(f.found) == Most {
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
func (f *finder) isPodSpec(value map[string]any, above level, steps []any) bool {
	unseen := false
	switch {
	case hasItems(value["containers"], "name", "image"):
	case hasItems(value["resourceClaims"], "resourceClaimName", "resourceClaimTemplateName"):
		unseen = true
	default:
		return false
	}
	t := Template{Label: above.label, Replicas: above.replicas, Unseen: unseen, spec: value}
	t.Path, t.Pointer = place(steps)
	if above.key == "spec" && len(steps) > 1 && steps[len(steps)-1] == "spec" {
		t.template = above.value
		t.Path, _ = place(steps[:len(steps)-1])
	}
	// What counts a spec that stands by itself stands beside its fields.
	t.Replicas = times(t.Replicas, replicasIn(value, ""))
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

// labelOf is what tells a template at a key apart from others: the name of the nearest item that has one,
// else the nearest key that says more than where templates stand anyway.
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

// seenFields are those that a spec without containers shares with the spec of a pod.
var seenFields = []string{
	"affinity", "nodeSelector", "priorityClassName", "resourceClaims", "schedulerName", "tolerations", "topologySpreadConstraints",
}

// Pod is the pod of a template, as it would be written down.
func (t *Template) Pod() map[string]any {
	spec := t.spec
	if t.Unseen {
		spec = map[string]any{}
		for _, field := range seenFields {
			if value, ok := t.spec[field]; ok {
				spec[field] = value
			}
		}
	} else if t.template == nil { // other fields of the object may stand beside those of the pod
		spec = podFields(t.spec)
	}
	pod := map[string]any{"apiVersion": "v1", "kind": "Pod", "spec": spec}
	from, _ := t.template["metadata"].(map[string]any)
	meta := map[string]any{}
	for _, field := range []string{"labels", "annotations"} {
		if value, ok := from[field]; ok {
			meta[field] = value
		}
	}
	pod["metadata"] = meta
	return pod
}

// podFields are the fields of a map that the spec of a pod has too.
func podFields(spec map[string]any) map[string]any {
	out := map[string]any{}
	raw, err := json.Marshal(spec)
	if err != nil {
		return spec
	}
	if guarded := quantity.Replace(raw); guarded != nil {
		raw = guarded
	}
	complaints, err := kjson.UnmarshalStrict(raw, &corev1.PodSpec{})
	if err != nil {
		return spec
	}
	unknown := map[string]bool{}
	for _, complaint := range complaints {
		if name, ok := strings.CutPrefix(complaint.Error(), `unknown field "`); ok {
			unknown[strings.TrimSuffix(name, `"`)] = true
		}
	}
	for field, value := range spec {
		if !unknown[field] {
			out[field] = value
		}
	}
	return out
}

// UserPath turns a path within the pod into one within the object.
func (t *Template) UserPath(path string) string {
	if inner, ok := strings.CutPrefix(path, "spec"); ok && t.template == nil {
		return t.Path + inner
	}
	if path == "" {
		return t.Path
	}
	return t.Path + "." + path
}
