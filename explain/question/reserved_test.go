package question_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// TestReservedForGone: a claim that is reserved for a pod that does not exist is told so, unless it may exist
// and could not be read.
func TestReservedForGone(t *testing.T) {
	for name, test := range map[string]struct {
		pods   []*corev1.Pod
		health inspect.HealthState
		want   bool
	}{
		"gone":           {nil, inspect.Synced, true},
		"there":          {[]*corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Name: "p"}}}, inspect.Synced, false},
		"not all read":   {nil, inspect.Forbidden, false},
		"none were read": {nil, inspect.NotRead, false},
	} {
		o := explaintest.NodesWithDevices(1, 1)
		claim := explaintest.AllocatedClaim("held", "n0", 0)
		claim.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: "p"}}
		o.Claims = append(o.Claims, claim)
		for _, pod := range test.pods {
			pod.Namespace = claim.Namespace
		}
		o.Pods = append(o.Pods, test.pods...)
		s := inspect.New(o, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor), Health: map[inspect.Resource]inspect.Health{inspect.Pods: {State: test.health}}})
		e, err := question.ClaimObject(t.Context(), scheduler.NewCluster(s, scheduler.Options{}), claim, question.Options{})
		if err != nil {
			t.Fatal(err)
		}
		said := slices.ContainsFunc(e.Waits, func(n explain.Note) bool {
			return strings.HasPrefix(n.Message, "1 pod for which it is reserved does not exist: p; the resourceclaim controller")
		})
		if said != test.want {
			t.Errorf("%s: %v", name, e.Waits)
		}
	}
}

// TestBindingNotes: that the scheduler waits for what it would pick is told before it is picked.
func TestBindingNotes(t *testing.T) {
	for on, want := range map[bool]string{false: "", true: "once a pod is to get device " + explaintest.Driver + "/n0/d00, kube-scheduler waits up to 10 minutes for its driver to report d/ready"} {
		o := explaintest.NodesWithDevices(1, 1)
		o.Classes = append(o.Classes, &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}})
		o.Slices[0].Spec.Devices[0].BindingConditions = []string{"d/ready"}
		features := inspect.DefaultFeatures(inspect.NewestMinor).With(map[inspect.Gate]bool{inspect.GateDeviceBindingConditions: on, inspect.GateDeviceStatus: true})
		c := scheduler.NewCluster(inspect.New(o, inspect.Config{Features: features}), scheduler.Options{})
		e, err := question.ClaimObject(t.Context(), c, explaintest.GPUClaim(1, "gpu"), question.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, n := range e.Waits {
			if strings.Contains(n.Message, "d/ready") {
				got = n.Message
			}
		}
		if got != want {
			t.Errorf("binding conditions %t: %s, %q, want %q", on, e.Verdict, got, want)
		}
	}
}
