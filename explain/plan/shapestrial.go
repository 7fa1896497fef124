package plan

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// counts are how many nodes of each shape are added, by its index.
type counts map[int]int

func (n counts) total() int {
	sum := 0
	for _, c := range n {
		sum += c
	}
	return sum
}

// adding is a cluster with nodes of shapes.
func (s *shaper) adding(c *scheduler.Cluster, n counts) *scheduler.Cluster {
	return grown(c, func(o *inspect.Objects) {
		for i := range s.shapes {
			for k := range n[i] {
				s.shapes[i].Add(o, k)
			}
		}
	})
}

// certainty says what becomes of all pods with some nodes added.
type certainty int

const (
	unclear certainty = iota
	refuted           // kube-scheduler may leave some waiting
	sure              // it places all, whatever nodes it chooses
)

// attempt looks whether kube-scheduler places all pods with some nodes added. waits is a pod that it may leave waiting.
func (s *shaper) attempt(ctx context.Context, n counts) (certainty, *waiting, error) {
	c := s.adding(s.small, n)
	for _, choose := range []func([]*corev1.Node) int{nil, spreading(), lastOf} {
		r := newFreeReplay(newSimulation(c))
		r.choose = choose
		if err := r.run(ctx, s.pods); err != nil {
			return unclear, nil, err
		}
		switch {
		case r.doubtful:
			return unclear, nil, nil
		case len(r.waiting) > 0:
			return refuted, &r.waiting[0], nil
		}
	}
	if s.enough(n) {
		return sure, nil, nil
	}
	if len(s.pods) > maxExplored {
		return unclear, nil, nil
	}
	r := newFreeReplay(newSimulation(c))
	if err := r.run(ctx, s.pods); err != nil {
		return unclear, nil, err
	}
	if err := r.certain(ctx, c); err != nil {
		return unclear, nil, err
	}
	switch {
	case r.out.Certain:
		return sure, nil, nil
	case r.depends:
		return refuted, nil, nil
	}
	return unclear, nil, nil
}

func lastOf(nodes []*corev1.Node) int { return len(nodes) - 1 }

// spreading chooses the node that was chosen least.
func spreading() func([]*corev1.Node) int {
	chosen := map[string]int{}
	return func(nodes []*corev1.Node) int {
		at := 0
		for i, n := range nodes {
			if chosen[n.Name] < chosen[nodes[at].Name] {
				at = i
			}
		}
		chosen[nodes[at].Name]++
		return at
	}
}

// weights are what pods take in each of some terms: one, as every pod, then its devices, then thousandths of a CPU.
type weights [3]int64

func (w weights) plus(other weights) weights {
	for i := range w {
		w[i] += other[i]
	}
	return w
}

// least is the least of two in each term.
func (w weights) least(other weights) weights {
	for i := range w {
		w[i] = min(w[i], other[i])
	}
	return w
}

// weigh notes what a pod of each kind takes. Any numbers would do that are not negative: the better they tell how much room a pod takes,
// the fewer nodes are enough.
func (s *shaper) weigh() {
	for _, kind := range s.kinds {
		kind.weight = weights{1}
		for i := range kind.pods[0].Spec.Containers {
			kind.weight[2] += max(0, kind.pods[0].Spec.Containers[i].Resources.Requests.Cpu().MilliValue())
		}
		for _, claim := range kind.member.Claims {
			for i := range claim.Spec.Devices.Requests {
				if exactly := claim.Spec.Devices.Requests[i].Exactly; exactly != nil {
					kind.weight[1] += max(1, exactly.Count)
				} else {
					kind.weight[1]++
				}
			}
		}
	}
}

// enough reports whether so many nodes are added that the pods cannot keep each other off them, whatever nodes kube-scheduler chooses:
// to keep a pod off all nodes on which it fits takes more, in one of the terms, than all others take together.
func (s *shaper) enough(n counts) bool {
	if !s.local {
		return false
	}
	var total weights
	least := weights{allOthers, allOthers, allOthers}
	for _, kind := range s.kinds {
		for range kind.pods {
			total = total.plus(kind.weight)
		}
		least = least.least(kind.weight)
	}
	for _, kind := range s.kinds {
		if !slices.ContainsFunc([]int{0, 1, 2}, func(term int) bool {
			needed := int64(kind.fits) * least[term]
			for i, count := range n {
				if count > 0 && kind.onFresh[i] {
					needed += int64(count) * s.blockers[i][kind][term]
				}
			}
			return needed > total[term]-kind.weight[term]
		}) {
			return false
		}
	}
	return true
}

const (
	// maxStates is the number of ways to fill a node that are looked at.
	maxStates = 250
	// allOthers is more than all others take together.
	allOthers = 1 << 40
)

// block finds out for a shape what it takes at least to keep a pod of each kind off a fresh node.
func (s *shaper) block(ctx context.Context, shape int) error {
	if s.blockers == nil {
		s.blockers = map[int]map[*podKind]weights{}
		s.weigh()
	}
	if s.blockers[shape] != nil || !s.local {
		return nil
	}
	b := &filling{kinds: slices.DeleteFunc(slices.Clone(s.kinds), func(k *podKind) bool { return !k.onFresh[shape] }), takes: map[*podKind]weights{}}
	for _, kind := range b.kinds {
		b.takes[kind] = weights{allOthers, allOthers, allOthers} // what is never kept off has room beside all others
	}
	alone := grown(s.base, func(o *inspect.Objects) {
		o.Nodes = nil
		s.shapes[shape].Add(o, 0)
	})
	s.blockers[shape] = b.takes
	return b.fill(ctx, alone)
}

// filling fills one node with pods in all ways, those with fewer pods first.
type filling struct {
	kinds []*podKind
	// takes is for each kind the least that is on the node where one no longer fits.
	takes map[*podKind]weights
}

func (b *filling) fill(ctx context.Context, alone *scheduler.Cluster) error {
	level := []*filled{{cluster: alone}}
	for states := 0; len(level) > 0; {
		var next []*filled
		seen := map[string]bool{}
		for at, f := range level {
			if states++; states > maxStates {
				b.unseen(append(level[at:], next...))
				return nil
			}
			for _, kind := range b.kinds {
				if f.placed[kind] == len(kind.pods) {
					continue // there is none left that could be kept off
				}
				then, err := f.put(ctx, b.kinds, kind)
				if err != nil {
					return err
				}
				switch {
				case then == nil:
					b.takes[kind] = b.takes[kind].least(f.weight)
				case !seen[then.shape]:
					seen[then.shape] = true
					next = append(next, then)
				}
			}
		}
		level = next
	}
	return nil
}

// unseen takes nodes that were not looked at to be full.
func (b *filling) unseen(left []*filled) {
	for _, f := range left {
		for _, kind := range b.kinds {
			b.takes[kind] = b.takes[kind].least(f.weight)
		}
	}
}

// filled is a node with some pods.
type filled struct {
	cluster *scheduler.Cluster
	placed  map[*podKind]int
	devices []string
	weight  weights
	// shape is how many of each kind are placed, and what devices they have.
	shape string
}

// put places one more pod of a kind. It returns nil if it does not fit.
func (f *filled) put(ctx context.Context, kinds []*podKind, kind *podKind) (*filled, error) {
	s := newSimulation(f.cluster)
	pod := kind.pods[f.placed[kind]]
	t, err := s.ask(ctx, pod)
	if err != nil || len(t.nodes) == 0 {
		return nil, err
	}
	taking, err := s.place(ctx, t, t.nodes[0])
	if err != nil || taking == nil {
		return nil, err
	}
	out := &filled{cluster: s.cluster, placed: map[*podKind]int{}, devices: slices.Clone(f.devices)}
	for k, n := range f.placed {
		out.placed[k] = n
	}
	out.placed[kind]++
	out.weight = f.weight.plus(kind.weight)
	for _, d := range placedPod(pod, t, taking).Devices {
		out.devices = append(out.devices, fmt.Sprint(d.ID.String(), " ", d.Consumed))
	}
	slices.Sort(out.devices)
	for _, k := range kinds {
		out.shape += fmt.Sprint(out.placed[k], " ")
	}
	out.shape += fmt.Sprint(out.devices)
	return out, nil
}

// whyNot says why a pod does not fit on a fresh node of a shape.
func (s *shaper) whyNot(ctx context.Context, shape int, pod *corev1.Pod) (*explain.PendingPod, error) {
	opts := s.questions
	opts.Node = s.shapes[shape].NodeName(0)
	e, err := question.PodObject(ctx, s.adding(s.base, counts{shape: 1}), pod, opts)
	if err != nil {
		return nil, err
	}
	p := pendingBy(e, &turn{member: s.kindOf[subjectOf(pod)].member})
	p.Subject = subjectOf(pod)
	if len(e.Groups) > 0 && len(e.Groups[0].Reasons) > 0 { // which need not name the node, as there is only one
		p.Message = cmp.Or(e.Groups[0].Reasons[0].Brief, e.Groups[0].Reasons[0].Message)
	}
	return p, nil
}
