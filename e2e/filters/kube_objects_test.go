package filters

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// withKubeScheduler is inKubeScheduler for objects that are inspected, and others of kinds that are not.
func withKubeScheduler(t *testing.T, objects *inspect.Objects, f func(t *testing.T, s *kubeScheduler), others ...runtime.Object) {
	t.Helper()
	inKubeScheduler(t, append(seen(objects), others...), f)
}

// seen are the objects that the informers of a scheduler get.
func seen(o *inspect.Objects) []runtime.Object {
	var out []runtime.Object
	for _, kind := range inspect.Kinds() {
		for _, object := range kind.Objects(o) {
			// The server leaves pods that have ended out of what it lists for the scheduler; the client of
			// the test cannot.
			if pod, ok := object.(*corev1.Pod); ok && (pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed) {
				continue
			}
			out = append(out, object.(runtime.Object)) //nolint:forcetypeassert // every object of the API is one
		}
	}
	return out
}
