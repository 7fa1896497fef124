package whatif_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dra/kubectl-dra/explain/suppose"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
)

// TestReleaseFromUse: the pods that hold a claim end, and what only they hold is free; those that wait go on
// waiting.
func TestReleaseFromUse(t *testing.T) {
	const objects = `
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: wanted, namespace: ns}
spec: {}
status: {allocation: {}, reservedFor: [{resource: pods, name: runs, uid: u1}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: beside, namespace: ns}
spec: {}
status: {allocation: {}, reservedFor: [{resource: pods, name: runs, uid: u1}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: shared, namespace: ns}
spec: {}
status: {allocation: {}, reservedFor: [{resource: pods, name: runs, uid: u1}, {resource: pods, name: other, uid: u2}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: unused, namespace: ns}
spec: {}
status: {allocation: {}}
---
apiVersion: v1
kind: Pod
metadata: {name: runs, namespace: ns, uid: u1}
spec: {nodeName: a, containers: [], resourceClaims: [{name: w, resourceClaimName: wanted}, {name: b, resourceClaimName: beside}, {name: s, resourceClaimName: shared}]}
---
apiVersion: v1
kind: Pod
metadata: {name: other, namespace: ns, uid: u2}
spec: {nodeName: a, containers: [], resourceClaims: [{name: s, resourceClaimName: shared}]}
---
apiVersion: v1
kind: Pod
metadata: {name: waits, namespace: ns, uid: u3}
spec: {containers: [], resourceClaims: [{name: w, resourceClaimName: wanted}]}
`
	result, err := manifest.ReadBytes("objects.yaml", []byte(objects), manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	base := inspect.New(result.Objects, inspect.Config{})
	for claim, want := range map[string][]string{
		"wanted":  {"shared", "unused", "pod other", "pod waits"},
		"shared":  {"unused", "pod waits"},
		"unused":  {"beside", "shared", "wanted", "pod other", "pod runs", "pod waits"},
		"missing": {"beside", "shared", "unused", "wanted", "pod other", "pod runs", "pod waits"},
	} {
		s := base.With(func(o *inspect.Objects) {
			suppose.ReleaseFromUse(o, base, inspect.ClaimRef{Namespace: "ns", Name: claim})
		})
		var got []string
		for _, c := range s.Objects().Claims {
			if c.Status.Allocation != nil {
				got = append(got, c.Name)
			}
		}
		slices.Sort(got)
		for _, p := range s.Objects().Pods {
			got = append(got, "pod "+p.Name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s released: still held and there (-want +got):\n%s", claim, diff)
		}
	}
}
