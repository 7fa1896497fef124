package queues_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/queues"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/screentest"
)

// many has queues, ten to a cohort, with as many workloads each that hold quota as wait for some.
func many(queueCount, each int) inspect.Objects {
	o := inspect.Objects{ResourceFlavors: []*kueuev1beta2.ResourceFlavor{{ObjectMeta: metav1.ObjectMeta{Name: "default"}}}}
	for i := range queueCount {
		name := fmt.Sprintf("queue-%03d", i)
		q := &kueuev1beta2.ClusterQueue{ObjectMeta: metav1.ObjectMeta{Name: name}}
		q.Spec.CohortName, q.Spec.NamespaceSelector = kueuev1beta2.CohortReference(fmt.Sprintf("cohort-%d", i/10)), &metav1.LabelSelector{}
		q.Spec.ResourceGroups = []kueuev1beta2.ResourceGroup{{CoveredResources: []corev1.ResourceName{"cpu"}, Flavors: []kueuev1beta2.FlavorQuotas{{
			Name: "default", Resources: []kueuev1beta2.ResourceQuota{{Name: "cpu", NominalQuota: *resource.NewQuantity(int64(each), resource.DecimalSI)}},
		}}}}
		o.ClusterQueues = append(o.ClusterQueues, q)
		l := &kueuev1beta2.LocalQueue{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: name}}
		l.Spec.ClusterQueue = kueuev1beta2.ClusterQueueReference(name)
		o.LocalQueues = append(o.LocalQueues, l)
		for j := range 2 * each {
			w := &kueuev1beta2.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: fmt.Sprintf("job-%d-%d", i, j), CreationTimestamp: metav1.NewTime(demo.Now().Add(-time.Duration(j+1) * time.Minute))}}
			w.Spec.QueueName, w.Spec.Priority = kueuev1beta2.LocalQueueName(name), new(int32)
			set := kueuev1beta2.PodSet{Name: "main", Count: 1}
			set.Template.Spec.Containers = []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("1")}}}}
			w.Spec.PodSets = []kueuev1beta2.PodSet{set}
			if j < each {
				w.Status.Admission = &kueuev1beta2.Admission{ClusterQueue: kueuev1beta2.ClusterQueueReference(name), PodSetAssignments: []kueuev1beta2.PodSetAssignment{{
					Name: "main", Count: new(int32(1)), Flavors: map[corev1.ResourceName]kueuev1beta2.ResourceFlavorReference{"cpu": "default"}, ResourceUsage: corev1.ResourceList{"cpu": resource.MustParse("1")},
				}}}
				for _, kind := range []string{kueuev1beta2.WorkloadQuotaReserved, kueuev1beta2.WorkloadAdmitted} {
					w.Status.Conditions = append(w.Status.Conditions, metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: kind})
				}
			}
			o.KueueWorkloads = append(o.KueueWorkloads, w)
		}
	}
	return o
}

// BenchmarkQueues is the view of 200 queues with 2,000 workloads that wait, from nothing to the first frame.
func BenchmarkQueues(b *testing.B) {
	w := screentest.World(b, many(200, 10))
	for b.Loop() {
		s := queues.New()
		screentest.Settle(w, s, screen.Shown{})
		if s.View(w, 200, 50); s.State().Status != "200 queues" {
			b.Fatal(s.State().Status)
		}
	}
}
