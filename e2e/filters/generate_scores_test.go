package filters

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// scoring are the aspects of problems in which nodes are compared: few of them keep a pod off a node.
var scoring = []aspect{
	{often: true, node: (*generator).scoredNode, pod: (*generator).scoredPod},
	{node: (*generator).room, pod: (*generator).requests},
	{node: (*generator).avoided, pod: (*generator).tolerations},
	{node: (*generator).labels, pod: (*generator).preferNodes},
	{node: (*generator).topology, pod: (*generator).softSpread},
	{cluster: (*generator).namespaces, node: (*generator).topology, pod: (*generator).preferPods},
	{node: (*generator).topology, pod: (*generator).identity},
	{cluster: (*generator).slices, pod: (*generator).preferDevices, made: (*generator).claimsOfDevices},
	claimVolumes,
	life,
}

// controllers are what pods are spread by.
type controllers struct {
	services     []*corev1.Service
	replication  []*corev1.ReplicationController
	replicaSets  []*appsv1.ReplicaSet
	statefulSets []*appsv1.StatefulSet
}

func (c *controllers) objects() []runtime.Object {
	var out []runtime.Object
	for _, o := range c.services {
		out = append(out, o)
	}
	for _, o := range c.replication {
		out = append(out, o)
	}
	for _, o := range c.replicaSets {
		out = append(out, o)
	}
	for _, o := range c.statefulSets {
		out = append(out, o)
	}
	return out
}

// selecting are the same, as a snapshot has them.
func (c *controllers) selecting() *inspect.Selecting {
	return &inspect.Selecting{Services: c.services, ReplicationControllers: c.replication, ReplicaSets: c.replicaSets, StatefulSets: c.statefulSets}
}

var imageNames = []string{"example.com/app", "example.com/train:v1", "example.com:5000/model", "example.com/train@sha256:0123456789012345678901234567890123456789012345678901234567890123"}

// imageSizes are those that an image has on all nodes.
var imageSizes = []int64{10 << 20, 2 << 30, 900 << 20, 40 << 30}

// scoredNode gives a node images.
func (g *generator) scoredNode(node *corev1.Node) {
	for i, name := range imageNames {
		if !g.chance(0.5) {
			continue
		}
		if i < 3 && i != 1 {
			name += ":latest"
		}
		node.Status.Images = append(node.Status.Images, corev1.ContainerImage{Names: []string{name, fmt.Sprint("alias-", i)}, SizeBytes: imageSizes[i]})
	}
}

// scoredPod gives a pod images, and, often, small requests.
func (g *generator) scoredPod(pod *corev1.Pod) {
	pod.Spec.Containers[0].Image = pick(g, imageNames...)
	if g.chance(0.3) {
		pod.Spec.InitContainers = append(pod.Spec.InitContainers, corev1.Container{Name: "fetch", Image: pick(g, imageNames...)})
	}
	if g.chance(0.2) {
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "model", VolumeSource: corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: pick(g, imageNames...)}}})
	}
	for _, c := range containers(pod) {
		if g.chance(0.5) {
			c.Resources.Requests = g.amounts(corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage)
		}
		if g.chance(0.1) {
			one := corev1.ResourceList{gpu: resource.MustParse("1")}
			c.Resources.Limits = one
			if c.Resources.Requests != nil {
				c.Resources.Requests[gpu] = one[gpu]
			}
		}
	}
}

// room makes nodes differ, with room for most pods.
func (g *generator) room(node *corev1.Node) {
	amounts := corev1.ResourceList{}
	for name, amount := range node.Status.Allocatable {
		amounts[name] = amount
	}
	g.allocatable(node)
	for _, name := range []corev1.ResourceName{corev1.ResourcePods, corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage} {
		if small, ok := node.Status.Allocatable[name]; !ok || small.IsZero() && g.chance(0.9) || g.chance(0.4) {
			node.Status.Allocatable[name] = amounts[name]
		}
	}
	node.Status.Capacity = node.Status.Allocatable
}

// avoided are taints that pods are kept off by only if possible.
func (g *generator) avoided(node *corev1.Node) {
	g.taints(node)
	node.Spec.Unschedulable = false
	for i := range node.Spec.Taints {
		taint := &node.Spec.Taints[i]
		other := corev1.Taint{Key: taint.Key, Effect: corev1.TaintEffectPreferNoSchedule}
		if g.chance(0.9) && !slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(&other) }) {
			taint.Effect = other.Effect
		}
	}
}

func (g *generator) preferNodes(pod *corev1.Pod) {
	if pod.Spec.Affinity == nil {
		pod.Spec.Affinity = &corev1.Affinity{}
	}
	pod.Spec.Affinity.NodeAffinity = &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: times(g, 3, func() corev1.PreferredSchedulingTerm {
		return corev1.PreferredSchedulingTerm{Weight: 1 + g.Int32N(100), Preference: g.nodeTerm()}
	})}
	if g.chance(0.2) {
		pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{g.nodeTerm()}}
	}
}

// softSpread makes constraints that the scheduler would like to be met.
func (g *generator) softSpread(pod *corev1.Pod) {
	g.spread(pod)
	for i := range pod.Spec.TopologySpreadConstraints {
		c := &pod.Spec.TopologySpreadConstraints[i]
		if g.chance(0.9) {
			c.WhenUnsatisfiable, c.MinDomains, c.MaxSkew = corev1.ScheduleAnyway, nil, 1+g.Int32N(5)
		}
	}
}

func (g *generator) preferPods(pod *corev1.Pod) {
	g.podAffinity(pod)
	weighted := func() corev1.WeightedPodAffinityTerm {
		return corev1.WeightedPodAffinityTerm{Weight: 1 + g.Int32N(100), PodAffinityTerm: g.podTerm()}
	}
	if a := pod.Spec.Affinity; g.chance(0.7) {
		if a.PodAffinity == nil {
			a.PodAffinity = &corev1.PodAffinity{}
		}
		if g.chance(0.8) {
			a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution = nil
		}
		a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution = times(g, 2, weighted)
	}
	if a := pod.Spec.Affinity; g.chance(0.7) {
		a.PodAntiAffinity = &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: times(g, 2, weighted)}
	}
}

// preferDevices lets a pod use claims that take one thing or else another, and seldom others.
func (g *generator) preferDevices(pod *corev1.Pod) {
	if g.chance(0.2) {
		g.resourceClaims(pod)
		return
	}
	for i := range 1 + g.IntN(2) {
		entry := corev1.PodResourceClaim{Name: fmt.Sprint("claim-", i), ResourceClaimTemplateName: new("either")}
		pod.Spec.ResourceClaims = append(pod.Spec.ResourceClaims, entry)
		pod.Spec.Containers[0].Resources.Claims = append(pod.Spec.Containers[0].Resources.Claims, corev1.ResourceClaim{Name: entry.Name})
	}
}

// controllersOf makes services and controllers, and makes some pods theirs.
func (g *generator) controllersOf(p *problem) {
	for i := range g.IntN(3) {
		s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("service-", i), Namespace: pick(g, "default", "default", "production")}}
		if g.chance(0.9) {
			key := pick(g, sorted(podLabels)...)
			s.Spec.Selector = map[string]string{key: pick(g, podLabels[key]...)}
		}
		p.controllers.services = append(p.controllers.services, s)
	}
	selector := func() *metav1.LabelSelector {
		return &metav1.LabelSelector{
			MatchLabels:      map[string]string{"app": pick(g, podLabels["app"]...)},
			MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "version", Operator: pick(g, metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist)}},
		}
	}
	meta := metav1.ObjectMeta{Name: "owner", Namespace: "default"}
	if g.chance(0.7) {
		p.controllers.replicaSets = []*appsv1.ReplicaSet{{ObjectMeta: meta, Spec: appsv1.ReplicaSetSpec{Selector: selector()}}}
	}
	if g.chance(0.7) {
		p.controllers.statefulSets = []*appsv1.StatefulSet{{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Selector: selector()}}}
	}
	if g.chance(0.7) {
		p.controllers.replication = []*corev1.ReplicationController{{ObjectMeta: meta, Spec: corev1.ReplicationControllerSpec{Selector: map[string]string{"app": "web"}}}}
	}
	kinds := [][2]string{{"v1", "ReplicationController"}, {"apps/v1", "ReplicaSet"}, {"apps/v1", "StatefulSet"}, {"batch/v1", "Job"}, {"apps/v1beta2", "ReplicaSet"}}
	for _, pod := range p.asked {
		if g.chance(0.5) {
			kind := pick(g, kinds...)
			pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: kind[0], Kind: kind[1], Name: pick(g, "owner", "owner", "gone"), UID: "u", Controller: new(g.chance(0.9))}}
		}
	}
}
