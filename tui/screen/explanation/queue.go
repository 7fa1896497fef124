package explanation

import (
	"context"
	"fmt"
	"slices"

	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/admission"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/reading"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// queue is what a ClusterQueue has, and the claims of those that wait for it or hold its quota.
type queue struct {
	state *explain.QueueState
	links []linked
}

// linked is a workload, and the claims of its pods.
type linked struct {
	name   string
	ref    screen.Ref
	claims []screen.Ref
}

// newQueue makes the page about a ClusterQueue.
func newQueue(ref screen.Ref) screen.Screen {
	return reading.New(reading.Config[queue]{
		Ref: ref, More: "all that wait and all that hold quota",
		Ask: func(_ context.Context, w *screen.World) (queue, error) {
			all := w.Snapshot.Around().ClusterQueues
			at := slices.IndexFunc(all, func(q *kueuev1beta2.ClusterQueue) bool { return q.Name == ref.Name })
			if at < 0 {
				return queue{}, fmt.Errorf("%s %s is gone", ref.Kind, ref)
			}
			q := queue{state: admission.NewQueues(w.Snapshot).ClusterQueue(all[at])}
			q.link(w.Snapshot)
			return q, nil
		},
		Lines: func(q queue, o reading.Layout) []styled.Line {
			return append(text.QueueLines(q.state, o.Options()), q.lines(o)...)
		},
	})
}

// mostLinked is how many workloads and how many claims of each are led to, beside which the text names
// others.
const mostLinked, mostClaims = 40, 8

// link finds the claims of workloads.
func (q *queue) link(s *inspect.Snapshot) {
	add := func(workload explain.Subject, of *explain.Subject) {
		ref := screen.Ref{Kind: screen.QueuedWorkload, Namespace: workload.Namespace, Name: workload.Name}
		if len(q.links) == mostLinked || slices.ContainsFunc(q.links, func(l linked) bool { return l.ref == ref }) {
			return
		}
		one := linked{name: text.WorkloadName(workload, of), ref: ref}
		for _, pod := range admission.Pods(s, workload) {
			for _, claim := range s.ClaimsOf(pod) {
				one.claims = append(one.claims, screen.Ref{Kind: screen.Claim, Namespace: claim.Namespace, Name: claim.Name})
			}
		}
		q.links = append(q.links, one)
	}
	for i := range q.state.Waiting {
		add(q.state.Waiting[i].Workload, q.state.Waiting[i].Of)
	}
	for i := range q.state.Holders {
		add(q.state.Holders[i].Workload, q.state.Holders[i].Of)
	}
}

// lines lead to workloads, and to the claims of their pods, which have the devices.
func (q *queue) lines(o reading.Layout) []styled.Line {
	if len(q.links) == 0 || o.Copied {
		return nil
	}
	out := []styled.Line{nil, styled.Text(styled.Strong, "Workloads and their claims")}
	for i := range q.links {
		l := &q.links[i]
		out = append(out, styled.Line{{Text: "  "}, screen.LinkTo(l.ref, l.name)})
		for _, claim := range l.claims[:min(len(l.claims), mostClaims)] {
			out = append(out, styled.Line{{Text: "      "}, screen.LinkTo(claim, claim.String())})
		}
		if n := len(l.claims) - mostClaims; n > 0 {
			out = append(out, styled.Text(styled.Dim, fmt.Sprintf("      and %d more", n)))
		}
	}
	return out
}
