package inspect

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestWithPlaced: what is placed takes the place of what has its name, or is new, and everything else of the
// snapshot stays.
func TestWithPlaced(t *testing.T) {
	meta := func(name, uid string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: "ml", Name: name, UID: types.UID("uid-" + uid)}
	}
	pod := func(name, uid string) *corev1.Pod { return &corev1.Pod{ObjectMeta: meta(name, uid)} }
	claim := func(name, uid string) *resourcev1.ResourceClaim {
		return &resourcev1.ResourceClaim{ObjectMeta: meta(name, uid)}
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}
	before := New(Objects{
		Nodes: []*corev1.Node{node}, Pods: []*corev1.Pod{pod("b", "old"), pod("d", "old")}, Claims: []*resourcev1.ResourceClaim{claim("c", "old")},
	}, Config{})
	after := before.WithPlaced(
		[]*resourcev1.ResourceClaim{claim("z", "new"), claim("c", "first"), claim("c", "last"), claim("a", "new")},
		[]*corev1.Pod{pod("d", "new"), pod("c", "new")},
	)
	var got []string
	for _, p := range after.Objects().Pods {
		got = append(got, "pod "+p.Name+" "+string(p.UID))
	}
	for _, c := range after.Objects().Claims {
		got = append(got, "claim "+c.Name+" "+string(c.UID))
	}
	want := []string{
		"pod b uid-old", "pod c uid-new", "pod d uid-new", "claim a uid-new", "claim c uid-last", "claim z uid-new",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(after.Nodes()) != 1 || after.Nodes()[0] != node {
		t.Errorf("nodes: %v", after.Nodes())
	}
	if known, ok := before.Claim(ClaimRef{Namespace: "ml", Name: "c"}); !ok || known.UID != "uid-old" || len(before.Objects().Pods) != 2 {
		t.Error("the snapshot before has changed")
	}
	assumed := New(Objects{Pods: []*corev1.Pod{pod("b", "old")}}, Config{}).WithPlaced(nil, []*corev1.Pod{pod("c", "new")})
	if !assumed.NodesAssumed() || len(assumed.Objects().Pods) != 2 {
		t.Errorf("without nodes: assumed %t, %d pods", assumed.NodesAssumed(), len(assumed.Objects().Pods))
	}
}
