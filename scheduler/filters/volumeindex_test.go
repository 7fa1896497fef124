package filters

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestStorageShared changes one kind of object after the other, each time so that the pod no longer passes:
// an index that takes over what another one knows says what one that is made from nothing says.
func TestStorageShared(t *testing.T) {
	ofStorage := []Plugin{VolumeRestrictions, NodeVolumeLimits, VolumeBinding, VolumeZone}
	pod := podWith("data", "logs", "more")
	taken := func(name string) *corev1.PersistentVolume {
		return pv(name, "fast", csi("csi", name), phase(corev1.VolumeBound))
	}
	classes := []metav1.Object{late("fast", "csi"), late("local", noProvisioner), late("slow", "other")}
	base := map[string][]metav1.Object{
		"nodes":       {node("a", zone, "z1")},
		"claims":      {pvc("data", "fast"), pvc("logs", "local"), pvc("more", "slow")},
		"volumes":     {taken("v"), taken("w"), pv("l", "local")},
		"classes":     classes,
		"drivers":     {driver("csi", true), driver("other", false)},
		"capacities":  {room("c", "fast", "10Gi", "", zone, "z1")},
		"csinodes":    {attaches("a", "csi", 2)},
		"attachments": {attachment("at", "a", "csi", "v")},
	}
	with := func(changed string, objects ...metav1.Object) *Index {
		for kind, of := range base {
			if kind != changed {
				objects = append(objects, of...)
			}
		}
		var like *Index
		if changed != "" {
			like = NewIndex(liveSnapshot(pod, baseOf(base)...).snapshot(), nil)
			saysOf(like, pod)
		}
		return NewIndex(liveSnapshot(pod, objects...).snapshot(), like)
	}
	if got := saysOf(with(""), pod, ofStorage...); got != "" {
		t.Fatalf("at first: %q", got)
	}
	for name, changed := range map[string]*Index{
		"nodes":       with("nodes", node("a", zone, "z2")),
		"claims":      with("claims", pvc("data", "fast", size("20Gi")), pvc("logs", "local"), pvc("more", "slow")),
		"volumes":     with("volumes", taken("v"), taken("w")),
		"classes":     with("classes", classes[0], classes[1], allowed(late("slow", "other"), zone, "z2")),
		"drivers":     with("drivers", driver("csi", true), driver("other", true)),
		"capacities":  with("capacities", room("c", "fast", "9Gi", "", zone, "z1")),
		"csinodes":    with("csinodes", attaches("a", "csi", 1)),
		"attachments": with("attachments", attachment("at", "a", "csi", "v"), attachment("bt", "a", "csi", "w")),
	} {
		got, want := saysOf(changed, pod, ofStorage...), saysOf(NewIndex(changed.snapshot, nil), pod, ofStorage...)
		if got != want || want == "" {
			t.Errorf("other %s: the index that follows says %q, a new one %q", name, got, want)
		}
	}
}

func baseOf(base map[string][]metav1.Object) []metav1.Object {
	var out []metav1.Object
	for _, of := range base {
		out = append(out, of...)
	}
	return out
}
