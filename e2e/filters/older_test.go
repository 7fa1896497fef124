package filters

import (
	"flag"
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

var (
	olderKube  = flag.String("older-kube", "", "the kube-scheduler of an older release, built by make filters-134, filters-135 or filters-136: compare with it")
	olderMinor = flag.Int("older-minor", 36, "the minor release of -older-kube")
)

// TestOlderRelease asks the kube-scheduler of an older release, and us as if the server were of that release,
// about the random pods of the other tests. Groups of pods, which are alpha there, are left out.
func TestOlderRelease(t *testing.T) {
	if *olderKube == "" {
		t.Skip("make filters-134 builds the scheduler that this needs")
	}
	s := startKube(t, *olderKube, ofOlder)
	if *olderMinor < 35 {
		s.unscored = append(s.unscored, filters.DynamicResources)
	}
	s.compare(t, map[string]int{"determined": 20, "violating": 60, "determined, violating": 80}, func(t *testing.T, c counts) {
		t.Log("decided otherwise than in the newest release:", s.rules)
		c.check(t, filters.GangScheduling, filters.NodeDeclaredFeatures) // the features that pods need are newer
	})
}

// ofOlder is a problem as a server of the older release has it.
func ofOlder(p *problem) (*problem, error) {
	if p.minor != 0 {
		out := p.asking(p.asked[0]) // it is such a problem, but that its pod is not in the cluster
		out.objects.Pods = append(out.objects.Pods, p.asked[0])
		return out, nil
	}
	known := inspect.DefaultFeatures(*olderMinor)
	older := *p
	older.minor, older.gates = *olderMinor, maps.Clone(p.gates)
	maps.DeleteFunc(older.gates, func(gate inspect.Gate, _ bool) bool {
		return !known.Knows(gate) || known.Locked(gate) || gate == gateGroups
	})
	older.objects.PodGroups = nil
	for _, pod := range append(slices.Clone(p.objects.Pods), p.asked...) {
		pod.Spec.Tolerations = slices.DeleteFunc(pod.Spec.Tolerations, func(t corev1.Toleration) bool {
			return !known.Knows(gateTolerationComparison) && (t.Operator == corev1.TolerationOpLt || t.Operator == corev1.TolerationOpGt)
		})
		if len(pod.Spec.ResourceClaims) > 0 || len(pod.Spec.SchedulingGates) > 0 {
			// A scheduler of these releases that has just started does not know nominations of such pods.
			pod.Status.NominatedNodeName = ""
		}
		for _, containers := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
			for i := range containers {
				containers[i].RestartPolicyRules = nil // they have actions that are newer
			}
		}
	}
	asked, err := older.admitted()
	if err != nil {
		return nil, err
	}
	asked.minor = *olderMinor
	return asked, nil
}
