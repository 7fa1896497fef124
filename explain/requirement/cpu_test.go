package requirement

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// A kind of requirement in one file: the CPU request of the pod against what a node has left. It is the example of
// ARCHITECTURE.md, "How to add a kind of requirement"; kind_test.go adds it to Kinds and asks.

// CPURequired is the kind that tests add.
const CPURequired explain.RequirementKind = "CPU"

// CPUKind is its line in Kinds.
var CPUKind = Kind{name: CPURequired, Importance: 11, filter: cpuFilter{}, list: listCPU}

// cpuFilter refuses nodes that have less CPU left than the pod asks for, as the scheduler's NodeResourcesFit does.
type cpuFilter struct{}

func (cpuFilter) Refuses(s *inspect.Snapshot, pod *corev1.Pod, node *corev1.Node) *explain.Reason {
	wanted, left := cpuOf(pod), cpuLeft(s, node)
	if wanted.Cmp(left) <= 0 {
		return nil
	}
	return &explain.Reason{
		Code: "CPUInsufficient", Key: wanted.String(), Message: fmt.Sprintf("the pod asks for %s CPU, %s are left", wanted.String(), left.String()),
	}
}

// cpuRequirement is the CPU request of the pod. It is given up by asking for none.
type cpuRequirement struct {
	explain.Requirement
}

func listCPU(_ context.Context, s *site) []Relaxable {
	if s.Q.Pod == nil {
		return nil
	}
	wanted, left := cpuOf(s.Q.Pod), cpuLeft(s.Snapshot, s.Node)
	if wanted.IsZero() {
		return nil
	}
	return []Relaxable{cpuRequirement{explain.Requirement{
		Kind: CPURequired, Path: "spec.containers[0].resources.requests.cpu",
		Message: fmt.Sprintf("the pod needs %s CPU", wanted.String()), Actual: fmt.Sprintf("%s are left here", left.String()),
	}}}
}

func (r cpuRequirement) Describe() *explain.Requirement { return &r.Requirement }
func (r cpuRequirement) Relaxing() whatif.Edit          { return cpuEdit{} }
func (r cpuRequirement) Effort(*whatif.Question) int    { return 2 }
func (r cpuRequirement) Price(*whatif.Question) int     { return CostDrop }

// Propose asks for as much as the node has left.
func (r cpuRequirement) Propose(ctx context.Context, c *whatif.ClusterSandbox, node inspect.NodeName) ([]Change, error) {
	b := c.Q.SandboxOf(node)
	e := cpuEdit{amount: cpuLeft(b.Snapshot, b.Node)}
	if o, err := b.Try(ctx, []whatif.Edit{e}); err != nil || o != whatif.Fits {
		return nil, err
	}
	return []Change{{
		Kind: "ReduceCPU", Edits: []whatif.Edit{e}, Node: node, Cost: CostValue, Key: e.amount.String(),
		Message: fmt.Sprintf("ask for %s CPU", e.amount.String()),
	}}, nil
}

func (r cpuRequirement) Combine(context.Context, *Combination, int) (Part, error) {
	return Part{Kind: "ReduceCPU", Key: "none", Message: "ask for no CPU"}, nil
}

// cpuEdit changes the CPU request of the first container.
type cpuEdit struct{ amount resource.Quantity }

func (e cpuEdit) Key() string { return "cpu" }

func (e cpuEdit) Apply(d *whatif.Draft) {
	requests := d.Pod().Spec.Containers[0].Resources.Requests
	requests[corev1.ResourceCPU] = e.amount
}

func (e cpuEdit) PatchPod(p *whatif.Patch) {
	p.Add("replace", "/spec/containers/0/resources/requests/cpu", e.amount.String())
}

func cpuOf(pod *corev1.Pod) resource.Quantity {
	var sum resource.Quantity
	for i := range pod.Spec.Containers {
		sum.Add(*pod.Spec.Containers[i].Resources.Requests.Cpu())
	}
	return sum
}

func cpuLeft(s *inspect.Snapshot, node *corev1.Node) resource.Quantity {
	left := node.Status.Allocatable.Cpu().DeepCopy()
	for _, pod := range s.Objects().Pods {
		if pod.Spec.NodeName == node.Name {
			left.Sub(cpuOf(pod))
		}
	}
	return left
}
