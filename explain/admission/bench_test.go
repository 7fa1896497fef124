package admission_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/kubectl-dra/kubectl-dra/explain/admission"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/kueueconfig"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
	"github.com/kubectl-dra/kubectl-dra/scheduler/kueue"
)

// crowdedQueues is a cluster of nodes with queues in cohorts of ten, all below one. In each, one workload
// holds six of eight GPUs, and ten wait, of which no two are alike; the first asks for more than is left.
func crowdedQueues(nodes, queues int) *inspect.Objects {
	o := explaintest.Farm(nodes)
	o.Templates = append(o.Templates, explaintest.Template("one", 6, ""), explaintest.Template("gpus-4", 4, ""))
	o.ResourceFlavors = []*kueuev1beta2.ResourceFlavor{{ObjectMeta: metav1.ObjectMeta{Name: "default"}}}
	o.Namespaces = []*corev1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: "ml"}}}
	for i := range queues {
		name := fmt.Sprintf("q%03d", i)
		if i%10 == 0 {
			o.Cohorts = append(o.Cohorts, &kueuev1beta2.Cohort{ObjectMeta: metav1.ObjectMeta{Name: "cohort-" + name}, Spec: kueuev1beta2.CohortSpec{ParentName: "root"}})
		}
		q := &kueuev1beta2.ClusterQueue{ObjectMeta: metav1.ObjectMeta{Name: name}}
		q.Spec = kueuev1beta2.ClusterQueueSpec{
			NamespaceSelector: &metav1.LabelSelector{}, CohortName: kueuev1beta2.CohortReference(o.Cohorts[i/10].Name),
			Preemption: &kueuev1beta2.ClusterQueuePreemption{WithinClusterQueue: kueuev1beta2.PreemptionPolicyLowerPriority, ReclaimWithinCohort: kueuev1beta2.PreemptionPolicyAny},
		}
		quota := func(name corev1.ResourceName, amount string, limit *resource.Quantity) kueuev1beta2.ResourceGroup {
			return kueuev1beta2.ResourceGroup{CoveredResources: []corev1.ResourceName{name}, Flavors: []kueuev1beta2.FlavorQuotas{{
				Name: "default", Resources: []kueuev1beta2.ResourceQuota{{Name: name, NominalQuota: resource.MustParse(amount), BorrowingLimit: limit}},
			}}}
		}
		q.Spec.ResourceGroups = []kueuev1beta2.ResourceGroup{{CoveredResources: []corev1.ResourceName{"cpu", "memory", "gpus"}}}
		all := kueuev1beta2.FlavorQuotas{Name: "default"}
		for _, r := range [][2]string{{"cpu", "1000"}, {"memory", "1000Gi"}, {"gpus", "8"}} {
			var limit *resource.Quantity
			if r[0] == "gpus" {
				limit = new(resource.MustParse("1"))
			}
			all.Resources = append(all.Resources, quota(corev1.ResourceName(r[0]), r[1], limit).Flavors[0].Resources...)
		}
		q.Spec.ResourceGroups[0].Flavors = []kueuev1beta2.FlavorQuotas{all}
		o.ClusterQueues = append(o.ClusterQueues, q)
		o.LocalQueues = append(o.LocalQueues, &kueuev1beta2.LocalQueue{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: name},
			Spec: kueuev1beta2.LocalQueueSpec{ClusterQueue: kueuev1beta2.ClusterQueueReference(name)}})
		for j := range 11 {
			o.KueueWorkloads = append(o.KueueWorkloads, queued(o, i, j, name))
		}
	}
	return o
}

func queued(o *inspect.Objects, i, j int, queue string) *kueuev1beta2.Workload {
	template := "gpus-4"
	if j == 0 {
		template = "one"
	}
	name := fmt.Sprintf("job-%s-%d", queue, j)
	w := &kueuev1beta2.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: name, CreationTimestamp: metav1.NewTime(now.Add(time.Duration(j*1000+i-20000) * time.Second)),
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: name, Controller: new(true)}}}}
	w.Spec.QueueName, w.Spec.Priority = kueuev1beta2.LocalQueueName(queue), new(int32)
	set := kueuev1beta2.PodSet{Name: "main", Count: 1}
	set.Template.Spec = explaintest.Worker(name, template).Spec
	set.Template.Spec.Tolerations = []corev1.Toleration{{Key: "shape", Operator: corev1.TolerationOpEqual, Value: fmt.Sprint(j)}}
	w.Spec.PodSets = []kueuev1beta2.PodSet{set}
	if j > 0 {
		return w
	}
	w.Status.Admission = &kueuev1beta2.Admission{ClusterQueue: kueuev1beta2.ClusterQueueReference(queue), PodSetAssignments: []kueuev1beta2.PodSetAssignment{{
		Name: "main", Count: new(int32(1)), Flavors: map[corev1.ResourceName]kueuev1beta2.ResourceFlavorReference{"cpu": "default", "memory": "default", "gpus": "default"},
		ResourceUsage: corev1.ResourceList{"cpu": resource.MustParse("1"), "memory": resource.MustParse("1Gi"), "gpus": resource.MustParse("6")},
	}}}
	for _, kind := range []string{kueuev1beta2.WorkloadQuotaReserved, kueuev1beta2.WorkloadAdmitted} {
		w.Status.Conditions = append(w.Status.Conditions, metav1.Condition{Type: kind, Status: metav1.ConditionTrue, LastTransitionTime: w.CreationTimestamp})
	}
	pod := explaintest.AddRunning(o, name+"-x", o.Nodes[i].Name, "", 0, 1, 2, 3, 4, 5)
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: name, Controller: new(true)}}
	return w
}

// BenchmarkQueued explains the first and the last Job of a queue: 2,000 workloads wait in 200 queues, before
// 5,000 nodes.
func BenchmarkQueued(b *testing.B) {
	o := crowdedQueues(5000, 200)
	config := inspect.Config{Time: now, Features: inspect.DefaultFeatures(inspect.NewestMinor)}
	var err error
	if config.Kueue, err = kueueconfig.Read([]byte("{apiVersion: config.kueue.x-k8s.io/v1beta2, kind: Configuration, resources: {deviceClassMappings: [{name: gpus, deviceClassNames: [gpu]}]}}"), ""); err != nil {
		b.Fatal(err)
	}
	for at, fixes := range map[int]int{1: 3, 10: 0} {
		subjects := []metav1.Object{read(b, fmt.Sprintf(jobText, at)).Workloads[0]}
		b.Run(fmt.Sprintf("place %d", at), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				c := scheduler.NewCluster(inspect.New(*o, config), scheduler.Options{})
				b.StartTimer()
				answers, err := admission.Objects(b.Context(), c, subjects, admission.Options{})
				if err != nil {
					b.Fatal(err)
				}
				if got := len(answers[0].Fixes); got != fixes || answers[0].Admission.Outcome != string(kueue.Waits) {
					b.Fatalf("%d fixes: %s", got, answers[0].Message)
				}
			}
		})
	}
}

// BenchmarkPlaceQueued plans all that waits in the queues of the same cluster.
func BenchmarkPlaceQueued(b *testing.B) {
	o := crowdedQueues(5000, 200)
	config := inspect.Config{Time: now, Features: inspect.DefaultFeatures(inspect.NewestMinor)}
	var err error
	if config.Kueue, err = kueueconfig.Read([]byte("{apiVersion: config.kueue.x-k8s.io/v1beta2, kind: Configuration, resources: {deviceClassMappings: [{name: gpus, deviceClassNames: [gpu]}]}}"), ""); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		b.StopTimer()
		c := scheduler.NewCluster(inspect.New(*o, config), scheduler.Options{})
		b.StartTimer()
		p, err := admission.Place(b.Context(), c, nil, admission.PlaceOptions{Workload: func(*kueuev1beta2.Workload) bool { return true }})
		if err != nil {
			b.Fatal(err)
		}
		if len(p.Replay.Pending) != 2000 {
			b.Fatalf("%d pods wait", len(p.Replay.Pending))
		}
	}
}

const jobText = `
{apiVersion: batch/v1, kind: Job, metadata: {name: job-q100-%[1]d, namespace: ml, labels: {kueue.x-k8s.io/queue-name: q100}}, spec: {suspend: true, parallelism: 1, template: {spec: {
  tolerations: [{key: shape, operator: Equal, value: "%[1]d"}], resourceClaims: [{name: gpus, resourceClaimTemplateName: gpus-4}],
  containers: [{name: main, resources: {requests: {cpu: 1, memory: 1Gi}, claims: [{name: gpus}]}}]}}}}`
