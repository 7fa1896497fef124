package filters

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// maxTries bounds how often a problem is asked again to make it smaller.
const maxTries = 3000

// shrinker makes a problem smaller for as long as both sides go on disagreeing in the same way.
type shrinker struct {
	t       *testing.T
	compare comparer
	problem *problem // with one pod
	found   disagreement
	tries   int
}

// shrink leaves out what does not matter to a disagreement about a pod: gates, objects, then fields of
// objects.
func shrink(t *testing.T, p *problem, compare comparer, d disagreement) (*problem, disagreement) {
	t.Helper()
	i := slices.IndexFunc(p.asked, func(pod *corev1.Pod) bool { return pod.Name == d.pod })
	s := &shrinker{t: t, compare: compare, problem: p.about(p.asked[i]), found: d}
	for smaller := true; smaller && s.tries < maxTries; {
		smaller = s.dropGates()
		smaller = s.dropObjects() || smaller
		smaller = s.dropFields() || smaller
	}
	return s.problem, s.found
}

// try takes over a smaller problem if it still shows the disagreement.
func (s *shrinker) try(p *problem) bool {
	s.tries++
	result, err := s.compare(s.t, p)
	if err != nil {
		return false
	}
	i := slices.IndexFunc(result.disagreements, s.found.like)
	if i < 0 {
		return false
	}
	s.problem, s.found = p, result.disagreements[i]
	return true
}

func (s *shrinker) dropGates() (smaller bool) {
	for gate := range s.problem.gates {
		p := s.problem.asking(s.problem.asked[0])
		delete(p.gates, gate)
		smaller = s.try(p) || smaller
	}
	return smaller
}

// dropObjects leaves out halves of each list, quarters, and so on down to single objects.
func (s *shrinker) dropObjects() (smaller bool) {
	for _, kind := range inspect.Kinds() {
		for size := len(kind.Objects(&s.problem.objects)); size > 0; size /= 2 {
			for from := 0; from < len(kind.Objects(&s.problem.objects)); {
				p := s.problem.asking(s.problem.asked[0])
				all := kind.Objects(&p.objects)
				inspect.SetObjects(&p.objects, kind, slices.Delete(slices.Clone(all), from, min(from+size, len(all))))
				if s.try(p) {
					smaller = true
				} else {
					from += size
				}
			}
		}
	}
	return smaller
}

// dropFields leaves out fields and elements of lists, the outer ones first.
func (s *shrinker) dropFields() (smaller bool) {
	replace := func(changed metav1.Object) *problem {
		return s.problem.asking(changed.(*corev1.Pod)) //nolint:forcetypeassert // the kind of what it replaces
	}
	smaller = s.dropFieldsOf(s.problem.asked[0], replace)
	for _, kind := range inspect.Kinds() {
		for i, object := range kind.Objects(&s.problem.objects) {
			replace := func(changed metav1.Object) *problem {
				p := s.problem.asking(s.problem.asked[0])
				all := slices.Clone(kind.Objects(&p.objects))
				all[i] = changed
				inspect.SetObjects(&p.objects, kind, all)
				return p
			}
			smaller = s.dropFieldsOf(object, replace) || smaller
		}
	}
	return smaller
}

func (s *shrinker) dropFieldsOf(object metav1.Object, replace func(metav1.Object) *problem) (smaller bool) {
	tree := treeOf(object)
	for _, path := range paths(tree, nil) {
		changed, ok := without(tree, path)
		if !ok {
			continue // it went with what was around it
		}
		// A fresh object of the same type: reading into a copy would keep what was left out.
		next := reflect.New(reflect.TypeOf(object).Elem()).Interface()
		if data, err := json.Marshal(changed); err != nil || json.Unmarshal(data, next) != nil || reflect.DeepEqual(next, object) {
			continue
		}
		if next := next.(metav1.Object); s.try(replace(next)) { //nolint:forcetypeassert // the type of the object
			object, tree, smaller = next, changed, true
		}
	}
	return smaller
}

// treeOf is an object as maps and lists, but for the fields that it leaves empty.
func treeOf(object metav1.Object) any {
	tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		panic(fmt.Sprintf("converting %T: %v", object, err))
	}
	return tree
}

// paths lists all fields and elements below a value, outer ones first, and later elements of a list before
// earlier ones, so that the paths of those remain.
func paths(value any, at []any) [][]any {
	var out [][]any
	below := func(key, value any) {
		path := append(slices.Clone(at), key)
		out = append(append(out, path), paths(value, path)...)
	}
	switch v := value.(type) {
	case map[string]any:
		for key, value := range v {
			if len(at) > 0 && at[0] == "metadata" && (key == "name" || key == "uid" || key == "namespace") {
				continue
			}
			below(key, value)
		}
		slices.SortStableFunc(out, func(a, b []any) int { return strings.Compare(fmt.Sprint(a[len(at)]), fmt.Sprint(b[len(at)])) })
	case []any:
		for i := len(v) - 1; i >= 0; i-- {
			below(i, v[i])
		}
	}
	return out
}

// without is a value but for what is at a path, and the result is false if there is nothing. The value itself
// is not changed.
func without(value any, path []any) (any, bool) {
	switch v := value.(type) {
	case map[string]any:
		key, ok := path[0].(string)
		before, found := v[key]
		if !ok || !found {
			return nil, false
		}
		out := maps.Clone(v)
		if len(path) == 1 {
			delete(out, key)
			return out, true
		}
		out[key], ok = without(before, path[1:])
		return out, ok
	case []any:
		i, ok := path[0].(int)
		if !ok || i >= len(v) {
			return nil, false
		}
		if len(path) == 1 {
			return slices.Delete(slices.Clone(v), i, i+1), true
		}
		out := slices.Clone(v)
		out[i], ok = without(v[i], path[1:])
		return out, ok
	}
	return nil, false
}

// manifest prints a problem as files that the program reads.
func (p *problem) manifest() string {
	var b strings.Builder
	for gate, on := range p.gates {
		fmt.Fprintf(&b, "# %s=%t\n", gate, on)
	}
	for _, kind := range inspect.Kinds() {
		for _, object := range kind.Objects(&p.objects) {
			b.WriteString(document(object))
		}
	}
	return b.String() + "# asked about:\n" + strings.TrimPrefix(document(p.asked[0]), "---\n")
}

func document(object metav1.Object) string {
	tree, _ := treeOf(object).(map[string]any)
	if gvks, _, err := scheme.Scheme.ObjectKinds(object.(runtime.Object)); err == nil { //nolint:forcetypeassert // every object of the API is
		tree["apiVersion"], tree["kind"] = gvks[0].GroupVersion().String(), gvks[0].Kind
	}
	if status, ok := tree["status"].(map[string]any); ok {
		delete(status, "daemonEndpoints") // never left out, and never read
		delete(status, "nodeInfo")
	}
	for _, field := range []string{"spec", "status"} {
		if m, ok := tree[field].(map[string]any); ok && len(m) == 0 {
			delete(tree, field)
		}
	}
	data, err := yaml.Marshal(tree)
	if err != nil {
		return fmt.Sprintf("# %T %s: %v\n", object, object.GetName(), err)
	}
	return "---\n" + string(data)
}
