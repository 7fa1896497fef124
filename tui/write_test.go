package tui

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/disruption"
)

// scribe is a Writer that remembers what it was asked.
type scribe struct {
	planned, written []string
	fail             error
}

func (s *scribe) Plan(_ context.Context, action Action, ref screen.Ref) (Plan, error) {
	s.planned = append(s.planned, string(action)+" "+ref.String())
	return &oneLine{s, string(action) + " " + ref.String()}, nil
}

// oneLine is a plan of one line.
type oneLine struct {
	scribe *scribe
	text   string
}

func (p *oneLine) Text() string { return "status of " + p.text + "\x1b[2J" }

func (p *oneLine) Execute(context.Context) (string, error) {
	p.scribe.written = append(p.scribe.written, p.text)
	return "done: " + p.text, p.scribe.fail
}

func TestNothingIsWrittenWithoutAYes(t *testing.T) {
	d := drive(t, 100, 30, "")
	s := &scribe{}
	d.m.options.Writer = s
	d.send(screen.Go{View: "claims", Ref: screen.Ref{Kind: screen.Claim, Namespace: "ml", Name: "train-1"}})
	for _, no := range []string{"", "n", "q", "y", "ye", "yess", "A", "no"} {
		d.press("A")
		d.shows("write this to the cluster?", `status of allocate ml/train-1\x1b[2J`)
		d.press(no, "enter")
		d.shows("write this to the cluster?") // and nothing is written
		d.press("esc")
		if strings.Contains(d.frame(), "write this") || len(s.written) > 0 {
			t.Fatalf("after %s: written %q\n%s", no, s.written, d.frame())
		}
	}
	d.send(screen.Go{View: "claims", Ref: screen.Ref{Kind: screen.Claim, Namespace: "dev", Name: "notebook-omar"}})
	d.press("D", "yes", "enter")
	d.shows("done: deallocate dev/notebook-omar")
	if !slices.Equal(s.written, []string{"deallocate dev/notebook-omar"}) {
		t.Errorf("written: %q", s.written)
	}
	s.fail = errors.New("conflict")
	d.send(screen.Go{View: "claims", Ref: screen.Ref{Kind: screen.Claim, Namespace: "ml", Name: "train-1"}})
	d.press("A", "yes", "enter")
	d.shows("conflict")
}

func TestNothingIsWrittenFromASupposition(t *testing.T) {
	d := drive(t, 120, 30, "")
	s := &scribe{}
	d.m.options.Writer = s
	d.send(screen.Go{View: "claims", Ref: screen.Ref{Kind: screen.Claim, Namespace: "ml", Name: "pretrain-0"}})
	d.press("w", "A")
	d.shows("not while something is supposed")
	if len(s.planned) > 0 {
		t.Errorf("planned: %q", s.planned)
	}
}

func TestADisabledKeySaysWhy(t *testing.T) {
	d := drive(t, 100, 30, "")
	d.press("A")
	d.shows("nothing is written", "the demo cluster cannot be written")
	d.press("yes") // for a question that is not asked
	d.shows("nothing is written")
	d.press("enter", "3", "e")
	d.shows("e explain: not for a Node")
}

// TestHistory: what happens to a claim from one snapshot to the next is told in its detail.
func TestHistory(t *testing.T) {
	d := drive(t, 100, 40, "")
	released := d.m.base.With(func(o *inspect.Objects) {
		for i, c := range o.Claims {
			if c.Name == "pretrain-0" {
				c = c.DeepCopy()
				c.Status = resourcev1.ResourceClaimStatus{}
				o.Claims[i] = c
			}
		}
	})
	d.send(arrived{released})
	d.send(screen.Go{View: "claims", Ref: screen.Ref{Kind: screen.Claim, Namespace: "ml", Name: "pretrain-0"}})
	d.press("enter")
	d.shows("Seen since the start", "reserved → pending")
	d.press("esc", ":", "gpu-a-01/gpu-3", "enter", "enter")
	d.shows("gpu.example.com/gpu-a-01/gpu-3", "allocated → free")
}

// TestWhatIfs: each kind of supposition changes what it should and nothing else.
func TestWhatIfs(t *testing.T) {
	base := demoSnapshot(t)
	state := func(s *inspect.Snapshot, device string) inspect.DeviceState {
		for _, d := range s.Devices() {
			if d.ID.String() == device {
				return d.State
			}
		}
		return "gone"
	}
	tainted := "gpu.example.com/gpu-a-03/gpu-5"
	s := disruption.Apply(base, []screen.Change{{Kind: screen.IgnoreTaint, Ref: screen.Ref{Kind: screen.Device, Name: tainted}}})
	if state(base, tainted) != inspect.DeviceTainted || state(s, tainted) != inspect.DeviceFree {
		t.Errorf("%s is %s, under the supposition %s", tainted, state(base, tainted), state(s, tainted))
	}
	for _, d := range base.Devices() {
		if id := d.ID.String(); id != tainted && state(s, id) != d.State {
			t.Errorf("%s was %s and became %s", id, d.State, state(s, id))
		}
	}
	s = disruption.Apply(base, []screen.Change{{Kind: screen.DuplicateNode, Ref: screen.Ref{Kind: screen.Node, Name: "gpu-b-01"}}})
	if len(s.Nodes()) != len(base.Nodes())+1 {
		t.Errorf("%d nodes became %d", len(base.Nodes()), len(s.Nodes()))
	}
	free := 0
	for _, n := range s.NodeStatuses() {
		if strings.HasPrefix(string(n.Name), "gpu-b-01-what-if") {
			free = n.Drivers["gpu.example.com"].Free
		}
	}
	if free != 8 {
		t.Errorf("the supposed node has %d free GPUs, want 8", free)
	}
}

var _ tea.Model = (*model)(nil)

// A question that comes up while the user is doing something else could be answered by accident.
func TestNobodyIsAskedInTheMiddleOfSomethingElse(t *testing.T) {
	d := drive(t, 100, 30, "")
	s := &scribe{}
	d.m.options.Writer = s
	d.ahead("A", "y")
	if strings.Contains(d.frame(), "write this") || len(s.written) > 0 {
		t.Errorf("written: %q\n%s", s.written, d.frame())
	}
	d.shows("── yaml dev/transcode-8k ─")
}
