package fakeserver

import (
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// The API groups.
const (
	Core        = ""
	DRA         = "resource.k8s.io"
	FlowControl = "flowcontrol.apiserver.k8s.io"
	Storage     = "storage.k8s.io"
	Scheduling  = "scheduling.k8s.io"
)

// kind is how one resource is served.
type kind struct{ inspect.Kind }

// Events is the resource of Events, which no snapshot carries.
const Events inspect.Resource = "events"

// kinds are those of a snapshot, and Events.
func kinds() []kind {
	var out []kind
	for _, k := range inspect.Kinds() {
		out = append(out, kind{k})
	}
	return append(out, kind{inspect.Kind{Resource: Events, Name: "Event", Group: Core, Version: "v1", Namespaced: true}})
}

// kindOf returns how a resource of a group is served. No two groups have a resource of the same name.
func kindOf(group string, resource inspect.Resource) (kind, bool) {
	for _, k := range kinds() {
		if k.Group == group && k.Resource == resource {
			return k, true
		}
	}
	return kind{}, false
}

// kindNamed returns how objects of a kind are served.
func kindNamed(name string) (kind, bool) {
	for _, k := range kinds() {
		if k.Name == name {
			return k, true
		}
	}
	return kind{}, false
}

// apiVersion is the apiVersion of objects of the kind at a version.
func (k kind) apiVersion(version string) string {
	if k.Group == Core {
		return version
	}
	return k.Group + "/" + version
}
