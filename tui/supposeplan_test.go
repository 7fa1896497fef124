package tui

import (
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// TestSupposingWhatIsPlanned: from a page about what would be, a key leads into the cluster in which that has
// happened, in which all views and questions are about it. The same key, or W, takes it back.
func TestSupposingWhatIsPlanned(t *testing.T) {
	tests := []struct {
		name  string
		words string
		claim inspect.ClaimRef // which loses its devices
		waits bool             // a pod comes back and waits for it
		shows []string
	}{
		{"drain", "drain gpu-b-03", inspect.ClaimRef{Namespace: "infer", Name: "llm-70b-2-gpus-w9bnf"}, true, []string{"WHAT IF", "gpu-b-03 drained"}},
		{"lose a node", "lose node gpu-a-01", inspect.ClaimRef{Namespace: "ml", Name: "pretrain-0"}, false, []string{"WHAT IF", "gpu-a-01 lost"}},
		{"lose a device", "lose device gpu-a-01/gpu-0", inspect.ClaimRef{Namespace: "ml", Name: "pretrain-0"}, false, []string{"gpu.example.com/gpu-a-01/gpu-0 lost"}},
		{"taint", "taint gpu-a-01/gpu-0", inspect.ClaimRef{Namespace: "ml", Name: "pretrain-0"}, false, []string{"gpu.example.com/gpu-a-01/gpu-0 tainted"}},
		{"evict", "evict infer/llm-70b-2", inspect.ClaimRef{Namespace: "infer", Name: "llm-70b-2-gpus-w9bnf"}, true, []string{"infer/llm-70b-2 evicted"}},
		{"delete", "delete ml", inspect.ClaimRef{Namespace: "ml", Name: "pretrain-0"}, false, []string{"namespace ml deleted"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := drive(t, 140, 40, "nodes")
			d.frame()
			before := d.m.world.Snapshot
			d.press(":", test.words, "enter")
			d.shows("w suppose it")
			d.press("w")
			d.shows(test.shows...)
			if len(d.m.pages) > 0 {
				t.Error("the page is still there")
			}
			s := d.m.world.Snapshot
			claim, ok := s.Claim(test.claim)
			if ok && claim.Status.Allocation != nil {
				t.Errorf("%s still has its devices", test.claim)
			}
			waits := false
			for _, ref := range s.PodsOf(test.claim) {
				pod, _ := s.Pod(ref)
				waits = waits || pod.Spec.NodeName == ""
			}
			if waits != test.waits {
				t.Errorf("a pod waits for %s: %v, want %v", test.claim, waits, test.waits)
			}
			d.press("w")
			if len(d.m.hypotheses) > 0 || d.m.world.Snapshot != before {
				t.Errorf("after the key again %v is supposed", d.m.hypotheses)
			}
		})
	}
}

// TestSupposingAPageAgain: on the page about what is supposed already, the key takes it back, and nothing
// else that is supposed.
func TestSupposingAPageAgain(t *testing.T) {
	d := drive(t, 140, 40, "nodes")
	d.press(":", "node gpu-b-04", "enter", "w", ":", "drain gpu-b-03", "enter", "w")
	d.shows("gpu-b-03 drained and 1 more")
	d.press(":", "drain gpu-b-03", "enter")
	d.shows("w take back", "ends no pod")
	d.press("w")
	d.shows("no longer supposed: gpu-b-03 drained")
	if len(d.m.hypotheses) != 1 || d.m.hypotheses[0].Kind != screen.DuplicateNode {
		t.Errorf("supposed: %v", d.m.hypotheses)
	}
}

// TestNothingIsWrittenWhereItIsSupposed: in a cluster that is only supposed nothing is allocated.
func TestNothingIsWrittenWhereItIsSupposed(t *testing.T) {
	n := &notebook{}
	d := writing(t, n)
	d.press(":", "drain gpu-b-03", "enter", "w")
	d.send(screen.Go{View: "claims", Ref: screen.Ref{Kind: screen.Claim, Namespace: "ml", Name: "train-1"}})
	d.press("A")
	d.shows("not while something is supposed")
	if len(n.planned) > 0 {
		t.Errorf("planned: %v", n.planned)
	}
}

// TestMakingRoom: the page says which pods have to move, and the key supposes that they are gone: then the
// claim fits.
func TestMakingRoom(t *testing.T) {
	d := drive(t, 140, 40, "claims")
	d.press(":", "make-room ml/pretrain-2", "enter")
	d.shows("what if: make-room ml/pretrain-2", "ml/pretrain-2 fits on gpu-b-03 once 1 pod is moved", "kubectl delete pod llm-70b-2 -n infer", "w suppose it")
	d.press("w")
	d.shows("WHAT IF", "infer/llm-70b-2 evicted")
	if row := line(d.frame(), "pretrain-2 "); !strings.Contains(row, "helped") {
		t.Errorf("the claim that room is made for: %s", row)
	}
	d.press(":", "make-room ml/pretrain-2", "enter")
	d.shows("nothing has to be moved")
	d.press("w")
	d.shows("no pod has to move, or that is not known yet")
}

// TestADrainedNodeHelpsNobody: the devices of a node that is drained are free, and no pod can go there.
func TestADrainedNodeHelpsNobody(t *testing.T) {
	d := drive(t, 140, 40, "claims")
	d.press(":", "drain gpu-b-03", "enter", "w", ":", "claim ml/pretrain-2", "enter")
	if row := line(d.frame(), "pretrain-2"); strings.Contains(row, "helped") || !strings.Contains(row, "stuck") {
		t.Errorf("a claim of which the devices would be on the node that is drained: %s", row)
	}
}
