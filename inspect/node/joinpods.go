package node

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// sourceAnnotation is where a kubelet writes down from where it has a pod: "api", or where static pods come
// from.
const sourceAnnotation = "kubernetes.io/config.source"

func refOf(pod *corev1.Pod) inspect.PodRef {
	return inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name}
}

// gatherPods finds the pods of the node. What the API server says of a pod comes before what the kubelet says
// of it, which stands in for it where pods could not be read.
func (j *joining) gatherPods() {
	for _, pod := range j.snapshot.Objects().Pods {
		if inspect.NodeName(pod.Spec.NodeName) == j.Node {
			j.pods[refOf(pod)] = pod
			j.addUses(pod)
		}
	}
	for _, pod := range j.view.KubeletPods {
		ref := refOf(pod)
		j.kubeletPods[ref] = pod
		if j.pods[ref] == nil && !j.read(inspect.Pods) {
			j.pods[ref] = pod
			j.addUses(pod)
			j.addPreparedFor(pod)
		}
	}
	j.comparePods()
}

// addPreparedFor writes down which claims the kubelet keeps as prepared for a pod that only it told of.
func (j *joining) addPreparedFor(pod *corev1.Pod) {
	if inspect.Ended(pod) {
		return
	}
	for i := range j.view.Claims {
		c := &j.view.Claims[i]
		if slices.Contains(c.Pods, pod.UID) && !slices.Contains(j.users[c.Claim], pod) {
			j.users[c.Claim] = append(j.users[c.Claim], pod)
		}
	}
}

// comparePods finds the pods that only the kubelet or only the API server knows. Static pods are the
// kubelet's own.
func (j *joining) comparePods() {
	if !j.read(inspect.Pods) || !j.view.Read(PodsAPI) {
		return
	}
	for _, pod := range j.view.KubeletPods {
		other := j.pods[refOf(pod)]
		source := pod.Annotations[sourceAnnotation]
		if static := source != "" && source != "api"; !static && !inspect.Ended(pod) && (other == nil || !sameUID(other.UID, pod.UID)) {
			j.Problems = append(j.Problems, Problem{Code: PodUnknown, Pod: refOf(pod)})
		}
	}
	for ref, pod := range j.pods {
		if mine := j.kubeletPods[ref]; mine == nil && !inspect.Ended(pod) {
			j.Problems = append(j.Problems, Problem{Code: PodUnseen, Pod: ref})
		}
	}
}

// sameUID reports whether two objects of one name can be the same: objects from files may have no UID.
func sameUID(a, b types.UID) bool { return a == b || a == "" || b == "" }
