package plan

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/replay"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestCleared: of a pod that waits with devices on a node that it cannot use it is not known that it goes on
// waiting, nor what others get, if nobody else has reserved the devices.
func TestCleared(t *testing.T) {
	for reservedFor, certain := range map[string]bool{"": false, "b": false, "other": true} {
		o := explaintest.SmallFarm(2)
		claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "held"}, Spec: o.Templates[0].Spec.Spec}
		o.Claims = append(o.Claims, claim)
		node := o.Nodes[0].Name
		of := o.Slices[0]
		claim.Status.Allocation = &resourcev1.AllocationResult{
			Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{
				{Request: claim.Spec.Devices.Requests[0].Name, Driver: of.Spec.Driver, Pool: of.Spec.Pool.Name, Device: of.Spec.Devices[0].Name},
			}},
			NodeSelector: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{
				{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{node}},
			}}}},
		}
		if reservedFor != "" {
			claim.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: reservedFor, UID: second(0, explaintest.Worker(reservedFor, "one")).UID}}
		}
		waits := second(0, explaintest.Worker("b", "one"))
		waits.Spec.ResourceClaims[0] = corev1.PodResourceClaim{Name: "gpus", ResourceClaimName: new("held")}
		o.Nodes[0] = o.Nodes[0].DeepCopy()
		o.Nodes[0].Spec.Unschedulable = true
		p := place(t, o, waits)
		said := strings.Contains(strings.Join(p.Replay.Remarks, "; "), "kube-scheduler may take their devices from ml/b")
		if p.Replay.Certain != certain || said == certain || len(p.Replay.Pending) != 1 || (p.Replay.Pending[0].Verdict == explain.Unsatisfiable) != certain {
			t.Errorf("reserved for %q: %+v", reservedFor, p.Replay)
		}
		if unseen, err := Place(t.Context(), explaintest.Unreadable(o, inspect.Pods), []*corev1.Pod{waits}, Options{}); err != nil || (unseen.Replay.Pending[0].Verdict == explain.Unsatisfiable) != certain {
			t.Errorf("reserved for %q, not everything was read: %+v, %v", reservedFor, unseen, err)
		}
		o.Pods = append(o.Pods, waits)
		c := explaintest.NewCluster(*o)
		e, err := question.PodObject(t.Context(), c, waits, question.Options{})
		if err != nil || e.Verdict != explain.Unsatisfiable {
			t.Fatal(e, err)
		}
		err = Queue(t.Context(), c, []*explain.Explanation{e}, replay.Choosing{})
		if said = strings.Contains(e.Message, "takes its devices back"); err != nil || said == certain || (e.Queue.Verdict == explain.Unsatisfiable) != certain {
			t.Errorf("reserved for %q: %+v %s, %v", reservedFor, e.Queue, e.Message, err)
		}
		gated := waits.DeepCopy()
		gated.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/wait"}}
		if losesDevices(c, waits) == certain || losesDevices(c, gated) {
			t.Errorf("reserved for %q: it is not told whether kube-scheduler takes the devices back, or of a gated pod that it does", reservedFor)
		}
	}
}

// TestClearedOncePreempted: the devices of a pod are on a node that it cannot use, and the other node is
// full, so that kube-scheduler does not come to look at devices there before it has ended others.
func TestClearedOncePreempted(t *testing.T) {
	o := explaintest.SmallFarm(2)
	full := explaintest.Worker("full", "one")
	full.Spec.NodeName, full.Spec.ResourceClaims, full.Spec.Priority = o.Nodes[1].Name, nil, new(int32)
	full.Spec.Containers[0].Resources.Claims = nil
	full.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = o.Nodes[1].Status.Allocatable[corev1.ResourceCPU]
	waits := second(0, explaintest.Worker("waits", "one"))
	waits.Spec.ResourceClaims[0] = corev1.PodResourceClaim{Name: "gpus", ResourceClaimName: new("held")}
	waits.Spec.PreemptionPolicy = new(corev1.PreemptNever)
	claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "held"}, Spec: o.Templates[0].Spec.Spec}
	claim.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: "waits", UID: waits.UID}}
	claim.Status.Allocation = &resourcev1.AllocationResult{
		Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{
			{Request: claim.Spec.Devices.Requests[0].Name, Driver: o.Slices[0].Spec.Driver, Pool: o.Slices[0].Spec.Pool.Name, Device: o.Slices[0].Spec.Devices[0].Name},
		}},
		NodeSelector: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{
			{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{o.Nodes[0].Name}},
		}}}},
	}
	o.Nodes[0] = o.Nodes[0].DeepCopy()
	o.Nodes[0].Spec.Unschedulable = true
	o.Pods, o.Claims = append(o.Pods, full), append(o.Claims, claim)
	first := important("first", "one", "1")
	p := place(t, o, first, waits)
	if len(p.Replay.Preempted) != 1 || p.Replay.Certain || len(p.Replay.Pending) != 1 || p.Replay.Pending[0].Verdict != explain.Unknown {
		t.Errorf("%+v", p.Replay)
	}
}

// TestClearedForAnother: a pod that lacks the devices which kube-scheduler takes away from another one may
// get them, whoever is asked about.
func TestClearedForAnother(t *testing.T) {
	o := explaintest.SmallFarm(2)
	o.Slices = o.Slices[:1]
	o.Nodes[0] = o.Nodes[0].DeepCopy()
	o.Nodes[0].Spec.Taints = []corev1.Taint{{Key: "example.com/old", Effect: corev1.TaintEffectNoSchedule}}
	tolerates := []corev1.Toleration{{Key: "example.com/old", Operator: corev1.TolerationOpExists}}
	of := o.Slices[0]
	held := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "held"}, Spec: o.Templates[0].Spec.Spec}
	held.Status.Allocation = &resourcev1.AllocationResult{
		NodeSelector: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{
			{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{o.Nodes[0].Name}},
		}}}},
	}
	for i := range of.Spec.Devices {
		held.Status.Allocation.Devices.Results = append(held.Status.Allocation.Devices.Results, resourcev1.DeviceRequestAllocationResult{
			Request: held.Spec.Devices.Requests[0].Name, Driver: of.Spec.Driver, Pool: of.Spec.Pool.Name, Device: of.Spec.Devices[i].Name,
		})
	}
	o.Claims = append(o.Claims, held)
	holds := second(1, explaintest.Worker("holds", "one"))
	holds.Spec.ResourceClaims[0] = corev1.PodResourceClaim{Name: "gpus", ResourceClaimName: new("held")}
	lacks := second(0, explaintest.Worker("lacks", "one"))
	lacks.Spec.Tolerations = tolerates
	o.Pods = append(o.Pods, holds, lacks)
	for refused, want := range map[bool]explain.Verdict{true: explain.Unknown, false: explain.Unsatisfiable} {
		holds.Spec.Tolerations = tolerates
		if refused {
			holds.Spec.Tolerations = nil
		}
		c := explaintest.NewCluster(*o)
		e, err := question.PodObject(t.Context(), c, lacks, question.Options{})
		if err != nil || e.Verdict != explain.Unsatisfiable {
			t.Fatal(e, err)
		}
		if err = Queue(t.Context(), c, []*explain.Explanation{e}, replay.Choosing{}); err != nil || e.Queue.Verdict != want {
			t.Errorf("the one that has them is refused: %t: explain pod says %+v, %s; %v", refused, e.Queue, e.Message, err)
		}
		p, err := Place(t.Context(), c, []*corev1.Pod{holds, lacks}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if joint := map[bool]explain.JointVerdict{true: explain.JointUnknown, false: explain.Infeasible}[refused]; p.Joint.Verdict != joint {
			t.Errorf("the one that has them is refused: %t: all together are %s (%s), want %s", refused, p.Joint.Verdict, p.Joint.Message, joint)
		}
		for _, pending := range p.Replay.Pending {
			if pending.Subject == cycle.SubjectOf(lacks) && pending.Verdict != want {
				t.Errorf("the one that has them is refused: %t: the plan says %+v", refused, pending)
			}
		}
	}
}
