package question

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// Object explains a pod, a workload, a claim or a template that need not be in the snapshot. The error is
// that of PodObject, Workload, ClaimObject and TemplateObject; about any other object there is no question.
func Object(ctx context.Context, c *scheduler.Cluster, subject metav1.Object, opts Options) (*explain.Explanation, error) {
	switch subject := subject.(type) {
	case *inspect.Workload:
		return Workload(ctx, c, subject, opts)
	case *corev1.Pod:
		return PodObject(ctx, c, subject, opts)
	case *resourcev1.ResourceClaim:
		return ClaimObject(ctx, c, subject, opts)
	case *resourcev1.ResourceClaimTemplate:
		return TemplateObject(ctx, c, subject, opts)
	}
	return nil, fmt.Errorf("explaining %s: nothing is known of a %T", subject.GetName(), subject)
}
