package shapes

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/plan"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/replay"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/nodeshape"
)

// hypothetical are the options of all questions.
var hypothetical = question.Options{Hypothetical: true}

// podKind is pods that differ in nothing but their names.
type podKind struct {
	pods []*corev1.Pod
	// fits is the number of nodes of the cluster as it is on which one fits, and onFresh says of which shapes
	// a fresh node holds one.
	fits    int
	onFresh []bool
	// unsure says that something is not known that decides about it, and fails that the scheduler gives up on
	// it with an error.
	unsure, fails bool
	member        *replay.Member
	weight        weights
}

// ties reports whether a pod of the kind depends on, or takes, more than is seen on its node.
func (k *podKind) ties() bool { return k.member.NonLocal || k.member.Unseen }

// sort finds the kinds of the pods, and which of them no node helps.
func (f *finder) sort(ctx context.Context, pods []*corev1.Pod) error {
	known := map[string]*podKind{}
	stuck := map[*podKind]*explain.PendingPod{}
	for _, pod := range pods {
		m := replay.PodMember(f.base, pod, cycle.Options{})
		kind := known[m.Shape]
		if kind == nil || m.Shape == "" {
			kind = &podKind{member: m}
			if err := f.look(ctx, kind); err != nil {
				return err
			}
			known[m.Shape] = kind
			why, err := f.stuck(ctx, kind, pod)
			if err != nil {
				return err
			}
			if why == nil {
				f.kinds = append(f.kinds, kind)
			} else {
				why.Alike = len(stuck)
			}
			stuck[kind] = why
		}
		kind.pods = append(kind.pods, pod)
		f.kindOf[m.Subject] = kind
		if why := stuck[kind]; why != nil {
			own := *why
			own.Subject = m.Subject
			f.out.Stuck = append(f.out.Stuck, own)
			continue
		}
		f.pods = append(f.pods, pod)
	}
	return nil
}

// look asks all nodes, and one of each shape, about a kind of pod.
func (f *finder) look(ctx context.Context, kind *podKind) error {
	t, err := kind.member.Ask(ctx, f.base, nil)
	if err != nil {
		return err
	}
	kind.fits, kind.unsure, kind.fails = len(t.Options), t.MayWait || t.Open, t.Fails
	kind.onFresh = make([]bool, len(f.shapes))
	nodes := make([]*corev1.Node, len(f.shapes))
	for i := range f.shapes {
		node, ok := f.withEach.Snapshot().Node(f.shapes[i].NodeName(0))
		if !ok {
			return fmt.Errorf("adding a node like %s: there is a node of that name", f.shapes[i].Name)
		}
		nodes[i] = node
	}
	if len(nodes) == 0 {
		return nil
	}
	if t, err = kind.member.Ask(ctx, f.withEach, nodes); err != nil {
		return err
	}
	kind.unsure = kind.unsure || t.MayWait || t.Open
	kind.fails = kind.fails || t.Fails
	for i := range f.shapes {
		kind.onFresh[i] = slices.ContainsFunc(t.Options, func(o replay.Option) bool { return o.Node == f.shapes[i].NodeName(0) })
	}
	return nil
}

// stuck says why no node helps pods of a kind, or nil if one may. That a pod depends on where others are is
// no reason, unless something keeps it from being placed before any node is asked.
func (f *finder) stuck(ctx context.Context, kind *podKind, pod *corev1.Pod) (*explain.PendingPod, error) {
	if kind.fits > 0 || slices.Contains(kind.onFresh, true) || kind.unsure ||
		kind.ties() && len(f.base.Filters().Prepare(pod).Everywhere.Refusals) == 0 {
		return nil, nil
	}
	// Copies of the nodes of the cluster would only repeat what these say.
	c := f.base
	given := func(s *nodeshape.Shape) bool { return s.Source != nodeshape.Cluster }
	if slices.ContainsFunc(f.shapes, func(s nodeshape.Shape) bool { return given(&s) }) {
		c = f.withOne(given)
	}
	e, err := question.PodObject(ctx, c, pod, hypothetical)
	if err != nil {
		return nil, err
	}
	instead := explain.Unsatisfiable
	if kind.fails {
		instead = explain.Invalid
	}
	return plan.PendingFor(e, instead), nil
}

// sortGroups takes away the pods of groups too few of whose other pods a node can help: none of a group
// starts before all that it needs.
func (f *finder) sortGroups() {
	helped := map[explain.Subject]bool{}
	for _, pod := range f.pods {
		helped[cycle.SubjectOf(pod)] = true
	}
	f.pods = slices.DeleteFunc(f.pods, func(pod *corev1.Pod) bool {
		gang, ok := replay.Gang(f.base, pod, cycle.Options{})
		if !ok {
			return false
		}
		left := 0
		for _, m := range gang.Members {
			left += words.Btoi(helped[m.Subject])
		}
		if left >= gang.Need {
			return false
		}
		kind := f.kindOf[cycle.SubjectOf(pod)]
		kind.pods = slices.DeleteFunc(kind.pods, func(p *corev1.Pod) bool { return p == pod })
		f.out.Stuck = append(f.out.Stuck, explain.PendingPod{
			Subject: cycle.SubjectOf(pod), Verdict: explain.Unsatisfiable, Code: allocator.PodGroupIncomplete,
			Message: fmt.Sprintf("its PodGroup %s is placed as a whole, and too many others of it wait for what no node brings", inspect.PodGroupOf(pod)),
		})
		return true
	})
	f.kinds = slices.DeleteFunc(f.kinds, func(k *podKind) bool { return len(k.pods) == 0 })
}

// narrow leaves out the nodes that take no part.
func (f *finder) narrow(ctx context.Context) error {
	f.small = f.base
	f.local = replay.NewQueue(ctx, f.withEach, f.pods, cycle.Options{}).Local &&
		!slices.ContainsFunc(f.kinds, func(k *podKind) bool { return k.ties() || k.fails || k.unsure })
	if !f.local {
		return nil
	}
	keep := map[string]bool{}
	for _, kind := range f.kinds {
		kind.weigh()
		t, err := kind.member.Ask(ctx, f.base, nil)
		if err != nil {
			return err
		}
		for i := range t.Options {
			keep[string(t.Options[i].Node)] = true
		}
	}
	if len(keep) == 0 { // without any, the nodes would be taken to be unknown
		for _, node := range f.base.Snapshot().Nodes()[:1] {
			keep[node.Name] = true
		}
	}
	f.small = changed(f.base, func(o *inspect.Objects) {
		o.Nodes = slices.DeleteFunc(o.Nodes, func(n *corev1.Node) bool { return !keep[n.Name] })
	})
	return nil
}

// whyNot says why a pod does not fit on a fresh node of a shape.
func (f *finder) whyNot(ctx context.Context, shape int, pod *corev1.Pod) (*explain.PendingPod, error) {
	opts := hypothetical
	opts.Node = f.shapes[shape].NodeName(0)
	e, err := question.PodObject(ctx, f.with(f.base, shape, 1), pod, opts)
	if err != nil {
		return nil, err
	}
	p := plan.PendingFor(e, explain.Unsatisfiable)
	p.Subject = cycle.SubjectOf(pod)
	if len(e.Groups) > 0 && len(e.Groups[0].Reasons) > 0 { // which need not name the node, as there is only one
		p.Message = cmp.Or(e.Groups[0].Reasons[0].Brief, e.Groups[0].Reasons[0].Message)
	}
	return p, nil
}
