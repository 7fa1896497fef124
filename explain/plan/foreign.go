package plan

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// otherSchedulers says what is not known because of other schedulers: what becomes of pods that are asked
// about, and what other pods that wait for these schedulers take. The error is that of the context, or of a
// question that could not be put.
func otherSchedulers(ctx context.Context, c *scheduler.Cluster, pods []*corev1.Pod) ([]string, error) {
	var out, asked []string
	for _, pod := range pods {
		if !c.Snapshot().Schedules(pod) && pod.Spec.NodeName == "" {
			asked = append(asked, pod.Namespace+"/"+pod.Name)
		}
	}
	if n := len(asked); n > 0 {
		out = append(out, fmt.Sprintf("%s %s to another scheduler than kube-scheduler; it is said what kube-scheduler would do",
			words.Shorten(asked, maxNamed), words.Plural(n, "belongs", "belong")))
	}
	if len(pods) == 0 {
		return nil, nil // there is nobody whose room they could take
	}
	_, waiting := Waiting(c.Snapshot(), func(*corev1.Pod) bool { return true })
	rivals, err := rivals(ctx, c, pods, waiting)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, pod := range rivals {
		names = append(names, pod.Namespace+"/"+pod.Name)
	}
	if n := len(names); n > 0 {
		out = append(out, fmt.Sprintf("%s %s for another scheduler, and may take room first", words.Shorten(names, maxNamed), words.Plural(n, "waits", "wait")))
	}
	return out, nil
}

// unknownTurns says of which pods it is not known whether they come before others: of all where
// kube-scheduler sorts them in a way that is not known, and of those whose priority is that of a class,
// which the API server looks up when it creates them. Pods that are all of one class keep their order.
func unknownTurns(s *inspect.Snapshot, pods []*corev1.Pod) []string {
	for _, pod := range pods {
		if profile, _ := s.Scheduler().Profile(pod.Spec.SchedulerName); len(pods) > 1 && !profile.Sorts() {
			return []string{"the profile of kube-scheduler sorts pods by a plugin that is not its own, so which pods come first is not known"}
		}
	}
	var unknown []string
	differ := false
	for _, pod := range pods {
		if pod.Spec.NodeName != "" {
			continue
		}
		if pod.Spec.Priority == nil && pod.Spec.PriorityClassName != "" {
			unknown = append(unknown, pod.Namespace+"/"+pod.Name)
		}
		differ = differ || pod.Spec.PriorityClassName != pods[0].Spec.PriorityClassName || (pod.Spec.Priority == nil) != (pods[0].Spec.Priority == nil)
	}
	if len(unknown) == 0 || !differ {
		return nil
	}
	return []string{fmt.Sprintf("the priority class of %s is not among what was read, so which pods come first is not known", words.Shorten(unknown, maxNamed))}
}
