package tui

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	testwork "github.com/kubectl-dra/kubectl-dra/internal/effort"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// TestWhatIfItWereTakenAway asks what would be without objects of each kind, with the keys that a user
// presses. No key of these pages writes, and the cluster stays as it is.
func TestWhatIfItWereTakenAway(t *testing.T) {
	tests := []struct {
		name  string
		keys  []string
		shows []string
	}{
		{"drain", []string{":", "node cpu-02", "enter", "p", "enter"}, []string{
			"── what if: drain cpu-02", "nodes in service       12/12       12/12  → 11/12", "pods waiting              16          13  →    12",
			"fpga.example.com free    0/5         0/5  →   1/5", "draining node cpu-02 ends 4 pods: 4 will not come back", "net/cdn-egress-1    cpu-02 gone",
		}},
		{"lose by its letter", []string{":", "node gpu-a-01", "enter", "p", "l", "enter"}, []string{
			"── what if: lose gpu-a-01", "nodes in service      12/12       12/12  → 11/11", "losing node gpu-a-01 ends 1 pod",
		}},
		{"taint", []string{":", "device gpu.example.com/gpu-a-01/gpu-0", "enter", "p", "down", "enter"}, []string{
			"── what if: taint gpu.example.com/gpu-a-01/gpu-0", "tainting device gpu.example.com/gpu-a-01/gpu-0 with NoExecute ends 1 pod", "ml/pretrain-0",
		}},
		{"the one question about a namespace", []string{":", "namespaces", "enter", "p"}, []string{"── what if: delete dev", "deleting namespace dev ends 8 pods", "left alone"}},
		{"the one question about a pool", []string{":", "pools", "enter", "p"}, []string{"── what if: lose fpga.example.com/shelf-2", "losing pool fpga.example.com/shelf-2"}},
		{"in words", []string{":", "plan drain node gpu-b-04", "enter"}, []string{"── what if: drain gpu-b-04", "draining node gpu-b-04"}},
		{"in words, without the driver", []string{":", "lose device gpu-a-01/gpu-3", "enter"}, []string{"── what if: lose gpu.example.com/gpu-a-01/gpu-3", "losing device gpu.example.com/gpu-a-01/gpu-3"}},
		{"in fewer words", []string{":", "delete dev", "enter"}, []string{"── what if: delete dev", "deleting namespace dev ends 8 pods"}},
		{"several at once", []string{"3", "home", "space", "space", "p", "enter"}, []string{"── what if: drain 2 objects", "draining nodes cpu-01, cpu-02 ends"}},
		{"of a page", []string{":", "node cpu-02", "enter", "enter", "p", "enter"}, []string{"── detail cpu-02", "what if: drain cpu-02", "draining node cpu-02"}},
		{"from one question to the other", []string{":", "drain cpu-02", "enter", "p"}, []string{"what if: lose cpu-02", "losing node cpu-02"}},
		{"of a claim", []string{":", "claim ml/pretrain-1", "enter", "p"}, []string{"── what if: make-room ml/pretrain-1", "has its place already"}},
		{"of a pod", []string{":", "evict infer/llm-70b-2", "enter"}, []string{"── what if: evict infer/llm-70b-2", "evicting pod infer/llm-70b-2 ends 1 pod"}},
		{"of a class", []string{":", "classes", "enter", "p"}, []string{"p plan: there is nothing to plan with a DeviceClass"}},
		{"nothing that is offered", []string{":", "node cpu-02", "enter", "p", "z", "enter"}, []string{`"z" is none of them`}},
	}
	base := demoSnapshot(t)
	before := len(base.Objects().Pods)
	for i, test := range tests {
		if i%testwork.InUsual(2, 1) != 0 {
			continue
		}
		t.Run(test.name, func(t *testing.T) {
			d := start(t, Options{
				Source: Static(base), Origin: "demo", View: "nodes", Profile: colorprofile.NoTTY, Clock: demo.Now, Writer: dry{},
			}, 140, 40)
			d.frame()
			d.press(test.keys...)
			d.shows(test.shows...)
			if !strings.Contains(strings.Join(test.shows, ""), "what if: ") {
				return
			}
			for _, key := range []string{"A", "D"} {
				d.press(key)
				d.shows("nothing is written", "not on a page about what would be: Esc leaves it")
				d.press("esc")
			}
			if d.m.writes.plan.Running() || d.m.writes.commit.Running() || len(d.m.hypotheses) > 0 || d.m.base != base || d.m.world.Snapshot != base {
				t.Error("something was changed")
			}
		})
	}
	if got := len(base.Objects().Pods); got != before {
		t.Errorf("%d pods became %d", before, got)
	}
}

// TestTakingAwayInASupposedCluster asks about what is supposed already: what the node that is added takes
// over, and that one itself.
func TestTakingAwayInASupposedCluster(t *testing.T) {
	d := drive(t, 140, 40, "nodes")
	d.press(":", "node gpu-b-04", "enter", "w", "p", "enter")
	d.shows("WHAT IF", "one more node like gpu-b-04", "what if: drain gpu-b-04", "nodes in service       13/13       13/13  → 12/13")
	d.press("esc", "down")
	if got := d.m.state().Selection.Name; got != "gpu-b-04-what-if-a" {
		t.Fatalf("the cursor is at %s", got)
	}
	d.press("p", "l", "enter")
	d.shows("losing node gpu-b-04-what-if-a ends no pod", "13/13  → 12/12")
	d.press("W")
	d.shows("Node gpu-b-04-what-if-a is gone")
}

// TestTakingAwayFollowsTheCluster: the page tells of the newest snapshot.
func TestTakingAwayFollowsTheCluster(t *testing.T) {
	d := drive(t, 140, 40, "nodes")
	d.press(":", "drain cpu-02", "enter")
	d.shows("draining node cpu-02 ends 4 pods")
	d.send(arrived{demoSnapshot(t).With(func(o *inspect.Objects) {
		o.Pods = slices.DeleteFunc(slices.Clone(o.Pods), func(p *corev1.Pod) bool { return p.Name == "live-1" })
	})})
	d.shows("draining node cpu-02 ends 3 pods")
}

// TestTakingAwayDifferentThings: what is marked goes together only if it is of one kind.
func TestTakingAwayDifferentThings(t *testing.T) {
	d := drive(t, 140, 40, "nodes")
	refs := []screen.Ref{{Kind: screen.Node, Name: "cpu-02"}, {Kind: screen.Device, Name: "gpu.example.com/gpu-a-01/gpu-0"}}
	settle(d.m, d.m.open(screen.Lose, refs))
	d.shows("a Node and a Device cannot go together")
	if why := d.m.removalOff([]screen.Ref{{Kind: screen.Namespace, Name: "dev"}, {Kind: screen.Namespace, Name: "ml"}}); !strings.Contains(why, "only for one object") {
		t.Errorf("two namespaces: %q", why)
	}
}
