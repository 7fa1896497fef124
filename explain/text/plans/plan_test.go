package plans

import (
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/text/layout"
)

// TestPlacedAtMost: how many pods kube-scheduler places is told as a fact only where it is one.
func TestPlacedAtMost(t *testing.T) {
	pending := func(verdicts ...explain.Verdict) (out []explain.PendingPod) {
		for i, v := range verdicts {
			out = append(out, explain.PendingPod{Verdict: v, Alike: i / 2, Message: "message " + string(v)})
		}
		return out
	}
	const no, unknown = explain.Unsatisfiable, explain.Unknown
	placed := make([]explain.PlacedPod, 2)
	for _, tt := range []struct {
		replay explain.Replay
		joint  *explain.JointPlan
		want   string
	}{
		{explain.Replay{Placed: placed, Pending: pending(no, no), Certain: true}, nil, "✗ kube-scheduler places 2 of 4 pods"},
		{explain.Replay{Placed: placed, Pending: pending(no, no)}, nil, "✗ kube-scheduler places at most 2 of 4 pods"},
		{explain.Replay{Placed: placed, Pending: pending(no, unknown)}, nil, "✗ kube-scheduler places at most 3 of 4 pods, and 2 by the choices shown"},
		{explain.Replay{Placed: placed, Pending: pending(unknown, unknown)}, &explain.JointPlan{Verdict: explain.Infeasible}, "✗ kube-scheduler places at most 3 of 4 pods, and 2 by the choices shown"},
		{explain.Replay{Placed: placed, Pending: pending(unknown, unknown), Ties: make([]explain.Tie, 1)}, nil, "✗ kube-scheduler places 2 of 4 pods"},
		{explain.Replay{Placed: placed, Pending: pending(unknown, unknown)}, nil, "? kube-scheduler may place 2 of 4 pods; for the others it is not known"},
		{explain.Replay{Placed: placed, Pending: pending(unknown, unknown), Certain: true}, nil, "? kube-scheduler places 2 of 4 pods; for the others it is not known"},
	} {
		lines := Lines(&explain.Plan{Replay: tt.replay, Joint: tt.joint}, layout.Options{Width: 200})
		if got := textOf(lines[:1]); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
	p := newPage(layout.Options{Width: 200})
	p.waiting("", pending(no, unknown, unknown))
	if got := textOf(p.Lines); strings.Count(got, "message Unknown") != 2 || strings.Count(got, "message Unsatisfiable") != 1 {
		t.Errorf("pods of which one thing is known stand with others:\n%s", got)
	}
}

func textOf(lines []styled.Line) string {
	var b strings.Builder
	for i, line := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		for _, s := range line {
			b.WriteString(s.Text)
		}
	}
	return b.String()
}
