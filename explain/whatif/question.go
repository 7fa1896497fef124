package whatif

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// Question is what is asked of every node: claims that need an allocation together.
type Question struct {
	Cluster *scheduler.Cluster
	Claims  []*resourcev1.ResourceClaim
	Nodes   []*corev1.Node
	// Templates names for each of the first claims the template from which it is made, or "".
	Templates []string
	// Own are claims of the pod in question that have devices already. To release them is no help: it needs
	// them.
	Own map[inspect.ClaimRef]bool
	// Renewed are claims that go with the pod when it is made anew, with their devices.
	Renewed []inspect.ClaimRef
	// Supposed are claims that have devices by supposition only, so that there is nothing to release.
	Supposed map[inspect.ClaimRef]bool
	// SupposedPods are pods that are on nodes by supposition only, so that there is nothing to end.
	SupposedPods map[inspect.PodRef]bool
	// Unsuitable says, for nodes that the pod cannot use whatever the devices, why not.
	Unsuitable map[inspect.NodeName]explain.Reason
	// UnsuitableWith says why the pod cannot use a node with only some of its claims that have devices. It is
	// nil if it can, and may be nil itself if there are no such claims.
	UnsuitableWith func(node *corev1.Node, own map[inspect.ClaimRef]bool) *explain.Reason
	// Pod is the pod that asks, if the question is about one. The scheduler's other filters are then asked
	// about it too.
	Pod *corev1.Pod
	// Grouped says that the other pods of its group are asked about too, so that whether they find room is no
	// doubt here.
	Grouped bool
	// PerNode, if not nil, adds a claim that depends on the node.
	PerNode ClaimPerNode
	// Near are the nodes that are looked at one by one, the nearest first, and Cut says that there are more.
	Near []RankedNode
	Cut  bool
	// usable are the nodes that the pod can use, once LookNear has found them.
	usable []*corev1.Node
	// Subject decides how paths and patches are spelled.
	Subject explain.Subject
	// Partial says that it is put to some nodes only, because other nodes are asked for something else.
	Partial bool
	// Answers are what the nodes said, once they were asked.
	Answers []Answer
	// Spent is the number of search steps of what-if questions.
	Spent int64
	// err is what Err returns.
	err error
	// sandboxes are those of nodes about which what-if questions were asked.
	sandboxes map[inspect.NodeName]*Sandbox
	// prepare is shared by all questions that are parts of one.
	prepare *preparation
}

// preparation is what was prepared for the filters, once each.
type preparation struct {
	sync.Once
	pod *filters.Prepared

	mu sync.Mutex
	// around is the pod, as it is or with edits, in snapshots in which nodes are changed, by these changes.
	around map[string]*filters.Prepared
}

// ClaimPerNode is a claim that differs from node to node: that for extended resources, say.
type ClaimPerNode interface {
	// On returns the claim for a node, or nil when the node needs none. misfit says why the node cannot be
	// used at all; it is nil if it can.
	On(node *corev1.Node) (claim *resourcev1.ResourceClaim, misfit *explain.Reason)
	// Of returns the claim for another pod in place of the one that it is for. It is nil if that needs none
	// on any node.
	Of(pod *corev1.Pod) ClaimPerNode
}

// Answer is what nodes that look alike say.
type Answer struct {
	// Q is the question as it was put to these nodes.
	Q *Question
	// Nodes are indices into the nodes of the question, ascending. The slice may be shared.
	Nodes []int
	// Unsuitable are reasons why the pod cannot use the nodes whatever devices they have, which were not
	// asked for devices.
	Unsuitable []explain.Reason
	// Filtered is what the scheduler's other filters say of each of the nodes: for the same reasons. It is
	// empty if they have nothing against them.
	Filtered []filters.Outcome
	// Risk says whether the scheduler's own search may time out on the nodes, once that was counted.
	Risk   explain.TimeoutRisk
	Result *allocator.Result
	Abort  *allocator.AbortError
}

// Allocatable reports whether the nodes have the devices, and nothing else refuses them.
func (a *Answer) Allocatable() bool { return len(a.Filtered) == 0 && a.hasDevices() }

// Doubtful reports whether the nodes have the devices, and nothing is known that refuses them, but something
// could.
func (a *Answer) Doubtful() bool {
	return a.hasDevices() && len(a.Filtered) > 0 && len(a.Filtered[0].Refusals) == 0
}

func (a *Answer) hasDevices() bool { return a.Result != nil && a.Result.Outcome == allocator.Allocated }

// Refused reports whether a filter other than the allocation of devices refuses the nodes.
func (a *Answer) Refused() bool { return len(a.Filtered) > 0 && len(a.Filtered[0].Refusals) > 0 }

// Doubts are what is not known of the pod wherever it would run.
func (q *Question) Doubts() []filters.Doubt {
	p := q.Filtered()
	if p == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(p.Everywhere.Doubts), func(d filters.Doubt) bool { return q.Grouped && d.OfOthers() })
}

// Ask decides the question on every node. The answers are in the order of their first node.
func (q *Question) Ask(ctx context.Context) ([]Answer, error) {
	unsuitable, suitable, outcomes := q.sortNodes()
	answers := unsuitable
	for _, variant := range variants(q, suitable) {
		asked, err := q.sweep(ctx, variant)
		if err != nil {
			return nil, err
		}
		for _, a := range asked {
			split := splitByFilters(a, outcomes)
			if err := q.askAgain(ctx, split, a.Nodes[0]); err != nil {
				return nil, err
			}
			answers = append(answers, split...)
		}
	}
	answers, err := q.askInVain(ctx, answers, outcomes)
	slices.SortFunc(answers, func(a, b Answer) int { return a.Nodes[0] - b.Nodes[0] })
	return answers, err
}

// sweep is what the nodes of a variant have to say of its claims, those that look alike together.
func (q *Question) sweep(ctx context.Context, v variant) ([]Answer, error) {
	nodes, part := q.Nodes, len(v.nodes) < len(q.Nodes)
	if part {
		nodes = pick(q.Nodes, v.nodes)
	}
	kinds, err := q.Cluster.Sweep(ctx, nodes, v.q.Claims)
	if err != nil {
		return nil, err
	}
	out := make([]Answer, len(kinds))
	for k, kind := range kinds {
		out[k] = Answer{Q: v.q, Nodes: kind.Nodes, Result: kind.Result, Abort: kind.Abort}
		if part {
			out[k].Nodes = pick(v.nodes, kind.Nodes)
		}
	}
	return out, nil
}

// pick returns the elements of a list at some indices.
func pick[T any](of []T, at []int) []T {
	out := make([]T, len(at))
	for i, n := range at {
		out[i] = of[n]
	}
	return out
}

// inVain are the nodes, by their index, that the pod cannot use because of claims that have devices already.
// The scheduler asks them for the devices of its other claims before it says so, and gives up on the pod if
// that fails there (Filter of its plugin DynamicResources).
func (q *Question) inVain() []int {
	var out []int
	for i, node := range q.Nodes {
		if reason, bad := q.Unsuitable[inspect.NodeName(node.Name)]; bad && reason.Key != Bound && !strings.HasPrefix(reason.Key, extendedResource) {
			out = append(out, i)
		}
	}
	return out
}

// askInVain finds out on which of the nodes that are asked in vain the scheduler gives up: these answer so,
// and nothing else.
func (q *Question) askInVain(ctx context.Context, answers []Answer, outcomes []filters.Outcome) ([]Answer, error) {
	vain := q.inVain()
	if len(vain) == 0 || !slices.ContainsFunc(answers, func(a Answer) bool { return a.hasDevices() && !a.Refused() }) {
		return answers, nil
	}
	for _, variant := range variants(q, vain) {
		variant.nodes = slices.DeleteFunc(slices.Clone(variant.nodes), func(n int) bool {
			return len(outcomes) > 0 && RefusedBefore(&outcomes[n])
		})
		if len(variant.q.Claims) == 0 || len(variant.nodes) == 0 {
			continue
		}
		asked, err := q.sweep(ctx, variant)
		if err != nil {
			return nil, err
		}
		for _, a := range asked {
			if a.Abort == nil {
				continue
			}
			for i := range answers {
				answers[i].Nodes = slices.DeleteFunc(slices.Clone(answers[i].Nodes), func(n int) bool { return slices.Contains(a.Nodes, n) })
			}
			answers = append(slices.DeleteFunc(answers, func(a Answer) bool { return len(a.Nodes) == 0 }), a)
		}
	}
	return answers, nil
}

// askAgain asks the first node of those answers that were split from the one of another node: nodes that look
// alike have devices of their own.
func (q *Question) askAgain(ctx context.Context, answers []Answer, decided int) error {
	for i := range answers {
		a := &answers[i]
		if a.Nodes[0] == decided || a.Refused() || a.Abort == nil && !a.hasDevices() || len(a.Q.Claims) == 0 {
			continue
		}
		result, err := q.Cluster.Allocate(ctx, q.Nodes[a.Nodes[0]], a.Q.Claims, nil)
		if a.Abort = nil; errors.As(err, &a.Abort) {
			err = nil
		}
		if a.Result = result; err != nil {
			return err
		}
	}
	return nil
}

// splitByFilters splits an answer about devices by what the filters say of its nodes. outcomes are by the
// index of the node; there are none if no filter was asked.
func splitByFilters(a Answer, outcomes []filters.Outcome) []Answer {
	if len(outcomes) == 0 {
		return []Answer{a}
	}
	var out []Answer
	index := map[string]int{}
	for _, n := range a.Nodes {
		o := &outcomes[n]
		key := ""
		if !o.Passes() {
			key = explain.RefusalKey(o)
		}
		at, ok := index[key]
		if !ok {
			at = len(out)
			index[key] = at
			out = append(out, Answer{Q: a.Q, Result: a.Result, Abort: a.Abort})
			if RefusedBefore(o) {
				out[at].Abort = nil // the scheduler does not get there
			}
		}
		out[at].Nodes = append(out[at].Nodes, n)
		if key != "" {
			out[at].Filtered = append(out[at].Filtered, *o)
		}
	}
	return out
}

// sortNodes separates the nodes that the pod cannot use, by why not, from the others. outcomes is what the
// filters say, by the index of the node; there are none if the question is not about a pod.
func (q *Question) sortNodes() (unsuitable []Answer, suitable []int, outcomes []filters.Outcome) {
	suitable = make([]int, 0, len(q.Nodes))
	if len(q.Unsuitable) == 0 && q.PerNode == nil && q.Pod == nil {
		for i := range q.Nodes {
			suitable = append(suitable, i)
		}
		return nil, suitable, nil
	}
	outcomes = q.filterAll()
	index := map[string]int{}
	for i, node := range q.Nodes {
		reasons := misfits(q, node)
		key := ""
		for r := range reasons {
			key += reasons[r].Key + "\n"
		}
		if len(reasons) == 0 {
			suitable = append(suitable, i)
			continue
		}
		at, ok := index[key]
		if !ok {
			at = len(unsuitable)
			index[key] = at
			unsuitable = append(unsuitable, Answer{Q: q, Unsuitable: reasons})
		}
		unsuitable[at].Nodes = append(unsuitable[at].Nodes, i)
	}
	return unsuitable, suitable, outcomes
}

// filterAll asks the filters about all nodes. The outcomes are nil if the question is not about a pod.
func (q *Question) filterAll() []filters.Outcome {
	p := q.Filtered()
	if p == nil {
		return nil
	}
	if slices.Equal(q.Nodes, p.Snapshot().Nodes()) {
		return p.OnAll(allocator.Parallel)
	}
	out := make([]filters.Outcome, len(q.Nodes))
	const chunk = 256
	chunks := (len(q.Nodes) + chunk - 1) / chunk
	_ = allocator.Parallel(chunks, func(c int) error {
		for i := c * chunk; i < min(len(q.Nodes), (c+1)*chunk); i++ {
			out[i] = p.On(inspect.NodeName(q.Nodes[i].Name))
		}
		return nil
	})
	return out
}

// misfits are reasons of its claims for which the pod cannot use the node whatever its devices.
func misfits(q *Question, node *corev1.Node) []explain.Reason {
	if reason, bad := q.Unsuitable[inspect.NodeName(node.Name)]; bad {
		return []explain.Reason{reason}
	}
	if q.PerNode == nil {
		return nil
	}
	if _, misfit := q.PerNode.On(node); misfit != nil {
		return []explain.Reason{*misfit}
	}
	return nil
}

// Simplify makes a question with a claim that depends on the node a plain one if it is the same for all
// suitable nodes.
func (q *Question) Simplify() {
	if q.PerNode == nil {
		return
	}
	_, suitable, _ := q.sortNodes()
	all := variants(q, suitable)
	if len(all) != 1 {
		return
	}
	for _, node := range q.Nodes {
		if reasons := misfits(q, node); len(reasons) > 0 {
			q.Unsuitable[inspect.NodeName(node.Name)] = reasons[0]
		}
	}
	q.Claims, q.PerNode = all[0].q.Claims, nil
}

// variant is a question as it is put to some nodes.
type variant struct {
	q     *Question
	nodes []int
}

// variants adds the claim for extended resources, which depends on what the device plugins of a node
// provide.
func variants(q *Question, nodes []int) []variant {
	if q.PerNode == nil {
		return []variant{{q, nodes}}
	}
	var out []variant
	index := map[string]int{}
	for _, n := range nodes {
		claim, _ := q.PerNode.On(q.Nodes[n])
		key := ""
		if claim != nil {
			key = claim.Spec.String()
		}
		at, ok := index[key]
		if !ok {
			at = len(out)
			index[key] = at
			vq := *q
			vq.PerNode = nil
			if claim != nil {
				vq.Claims = append(slices.Clone(q.Claims), claim)
			}
			out = append(out, variant{q: &vq})
		}
		out[at].nodes = append(out[at].nodes, n)
	}
	return out
}

// Keys of reasons for which a pod cannot use a node, and which the scheduler finds before it asks for
// devices.
const (
	Bound            = "bound"
	extendedResource = "extended resource"
)

// UnsuitableFor is the reason for which a pod cannot use a node. Nodes with the same key are told as one.
func UnsuitableFor(key, format string, args ...any) explain.Reason {
	return explain.Reason{Code: allocator.NodeUnsuitable, Key: key, Message: fmt.Sprintf(format, args...)}
}
