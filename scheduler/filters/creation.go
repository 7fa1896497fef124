package filters

import corev1 "k8s.io/api/core/v1"

// A pod from a file may not have been created yet. Then the API server's admission plugins will add to it.

// uncreated reports whether no API server has seen a pod.
func uncreated(pod *corev1.Pod) bool { return pod.UID == "" }

// toleratedOnceCreated reports whether a pod that is to be created gets a toleration of a taint: each
// tolerates for five minutes that its node is not ready or cannot be reached, unless it says otherwise
// (admission plugin DefaultTolerationSeconds).
func toleratedOnceCreated(pod *corev1.Pod, taint *corev1.Taint) bool {
	known := taint.Key == corev1.TaintNodeNotReady || taint.Key == corev1.TaintNodeUnreachable
	if !uncreated(pod) || !known || taint.Effect != corev1.TaintEffectNoExecute {
		return false
	}
	for _, t := range pod.Spec.Tolerations {
		if (t.Key == "" || t.Key == taint.Key) && (t.Effect == "" || t.Effect == taint.Effect) {
			return false
		}
	}
	return true
}

// unknownRuntime is a doubt about a pod that is to be created with a runtime class, which can add to it
// (admission plugin RuntimeClass). Such classes are not read.
func unknownRuntime(pod *corev1.Pod) Outcome {
	class := pod.Spec.RuntimeClassName
	if !uncreated(pod) || class == nil || pod.Spec.Overhead != nil {
		return Outcome{}
	}
	return doubt(Doubt{
		Plugin: NodeResourcesFit, Key: "runtime class " + *class,
		Message: "runtime class " + *class + " may add requests, tolerations and a node selector to the pod when it is created",
	})
}
