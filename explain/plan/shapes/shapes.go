package shapes

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/plan"
	"github.com/kubectl-dra/kubectl-dra/explain/replay"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/nodeshape"
	"github.com/kubectl-dra/kubectl-dra/internal/progress"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// Options say which nodes may be added.
type Options struct {
	// Max is the most nodes that may be added. 0 is as many as there are pods.
	Max int
	// Others are pods that wait too and are not asked about. Where they may take room that is asked for, no
	// answer is a certain yes.
	Others []*corev1.Pod
	// Within is the namespace of which all waiting pods are asked about. It is "" if they are of several, or
	// not all.
	Within string
	// Unseen says in sentences what is not known of the pods. If there is any, no answer is a certain yes.
	Unseen []string
}

// Find says which nodes, and how many of them, make pods fit that need not be in the snapshot of the cluster.
// Nodes of several shapes are not tried together. The error is that of the context, or of a question that
// could not be put.
func Find(
	ctx context.Context, c *scheduler.Cluster, pods []*corev1.Pod, shapes []nodeshape.Shape, opts Options,
) (*explain.ShapePlan, error) {
	if c.Snapshot().NodesAssumed() {
		return nil, fmt.Errorf("adding nodes to the cluster: its nodes could not be read")
	}
	f := newFinder(c, shapes, opts)
	var err error
	of := plan.Options{Within: opts.Within, Unseen: opts.Unseen, Others: opts.Others}
	f.out.Unseen, err = plan.UnseenPods(ctx, c, f.withEach, pods, of)
	if err != nil {
		return nil, err
	}
	if err := f.begin(ctx, pods); err != nil {
		return nil, err
	}
	if f.out.Fits || f.out.MayFit {
		return f.out, nil
	}
	fits := false
	within, step := progress.Begin(ctx, "adding kinds of nodes", len(f.shapes))
	for i := range f.shapes {
		answer, err := f.count(within, i)
		if err != nil {
			return nil, fmt.Errorf("adding nodes like %s: %w", f.shapes[i].Name, err)
		}
		fits = fits || answer.Verdict == explain.ShapeFits
		if len(f.out.Unseen) > 0 && answer.Verdict == explain.ShapeFits {
			answer.Verdict, answer.Minimal, answer.Why = explain.ShapeMayFit, false, f.out.Unseen[0]
		}
		f.out.Shapes = append(f.out.Shapes, *answer)
		step()
	}
	f.rank()
	useful := 0
	for i := range f.shapes {
		if slices.ContainsFunc(f.kinds, func(k *podKind) bool { return k.onFresh[i] }) {
			useful++
		}
	}
	if !fits && useful > 1 && f.max != 1 {
		f.out.Untried = append(f.out.Untried, "nodes of several kinds were not tried together")
	}
	return f.out, nil
}

// finder adds nodes to a cluster and looks what becomes of pods.
type finder struct {
	base   *scheduler.Cluster
	shapes []nodeshape.Shape
	max    int
	out    *explain.ShapePlan
	// withEach is the cluster with one node of each shape.
	withEach *scheduler.Cluster
	// pods are those that a node may help, in the order of the queue, kinds are those that are alike, and
	// kindOf is the kind of each.
	pods   []*corev1.Pod
	kinds  []*podKind
	kindOf map[explain.Subject]*podKind
	// local says that a pod that is placed changes nothing for others but what is left of its node. Then
	// small is the cluster with only those nodes on which any pod fits, and otherwise the whole.
	local bool
	small *scheduler.Cluster
}

func newFinder(c *scheduler.Cluster, shapes []nodeshape.Shape, opts Options) *finder {
	f := &finder{base: c, shapes: withDaemons(c.Snapshot(), shapes), max: opts.Max, kindOf: map[explain.Subject]*podKind{}}
	f.out = &explain.ShapePlan{Partial: cycle.Unread(c.Snapshot()), Basis: cycle.BasisOf(c)}
	f.withEach = f.withOne(func(*nodeshape.Shape) bool { return true })
	return f
}

// withOne is the cluster with one node of each of some shapes.
func (f *finder) withOne(of func(*nodeshape.Shape) bool) *scheduler.Cluster {
	return changed(f.base, func(o *inspect.Objects) {
		for i := range f.shapes {
			if of(&f.shapes[i]) {
				f.shapes[i].Add(o, 0)
			}
		}
	})
}

// with is a cluster with n nodes of a shape.
func (f *finder) with(c *scheduler.Cluster, shape, n int) *scheduler.Cluster {
	return changed(c, func(o *inspect.Objects) {
		for i := range n {
			f.shapes[shape].Add(o, i)
		}
	})
}

func changed(c *scheduler.Cluster, change func(*inspect.Objects)) *scheduler.Cluster {
	return scheduler.NewCluster(c.Snapshot().With(change), scheduler.Options{Like: c})
}

// begin places the pods in the cluster as it is, and sorts out those that no node helps.
func (f *finder) begin(ctx context.Context, pods []*corev1.Pod) error {
	t := replay.New(f.base, nil)
	if err := t.Run(ctx, pods); err != nil {
		return err
	}
	f.out.Pods = len(t.Tried) + len(t.Running)
	for _, w := range t.Waiting {
		f.out.Waiting = append(f.out.Waiting, cycle.SubjectOf(w.Pod))
	}
	if len(t.Waiting) == 0 {
		if f.out.MayFit = len(f.out.Unseen) > 0; f.out.MayFit {
			return nil
		}
		if !t.Doubtful {
			var err error
			if f.out.Fits, _, err = plan.Certain(ctx, t); err != nil || f.out.Fits {
				return err
			}
		}
	}
	if err := f.sort(ctx, t.Tried); err != nil {
		return err
	}
	if len(f.out.Stuck) > 0 {
		f.sortGroups()
		rest := replay.New(f.base, nil)
		if err := rest.Run(ctx, f.pods); err != nil {
			return err
		}
		fit, _, err := plan.Certain(ctx, rest)
		if err != nil {
			return err
		}
		unseen := len(f.out.Unseen) > 0
		f.out.Fits = len(rest.Waiting) == 0 && fit && !unseen
		f.out.MayFit = len(rest.Waiting) == 0 && unseen
	}
	return f.narrow(ctx)
}

// rank sorts the answers: those first that are certain to do, then those with the fewest nodes, then those
// with the fewest devices.
func (f *finder) rank() {
	order := map[explain.ShapeVerdict]int{explain.ShapeFits: 0, explain.ShapeMayFit: 1, explain.ShapeUnknown: 2, explain.ShapeFails: 3}
	slices.SortStableFunc(f.out.Shapes, func(a, b explain.ShapeAnswer) int {
		nodesA, nodesB := max(a.Count, 1), max(b.Count, 1)
		return cmp.Or(cmp.Compare(order[a.Verdict], order[b.Verdict]), cmp.Compare(nodesA, nodesB), cmp.Compare(nodesA*a.Devices, nodesB*b.Devices))
	})
}
