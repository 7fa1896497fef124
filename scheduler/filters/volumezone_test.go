package filters

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

func labelled(labels ...string) volumeChange {
	return func(v *corev1.PersistentVolume) {
		v.Labels = map[string]string{}
		for i := 0; i < len(labels); i += 2 {
			v.Labels[labels[i]] = labels[i+1]
		}
	}
}

func TestVolumeZone(t *testing.T) {
	const region, oldZone = corev1.LabelTopologyRegion, corev1.LabelFailureDomainBetaZone
	a, b, bare := node("a", zone, "z1", region, "r1"), node("b", zone, "z2", region, "r1"), node("bare")
	regional, old := node("regional", region, "r1"), node("old", oldZone, "z1")
	data := pvc("data", "fast", bound("v"))
	const nowhere = "*: VolumeUnbound"
	runStorage(t, VolumeZone, map[string]storageTest{
		"without labels":                     {liveSnapshot(podWith("data"), a, b, data, pv("v", "fast")), "", ""},
		"in a zone":                          {liveSnapshot(podWith("data"), a, b, data, pv("v", "fast", labelled(zone, "z1"))), "b: VolumeZone v", "the volume v of claim ml/data is in topology.kubernetes.io/zone z1, and the node is not"},
		"in two zones":                       {liveSnapshot(podWith("data"), a, b, data, pv("v", "fast", labelled(zone, "z1__ z2"))), "", ""},
		"an empty zone says nothing":         {liveSnapshot(podWith("data"), a, b, data, pv("v", "fast", labelled(zone, "z1__"))), "", ""},
		"a zone and a region":                {liveSnapshot(podWith("data"), a, data, pv("v", "fast", labelled(zone, "z2", region, "r2"))), "a: VolumeZone v, VolumeZone v", ""},
		"a node without zone":                {liveSnapshot(podWith("data"), bare, data, pv("v", "fast", labelled(zone, "z1"))), "", ""},
		"a node with a region only":          {liveSnapshot(podWith("data"), regional, data, pv("v", "fast", labelled(zone, "z1"))), "regional: VolumeZone v", ""},
		"the old label on both":              {liveSnapshot(podWith("data"), old, data, pv("v", "fast", labelled(oldZone, "z1"))), "", ""},
		"the old label on the volume only":   {liveSnapshot(podWith("data"), a, b, data, pv("v", "fast", labelled(oldZone, "z1"))), "b: VolumeZone v", ""},
		"the old label on the node only":     {liveSnapshot(podWith("data"), old, data, pv("v", "fast", labelled(zone, "z1"))), "old: VolumeZone v", ""},
		"waits for a node":                   {liveSnapshot(podWith("data"), a, pvc("data", "fast"), late("fast", "csi")), "", ""},
		"binds at once":                      {liveSnapshot(podWith("data"), a, pvc("data", "fast"), early("fast", "csi")), nowhere, "binds at once"},
		"without class":                      {liveSnapshot(podWith("data"), a, pvc("data", "")), nowhere, ""},
		"class does not exist":               {liveSnapshot(podWith("data"), a, pvc("data", "fast")), nowhere, ""},
		"claim does not exist":               {liveSnapshot(podWith("data"), a), nowhere, ""},
		"volume does not exist":              {liveSnapshot(podWith("data"), a, data), nowhere, ""},
		"volume not read":                    {liveSnapshot(podWith("data"), a, data).without(inspect.Volumes), "*: [persistentvolumes]", ""},
		"named and not bound yet":            {liveSnapshot(podWith("data"), a, b, pvc("data", "fast", prebound("v")), pv("v", "fast", labelled(zone, "z1"))), "b: VolumeZone v", ""},
		"an ephemeral volume":                {liveSnapshot(podWith("ephemeral"), a, b, pvc("p-v0", "fast", bound("v"), ownedBy("p")), pv("v", "fast", labelled(zone, "z1"))), "", ""},
		"an ephemeral volume that is absent": {liveSnapshot(podWith("ephemeral"), a), "", ""},
		"nodes not known":                    {storageCase{objects: []metav1.Object{data, pv("v", "fast", labelled(zone, "z1"))}, pod: podWith("data")}.asFiles(), "any-node: [nodes]", ""},
	})
}
