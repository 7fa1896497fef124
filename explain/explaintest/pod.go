package explaintest

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NewPod is the pod ml/question with one container, changed as a test wants it.
func NewPod(change func(*corev1.PodSpec)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "question"}}
	p.Spec.Containers = []corev1.Container{{Name: "main"}}
	change(&p.Spec)
	return p
}
