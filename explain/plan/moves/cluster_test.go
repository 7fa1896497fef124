package moves

import corev1 "k8s.io/api/core/v1"

// ofVolcano is a pod that another scheduler places.
func ofVolcano(pod *corev1.Pod) *corev1.Pod {
	pod.Spec.SchedulerName = "volcano"
	return pod
}
