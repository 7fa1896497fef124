package admission

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/admission/config"
	"github.com/kubectl-dra/kubectl-dra/explain/admission/target"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler/kueue"
)

// maxCopies is the number of copies at which counting by quota ends.
const maxCopies = 256

// Fit adds to how many copies of a claim find devices how many get quota of a LocalQueue of its namespace,
// and how many get both. Each copy is of a workload of one pod, which asks for nothing else; they come one
// after the other, behind what waits in the queues.
func Fit(s *inspect.Snapshot, claim *resourcev1.ResourceClaim, queue string, f *explain.Fit) {
	out := &explain.QueueFit{LocalQueue: queue}
	f.Queue = out
	template := "kubectl-dra-copies"
	objects := *s.Objects()
	objects.Templates = append(slices.Clip(objects.Templates), &resourcev1.ResourceClaimTemplate{
		ObjectMeta: metav1.ObjectMeta{Namespace: claim.Namespace, Name: template},
		Spec:       resourcev1.ResourceClaimTemplateSpec{Spec: claim.Spec},
	})
	first := len(objects.KueueWorkloads)
	objects.KueueWorkloads = slices.Clip(objects.KueueWorkloads)
	for i := range maxCopies {
		w := &kueuev1beta2.Workload{}
		w.Namespace, w.Name = claim.Namespace, fmt.Sprintf("kubectl-dra copy %04d", i)
		w.CreationTimestamp = metav1.NewTime(s.Time())
		w.Spec.QueueName = kueuev1beta2.LocalQueueName(queue)
		set := kueuev1beta2.PodSet{Name: "main", Count: 1}
		set.Template.Spec.Containers = []corev1.Container{{Name: "main"}}
		set.Template.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "copy", ResourceClaimTemplateName: new(template)}}
		w.Spec.PodSets = []kueuev1beta2.PodSet{set}
		objects.KueueWorkloads = append(objects.KueueWorkloads, w)
	}
	state := kueue.New(&objects, config.State(s), s.Time())
	byFlavor := map[string]int{}
	doubts := partial(s.Kueue())
	for _, resource := range inspect.Resources() {
		if h := s.Health(resource); resource.OfKueue() && h.PartialIn(claim.Namespace) {
			doubts = append(doubts, fmt.Sprintf("not all %s were read", resource))
		}
	}
	for _, w := range objects.KueueWorkloads[first:] {
		d := state.Decide(w.Namespace, w.Name)
		out.ClusterQueue = d.ClusterQueue
		for _, a := range d.Assumptions {
			doubts = words.AppendNew(doubts, a.Message)
		}
		if len(d.Checks) > 0 {
			doubts = words.AppendNew(doubts, "then admission checks decide: "+words.And(d.Checks))
		}
		if d.Outcome != kueue.Fits {
			if r := mainReason(&d); r != nil {
				out.Limit = r.Message
			}
			switch d.Outcome {
			case kueue.Preempts:
				out.Limit = "Kueue would evict others for one more"
			case kueue.Unknown:
				doubts = words.AppendNew(doubts, out.Limit)
			}
			break
		}
		out.Copies++
		byFlavor[flavorsOf(d.PodSets[0].Flavors)]++
	}
	out.AtLeast = out.Copies == maxCopies
	if text := s.Newer().OfQueues(); text != "" {
		doubts = append(doubts, text)
	}
	var known bool
	if out.Together, known = both(s, f, byFlavor); !known {
		doubts = append(doubts, "nodes of the flavors share devices with others, so fewer may find some")
	}
	if n := before(s, state); n > 0 && out.Together > 0 {
		doubts = append(doubts, fmt.Sprintf("%s %s before and may take some of the devices",
			words.Count(n, "workload"), words.Plural(n, "comes", "come")))
	}
	if f.Undecided || f.AtLeast && out.Together == f.Total && out.Copies > f.Total {
		doubts = append(doubts, "how many find devices is not known")
	}
	out.Partial = doubts
}

// before is how many workloads are admitted before anything new, or are already and have had no pods yet.
func before(s *inspect.Snapshot, state *kueue.State) int {
	n := len(target.NewFinder(s, nil, false).WithoutPods())
	for _, w := range s.Around().KueueWorkloads {
		n += words.Btoi(state.Decide(w.Namespace, w.Name).Outcome == kueue.Fits)
	}
	return n
}

// flavorsOf are the names of flavors in a text.
func flavorsOf(flavors map[corev1.ResourceName]string) string {
	var names []string
	for _, name := range flavors {
		names = words.AppendNew(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, "\n")
}

// both is how many copies get quota and devices, where so many get quota of each of some sets of flavors, of
// which nodes have to have the labels. It is not known where such nodes share devices with others.
func both(s *inspect.Snapshot, f *explain.Fit, byFlavor map[string]int) (copies int, known bool) {
	sum := 0
	for i := range f.Nodes {
		sum += f.Nodes[i].Copies
	}
	known = true
	for flavors, quota := range byFlavor {
		want := labels.Set{}
		for _, flavor := range s.Around().ResourceFlavors {
			if slices.Contains(strings.Split(flavors, "\n"), flavor.Name) {
				want = labels.Merge(want, flavor.Spec.NodeLabels)
			}
		}
		devices := 0
		for i := range f.Nodes {
			if node, ok := s.Node(f.Nodes[i].Node); ok && want.AsSelector().Matches(labels.Set(node.Labels)) {
				devices += f.Nodes[i].Copies
			}
		}
		known = known && (sum == f.Total || devices == sum)
		copies += min(quota, devices)
	}
	return min(copies, f.Total), known
}
