package disruption

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Evict is the eviction of pods. Those that have no node, or have ended, are left alone.
func Evict(pods ...*corev1.Pod) *Event {
	e := &Event{Asks: true}
	var names []string
	for _, pod := range pods {
		names = append(names, pod.Namespace+"/"+pod.Name)
		if pod.Spec.NodeName != "" && !inspect.Ended(pod) && !e.goesAlready(pod) {
			e.Evicted = append(e.Evicted, Eviction{Pod: pod, Cause: "it is evicted"})
		}
	}
	e.What = "evicting " + namesOf("pod", names)
	return e
}
