package kueue_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/randomqueue"
	"github.com/kubectl-dra/kubectl-dra/scheduler/kueue"
)

// TestBroken takes objects away from random states, or what is in them: no state may make it panic or hang.
func TestBroken(t *testing.T) {
	breaks := map[string]func(*inspect.Objects){
		"no flavors":      func(o *inspect.Objects) { o.ResourceFlavors = nil },
		"no queues":       func(o *inspect.Objects) { o.ClusterQueues = nil },
		"no local queues": func(o *inspect.Objects) { o.LocalQueues = nil },
		"no cohorts":      func(o *inspect.Objects) { o.Cohorts = nil },
		"no namespaces":   func(o *inspect.Objects) { o.Namespaces = nil },
		"no templates":    func(o *inspect.Objects) { o.Templates = nil },
		"no classes":      func(o *inspect.Objects) { o.Classes = nil },
		"a circle": func(o *inspect.Objects) {
			for i, c := range o.Cohorts {
				c.Spec.ParentName = kueuev1beta2.CohortReference(o.Cohorts[(i+1)%len(o.Cohorts)].Name)
			}
		},
		"empty specs": func(o *inspect.Objects) {
			for _, c := range o.ClusterQueues {
				c.Spec = kueuev1beta2.ClusterQueueSpec{CohortName: c.Spec.CohortName, NamespaceSelector: &metav1.LabelSelector{}}
			}
		},
		"no pod sets": func(o *inspect.Objects) {
			for _, w := range o.KueueWorkloads {
				w.Spec.PodSets = nil
			}
		},
		"other pod sets": func(o *inspect.Objects) {
			for _, w := range o.KueueWorkloads {
				for i := range w.Spec.PodSets {
					w.Spec.PodSets[i].Name = "same"
					w.Spec.PodSets[i].Count = int32(-1 + i)
					w.Spec.PodSets[i].MinCount = new(int32(-2147483648))
				}
			}
		},
		"huge numbers": func(o *inspect.Objects) {
			for _, c := range o.ClusterQueues {
				for i := range c.Spec.ResourceGroups {
					for j := range c.Spec.ResourceGroups[i].Flavors {
						for k := range c.Spec.ResourceGroups[i].Flavors[j].Resources {
							r := &c.Spec.ResourceGroups[i].Flavors[j].Resources[k]
							r.NominalQuota = resource.MustParse("1e30")
							r.BorrowingLimit, r.LendingLimit = new(resource.MustParse("-1e30")), new(resource.MustParse("9223372036854775807"))
						}
					}
				}
			}
			for _, w := range o.KueueWorkloads {
				for i := range w.Spec.PodSets {
					w.Spec.PodSets[i].Count = 2147483647
					w.Spec.PodSets[i].Template.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("9223372036854775807")}
				}
			}
		},
	}
	for name, damage := range breaks {
		for seed := range uint64(40) {
			objects, config := randomqueue.State(seed)
			damage(objects)
			state := kueue.New(objects, config, randomqueue.Now)
			for _, w := range objects.KueueWorkloads {
				if d := state.Decide(w.Namespace, w.Name); d.Outcome == kueue.Unknown && len(d.Reasons) == 0 {
					t.Errorf("%s, seed %d: %s is Unknown and nothing says why", name, seed, w.Name)
				}
			}
			state.Usage()
		}
	}
}

// TestUsage compares what ClusterQueues and Cohorts use and lend with sums over the workloads.
func TestUsage(t *testing.T) {
	for seed := range uint64(200) {
		objects, config := randomqueue.State(seed)
		state := kueue.New(objects, config, randomqueue.Now)
		before := fmt.Sprint(state.Usage())
		for _, w := range objects.KueueWorkloads {
			state.Decide(w.Namespace, w.Name)
		}
		if after := fmt.Sprint(state.Usage()); after != before {
			t.Fatalf("seed %d: decisions change the usage:\n%s\n%s", seed, before, after)
		}
		for _, u := range state.Usage() {
			for _, f := range u.Flavors {
				var sum kueue.Amount
				for _, h := range f.Holders {
					sum += h.Amount
				}
				if f.Used != sum || f.Admitted > f.Used {
					t.Errorf("seed %d, %s: %d of %s are used, holders have %d, admitted ones %d", seed, u.Name, f.Used, f.Resource, sum, f.Admitted)
				}
				if !u.Cohort && u.Parent == "" && (f.Borrowed != 0 || f.Lent != 0) {
					t.Errorf("seed %d: %s has no cohort, but borrows %d and lends %d", seed, u.Name, f.Borrowed, f.Lent)
				}
			}
		}
	}
}

// TestMany decides about 2,000 workloads in 200 queues of one tree of cohorts.
func TestMany(t *testing.T) {
	objects := many()
	state := kueue.New(objects, kueue.DefaultConfig(), time.Now())
	got := map[kueue.Outcome]int{}
	for _, w := range objects.KueueWorkloads {
		got[state.Decide(w.Namespace, w.Name).Outcome]++
	}
	if got[kueue.Fits] != 800 || got[kueue.Waits] != 1200 {
		t.Errorf("of 10 workloads of each queue there is quota for 4: %v", got)
	}
}

func BenchmarkMany(b *testing.B) {
	objects := many()
	for b.Loop() {
		state := kueue.New(objects, kueue.DefaultConfig(), randomqueue.Now)
		state.Decide("ml", objects.KueueWorkloads[len(objects.KueueWorkloads)-1].Name)
	}
}

func many() *inspect.Objects {
	o := &inspect.Objects{ResourceFlavors: []*kueuev1beta2.ResourceFlavor{{ObjectMeta: metav1.ObjectMeta{Name: "default"}}}}
	for i := range 200 {
		name := fmt.Sprintf("q%03d", i)
		c := &kueuev1beta2.ClusterQueue{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: kueuev1beta2.ClusterQueueSpec{
			NamespaceSelector: &metav1.LabelSelector{}, CohortName: kueuev1beta2.CohortReference(fmt.Sprintf("cohort%d", i%10)),
			Preemption: &kueuev1beta2.ClusterQueuePreemption{WithinClusterQueue: kueuev1beta2.PreemptionPolicyLowerPriority, ReclaimWithinCohort: kueuev1beta2.PreemptionPolicyAny},
		}}
		c.Spec.ResourceGroups = []kueuev1beta2.ResourceGroup{{CoveredResources: []corev1.ResourceName{"cpu"}, Flavors: []kueuev1beta2.FlavorQuotas{{
			Name: "default", Resources: []kueuev1beta2.ResourceQuota{{Name: "cpu", NominalQuota: resource.MustParse("4"), BorrowingLimit: new(resource.MustParse("0"))}},
		}}}}
		o.ClusterQueues = append(o.ClusterQueues, c)
		o.LocalQueues = append(o.LocalQueues, &kueuev1beta2.LocalQueue{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: name},
			Spec: kueuev1beta2.LocalQueueSpec{ClusterQueue: kueuev1beta2.ClusterQueueReference(name)}})
		for j := range 10 {
			w := &kueuev1beta2.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: fmt.Sprintf("%s-%d", name, j),
				CreationTimestamp: metav1.NewTime(randomqueue.Now.Add(time.Duration(j*1000+i) * time.Second))}}
			w.Spec.QueueName = kueuev1beta2.LocalQueueName(name)
			set := kueuev1beta2.PodSet{Name: "main", Count: 1}
			set.Template.Spec.Containers = []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("1")}}}}
			set.Template.Spec.NodeSelector = map[string]string{"shape": fmt.Sprint(j)} // no two are alike
			w.Spec.PodSets = []kueuev1beta2.PodSet{set}
			o.KueueWorkloads = append(o.KueueWorkloads, w)
		}
	}
	for i := range 10 {
		o.Cohorts = append(o.Cohorts, &kueuev1beta2.Cohort{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("cohort%d", i)}, Spec: kueuev1beta2.CohortSpec{ParentName: "root"}})
	}
	slices.Reverse(o.KueueWorkloads)
	return o
}
