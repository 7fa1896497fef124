package objects

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/listing"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// pod is a pod that uses claims or extended resources, or that waits for a node.
type pod struct {
	ref     screen.Ref
	state   string
	refused bool
	node    string
	uses    string // claims, or extended resources
	reason  string
	age     screen.Age
}

// NewPods makes the list of the pods that have to do with devices, and of those that wait for a node. Those
// that the scheduler has refused come first.
func NewPods(about About) screen.Screen {
	return newList(about, listing.Config[pod]{
		Noun: "pods", Resources: []inspect.Resource{inspect.Pods}, Build: buildPods,
		Ref: func(p *pod) screen.Ref { return p.ref },
		Columns: []listing.Column[pod]{
			ranked(3, text("NAMESPACE", func(p *pod) string { return p.ref.Namespace })),
			name("NAME", func(p *pod) string { return p.ref.Name }),
			podState,
			ranked(1, text("NODE", func(p *pod) string { return p.node })),
			ranked(4, uses),
			reasonColumn,
			ranked(2, age(func(p *pod) screen.Age { return p.age })),
		},
		Groupings: []listing.Grouping[pod]{
			{Name: "namespace", Of: func(p *pod) string { return inspect.Sanitize(p.ref.Namespace) }},
			{Name: "node", Of: func(p *pod) string { return inspect.Sanitize(p.node) }},
			{Name: "state", Of: func(p *pod) string { return inspect.Sanitize(p.state) }},
		},
	})
}

var uses = func() listing.Column[pod] {
	c := text("USES", func(p *pod) string { return p.uses })
	c.Min, c.Names = 10, []string{"claims", "claim", "resources"}
	return c
}()

var podState = listing.Column[pod]{Column: widget.Column{Title: "STATE"}, Cell: func(p *pod) styled.Line {
	switch {
	case p.refused:
		return styled.Text(styled.Bad, "✗ refused")
	case p.state == "pending":
		return styled.Text(styled.Warn, p.state)
	case p.state == "running":
		return styled.Text(styled.Good, p.state)
	}
	return styled.Text(styled.Plain, inspect.Sanitize(p.state))
}}

var reasonColumn = listing.Column[pod]{Column: widget.Column{Title: "THE SCHEDULER SAYS", Min: 20, Max: 160, Rank: 5}, Cell: func(p *pod) styled.Line {
	return styled.Text(styled.Plain, inspect.Sanitize(p.reason))
}}

func buildPods(ctx context.Context, w *screen.World) ([]pod, error) {
	var rows []pod
	for i, p := range w.Snapshot.Objects().Pods {
		if i%1000 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if w.InNamespace(p.Namespace) && concerned(p) {
			rows = append(rows, podRow(w, p))
		}
	}
	slices.SortStableFunc(rows, func(a, b pod) int { return words.Btoi(b.refused) - words.Btoi(a.refused) })
	return rows, nil
}

// concerned reports whether a pod uses claims, its own or one for extended resources, or extended resources
// of device plugins, or waits for a node.
func concerned(p *corev1.Pod) bool {
	return len(p.Spec.ResourceClaims) > 0 || p.Status.ExtendedResourceClaimStatus != nil || p.Spec.NodeName == "" && p.Status.Phase == corev1.PodPending ||
		len(extendedResources(p)) > 0
}

// extendedResources are those that a pod asks for, sorted.
func extendedResources(p *corev1.Pod) (names []string) {
	for _, containers := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for i := range containers {
			for name := range containers[i].Resources.Requests {
				if inspect.IsExtendedResource(name) {
					names = append(names, string(name))
				}
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func podRow(w *screen.World, p *corev1.Pod) pod {
	row := pod{
		ref:   screen.Ref{Kind: screen.Pod, Namespace: p.Namespace, Name: p.Name},
		state: strings.ToLower(string(p.Status.Phase)), node: p.Spec.NodeName,
		age: w.Age(p.CreationTimestamp.Time),
	}
	var claims []string
	for i := range p.Spec.ResourceClaims {
		if claim, ok := inspect.ClaimNameFor(p, &p.Spec.ResourceClaims[i]); ok && claim != "" {
			claims = append(claims, claim)
		}
	}
	if s := p.Status.ExtendedResourceClaimStatus; s != nil {
		claims = append(claims, s.ResourceClaimName)
	}
	if row.uses = strings.Join(claims, " "); row.uses == "" {
		row.uses = strings.Join(extendedResources(p), " ")
	}
	for i := range p.Status.Conditions {
		c := &p.Status.Conditions[i]
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && p.Spec.NodeName == "" {
			row.reason = words.OneLine(c.Message)
		}
	}
	_, row.refused = screen.Refused(p)
	return row
}
