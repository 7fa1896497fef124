package moves

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// TestMoveUnread: where not all pods or claims are known, it is not proved that no moves make room, unless
// there would be none in an empty cluster either.
func TestMoveUnread(t *testing.T) {
	for _, test := range []struct {
		unread []inspect.Resource
		count  int64
		want   explain.JointVerdict
	}{
		{nil, 8, explain.Infeasible}, {[]inspect.Resource{inspect.Pods}, 8, explain.JointUnknown}, {[]inspect.Resource{inspect.Pods}, 9, explain.Infeasible},
		{[]inspect.Resource{inspect.Claims}, 8, explain.JointUnknown}, {[]inspect.Resource{inspect.Claims}, 9, explain.Infeasible},
	} {
		o := explaintest.BusyFarm()
		claim := &resourcev1.ResourceClaim{Spec: explaintest.Template("wanted", test.count, "").Spec.Spec}
		claim.Namespace, claim.Name = "ml", "wanted"
		c := explaintest.Unreadable(o, test.unread...)
		m, err := MakeRoom(t.Context(), c, claim)
		if err != nil || m.Verdict != test.want {
			t.Errorf("%d devices without %v: %s (%s), %v", test.count, test.unread, m.Verdict, m.Message, err)
		}
		pod := explaintest.Worker("w", "wanted")
		o.Templates = append(o.Templates, explaintest.Template("wanted", test.count, ""))
		if test.unread == nil {
			continue
		}
		m, err = MakeRoom(t.Context(), explaintest.Unreadable(o, test.unread...), admittedPod(pod, claim))
		if err != nil || m.Verdict == explain.Feasible {
			t.Errorf("a pod with %d devices without %v: %s (%s), %v", test.count, test.unread, m.Verdict, m.Message, err)
		}
	}
}

// admittedPod is a pod with a claim of which it is the only user.
func admittedPod(pod *corev1.Pod, claim *resourcev1.ResourceClaim) *corev1.Pod {
	pod.Spec.ResourceClaims[0] = corev1.PodResourceClaim{Name: "gpus", ResourceClaimName: &claim.Name}
	return pod
}

// TestRoomWithoutClaims: no claim goes before its pods. So where pods run whose claims are not there, others
// may be missing too.
func TestRoomWithoutClaims(t *testing.T) {
	for _, gone := range []bool{false, true} {
		o := explaintest.BusyFarm()
		o.Pods = o.Pods[:4] // none of which waits
		if gone {
			o.Claims = o.Claims[1:]
		}
		claim := &resourcev1.ResourceClaim{Spec: explaintest.Template("wanted", 4, "").Spec.Spec}
		claim.Namespace, claim.Name = "ml", "wanted"
		m, err := MakeRoom(t.Context(), explaintest.NewCluster(*o), claim)
		if want := map[bool]explain.JointVerdict{false: explain.Feasible, true: explain.JointUnknown}[gone]; err != nil || m.Verdict != want {
			t.Errorf("gone %t: %s (%s), %v", gone, m.Verdict, m.Message, err)
		}
	}
}

// TestRoomBesideOtherSchedulers: what another scheduler does with its pods is not known, nor what room is
// left by them.
func TestRoomBesideOtherSchedulers(t *testing.T) {
	for _, test := range []struct {
		name     string
		pod      *corev1.Pod
		waiting  *corev1.Pod
		feasible bool
	}{
		{"asked about", ofVolcano(explaintest.Worker("v", "one")), nil, false},
		{"waits and fits", explaintest.Worker("w", "eight"), ofVolcano(explaintest.Worker("v", "one")), false},
		{"waits and fits nowhere", explaintest.Worker("w", "eight"), ofVolcano(explaintest.Worker("v", "none")), true},
	} {
		o := explaintest.SmallFarm(1)
		if test.waiting != nil {
			o.Pods = append(o.Pods, test.waiting)
		}
		m, err := MakeRoom(t.Context(), explaintest.NewCluster(*o), test.pod)
		if err != nil || (m.Verdict == explain.Feasible) != test.feasible {
			t.Errorf("%s: %s, %s, %v", test.name, m.Verdict, m.Message, err)
		}
	}
}

// TestRoomShortOfQuota: a quota may forbid the claims that are to be made for a pod.
func TestRoomShortOfQuota(t *testing.T) {
	for state, want := range map[inspect.HealthState]explain.JointVerdict{inspect.Synced: explain.Feasible, inspect.Forbidden: explain.JointUnknown} {
		health := map[inspect.Resource]inspect.Health{inspect.Quotas: {State: state}}
		c := scheduler.NewCluster(inspect.New(*explaintest.SmallFarm(1), inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor), Health: health}), scheduler.Options{})
		m, err := MakeRoom(t.Context(), c, explaintest.Worker("w", "one"))
		if err != nil || m.Verdict != want {
			t.Errorf("quotas %s: %s, %s, %v", state, m.Verdict, m.Message, err)
		}
	}
}
