package fakeserver

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// betaVersion is the version at which requests and devices look otherwise than at v1.
const betaVersion = "v1beta1"

// beta returns an object as it is served at v1beta1: what a request asks exactly stands in the request
// itself, and what a device has in "basic".
func beta(resource inspect.Resource, content map[string]any) map[string]any {
	out := runtime.DeepCopyJSON(content)
	spec, _ := out["spec"].(map[string]any)
	switch resource {
	case inspect.Claims:
		flattenRequests(spec)
	case inspect.Templates:
		inner, _ := spec["spec"].(map[string]any)
		flattenRequests(inner)
	case inspect.Slices:
		wrapDevices(spec)
	}
	return out
}

func flattenRequests(spec map[string]any) {
	devices, _ := spec["devices"].(map[string]any)
	requests, _ := devices["requests"].([]any)
	for _, r := range requests {
		request := r.(map[string]any)
		exactly, _ := request["exactly"].(map[string]any)
		delete(request, "exactly")
		for key, value := range exactly {
			request[key] = value
		}
	}
}

func wrapDevices(spec map[string]any) {
	devices, _ := spec["devices"].([]any)
	for i, d := range devices {
		device := d.(map[string]any)
		name := device["name"]
		delete(device, "name")
		devices[i] = map[string]any{"name": name, "basic": device}
	}
}
