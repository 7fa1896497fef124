package remedy

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Controller is the object that makes a pod anew when it is deleted.
type Controller struct{ Kind, Name string }

// ControllerOf returns the controller of a pod, or nil if it has none. Of the ReplicaSet of a Deployment it
// is the Deployment.
func ControllerOf(pod metav1.Object) *Controller {
	owner := metav1.GetControllerOf(pod)
	if owner == nil {
		return nil
	}
	if hash := pod.GetLabels()[appsv1.DefaultDeploymentUniqueLabelKey]; owner.Kind == "ReplicaSet" && hash != "" {
		if name, ok := strings.CutSuffix(owner.Name, "-"+hash); ok {
			return &Controller{"Deployment", name}
		}
	}
	return &Controller{owner.Kind, owner.Name}
}

// String is the kind and the name, for readers.
func (c *Controller) String() string { return c.Kind + " " + c.Name }

// podsOf are the pods of a namespace that a controller has made and that have not ended.
func podsOf(s *inspect.Snapshot, namespace string, c Controller) []inspect.PodRef {
	var out []inspect.PodRef
	for _, pod := range s.Objects().Pods {
		if of := ControllerOf(pod); pod.Namespace == namespace && !inspect.Ended(pod) && of != nil && *of == c {
			out = append(out, inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name})
		}
	}
	return out
}
