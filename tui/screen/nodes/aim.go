package nodes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/timebudget"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// aim is what the map says about a claim, or a pod with its claims, that has no devices: which of them it
// could use, and on each node what is in the way. It is not written after it was made.
type aim struct {
	ref  screen.Ref
	fits map[inspect.DeviceID]bool
	why  map[inspect.NodeName]string
	says *explain.Explanation // nil if it takes too long
	here inspect.NodeName     // where the conflict is, or ""
}

// usable is the mark of a device that could be used.
const usable = "✓"

// newAim asks about an object; of one that is gone, or has its devices, there is nothing to say.
func newAim(ctx context.Context, w *screen.World, ref screen.Ref, rows []row) (*aim, error) {
	object, _, ok := screen.Find(w, ref)
	if !ok {
		return nil, nil
	}
	claims := wanted(w.Snapshot, object)
	if len(claims) == 0 {
		return nil, nil
	}
	a := &aim{ref: ref, fits: map[inspect.DeviceID]bool{}, why: map[inspect.NodeName]string{}}
	err := (&timebudget.Budget{}).Ask(ctx, func(ctx context.Context) error {
		opts := w.Question()
		opts.ReasonOnly = true
		e, err := question.Object(ctx, w.Cluster(), object, opts)
		if err != nil {
			return err //nolint:wrapcheck // it says about what
		}
		a.says = e
		a.explain(e)
		for i := range rows {
			if err := a.examine(ctx, w, rows[i].node, claims); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, timebudget.ErrTooLong) {
		a.says, a.fits, err = nil, nil, nil
	}
	return a, err
}

type claimList = []*resourcev1.ResourceClaim

// wanted are the claims of an object that have no devices.
func wanted(s *inspect.Snapshot, object screen.Object) claimList {
	switch o := object.(type) {
	case *corev1.Pod:
		if o.Spec.NodeName == "" {
			return question.PendingClaims(s, o)
		}
	case *resourcev1.ResourceClaim:
		if o.Status.Allocation == nil {
			return claimList{o}
		}
	}
	return nil
}

// explain notes what is in the way on each node.
func (a *aim) explain(e *explain.Explanation) {
	for i := range e.Groups {
		g := &e.Groups[i]
		if len(g.Reasons) == 0 {
			continue
		}
		for _, node := range g.Nodes {
			a.why[node] = "✗ " + cmp.Or(g.Reasons[0].Brief, g.Reasons[0].Message)
		}
	}
	if e.Conflict != nil {
		a.here = e.Conflict.Node
	}
}

// examine notes the devices of a node that pass every check that a device passes by itself, for one of the
// requests. Where the scheduler gives up at once there are none.
func (a *aim) examine(ctx context.Context, w *screen.World, node *corev1.Node, claims claimList) error {
	if node == nil {
		return nil
	}
	seen, err := w.Cluster().Examine(ctx, node, claims)
	if err != nil {
		return allocator.IgnoreAbort(err) //nolint:wrapcheck // it says about what
	}
	for i := range seen.Requests {
		for k := range seen.Requests[i].Devices {
			if d := &seen.Requests[i].Devices[k]; len(d.Failures) == 0 && !d.Elsewhere {
				a.fits[d.ID] = true
			}
		}
	}
	return nil
}

// mark notes in rows what the map says, and puts those first where the conflict is, and then those with most
// that could be used.
func (a *aim) mark(rows []row) {
	count := make(map[string]int, len(rows))
	for i := range rows {
		r := &rows[i]
		r.why = inspect.Sanitize(a.why[inspect.NodeName(r.name)])
		for j := range r.drivers {
			p := &r.drivers[j]
			p.fits = make([]bool, len(p.devices))
			for k, d := range p.devices {
				if p.fits[k] = a.fits[d.ID]; p.fits[k] {
					count[r.name]++
				}
			}
		}
		if a.here != "" && r.name == string(a.here) {
			count[r.name] += 1 << 30
		}
	}
	slices.SortStableFunc(rows, func(x, y row) int { return cmp.Compare(count[y.name], count[x.name]) })
}

// lines say what the marks mean, and on the node of the conflict what it is.
func (a *aim) lines(r *row) []styled.Line {
	if a == nil {
		return nil
	}
	name := a.ref.Kind.Word() + " " + a.ref.String()
	if a.says == nil {
		text := fmt.Sprintf("what %s could use is not worked out: it takes too long; m ends that", name)
		return []styled.Line{styled.Text(styled.Warn, inspect.Sanitize(text)), nil}
	}
	lines := []styled.Line{styled.Text(styled.Strong, inspect.Sanitize(a.says.Message))}
	if r != nil && r.why != "" {
		lines = append(lines, styled.Text(styled.Warn, inspect.Sanitize(r.name)+": "+r.why))
	}
	if c := a.says.Conflict; c != nil && r != nil && r.count == 1 && r.name == string(c.Node) {
		lines = append(lines, styled.Text(styled.Bad, "here, on one of the closest nodes, is in the way:"))
		for i := range c.Requirements {
			q := &c.Requirements[i]
			lines = append(lines, styled.Line{
				{Text: "  " + inspect.Sanitize(q.Sentence())},
				{Text: "  " + inspect.Sanitize(q.Path), Role: styled.Dim},
			})
		}
	}
	text := fmt.Sprintf(" what %s could use, each device by itself (m ends this)", name)
	legend := styled.Line{{Text: usable, Role: styled.Accent}, {Text: inspect.Sanitize(text), Role: styled.Dim}}
	return append(lines, legend, nil)
}
