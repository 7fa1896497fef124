package filters

import (
	"slices"
	"sync"
	"testing"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	"k8s.io/kubernetes/pkg/features"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// setGates sets the gates of the scheduler: all that this project knows, so that both sides have the same
// ones, and what depends on them.
func setGates(ours inspect.Features) error {
	upstream, changed, specs := upstreamGates(), map[string]bool{}, utilfeature.DefaultMutableFeatureGate.GetAll()
	set := func(gate featuregate.Feature, on bool) {
		if utilfeature.DefaultFeatureGate.Enabled(gate) != on && !specs[gate].LockToDefault { // in an older release it may be off
			changed[string(gate)] = on
		}
	}
	for _, gate := range inspect.Gates() {
		if ours.Knows(gate) {
			set(featuregate.Feature(gate), ours.Enabled(gate))
		}
	}
	for _, gate := range serverGates {
		set(gate, true)
	}
	off := func(gate featuregate.Feature) bool {
		return ours.Knows(inspect.Gate(gate)) && !ours.Enabled(inspect.Gate(gate))
	}
	for gate, needs := range utilfeature.DefaultMutableFeatureGate.Dependencies() {
		if !ours.Knows(inspect.Gate(gate)) && !slices.Contains(serverGates, gate) {
			set(gate, upstream[gate] && !slices.ContainsFunc(needs, off))
		}
	}
	return utilfeature.DefaultMutableFeatureGate.SetFromMap(changed)
}

// serverGates allow fields of pods that the API server drops by default, and that kube-scheduler reads
// whatever its gates are.
var serverGates = []featuregate.Feature{features.UserNamespacesHostNetworkSupport, features.VolumeBindMountOptions}

// upstreamGates are the gates as Kubernetes has them before a test changes them.
var upstreamGates = sync.OnceValue(func() map[featuregate.Feature]bool {
	out := map[featuregate.Feature]bool{}
	for gate := range utilfeature.DefaultMutableFeatureGate.GetAll() {
		out[gate] = utilfeature.DefaultFeatureGate.Enabled(gate)
	}
	return out
})

// TestGates compares the gates that are on by default.
func TestGates(t *testing.T) {
	ours := inspect.DefaultFeatures(inspect.NewestMinor)
	for _, gate := range inspect.Gates() {
		upstream, known := upstreamGates()[featuregate.Feature(gate)]
		if known != ours.Knows(gate) || upstream != ours.Enabled(gate) {
			t.Errorf("%s is known: %t, on: %t; Kubernetes says %t, %t", gate, ours.Knows(gate), ours.Enabled(gate), known, upstream)
		}
	}
}
