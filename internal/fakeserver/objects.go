package fakeserver

import (
	"fmt"
	"maps"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// What tests do to the objects behind the back of clients. All of it panics where a test asks for what is not
// there: such a test is broken.

// Claim returns a copy of a claim as it is stored, or nil.
func (s *Server) Claim(namespace, name string) *resourcev1.ResourceClaim {
	s.mu.Lock()
	stored := s.store[inspect.Claims][Key{namespace, name}]
	s.mu.Unlock()
	if stored == nil {
		return nil
	}
	claim := &resourcev1.ResourceClaim{}
	must(runtime.DefaultUnstructuredConverter.FromUnstructured(stored.Object, claim))
	return claim
}

// ChangeClaim changes a claim, as somebody else would.
func (s *Server) ChangeClaim(namespace, name string, change func(*resourcev1.ResourceClaim)) {
	claim := s.Claim(namespace, name)
	change(claim)
	s.PutClaim(claim)
}

// PutClaim creates a claim, or replaces the one of its name.
func (s *Server) PutClaim(claim *resourcev1.ResourceClaim) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(claim)
	must(err)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(inspect.Claims, &unstructured.Unstructured{Object: content})
}

// Apply creates the object of a YAML document, or replaces the one of its name.
func (s *Server) Apply(document string) {
	content := map[string]any{}
	must(yaml.Unmarshal([]byte(document), &content))
	o := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(integers(content).(map[string]any))}
	k, ok := kindThat(func(k inspect.Kind) bool { return k.Name == o.GetKind() })
	if !ok {
		panic(fmt.Sprintf("the fake API server has no kind %q", o.GetKind()))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(k.Resource, o)
}

// integers turns numbers as encoding/json reads them into those that an unstructured object has.
func integers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key := range v {
			v[key] = integers(v[key])
		}
	case []any:
		for i := range v {
			v[i] = integers(v[i])
		}
	case float64:
		return int64(v)
	}
	return v
}

// Delete removes an object.
func (s *Server) Delete(resource inspect.Resource, key Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.store[resource][key] == nil {
		panic(fmt.Sprintf("the fake API server has no %s %s", resource, key))
	}
	s.drop(resource, key)
}

// Names returns the names of the objects of a resource, sorted.
func (s *Server) Names(resource inspect.Resource) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for key := range s.store[resource] {
		names = append(names, key.String())
	}
	slices.Sort(names)
	return names
}

// State is every object by resource and name, as it is stored now. It must not be changed.
func (s *Server) State() map[string]map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := map[string]map[string]any{}
	for resource, objects := range s.store {
		for key, o := range objects {
			state[string(resource)+" "+key.String()] = o.Object
		}
	}
	return state
}

// Changed returns the names of the objects that differ between two states, sorted.
func Changed(before, after map[string]map[string]any) []string {
	var names []string
	for name := range maps.Keys(before) {
		if o, ok := after[name]; !ok || versionOf(o) != versionOf(before[name]) {
			names = append(names, name)
		}
	}
	for name := range after {
		if _, ok := before[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func versionOf(content map[string]any) string {
	return (&unstructured.Unstructured{Object: content}).GetResourceVersion()
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
