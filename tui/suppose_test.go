package tui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/disruption"
)

// Who holds a claim has to end for its release: what they take of a node besides devices is free as well, and
// no view says of the claim what is only so because of that.
func TestSupposingAReleaseEndsPods(t *testing.T) {
	d := drive(t, 140, 60, "causes")
	d.shows("ml pretrain-2")
	d.press(":", "ml/pretrain-1", "enter", "w")
	for _, artefact := range []string{"no pod uses it", "waiting for the scheduler"} {
		if row := line(d.frame(), "pretrain-1"); row == "" || strings.Contains(row, artefact) {
			t.Errorf("of the claim it says: %s", row)
		}
	}
	d.press("e")
	if frame := d.frame(); strings.Contains(frame, "no pod uses the claim") {
		t.Errorf("the explanation says what is only supposed:\n%s", frame)
	}
	d.press("esc", "7")
	if row := line(strings.ReplaceAll(d.frame(), "└ ", "▸ "), "pretrain-2"); row != "" {
		t.Errorf("a pod that is helped is stuck: %s", row)
	}
}

// The key goes to and fro also on a node that is only supposed, whose row goes.
func TestSupposingTheSameNodeAgain(t *testing.T) {
	d := drive(t, 120, 30, "nodes")
	d.press(":", "node gpu-a-02", "enter", "w", "down")
	if got := d.m.state().Selection.Name; got != "gpu-a-02-what-if-a" {
		t.Fatalf("the cursor is at %s", got)
	}
	for i, want := range []int{0, 1, 0, 1} {
		if d.press("w"); len(d.m.hypotheses) != want || want == 1 && d.m.hypotheses[0].Ref.Name != "gpu-a-02" {
			t.Errorf("after w number %d: %v", i+1, d.m.hypotheses)
		}
	}
}

// Rules that have nothing to do with what is supposed stay, and every device but the one keeps exactly its
// taints.
func TestSupposingKeepsOtherTaints(t *testing.T) {
	base := demoSnapshot(t)
	taints := func(s *inspect.Snapshot) map[string]string {
		out := map[string]string{}
		for _, d := range s.Devices() {
			out[d.ID.String()] = fmt.Sprint(d.State, d.Device.Taints)
		}
		return out
	}
	written := func() (text string) {
		for _, slice := range base.Objects().Slices {
			for i := range slice.Spec.Devices {
				text += fmt.Sprint(slice.Spec.Devices[i].Taints)
			}
		}
		return text
	}
	was, before := taints(base), written()
	for device, rules := range map[string]int{"gpu.example.com/gpu-a-03/gpu-5": 1, "gpu.example.com/gpu-a-04/gpu-1": 0} {
		s := disruption.Apply(base, []screen.Change{{Kind: screen.IgnoreTaint, Ref: screen.Ref{Kind: screen.Device, Name: device}}})
		if got := len(s.Objects().TaintRules); got != rules {
			t.Errorf("%s: %d rules are left, want %d", device, got, rules)
		}
		for id, now := range taints(s) {
			if id == device && now != "Free[]" || id != device && now != was[id] {
				t.Errorf("%s tolerated: %s was %s and is %s", device, id, was[id], now)
			}
		}
	}
	if written() != before {
		t.Error("the cluster as it is was written to")
	}
}

// To tolerate the taints of one device takes rules out of the snapshot, and not from what is told of others.
func TestSupposingLeavesRulesToOthers(t *testing.T) {
	d := drive(t, 140, 40, "nodes")
	at := func(name string) {
		d.send(screen.Selected{Ref: screen.Ref{Kind: screen.Device, Name: name}})
	}
	at("gpu.example.com/gpu-a-04/gpu-2")
	d.press("w")
	at("gpu.example.com/gpu-a-04/gpu-1")
	d.shows("WHAT IF", "by the rule firmware-gpu-a-04")
	d.press("2")
	d.send(screen.Selected{Ref: screen.Ref{Kind: screen.Device, Name: "gpu.example.com/gpu-a-04/gpu-1"}})
	d.shows("WHAT IF", "set by")
}

// One more node like a sick one is well: it is ready and not cordoned, without the taints that say in what
// state a node is. What else it is tainted with is told, and can be supposed away.
func TestSupposingANodeLikeASickOne(t *testing.T) {
	sick := demoSnapshot(t).With(func(o *inspect.Objects) {
		for i, node := range o.Nodes {
			if node.Name != "gpu-a-03" {
				continue
			}
			node = node.DeepCopy()
			node.Spec.Unschedulable = true
			node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown}, {Type: corev1.NodeDiskPressure, Status: corev1.ConditionTrue}}
			for _, key := range []string{corev1.TaintNodeUnreachable, corev1.TaintNodeUnschedulable, "ToBeDeletedByClusterAutoscaler", "karpenter.sh/disrupted", "dedicated"} {
				node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: key, Effect: corev1.TaintEffectNoSchedule})
			}
			o.Nodes[i] = node
		}
	})
	d := start(t, Options{Source: Static(sick), View: "nodes", Profile: colorprofile.NoTTY, Clock: demo.Now, NoWriter: "no"}, 140, 40)
	d.press(":", "node gpu-a-03", "enter", "w")
	d.shows("what if: one more node like gpu-a-03, tainted as that is: dedicated:NoSchedule and 1 tainted device (w again takes it back)")
	added, ok := d.m.world.Snapshot.Node("gpu-a-03-what-if-a")
	if !ok || added.Spec.Unschedulable || len(added.Spec.Taints) != 1 || added.Spec.Taints[0].Key != "dedicated" {
		t.Fatalf("%v %+v", ok, added.Spec)
	}
	if c := added.Status.Conditions; c[0].Status != corev1.ConditionTrue || c[1].Status != corev1.ConditionFalse {
		t.Errorf("%+v", c)
	}
	var tainted screen.Ref
	for _, device := range d.m.world.Snapshot.Devices() {
		if device.ID.Pool == "gpu-a-03-what-if-a" && len(device.Device.Taints) > 0 {
			tainted = screen.Ref{Kind: screen.Device, Name: device.ID.String()}
		}
	}
	d.press("k") // w would take the node back
	d.send(screen.Selected{Ref: tainted})
	d.press("w")
	d.shows("what if: taints of " + tainted.Name + " tolerated")
	if state, _ := screen.FindDevice(d.m.world, tainted); state.State != inspect.DeviceFree {
		t.Errorf("%s is %s", tainted.Name, state.State)
	}
}

// A rule that does not select the devices of a node that is added does not taint them, whatever else is
// supposed.
func TestSupposingANodeBesideARule(t *testing.T) {
	s := disruption.Apply(demoSnapshot(t), []screen.Change{
		{Kind: screen.IgnoreTaint, Ref: screen.Ref{Kind: screen.Device, Name: "gpu.example.com/gpu-a-04/gpu-2"}},
		{Kind: screen.DuplicateNode, Ref: screen.Ref{Kind: screen.Node, Name: "gpu-a-04"}},
	})
	n := 0
	for _, device := range s.Devices() {
		if device.ID.Pool == "gpu-a-04-what-if-b" {
			if n++; device.State != inspect.DeviceFree {
				t.Errorf("%s is %s: %v", device.ID, device.State, device.Device.Taints)
			}
		}
	}
	if n != 10 {
		t.Errorf("%d devices were added", n)
	}
}
