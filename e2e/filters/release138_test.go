package filters

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"hash/crc32"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

var kube138 = flag.String("kube138", "", "the kube-scheduler of the preview release, built by make filters-138: compare with it")

// TestRelease138 asks the kube-scheduler of the preview release, and us as if the server were of that
// release, about the random pods of the other tests.
func TestRelease138(t *testing.T) {
	if *kube138 == "" {
		t.Skip("make filters-138 builds the scheduler that this needs")
	}
	s := startKube(t, *kube138, ofPreview)
	s.compare(t, map[string]int{"determined": 20, "violating": 20, "determined, violating": 60}, func(t *testing.T, c counts) {
		c.check(t)
		s.checkRules(t)
	})
	t.Run("Trees", s.compareTrees)
}

// ofPreview is a problem as a server of the preview release has it, with what that release has to decide
// besides.
func ofPreview(p *problem) (*problem, error) {
	if p.minor != 0 {
		out := p.asking(p.asked[0]) // it is such a problem, but that its pod is not in the cluster
		out.objects.Pods = append(out.objects.Pods, p.asked[0])
		return out, nil
	}
	asked, err := p.admitted()
	if err != nil {
		return nil, err
	}
	asked.minor = inspect.PreviewMinor
	asked.gates = maps.Clone(asked.gates)
	asked.gates[inspect.GateNodeAllocatableResources] = len(asked.objects.Nodes)%2 == 0
	for _, pod := range append(slices.Clone(asked.objects.Pods), asked.asked...) {
		withNews(pod)
		if err := transmit(pod); err != nil {
			return nil, err
		}
	}
	withNewsOfGroups(asked)
	for i, c := range asked.objects.StorageCapacities {
		for _, q := range []*resource.Quantity{c.Capacity, c.MaximumVolumeSize} {
			if q != nil && q.Value() < 1<<50 && i%4 != 0 {
				*q = *resource.NewMilliQuantity(q.Value()*1000-300, q.Format) // which rounds up to what it was
			}
		}
	}
	for i, node := range asked.objects.Nodes {
		node.Status.DeclaredFeatures = append(node.Status.DeclaredFeatures, [][]string{nil, newFeatures, newFeatures[:1], newFeatures[1:]}[i%4]...)
		slices.Sort(node.Status.DeclaredFeatures)
	}
	return asked, nil
}

// newFeatures are those of nodes that pods may need since the release.
var newFeatures = []string{"PodCertificateMLDSA", "SecurityProfileOCI"}

// withNews gives some pods what an older server would refuse.
func withNews(pod *corev1.Pod) {
	switch r := crc32.ChecksumIEEE([]byte(pod.Name+string(pod.Spec.Containers[0].Image)+fmt.Sprint(pod.Labels))) % 40; r {
	case 0, 1:
		pod.Spec.SecurityContext = &corev1.PodSecurityContext{SeccompProfile: &corev1.SeccompProfile{Type: "OCI"}}
	case 2, 3:
		pod.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{SeccompProfile: &corev1.SeccompProfile{Type: []corev1.SeccompProfileType{"OCI", "RuntimeDefault"}[r%2]}}
	case 4, 5, 6:
		key := []string{"MLDSA44", "MLDSA87", "ED25519"}[r%3]
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "certificate", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
			Sources: []corev1.VolumeProjection{{PodCertificate: &corev1.PodCertificateProjection{SignerName: "example.com/signer", KeyType: key}}},
		}}})
	default:
		if len(pod.Spec.InitContainers) == 0 {
			pod.Spec.InitContainers = []corev1.Container{{Name: "init", Image: "image"}}
		}
		containers := pod.Spec.Containers[:1:1]
		containers = append(containers, pod.Spec.InitContainers...)
		status := corev1.NodeAllocatableResourceClaimStatus{ResourceClaimName: "claim", Overhead: []corev1.NodeAllocatableOverheadResources{
			{Name: corev1.ResourceCPU, PerPod: new(resource.MustParse("2")), PerContainer: new(resource.MustParse("45"))},
		}}
		for i := range containers {
			status.Containers = append(status.Containers, containers[i].Name)
		}
		pod.Status.NodeAllocatableResourceClaimStatuses = []corev1.NodeAllocatableResourceClaimStatus{status}
	}
}

// withNewsOfGroups lets groups of pods say whether they may preempt others, or not say it, and their pods
// mostly agree with each other.
func withNewsOfGroups(p *problem) {
	never := corev1.PreemptNever
	for i, group := range p.objects.PodGroups {
		policy := []*schedulingv1beta1.PreemptionPolicy{nil, new(schedulingv1beta1.PreemptLowerPriority), new(schedulingv1beta1.PreemptNever)}[(i+len(p.objects.Nodes))%3]
		group.Spec.PreemptionPolicy = policy
		for j, pod := range append(slices.Clone(p.objects.Pods), p.asked...) {
			if inspect.PodGroupOf(pod) != group.Name || pod.Namespace != group.Namespace {
				continue
			}
			if pod.Spec.PreemptionPolicy = nil; len(p.objects.Pods)%2 == 0 && j%20 != 0 {
				pod.Spec.PreemptionPolicy = &never
			}
		}
	}
}

// compareTrees asks about pods of CompositePodGroups, and wants that each rule about these decides alone.
func (s *otherKube) compareTrees(t *testing.T) {
	pods, alone := 0, map[string]int{"is part of and which does not exist": 0, "waits for the others of": 0, "not ready to be": 0, "one Workload": 0, "pod groups of a tree must have one priority": 0,
		"must have one preemption policy": 0, "gangs only": 0, "is disrupted together": 0, "have to find room at once": 0}
	of := s.of
	defer func() { s.of = of }()
	for i := range uint64(effort.Of(3_000, 200)) { //nolint:gosec // it is not negative
		r := rand.New(rand.NewPCG(*seed, i))
		s.of = func(p *problem) (*problem, error) {
			asked, err := of(p)
			if err == nil {
				withTrees(asked, r)
			}
			return asked, err
		}
		p := generateOf(r, []aspect{{often: true, cluster: groups.cluster, made: groups.pod}, gated})
		c, err := s.compareFilters(t, p)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range c.disagreements {
			t.Fatalf("problem %d: %+v", i, d)
		}
		for _, ours := range c.ours {
			pods++
			for name, node := range ours.nodes {
				said := cmp.Or(node[filters.GangScheduling], ours.doubts[name][filters.GangScheduling])
				for text := range alone {
					if strings.Contains(said, text) && !strings.Contains(said, "; ") {
						alone[text]++
					}
				}
				break
			}
		}
	}
	t.Logf("%d pods, 0 decided otherwise; refused by one rule alone: %v", pods, alone)
	for text, n := range alone {
		if n == 0 {
			t.Errorf("%q decides no pod", text)
		}
	}
}

// withTrees makes parts of CompositePodGroups of pod groups: most of these need all of their parts.
func withTrees(p *problem, r *rand.Rand) {
	rare := func() bool { return r.IntN(12) == 0 }
	for _, gate := range []inspect.Gate{inspect.GateGenericWorkload, inspect.GateTopologyAwareWorkloadScheduling, inspect.GateCompositePodGroup} {
		p.gates[gate] = true
	}
	composite := func(name, parent string) *schedulingv1alpha3.CompositePodGroup {
		out := &schedulingv1alpha3.CompositePodGroup{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}}
		out.Spec.WorkloadRef = &schedulingv1alpha3.WorkloadReference{WorkloadName: "job", TemplateName: "t"}
		if parent != "" {
			out.Spec.ParentCompositePodGroupName = &parent
		}
		if rare() {
			out.Spec.Priority = new(int32(100))
		}
		if rare() {
			out.Spec.PreemptionPolicy = new(schedulingv1alpha3.PreemptNever)
		}
		return out
	}
	trees := map[string]*schedulingv1alpha3.CompositePodGroup{"tree": composite("tree", ""), "branch": composite("branch", "tree")}
	children := map[string]int32{"tree": 1}
	whole := r.IntN(6) > 0
	for _, group := range p.objects.PodGroups {
		parent := []string{"tree", "branch", "branch", "tree", ""}[r.IntN(5)]
		if group.Namespace != "default" || parent == "" {
			continue
		}
		children[parent]++
		group.Spec.ParentCompositePodGroupName = &parent
		group.CreationTimestamp = metav1.Unix(int64(1_700_000_000+r.IntN(3)), 0)
		if group.Spec.WorkloadRef = (&schedulingv1beta1.WorkloadReference{WorkloadName: "job", TemplateName: "t"}); rare() {
			group.Spec.WorkloadRef.WorkloadName = "other"
		}
		if group.Spec.DisruptionMode = nil; r.IntN(4) == 0 {
			group.Spec.DisruptionMode = &schedulingv1beta1.DisruptionMode{Single: &schedulingv1beta1.SingleDisruptionMode{}}
		}
		if group.Spec.Priority = nil; rare() {
			group.Spec.Priority = new(int32(100))
		}
		if !rare() {
			group.Spec.PreemptionPolicy = nil
		}
		members := map[string]bool{}
		for _, pod := range append(slices.Clone(p.objects.Pods), p.asked...) {
			if inspect.PodGroupOf(pod) != group.Name || pod.Namespace != group.Namespace {
				continue
			}
			if pod.DeletionTimestamp = nil; r.IntN(40) > 0 {
				pod.Spec.Priority, pod.Spec.PriorityClassName, pod.Spec.PreemptionPolicy, pod.Spec.SchedulingGates = new(int32(0)), "", nil, nil
				if pod.Spec.NodeName == "" {
					pod.Spec.SchedulerName = corev1.DefaultSchedulerName
				}
			}
			if !inspect.Ended(pod) && (pod.Spec.NodeName != "" || pod.Spec.SchedulerName == corev1.DefaultSchedulerName) {
				members[pod.Name] = true
			}
		}
		// No part of a tree is short of pods while others can be placed: the comparison only sees whether
		// any pod of the tree is tried.
		if policy := &group.Spec.SchedulingPolicy; !whole || !rare() {
			*policy = schedulingv1beta1.PodGroupSchedulingPolicy{Gang: &schedulingv1beta1.GangSchedulingPolicy{MinCount: int32(max(1, len(members)))}} //nolint:gosec // there are few
		}
	}
	for _, name := range slices.Sorted(maps.Keys(trees)) {
		tree := trees[name]
		if rare() {
			continue // it does not exist
		}
		tree.Spec.SchedulingPolicy.Gang = &schedulingv1alpha3.CompositeGangSchedulingPolicy{MinGroupCount: max(1, children[name])}
		if !whole {
			tree.Spec.SchedulingPolicy = schedulingv1alpha3.CompositePodGroupSchedulingPolicy{Basic: &schedulingv1alpha3.CompositeBasicSchedulingPolicy{}}
		}
		if r.IntN(4) == 0 {
			tree.Spec.DisruptionMode = &schedulingv1alpha3.CompositeDisruptionMode{All: &schedulingv1alpha3.AllCompositeDisruptionMode{}}
		}
		p.objects.CompositePodGroups = append(p.objects.CompositePodGroups, tree)
	}
	slices.SortFunc(p.objects.CompositePodGroups, func(a, b *schedulingv1alpha3.CompositePodGroup) int { return cmp.Compare(a.Name, b.Name) })
}

// transmit makes a pod what comes back from a server, where what is empty is left out.
func transmit(pod *corev1.Pod) error {
	raw, err := json.Marshal(pod)
	if err == nil {
		*pod = corev1.Pod{}
		err = json.Unmarshal(raw, pod)
	}
	return err
}

// checkRules fails the test if a rule of the release has decided nothing.
func (s *otherKube) checkRules(t *testing.T) {
	t.Helper()
	t.Log("decided otherwise than in the release before: ", s.rules)
	for _, plugin := range []filters.Plugin{filters.PodTopologySpread, filters.NodeDeclaredFeatures, filters.GangScheduling, filters.NodeResourcesFit, filters.VolumeBinding} {
		if s.rules[plugin] == 0 {
			t.Errorf("%s decides no pod otherwise than in the release before", plugin)
		}
	}
}
