package fix_test

import (
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/randompod"
)

const (
	// askedPod is the name of the pod that a problem is about. It is in the namespace "default", as all of a
	// problem.
	askedPod = "asked"
	// disk is a label of nodes.
	disk = "disk"
	// plugged is an extended resource of device plugins.
	plugged corev1.ResourceName = "example.com/nic"
)

// problemMaker makes clusters with a pod that asks for too much.
type problemMaker struct{ rand *rand.Rand }

func newProblemMaker(seed int) problemMaker {
	return problemMaker{rand.New(rand.NewPCG(uint64(seed), 14))}
}

// once is true one time in n.
func (g problemMaker) once(n int) bool { return g.rand.IntN(n) == 0 }

func oneOf[T any](g problemMaker, all ...T) T { return all[g.rand.IntN(len(all))] }

func (g problemMaker) selector() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": oneOf(g, "x", "y")}}
}

// problem makes a cluster of two to four nodes that is nearly full, and in it a pod without a node that wants
// some of everything. Often it fits nowhere, for reasons of several filters at once.
func (g problemMaker) problem() inspect.Objects {
	var o inspect.Objects
	o.Namespaces = []*corev1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: corev1.NamespaceDefault}}}
	g.storage(&o)
	g.deviceClasses(&o)
	for i := range 2 + g.rand.IntN(3) {
		g.tightNode(&o, fmt.Sprint("n", i), fmt.Sprint("z", i%2))
	}
	for i, node := range o.Nodes {
		for j := range g.rand.IntN(4) {
			g.running(&o, fmt.Sprintf("p%d-%d", i, j), node.Name)
		}
	}
	g.asked(&o)
	o.Sort()
	return o
}

// tightNode adds a node with little room, and devices on most.
func (g problemMaker) tightNode(o *inspect.Objects, name, zone string) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: name, Labels: map[string]string{corev1.LabelHostname: name, corev1.LabelTopologyZone: zone, disk: oneOf(g, "ssd", "hdd")},
	}}
	node.Status.Allocatable = corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse(oneOf(g, "4", "8", "7500m")), corev1.ResourceMemory: resource.MustParse(oneOf(g, "8Gi", "16Gi", "9000M")),
		corev1.ResourceEphemeralStorage: resource.MustParse("100Gi"), corev1.ResourcePods: resource.MustParse(oneOf(g, "2", "3", "10", "10", "10")),
	}
	if g.once(2) {
		node.Status.Allocatable[plugged] = resource.MustParse(oneOf(g, "1", "2", "4"))
	}
	node.Status.Capacity = node.Status.Allocatable
	node.Spec.Unschedulable = g.once(10)
	if g.once(6) {
		node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: "team", Value: oneOf(g, "a", "b", ""), Effect: corev1.TaintEffectNoSchedule})
	}
	if g.once(12) {
		node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeDiskPressure, Effect: corev1.TaintEffectNoSchedule})
	}
	node.Status.NodeInfo.KubeletVersion = "v1.37.1"
	node.Status.DeclaredFeatures = []string{"RestartAllContainersOnContainerExits"}
	if g.once(2) {
		node.Status.DeclaredFeatures = []string{"UserNamespacesHostNetworkSupport"}
	}
	o.Nodes = append(o.Nodes, node)
	g.publish(o, name)
	g.attach(o, name)
}

// running adds a pod that is on a node.
func (g problemMaker) running(o *inspect.Objects, name, node string) {
	pod := newPod(name)
	pod.Spec.NodeName, pod.Status.Phase = node, corev1.PodRunning
	pod.Labels = map[string]string{"app": oneOf(g, "x", "y", "z")}
	pod.Spec.Priority = ptr.To(oneOf[int32](g, 0, 0, 10, 100))
	c := &pod.Spec.Containers[0]
	c.Resources.Requests = g.amounts(2, 2)
	if g.once(3) {
		c.Ports = []corev1.ContainerPort{g.hostPort()}
	}
	if g.once(6) {
		pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{g.term()}}}
	}
	if g.once(8) {
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "d", UID: "d", Controller: ptr.To(true)}}
	}
	if g.once(5) {
		mount(pod, g.existingClaim())
	}
	if g.once(2) {
		g.hold(o, pod)
	}
	o.Pods = append(o.Pods, pod)
}

// asked adds the pod that the problem is about.
func (g problemMaker) asked(o *inspect.Objects) {
	pod := newPod(askedPod)
	pod.Labels = map[string]string{"app": oneOf(g, "x", "y")}
	pod.Spec.Priority, pod.Spec.PreemptionPolicy = ptr.To(oneOf[int32](g, 0, 50)), ptr.To(oneOf(g, corev1.PreemptLowerPriority, corev1.PreemptLowerPriority, corev1.PreemptNever))
	g.containers(pod)
	if g.once(4) {
		pod.Spec.NodeSelector = map[string]string{disk: "ssd"}
		if g.once(3) {
			pod.Spec.NodeSelector[corev1.LabelTopologyZone] = "z0"
		}
	}
	if g.once(3) {
		pod.Spec.Tolerations = []corev1.Toleration{{Key: "team", Operator: corev1.TolerationOpEqual, Value: "a", Effect: corev1.TaintEffectNoSchedule}}
	}
	for range oneOf(g, 0, 0, 0, 1, 2) {
		pod.Spec.TopologySpreadConstraints = append(pod.Spec.TopologySpreadConstraints, g.spread())
	}
	g.company(pod)
	for range oneOf(g, 0, 0, 1, 2) {
		mount(pod, g.existingClaim())
	}
	if !g.once(4) {
		g.wantDevices(o, pod)
	}
	o.Pods = append(o.Pods, pod)
}

// containers lets the pod ask for room in one or several containers.
func (g problemMaker) containers(pod *corev1.Pod) {
	c := &pod.Spec.Containers[0]
	c.Resources.Requests = g.amounts(oneOf(g, 3, 3, 9), oneOf(g, 3, 3, 12))
	if g.once(2) {
		c.Ports = append(c.Ports, g.hostPort())
	}
	if g.once(4) {
		c.Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("9")}
	}
	if g.once(10) {
		c.RestartPolicyRules = []corev1.ContainerRestartRule{{Action: corev1.ContainerRestartRuleActionRestartAllContainers}}
	}
	if g.once(5) {
		more := corev1.Container{Name: "more", Image: "image"}
		more.Resources.Requests = g.amounts(3, 3)
		pod.Spec.Containers = append(pod.Spec.Containers, more)
	}
	if g.once(5) {
		first := corev1.Container{Name: "init", Image: "image"}
		first.Resources.Requests = g.amounts(5, 5)
		if g.once(2) {
			first.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
		}
		pod.Spec.InitContainers = append(pod.Spec.InitContainers, first)
	}
	if g.once(8) {
		pod.Spec.Overhead = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m")}
	}
	if g.once(8) {
		all := resource.MustParse("250m") // no less than the containers ask for
		for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
			for i := range list {
				all.Add(list[i].Resources.Requests[corev1.ResourceCPU])
			}
		}
		pod.Spec.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: all}}
	}
	pod.Spec.HostNetwork = g.once(5)
	extended(pod)
	randompod.Serve(pod)
}

// extended gives what cannot be promised twice the same limit.
func extended(pod *corev1.Pod) {
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			if q, ok := list[i].Resources.Requests[plugged]; ok {
				if list[i].Resources.Limits == nil {
					list[i].Resources.Limits = corev1.ResourceList{}
				}
				list[i].Resources.Limits[plugged] = q
			}
		}
	}
}

func (g problemMaker) amounts(cpus, gigabytes int) corev1.ResourceList {
	out := corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(int64(1+g.rand.IntN(cpus*4))*250, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(int64(1+g.rand.IntN(gigabytes*2))<<29, resource.BinarySI),
	}
	if g.once(8) {
		out[plugged] = *resource.NewQuantity(int64(1+g.rand.IntN(2)), resource.DecimalSI)
	}
	return out
}

func (g problemMaker) hostPort() corev1.ContainerPort {
	port := int32(8080 + g.rand.IntN(2))
	return corev1.ContainerPort{Name: "host", ContainerPort: port, HostPort: port, Protocol: oneOf(g, corev1.ProtocolTCP, corev1.ProtocolTCP, corev1.ProtocolUDP)}
}

func (g problemMaker) term() corev1.PodAffinityTerm {
	return corev1.PodAffinityTerm{LabelSelector: g.selector(), TopologyKey: oneOf(g, corev1.LabelHostname, corev1.LabelHostname, corev1.LabelTopologyZone)}
}

func (g problemMaker) spread() corev1.TopologySpreadConstraint {
	c := corev1.TopologySpreadConstraint{
		MaxSkew: 1, TopologyKey: oneOf(g, corev1.LabelHostname, corev1.LabelTopologyZone), WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: g.selector(),
	}
	if g.once(3) {
		c.NodeAffinityPolicy = ptr.To(oneOf(g, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore))
	}
	if g.once(3) {
		c.NodeTaintsPolicy = ptr.To(oneOf(g, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore))
	}
	if g.once(6) {
		c.MinDomains = ptr.To[int32](3)
	}
	return c
}

// company lets the pod want nodes and other pods.
func (g problemMaker) company(pod *corev1.Pod) {
	a := &corev1.Affinity{}
	if g.once(5) {
		a.NodeAffinity = &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{oneOf(g, "z0", "z1")}}},
		}}}}
	}
	for range oneOf(g, 0, 0, 0, 0, 1, 2) {
		if a.PodAffinity == nil {
			a.PodAffinity = &corev1.PodAffinity{}
		}
		a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution = append(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, g.term())
	}
	for range oneOf(g, 0, 0, 0, 0, 1, 2) {
		if a.PodAntiAffinity == nil {
			a.PodAntiAffinity = &corev1.PodAntiAffinity{}
		}
		a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution = append(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, g.term())
	}
	if *a != (corev1.Affinity{}) {
		pod.Spec.Affinity = a
	}
}

// newPod is a pod of one container.
func newPod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceDefault, Name: name, UID: types.UID("uid-" + name)},
		Spec:       corev1.PodSpec{SchedulerName: corev1.DefaultSchedulerName, Containers: []corev1.Container{{Name: "main", Image: "image"}}},
		Status:     corev1.PodStatus{Phase: corev1.PodPending},
	}
}
