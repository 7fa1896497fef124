package filters

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// kubeScores are what the scheduler makes of the nodes that fit a pod.
type kubeScores struct {
	// Fitting are the nodes that pass all filters, in the scheduler's order.
	Fitting []string
	// Points are what each plugin gives to each of them, with its weight. Those that are skipped are not
	// there.
	Points map[string]map[string]int64
	// Totals are what the nodes get together.
	Totals map[string]int64
	// Failure is why nodes cannot be compared, or "".
	Failure string
}

// Score runs the filters and then the score plugins. If fewer than two nodes fit, nothing is scored.
func (s *kubeScheduler) Score(pod *corev1.Pod) (kubeScores, error) {
	out := kubeScores{Points: map[string]map[string]int64{}, Totals: map[string]int64{}}
	state := framework.NewCycleState()
	fitting, err := s.fitting(state, pod)
	if err != nil {
		return kubeScores{}, err
	}
	for _, n := range fitting {
		out.Fitting = append(out.Fitting, n.Node().Name)
	}
	if len(fitting) < 2 {
		return out, nil
	}
	if status := s.RunPreScorePlugins(s.ctx, state, pod, fitting); !status.IsSuccess() {
		out.Failure = status.Message()
		return out, nil
	}
	scores, status := s.RunScorePlugins(s.ctx, state, pod, fitting)
	if !status.IsSuccess() {
		out.Failure = status.Message()
	}
	for _, n := range scores {
		points := map[string]int64{}
		for _, p := range n.Scores {
			points[p.Name] = p.Score
		}
		out.Points[n.Name], out.Totals[n.Name] = points, n.TotalScore
	}
	return out, nil
}

// fitting are the nodes that pass all filters. There are none if a filter fails.
func (s *kubeScheduler) fitting(state fwk.CycleState, pod *corev1.Pod) ([]fwk.NodeInfo, error) {
	nodes, err := s.snapshot.NodeInfos().List()
	if err != nil {
		return nil, fmt.Errorf("listing nodes: %w", err)
	}
	result, status, _ := s.RunPreFilterPlugins(s.ctx, state, pod)
	if !status.IsSuccess() {
		return nil, nil
	}
	var out []fwk.NodeInfo
	for _, n := range nodes {
		if !result.AllNodes() && !result.NodeNames.Has(n.Node().Name) {
			continue
		}
		switch status := s.RunFilterPluginsWithNominatedPods(s.ctx, state, pod, n); {
		case status.IsSuccess():
			out = append(out, n)
		case status.Code() == fwk.Error:
			return nil, nil // it ends the cycle
		}
	}
	return out, nil
}
