package filters

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// gangMayFit plays the turns of the pods of a gang: each is put on the first node that kube-scheduler lets it
// onto, and is there for those that follow. It reports whether enough of them get a node. What they allocate
// and mount is not played: where there are claims or volumes, a gang may fit here that does not, but not the
// reverse.
//
// The filters alone, which are asked about a single pod, know nothing of this: the scheduler's cycle for pod
// groups counts.
func gangMayFit(t *testing.T, ask asker, p *problem, pod *corev1.Pod) (bool, error) {
	t.Helper()
	group := groupOf(p, pod)
	if group == nil || group.Spec.SchedulingPolicy.Gang == nil {
		return true, nil
	}
	missing := int(group.Spec.SchedulingPolicy.Gang.MinCount)
	var waiting []metav1.Object
	for _, other := range p.objects.Pods {
		switch {
		case other.Namespace != pod.Namespace || inspect.PodGroupOf(other) != group.Name || inspect.Ended(other):
		case other.Spec.NodeName != "":
			missing--
		case other.DeletionTimestamp == nil:
			waiting = append(waiting, other)
		}
	}
	now := p.asking(pod)
	for _, i := range cycle.QueueOrder(p.snapshot(), waiting) {
		member := waiting[i].(*corev1.Pod) //nolint:forcetypeassert // they all are
		now.objects.Pods = slices.DeleteFunc(now.objects.Pods, func(o *corev1.Pod) bool { return o.Namespace == member.Namespace && o.Name == member.Name })
		_, answers, err := ask(t, now.asking(member))
		if err != nil {
			return false, err
		}
		member = member.DeepCopy()
		if nodes, _ := passing(answers[0]); len(nodes) > 0 {
			member.Spec.NodeName = nodes[0]
			missing--
		}
		now.objects.Pods = append(now.objects.Pods, member)
	}
	return missing <= 0, nil
}

// groupOf is the pod group of a pod, or nil.
func groupOf(p *problem, pod *corev1.Pod) *schedulingv1beta1.PodGroup {
	for _, group := range p.objects.PodGroups {
		if group.Namespace == pod.Namespace && group.Name == inspect.PodGroupOf(pod) {
			return group
		}
	}
	return nil
}
