package filters

import (
	"math/rand/v2"
	"testing"

	fwk "k8s.io/kube-scheduler/framework"

	"github.com/kubectl-dra/kubectl-dra/internal/effort"
)

// TestClaims asks kube-scheduler and `explain pod` about random pods whose claims and devices are in all
// sorts of states.
func TestClaims(t *testing.T) {
	counts := compareProblems(t, verdicts(askScheduler), effort.Of(5_000, 500), func(r *rand.Rand) *problem {
		return generateOf(r, []aspect{claimLife})
	})
	t.Log(counts)
}

// aborts reports whether the scheduler ends its attempt with an error, whatever it says of other nodes:
// DynamicResources may, and VolumeBinding and NodeVolumeLimits for the disk of a cloud whose name cannot be
// read.
func aborts(a kubeAnswer) bool {
	for _, node := range a.Nodes {
		for _, r := range node.Alone {
			if r.Code == fwk.Error && r.Plugin == node.First {
				return true
			}
		}
	}
	return false
}
