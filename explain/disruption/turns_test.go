package disruption

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// serving is nodes of eight devices, on the first of which three ready pods of a ReplicaSet have two each.
// A budget allows one of them to go. On each other node so many devices are taken by a pod that stays.
func serving(taken ...int) *inspect.Objects {
	o := explaintest.SmallFarm(1 + len(taken))
	o.Templates[0] = explaintest.Template("one", 2, "")
	for i := range 3 {
		ready(explaintest.AddRunning(o, fmt.Sprintf("web-%d", i), "node-0000", "ReplicaSet", 2*i, 2*i+1)).Labels = map[string]string{"app": "web"}
	}
	for i, n := range taken {
		var devices []int
		for d := range n {
			devices = append(devices, d)
		}
		explaintest.AddRunning(o, fmt.Sprintf("other-%d", i), fmt.Sprintf("node-%04d", i+1), "", devices...)
	}
	o.Budgets = []*policyv1.PodDisruptionBudget{{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "web", Generation: 1},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
		Status:     policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, DisruptionsAllowed: 1, CurrentHealthy: 3, DesiredHealthy: 2, ExpectedPods: 3},
	}}
	return o
}

func ready(pod *corev1.Pod) *corev1.Pod {
	pod.Status.Phase, pod.Status.Conditions = corev1.PodRunning, []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	return pod
}

// drained says in lines what becomes of the pods of the first node.
func drained(t *testing.T, o *inspect.Objects) (string, *explain.Disruption) {
	t.Helper()
	c := explaintest.NewCluster(*o)
	d, err := Play(t.Context(), c, Drain(c.Snapshot(), "node-0000"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, g := range d.Gone {
		text := fmt.Sprint(g.Subject.Name, " ", g.Then)
		if g.Pending != nil {
			text += fmt.Sprint(" ", g.Pending.Verdict)
		}
		if g.Eviction != nil {
			text += ": " + g.Eviction.Message
		}
		out = append(out, text)
	}
	for _, h := range d.Held {
		out = append(out, fmt.Sprint(h.Subject.Name, " held ", !h.Open, ": ", h.Message))
	}
	return strings.Join(out, "\n"), d
}

// TestDrainInTurn: pods that a budget protects go one after the other, as far as those before find a node.
func TestDrainInTurn(t *testing.T) {
	const (
		after0 = ": waits until a replacement of ml/web-0 is ready: budget ml/web allows 1 of 3"
		after1 = ": waits until a replacement of ml/web-1 is ready: budget ml/web allows 1 of 3"
		lost   = ": waits until a replacement of ml/web-%d is ready, which finds no node: budget ml/web allows 1 of 3"
	)
	status := func(allowed, healthy, desired int32) func(*inspect.Objects) {
		return func(o *inspect.Objects) {
			s := &o.Budgets[0].Status
			s.DisruptionsAllowed, s.CurrentHealthy, s.DesiredHealthy = allowed, healthy, desired
		}
	}
	for name, test := range map[string]struct {
		taken         []int
		change        func(*inspect.Objects)
		want          string
		certain, some bool
	}{
		"room for all":     {[]int{0}, nil, "web-0 Placed\nweb-1 Placed" + after0 + "\nweb-2 Placed" + after1, true, false},
		"all at once":      {[]int{0}, status(3, 3, 0), "web-0 Placed\nweb-1 Placed\nweb-2 Placed", true, false},
		"room for one":     {[]int{6}, nil, "web-0 Placed\nweb-1 Pending Unknown" + after0 + "\nweb-2 held false" + fmt.Sprintf(lost, 1), false, true},
		"no room":          {[]int{7}, nil, "web-0 Pending Unsatisfiable\nweb-1 held true" + fmt.Sprintf(lost, 0) + "\nweb-2 held true" + fmt.Sprintf(lost, 0), true, false},
		"no disruption":    {[]int{0}, status(0, 3, 3), "", true, false},
		"not all are well": {[]int{0}, status(0, 2, 2), "", true, false},
		"no controller": {[]int{0}, func(o *inspect.Objects) {
			for _, pod := range o.Pods[:3] {
				pod.OwnerReferences = nil
			}
		}, "web-0 Gone\nweb-1 held true" + fmt.Sprintf(lost, 0) + "\nweb-2 held true" + fmt.Sprintf(lost, 0), true, false},
		"of different priorities": {[]int{0}, func(o *inspect.Objects) { o.Pods[1].Spec.Priority = ptr.To[int32](10) },
			"web-0 Placed\nweb-1 Placed" + after0 + "\nweb-2 Placed" + after1, true, false},
		"of different kinds, no room for one": {[]int{7}, func(o *inspect.Objects) { o.Pods[1].Labels["other"] = "yes" },
			"web-0 Pending Unknown\nweb-1 held false" + fmt.Sprintf(lost, 0) + "\nweb-2 held false" + fmt.Sprintf(lost, 0), false, true},
		"one waits that is protected": {[]int{0}, func(o *inspect.Objects) {
			status(0, 2, 2)(o)
			o.Pods[2].Spec.NodeName, o.Pods[2].Status = "", corev1.PodStatus{}
			o.Claims = slices.Delete(o.Claims, 2, 3)
		}, "web-0 Placed: waits until ml/web-2 is ready: budget ml/web allows 0 of 3\nweb-1 Placed" + strings.Replace(after0, "allows 1", "allows 0", 1), false, false},
		"the largest would come first at once": {[]int{4, 4}, func(o *inspect.Objects) {
			o.Pods[1].Spec.Priority, o.Pods[1].Spec.ResourceClaims[0].ResourceClaimTemplateName = ptr.To[int32](10), ptr.To("four")
		}, "web-0 Placed\nweb-1 Placed" + after0 + "\nweb-2 Placed" + after1, false, false},
		"one waits that fits": {[]int{2}, func(o *inspect.Objects) {
			o.Templates[1] = explaintest.Template("four", 6, "")
			o.Pods = append(o.Pods, explaintest.Worker("waits", "four"))
			for _, pod := range o.Pods[:3] {
				pod.Spec.Priority = ptr.To[int32](10)
			}
		}, "web-0 Placed\nweb-1 Placed" + after0 + "\nweb-2 Placed" + after1, false, false},
		"two budgets": {[]int{0}, func(o *inspect.Objects) {
			other := o.Budgets[0].DeepCopy()
			other.Name = "all"
			o.Budgets = append(o.Budgets, other)
			for _, pod := range o.Pods[1:3] {
				pod.Labels = nil
			}
		}, "web-1 Placed\nweb-2 Placed\nweb-0 held true: budgets ml/all and ml/web protect it, and the API server evicts no pod that more than one protects", true, false},
		"not counted": {[]int{0}, func(o *inspect.Objects) { o.Budgets[0].Generation = 2 },
			strings.Repeat("\nweb-N Placed: budget ml/web was made or changed, and its pods are not counted yet", 3), false, false},
	} {
		o := serving(test.taken...)
		if test.change != nil {
			test.change(o)
		}
		want := test.want
		switch name {
		case "not counted":
			for i := range 3 {
				want = strings.Replace(want, "web-N", fmt.Sprintf("web-%d", i), 1)
			}
			want = want[1:]
		case "no disruption":
			for i := range 3 {
				want += fmt.Sprintf("\nweb-%d held true: budget ml/web needs 3 healthy pods of 3, so it never allows an eviction", i)
			}
			want = want[1:]
		case "not all are well":
			for i := range 3 {
				want += fmt.Sprintf("\nweb-%d held true: budget ml/web needs 2 healthy pods and has 2, and nothing that is planned changes that", i)
			}
			want = want[1:]
		}
		got, d := drained(t, o)
		if got != want || d.Replay.Certain != test.certain || d.LeavesSome != test.some || d.Open != (name == "not counted") {
			t.Errorf("%s: certain %t, leaves some %t, open %t, %q\n%s\nwant\n%s", name, d.Replay.Certain, d.LeavesSome, d.Open, d.Replay.Remarks, got, want)
		}
	}
}

// TestDrainSharedClaim: two pods of a budget share a claim. The first that goes cannot come back elsewhere
// as long as the second has the devices, which never goes. At once they would find a node.
func TestDrainSharedClaim(t *testing.T) {
	share := func(o *inspect.Objects) {
		shared := o.Claims[0]
		shared.OwnerReferences = nil
		shared.Status.Allocation.NodeSelector = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{
			{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{"node-0000"}},
		}}}}
		shared.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: "web-0", UID: "web-0"}, {Resource: "pods", Name: "web-1", UID: "web-1"}}
		for _, pod := range o.Pods[:2] {
			pod.Spec.ResourceClaims[0] = corev1.PodResourceClaim{Name: "gpus", ResourceClaimName: &shared.Name}
			pod.Status.ResourceClaimStatuses = nil
		}
		o.Claims = slices.Delete(o.Claims, 1, 3)
		o.Pods = slices.Delete(o.Pods, 2, 3)
		o.Budgets[0].Status.ExpectedPods = 2
	}
	o := serving(0)
	share(o)
	got, d := drained(t, o)
	if !strings.HasPrefix(got, "web-0 Pending Unsatisfiable\nweb-1 held true: waits until a replacement of ml/web-0 is ready, which finds no node") || len(d.Claims) > 0 {
		t.Errorf("%s %v", got, d.Replay.Remarks)
	}
	o = serving(0)
	share(o)
	o.Budgets = nil
	if got, d = drained(t, o); got != "web-0 Placed\nweb-1 Placed" || len(d.Claims) != 1 {
		t.Errorf("%s", got)
	}
}

// TestDrainUnread: where budgets were not read, no drain is a certain yes.
func TestDrainUnread(t *testing.T) {
	o := serving(0)
	o.Budgets = nil
	health := map[inspect.Resource]inspect.Health{inspect.Budgets: {State: inspect.Forbidden}}
	c := scheduler.NewCluster(inspect.New(*o, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor), Health: health}), scheduler.Options{})
	d, err := Play(t.Context(), c, Drain(c.Snapshot(), "node-0000"))
	if err != nil || !d.Open || d.Replay.Certain || len(d.Gone) != 3 || d.Gone[0].Eviction == nil || !d.Gone[0].Eviction.Open {
		t.Errorf("%+v, %v", d, err)
	}
	if d, err = Play(t.Context(), c, LoseNodes(c.Snapshot(), "node-0000")); err != nil || d.Open || !d.Replay.Certain || d.Gone[0].Eviction != nil {
		t.Errorf("the loss of a node asks nobody: %+v, %v", d, err)
	}
}

// TestDrainManyTurns: of very many turns the first are played one after the other.
func TestDrainManyTurns(t *testing.T) {
	o := serving(0, 0, 0)
	for i := 3; i < 16; i++ {
		pod := ready(explaintest.AddRunning(o, fmt.Sprintf("web-%d", i), "node-0000", "ReplicaSet"))
		pod.Labels, pod.Spec.ResourceClaims, pod.Status.ResourceClaimStatuses = o.Pods[0].Labels, nil, nil
		pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "none"}}, TopologyKey: corev1.LabelHostname,
		}}}}
	}
	got, d := drained(t, o)
	if strings.Count(got, " Placed") != 16 || strings.Count(got, "waits until a replacement") != 15 || d.Replay.Certain {
		t.Errorf("%s %v", got, d.Replay.Remarks)
	}
}
