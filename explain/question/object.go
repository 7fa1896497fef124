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

// Named explains a pod, a claim or a template of the snapshot. The error is that of Pod, Claim and Template;
// about any other kind there is no question.
func Named(ctx context.Context, c *scheduler.Cluster, subject explain.Subject, opts Options) (*explain.Explanation, error) {
	switch subject.Kind {
	case "Pod":
		return Pod(ctx, c, inspect.PodRef{Namespace: subject.Namespace, Name: subject.Name}, opts)
	case "ResourceClaim":
		return Claim(ctx, c, inspect.ClaimRef{Namespace: subject.Namespace, Name: subject.Name}, opts)
	case "ResourceClaimTemplate":
		return Template(ctx, c, subject.Namespace, subject.Name, opts)
	}
	return nil, fmt.Errorf("explaining %s: nothing is known of a %s", subject.FullName(), subject.Kind)
}
