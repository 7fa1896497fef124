package filters

import (
	"encoding/json"
	"flag"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/inspect"
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
