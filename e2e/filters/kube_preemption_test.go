package filters

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
)

// kubePreemption is what the plugin DefaultPreemption makes of a pod that no node takes. It ends nothing.
type kubePreemption struct {
	// Ineligible is why it does not look for pods to end, or "".
	Ineligible string
	// kubeNode is the node that it chooses, or "".
	Node string
	// Victims are the pods (namespace/name) that it would end, by the nodes on which it could.
	Victims map[string][]string
	// Violations is the number of budgets that it counts as violated on the node that it chooses.
	Violations int64
}

// Preempt asks the plugin about a pod of the cluster. It takes these budgets to be all that there are.
func (s *kubeScheduler) Preempt(pod *corev1.Pod, budgets []*policyv1.PodDisruptionBudget) (kubePreemption, error) {
	plugin := s.preemptionPlugin()
	if plugin == nil {
		return kubePreemption{}, errors.New("the scheduler has no DefaultPreemption")
	}
	state := framework.NewCycleState()
	statuses, err := s.statuses(state, pod)
	if err != nil {
		return kubePreemption{}, err
	}
	if ok, why := plugin.PodEligibleToPreemptOthers(s.ctx, pod, statuses.Get(pod.Status.NominatedNodeName)); !ok {
		return kubePreemption{Ineligible: why}, nil
	}
	potential, err := statuses.NodesForStatusCode(s.snapshot.NodeInfos(), fwk.Unschedulable)
	if err != nil || len(potential) == 0 {
		return kubePreemption{}, err
	}
	offset, number := plugin.GetOffsetAndNumCandidates(int32(len(potential))) //nolint:gosec // a few nodes
	// With an error on all nodes it gives up, and ends nothing either.
	candidates, _, _ := plugin.Evaluator.DryRunPreemption(s.ctx, state, pod, potential, budgets, offset, number)
	out := kubePreemption{Victims: map[string][]string{}}
	for _, c := range candidates {
		out.Victims[c.Name()] = namesOf(c)
	}
	if best := plugin.Evaluator.SelectCandidate(s.ctx, candidates); best != nil {
		out.Node, out.Violations = best.Name(), best.Victims().NumPDBViolations
	}
	return out, nil
}

func namesOf(c interface{ Victims() *extenderv1.Victims }) []string {
	var out []string
	for _, pod := range c.Victims().Pods {
		out = append(out, pod.Namespace+"/"+pod.Name)
	}
	return out
}

// preemptionPlugin is the plugin of the profile.
func (s *kubeScheduler) preemptionPlugin() *defaultpreemption.DefaultPreemption {
	for _, p := range s.EnqueueExtensions() {
		if plugin, ok := p.(*defaultpreemption.DefaultPreemption); ok {
			return plugin
		}
	}
	return nil
}

// statuses are what nodes say of a pod, as the plugin is told.
func (s *kubeScheduler) statuses(state fwk.CycleState, pod *corev1.Pod) (*framework.NodeToStatus, error) {
	nodes, err := s.snapshot.NodeInfos().List()
	if err != nil {
		return nil, fmt.Errorf("listing nodes: %w", err)
	}
	out := framework.NewDefaultNodeToStatus()
	result, everywhere, _ := s.RunPreFilterPlugins(s.ctx, state, pod)
	if !everywhere.IsSuccess() {
		out.SetAbsentNodesStatus(everywhere)
		return out, nil
	}
	for _, n := range nodes {
		if name := n.Node().Name; result.AllNodes() || result.NodeNames.Has(name) {
			if status := s.RunFilterPluginsWithNominatedPods(s.ctx, state, pod, n); !status.IsSuccess() {
				out.Set(name, status)
			}
		}
	}
	return out, nil
}
