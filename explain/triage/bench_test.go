package triage_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/triage"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// stuckObjects has 500 claims that fit on none of 5,000 nodes, for three reasons in each of some namespaces,
// and with pods that use them or without.
func stuckObjects(namespaces int, pods bool) inspect.Objects {
	o := explaintest.BigCluster(5_000)
	questions := explaintest.BigQuestions()
	reasons := []string{"selector", "occupancy", "constraint"}
	for i := range 500 {
		claim := questions[reasons[i%3]].DeepCopy()
		claim.Namespace, claim.Name = fmt.Sprintf("team-%02d", i%namespaces), fmt.Sprintf("stuck-%03d", i)
		o.Claims = append(o.Claims, claim)
		if pods {
			o.Pods = append(o.Pods, &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Namespace: claim.Namespace, Name: claim.Name},
				Spec: corev1.PodSpec{
					Containers:     []corev1.Container{{Name: "main"}},
					ResourceClaims: []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: ptr.To(claim.Name)}},
				},
			})
		}
	}
	return o
}

// BenchmarkTriage compares the triage of 500 stuck subjects with a single explanation in the same cluster.
func BenchmarkTriage(b *testing.B) {
	for _, bench := range []struct {
		name       string
		namespaces int
		pods       bool
	}{{"claims/3 shapes", 1, false}, {"claims/21 shapes", 7, false}, {"pods/3 shapes", 1, true}, {"pods/21 shapes", 7, true}} {
		b.Run(bench.name, func(b *testing.B) {
			s := inspect.New(stuckObjects(bench.namespaces, bench.pods), inspect.Config{})
			claim := explaintest.BigQuestions()["occupancy"]
			var single, all time.Duration
			for b.Loop() {
				began := time.Now()
				if _, err := question.ClaimObject(b.Context(), scheduler.NewCluster(s, scheduler.Options{}), claim, question.Options{}); err != nil {
					b.Fatal(err)
				}
				single += time.Since(began)
				began = time.Now()
				t, err := triage.Of(b.Context(), scheduler.NewCluster(s, scheduler.Options{}), triage.Options{})
				if err != nil || t.Stuck() != 500 {
					b.Fatal(t.Stuck(), err)
				}
				all += time.Since(began)
			}
			b.ReportMetric(float64(all)/float64(single), "×explanation")
			b.ReportMetric(float64(all.Milliseconds())/float64(b.N), "ms/triage")
		})
	}
}
