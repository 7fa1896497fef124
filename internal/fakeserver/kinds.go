package fakeserver

import (
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Namespaces is the resource of namespaces, which no snapshot carries.
const Namespaces inspect.Resource = "namespaces"

// The API groups.
const (
	Core        = ""
	DRA         = "resource.k8s.io"
	FlowControl = "flowcontrol.apiserver.k8s.io"
	Storage     = "storage.k8s.io"
)

// kind is how one resource is served.
type kind struct {
	resource   inspect.Resource
	name       string
	group      string
	namespaced bool
}

var kinds = []kind{
	{inspect.Claims, "ResourceClaim", DRA, true},
	{inspect.Templates, "ResourceClaimTemplate", DRA, true},
	{inspect.Classes, "DeviceClass", DRA, false},
	{inspect.Slices, "ResourceSlice", DRA, false},
	{inspect.TaintRules, "DeviceTaintRule", DRA, false},
	{inspect.Pods, "Pod", Core, true},
	{inspect.Nodes, "Node", Core, false},
	{Namespaces, "Namespace", Core, false},
	{inspect.VolumeClaims, "PersistentVolumeClaim", Core, true},
	{inspect.Volumes, "PersistentVolume", Core, false},
	{inspect.PriorityLevels, "PriorityLevelConfiguration", FlowControl, false},
	{inspect.FlowSchemas, "FlowSchema", FlowControl, false},
	{inspect.StorageCapacities, "CSIStorageCapacity", Storage, true},
	{inspect.StorageClasses, "StorageClass", Storage, false},
	{inspect.CSIDrivers, "CSIDriver", Storage, false},
}

// kindOf returns how a resource of a group is served. No two groups have a resource of the same name.
func kindOf(group string, resource inspect.Resource) (kind, bool) {
	for _, k := range kinds {
		if k.group == group && k.resource == resource {
			return k, true
		}
	}
	return kind{}, false
}

// kindNamed returns how objects of a kind are served.
func kindNamed(name string) (kind, bool) {
	for _, k := range kinds {
		if k.name == name {
			return k, true
		}
	}
	return kind{}, false
}

// apiVersion is the apiVersion of objects of the kind at a version.
func (k kind) apiVersion(version string) string {
	if k.group == Core {
		return version
	}
	return k.group + "/" + version
}
