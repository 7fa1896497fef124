package fix_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// describeFix prints what tests compare of a fix: kind, node, number of nodes, patch, and the claims to be
// released.
func describeFix(f *explain.Fix) string {
	text := fmt.Sprintf("%s %s %d", f.Kind, f.Node, f.Nodes)
	for _, op := range f.Patch {
		text += " " + op.Op + " " + op.Path
		if op.Op != "remove" {
			value, _ := json.Marshal(op.Value)
			text += " " + strings.NewReplacer(`\u003e`, ">", `\u003c`, "<", `\"`, `'`).Replace(string(value))
		}
	}
	for _, h := range f.Claims {
		text += " " + h.Claim.String()
	}
	if f.Like != "" {
		text += " like " + string(f.Like)
	}
	return text
}

// exactly is the JSON pointer to the fields of the first request of a claim.
const exactly = "/spec/devices/requests/0/exactly/"

// checkFixes checks that fixes, as describeFix prints them, are among those of an explanation.
func checkFixes(t *testing.T, e *explain.Explanation, want ...string) {
	t.Helper()
	var have []string
	for i := range e.Fixes {
		have = append(have, describeFix(&e.Fixes[i]))
	}
	for _, w := range want {
		if !slices.Contains(have, w) {
			t.Errorf("no fix %s among\n%s", w, strings.Join(have, "\n"))
		}
	}
}

// podWith makes a pod that uses claims of the namespace ml.
func podWith(claims ...string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "new"}}
	for _, c := range claims {
		pod.Spec.ResourceClaims = append(pod.Spec.ResourceClaims, corev1.PodResourceClaim{Name: c, ResourceClaimName: ptr.To(c)})
	}
	return pod
}

// fitsOn reports whether the scheduler's own allocator finds devices for a claim on a node.
func fitsOn(t *testing.T, o inspect.Objects, claim *resourcev1.ResourceClaim, node string) bool {
	t.Helper()
	a := askUpstream(t, o, inspect.DefaultFeatures(inspect.NewestMinor), []*resourcev1.ResourceClaim{claim}, inspect.NodeName(node))
	if a == upstreamUnknown {
		t.Fatal("undecided")
	}
	return a == upstreamFits
}

// patched applies RFC 6902 operations to an object with an implementation that is not of this module.
func patched[T any](t *testing.T, object *T, operations []explain.PatchOperation) *T {
	t.Helper()
	var list []map[string]any
	for _, op := range operations {
		m := map[string]any{"op": op.Op, "path": op.Path}
		if op.Op != "remove" {
			m["value"] = op.Value
		}
		list = append(list, m)
	}
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	patch, err := jsonpatch.DecodePatch(text)
	if err != nil {
		t.Fatal(err)
	}
	before, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	after, err := patch.Apply(before)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	out := new(T)
	if err := json.Unmarshal(after, out); err != nil {
		t.Fatal(err)
	}
	return out
}
