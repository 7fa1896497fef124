package whatif

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Question is what is asked of every node: claims that need an allocation together.
type Question struct {
	Cluster *allocator.Cluster
	Claims  []*resourcev1.ResourceClaim
	Nodes   []*corev1.Node
	// Templates names for each of the first claims the template from which it is made, or "".
	Templates []string
	// Own are claims of the pod in question that have devices already. To release them is no help: it needs them.
	Own map[inspect.ClaimRef]bool
	// Supposed are claims that have devices by supposition only, so that there is nothing to release.
	Supposed map[inspect.ClaimRef]bool
	// Unsuitable says, for nodes that the pod cannot use whatever the devices, why not.
	Unsuitable map[inspect.NodeName]explain.Reason
	// Pod is the pod that asks, if the question is about one, and Filters check whether it can run on a node that has
	// devices for it.
	Pod     *corev1.Pod
	Filters []Filter
	// PerNode, if not nil, adds a claim that depends on the node.
	PerNode ClaimPerNode
	// Subject decides how paths and patches are spelled.
	Subject explain.Subject
	// Partial says that it is put to some nodes only, because other nodes are asked for something else.
	Partial bool
	// Answers are what the nodes said, once they were asked.
	Answers []Answer
	// Spent is the number of search steps of what-if questions.
	Spent int64
	// sandboxes are those of nodes about which what-if questions were asked.
	sandboxes map[inspect.NodeName]*Sandbox
}

// ClaimPerNode is a claim that differs from node to node: that for extended resources, say.
type ClaimPerNode interface {
	// On returns the claim for a node, or nil when the node needs none. misfit says why the node cannot be used at all;
	// it is nil if it can.
	On(node *corev1.Node) (claim *resourcev1.ResourceClaim, misfit *explain.Reason)
}

// Answer is what nodes that look alike say.
type Answer struct {
	// Q is the question as it was put to these nodes.
	Q *Question
	// Nodes are indices into the nodes of the question, ascending. The slice may be shared.
	Nodes      []int
	Unsuitable *explain.Reason
	// Refusal is why a filter refuses nodes that have the devices, or nil.
	Refusal *explain.Reason
	// Risk says whether the scheduler's own search may time out on the nodes, once that was counted.
	Risk   explain.TimeoutRisk
	Result *allocator.Result
	Abort  *allocator.AbortError
}

// Allocatable reports whether the nodes have the devices, and nothing else refuses them.
func (a *Answer) Allocatable() bool {
	return a.Refusal == nil && a.Result != nil && a.Result.Outcome == allocator.Allocated
}

// Ask decides the question on every node. The answers are in the order of their first node.
func (q *Question) Ask(ctx context.Context) ([]Answer, error) {
	unsuitable, suitable := q.sortNodes()
	var answers []Answer
	for _, u := range unsuitable {
		answers = append(answers, Answer{Q: q, Nodes: u.nodes, Unsuitable: &u.reason})
	}
	for _, variant := range variants(q, suitable) {
		nodes := q.Nodes
		if len(variant.nodes) < len(q.Nodes) {
			nodes = make([]*corev1.Node, len(variant.nodes))
			for i, n := range variant.nodes {
				nodes[i] = q.Nodes[n]
			}
		}
		kinds, err := q.Cluster.Sweep(ctx, nodes, variant.q.Claims)
		if err != nil {
			return nil, err
		}
		for _, kind := range kinds {
			a := Answer{Q: variant.q, Result: kind.Result, Abort: kind.Abort}
			if a.Nodes = kind.Nodes; len(variant.nodes) < len(q.Nodes) {
				a.Nodes = make([]int, len(kind.Nodes))
				for i, n := range kind.Nodes {
					a.Nodes[i] = variant.nodes[n]
				}
			}
			answers = append(answers, filtered(variant.q, a, q.Nodes)...)
		}
	}
	slices.SortFunc(answers, func(a, b Answer) int { return a.Nodes[0] - b.Nodes[0] })
	return answers, nil
}

// filtered splits an answer by what the filters say of its nodes.
func filtered(q *Question, a Answer, nodes []*corev1.Node) []Answer {
	if len(q.Filters) == 0 || !a.Allocatable() {
		return []Answer{a}
	}
	w := &World{Cluster: q.Cluster, Pod: q.Pod, filters: q.Filters}
	var out []Answer
	index := map[string]int{}
	for _, n := range a.Nodes {
		key, refusal := "", w.refusal(nodes[n])
		if refusal != nil {
			key = string(refusal.Code) + " " + refusal.Key
		}
		at, ok := index[key]
		if !ok {
			at = len(out)
			index[key] = at
			out = append(out, Answer{Q: a.Q, Result: a.Result, Refusal: refusal})
		}
		out[at].Nodes = append(out[at].Nodes, n)
	}
	return out
}

// misfits are nodes that the pod cannot use for the same reason.
type misfits struct {
	reason explain.Reason
	nodes  []int
}

// sortNodes separates the nodes that the pod cannot use, by why not, from the others.
func (q *Question) sortNodes() (unsuitable []*misfits, suitable []int) {
	suitable = make([]int, 0, len(q.Nodes))
	if len(q.Unsuitable) == 0 && q.PerNode == nil {
		for i := range q.Nodes {
			suitable = append(suitable, i)
		}
		return nil, suitable
	}
	byKey := map[string]*misfits{}
	for i, node := range q.Nodes {
		reason := misfit(q, node)
		if reason == nil {
			suitable = append(suitable, i)
			continue
		}
		if byKey[reason.Key] == nil {
			byKey[reason.Key] = &misfits{reason: *reason}
			unsuitable = append(unsuitable, byKey[reason.Key])
		}
		byKey[reason.Key].nodes = append(byKey[reason.Key].nodes, i)
	}
	return unsuitable, suitable
}

// misfit is why the pod cannot use the node whatever its devices, or nil.
func misfit(q *Question, node *corev1.Node) *explain.Reason {
	if reason, bad := q.Unsuitable[inspect.NodeName(node.Name)]; bad {
		return &reason
	}
	if q.PerNode == nil {
		return nil
	}
	_, misfit := q.PerNode.On(node)
	return misfit
}

// Simplify makes a question with a claim that depends on the node a plain one if it is the same for all suitable nodes.
func (q *Question) Simplify() {
	if q.PerNode == nil {
		return
	}
	_, suitable := q.sortNodes()
	all := variants(q, suitable)
	if len(all) != 1 {
		return
	}
	for _, node := range q.Nodes {
		if reason := misfit(q, node); reason != nil {
			q.Unsuitable[inspect.NodeName(node.Name)] = *reason
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

// UnsuitableFor is the reason for which a pod cannot use a node. Nodes with the same key are told as one.
func UnsuitableFor(key, format string, args ...any) explain.Reason {
	return explain.Reason{Code: allocator.NodeUnsuitable, Key: key, Message: fmt.Sprintf(format, args...)}
}
