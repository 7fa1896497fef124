package filters

import (
	"fmt"
	"math/rand/v2"
	"sort"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/storage/volume"

	"github.com/kubectl-dra/kubectl-dra/internal/effort"
)

// TestVolumesAsUpstream compares, for random claims of a pod and random volumes, with the function by which
// the scheduler finds a volume for a claim, called for one claim after the other as its plugin does, with
// volumes in many random orders.
func TestVolumesAsUpstream(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	seen := map[string]int{}
	for i := range effort.Of(3000, 1600) {
		n := node("a", zone, "z1")
		objects, claims, volumes := randomVolumes(rng)
		var names []string
		for _, c := range claims {
			names = append(names, c.Name)
		}
		said := liveSnapshot(podWith(names...), append(objects, n)...).says(VolumeBinding)
		yes, no := upstreamMatches(t, rng, n, claims, volumes)
		want := map[[2]bool]string{{true, false}: "fits", {false, true}: "refused", {true, true}: "chance"}[[2]bool{yes, no}]
		got := "refused"
		switch said {
		case "":
			got = "fits"
		case "a: []", "a: [], []", "a: [], [], []":
			got = "chance"
		}
		if got != want {
			t.Fatalf("case %d: %s, want %s (%q)\n%s", i, got, want, said, describe(claims, volumes))
		}
		seen[got]++
	}
	t.Log(seen)
	for _, answer := range []string{"fits", "refused", "chance"} {
		if seen[answer] < 80 {
			t.Errorf("only %d cases of %s: %v", seen[answer], answer, seen)
		}
	}
}

// randomVolumes are claims of a class that makes no volumes, and volumes of which many suit some of them.
func randomVolumes(rng *rand.Rand) ([]metav1.Object, []*corev1.PersistentVolumeClaim, []*corev1.PersistentVolume) {
	sizes, tiers := []string{"5Gi", "10Gi", "10Gi", "10Gi", "10Gi"}, []string{"hot", "hot", "cold"}
	pick := func(of []string) string { return of[rng.IntN(len(of))] }
	var claims []*corev1.PersistentVolumeClaim
	objects := []metav1.Object{late("local", noProvisioner)}
	for i := range 1 + rng.IntN(3) {
		c := pvc(fmt.Sprintf("c%d", i), "local", size(pick(sizes)))
		if rng.IntN(3) == 0 {
			c.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"tier": pick(tiers)}}
		}
		if rng.IntN(4) == 0 {
			c.Spec.AccessModes = append(c.Spec.AccessModes, corev1.ReadOnlyMany)
		}
		claims, objects = append(claims, c), append(objects, c)
	}
	var volumes []*corev1.PersistentVolume
	for i := range len(claims) + rng.IntN(3) {
		v := pv(fmt.Sprintf("v%d", i), "local", holds(pick(sizes)))
		v.Labels = map[string]string{"tier": pick(tiers)}
		if rng.IntN(3) == 0 {
			v.Spec.AccessModes = append(v.Spec.AccessModes, corev1.ReadOnlyMany)
		}
		switch rng.IntN(8) {
		case 0:
			nodesIn(zone, pick([]string{"z1", "z2"}))(v)
		case 1:
			v.Status.Phase = corev1.VolumeReleased
		case 2:
			reservedFor(fmt.Sprintf("c%d", rng.IntN(4)))(v)
			nodesIn(zone, pick([]string{"z1", "z1", "z2"}))(v)
		}
		volumes, objects = append(volumes, v), append(objects, v)
	}
	return objects, claims, volumes
}

// upstreamMatches says whether all claims get volumes in some order of the volumes, and whether one gets none
// in some order.
func upstreamMatches(t *testing.T, rng *rand.Rand, n *corev1.Node, claims []*corev1.PersistentVolumeClaim, volumes []*corev1.PersistentVolume) (yes, no bool) {
	sorted := make([]*waitingClaim, len(claims))
	for i, c := range claims {
		sorted[i] = &waitingClaim{volumeUse: volumeUse{claim: c}}
	}
	sort.Sort(bySize(sorted))
	order := append([]*corev1.PersistentVolume(nil), volumes...)
	for range 60 {
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		chosen, all := map[string]*corev1.PersistentVolume{}, true
		for _, c := range sorted {
			v, err := volume.FindMatchingVolume(c.claim, order, n, chosen, true, true)
			if err != nil {
				t.Fatal(err)
			}
			if v == nil {
				all = false
				continue
			}
			chosen[v.Name] = v
		}
		yes, no = yes || all, no || !all
	}
	return yes, no
}

func describe(claims []*corev1.PersistentVolumeClaim, volumes []*corev1.PersistentVolume) string {
	out := ""
	for _, c := range claims {
		out += fmt.Sprintf("%s: %v %v %v\n", c.Name, c.Spec.Resources.Requests.Storage(), c.Spec.Selector, c.Spec.AccessModes)
	}
	for _, v := range volumes {
		out += fmt.Sprintf("%s: %v %v %v %s %v %v\n", v.Name, v.Spec.Capacity.Storage(), v.Labels, v.Spec.AccessModes, v.Status.Phase, v.Spec.ClaimRef, v.Spec.NodeAffinity)
	}
	return out
}
