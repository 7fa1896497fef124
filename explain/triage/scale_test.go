package triage_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/triage"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

func stuckObjects(nodes, n, specs int, pods bool) inspect.Objects {
	o := explaintest.BigCluster(nodes)
	var keys []string
	q := explaintest.BigQuestions()
	for k := range q {
		keys = append(keys, k)
	}
	_ = keys
	names := []string{"selector", "occupancy", "constraint"}
	for i := range n {
		c := q[names[i%3]].DeepCopy()
		c.Name = fmt.Sprintf("stuck-%03d", i)
		c.Namespace = fmt.Sprintf("ns-%02d", i%specs)
		o.Claims = append(o.Claims, c)
		if pods {
			o.Pods = append(o.Pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: c.Name},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main"}}, ResourceClaims: []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: ptr.To(c.Name)}}}})
		}
	}
	_ = resourcev1.ResourceClaim{}
	return o
}

func TestScale(t *testing.T) {
	for _, specs := range []int{1, 7, 100} {
		for _, pods := range []bool{false, true} {
			o := stuckObjects(5000, 500, specs, pods)
			c := allocator.NewCluster(inspect.New(o, inspect.Config{}), allocator.Options{})
			start := time.Now()
			got, err := triage.Of(t.Context(), c, triage.Options{})
			if err != nil {
				t.Fatal(err)
			}
			fmt.Println(specs, pods, time.Since(start), len(got.Causes), got.Stuck(), len(got.NotLookedInto), got.Partial)
			for _, c := range got.Causes {
				fmt.Println("   ", c.Message, len(c.Subjects), len(c.Fixes))
				for _, f := range c.Fixes {
					fmt.Println("       ", f.Message, len(f.Frees))
				}
			}
		}
	}
}
