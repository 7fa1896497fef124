package manifest

import (
	"fmt"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestEveryKindIsDecoded: all kinds of a snapshot can be read from files, and end up in its lists.
func TestEveryKindIsDecoded(t *testing.T) {
	for _, want := range inspect.Kinds() {
		k, ok := kindOf(want.APIVersion(), want.Name)
		if !ok || k.Resource != want.Resource {
			t.Errorf("%s %s is read as %+v", want.APIVersion(), want.Name, k)
			continue
		}
		object, complaints, err := k.decode([]byte(fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":"x"}}`, want.APIVersion(), want.Name)))
		if err != nil || len(complaints) > 0 {
			t.Errorf("%s: %v, %v", want.Name, err, complaints)
			continue
		}
		var o inspect.Objects
		if !o.Add(object) || len(want.Objects(&o)) != 1 {
			t.Errorf("%s was decoded as a %T", want.Name, object)
		}
	}
}

func TestKindsThatAreNone(t *testing.T) {
	for _, tt := range []struct{ apiVersion, kind, gone string }{
		{"v1", "ResourceClaim", ""},
		{"resource.k8s.io/v1", "Pod", ""},
		{"storage.k8s.io/v1beta1", "StorageClass", "storage.k8s.io/v1beta1 is served by no current Kubernetes release; left out, use storage.k8s.io/v1"},
		{"resource.k8s.io/v1beta1", "DeviceTaintRule", "resource.k8s.io/v1beta1 is served by no current Kubernetes release; left out, use resource.k8s.io/v1"},
		{"resource.k8s.io/v1alpha2", "ResourceClass", "resource.k8s.io/v1alpha2 is the first API of dynamic resource allocation (classic DRA), which is gone since Kubernetes 1.31; left out, write it anew for resource.k8s.io/v1"},
		{"v1beta3", "Pod", "v1beta3 is served by no current Kubernetes release; left out, use v1"},
		{"apps/v1", "Deployment", ""},
	} {
		if k, ok := kindOf(tt.apiVersion, tt.kind); ok {
			t.Errorf("%s %s is read as %+v", tt.apiVersion, tt.kind, k)
		}
		if got := gone(tt.apiVersion, tt.kind); got != tt.gone {
			t.Errorf("%s %s: %q, want %q", tt.apiVersion, tt.kind, got, tt.gone)
		}
	}
}
