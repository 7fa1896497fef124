package filters_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/component-helpers/nodedeclaredfeatures"
	"k8s.io/component-helpers/nodedeclaredfeatures/features"
	helpers "k8s.io/component-helpers/resource"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/allocator/filters"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestReducedPodsAreAnsweredAlike: what is dropped of pods that are read from a server changes no answer of any filter,
// neither about the pod nor about those that are on nodes already.
func TestReducedPodsAreAnsweredAlike(t *testing.T) {
	worlds := 300
	if testing.Short() {
		worlds = 60
	}
	for seed := range worlds {
		g := newPods(seed)
		objects := g.world()
		reduced := objects
		reduced.Pods = nil
		for _, pod := range objects.Pods {
			reduced.Pods = append(reduced.Pods, reducedCopy(pod))
		}
		config := inspect.Config{ServerVersion: "v1.37.1", Features: inspect.DefaultFeatures(37), Health: map[inspect.Resource]inspect.Health{}}
		for _, r := range inspect.Resources() {
			config.Health[r] = inspect.Health{State: inspect.Synced}
		}
		before, after := filters.NewIndex(inspect.New(objects, config), nil), filters.NewIndex(inspect.New(reduced, config), nil)
		for i := range 5 {
			pod := g.pod(fmt.Sprint("asked-", i))
			pod.Spec.NodeName = ""
			want, got := before.Prepare(pod), after.Prepare(reducedCopy(pod))
			if diff := cmp.Diff(want.Everywhere, got.Everywhere); diff != "" {
				t.Fatalf("seed %d, everywhere (-whole +reduced):\n%s", seed, diff)
			}
			for _, node := range objects.Nodes {
				if diff := cmp.Diff(want.On(inspect.NodeName(node.Name)), got.On(inspect.NodeName(node.Name))); diff != "" {
					t.Fatalf("seed %d, %s (-whole +reduced):\n%s", seed, node.Name, diff)
				}
			}
		}
	}
}

// TestReducedPodsTakeAsMuch: the resources of a pod, and the features that it needs of a node, are computed alike. The
// filters do so with the functions that are called here.
func TestReducedPodsTakeAsMuch(t *testing.T) {
	declared := nodedeclaredfeatures.New(features.AllFeatures)
	needed := map[string]bool{}
	for seed := range 2000 {
		pod := newPods(seed).pod("p")
		reduced := reducedCopy(pod)
		for _, opts := range []helpers.PodResourcesOptions{
			{}, {UseStatusResources: true}, {SkipPodLevelResources: true, UseStatusResources: true},
			{UseStatusResources: true, InPlacePodLevelResourcesVerticalScalingEnabled: true, UseDRANodeAllocatableResourceClaimStatus: true},
			{UseStatusResources: true, NonMissingContainerRequests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}},
		} {
			want, got := helpers.PodRequests(pod, opts), helpers.PodRequests(reduced, opts)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("seed %d, %+v (-whole +reduced):\n%s", seed, opts, diff)
			}
		}
		infer := func(p *corev1.Pod) []string {
			set, err := declared.InferForPodScheduling(&nodedeclaredfeatures.PodInfo{Spec: &p.Spec, Status: &p.Status}, version.MajorMinor(1, 37))
			if err != nil {
				t.Fatal(err)
			}
			names, err := declared.Unmap(set)
			if err != nil {
				t.Fatal(err)
			}
			return names
		}
		if diff := cmp.Diff(infer(pod), infer(reduced)); diff != "" {
			t.Fatalf("seed %d, features (-whole +reduced):\n%s", seed, diff)
		}
		for _, name := range infer(pod) {
			needed[name] = true
		}
	}
	if len(needed) < 3 {
		t.Errorf("the pods need %v only: this compares too little", needed)
	}
}

func reducedCopy(pod *corev1.Pod) *corev1.Pod {
	out := pod.DeepCopy()
	inspect.ReduceAnnotations(out)
	inspect.ReducePod(out)
	return out
}

// pods makes random pods, and a cluster in which they may or may not fit.
type pods struct{ *rand.Rand }

func newPods(seed int) pods { return pods{rand.New(rand.NewPCG(uint64(seed), 14))} }

const (
	nodeCount = 4
	podCount  = 12
)

// once in n times.
func (g pods) once(n int) bool { return g.IntN(n) == 0 }

func oneOf[T any](g pods, all ...T) T { return all[g.IntN(len(all))] }

func (g pods) world() inspect.Objects {
	var o inspect.Objects
	for i := range nodeCount {
		name := fmt.Sprint("n", i)
		resources := g.list(8)
		resources[corev1.ResourcePods] = resource.MustParse("5")
		node := &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name, corev1.LabelTopologyZone: fmt.Sprint("z", i%2)}},
			Spec:       corev1.NodeSpec{Unschedulable: g.once(8)},
			Status:     corev1.NodeStatus{Capacity: resources, Allocatable: resources},
		}
		if g.once(4) {
			node.Spec.Taints = []corev1.Taint{{Key: "k", Effect: corev1.TaintEffectNoSchedule}}
		}
		if g.once(2) {
			node.Status.DeclaredFeatures = []string{features.AllFeatures[g.IntN(len(features.AllFeatures))].Name()}
		}
		o.Nodes = append(o.Nodes, node)
		o.CSINodes = append(o.CSINodes, &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: storagev1.CSINodeSpec{
			Drivers: []storagev1.CSINodeDriver{{Name: "csi.example.com", NodeID: name, Allocatable: &storagev1.VolumeNodeResources{Count: ptr.To[int32](2)}}},
		}})
	}
	o.StorageClasses = []*storagev1.StorageClass{{
		ObjectMeta: metav1.ObjectMeta{Name: "sc"}, Provisioner: "csi.example.com", VolumeBindingMode: ptr.To(storagev1.VolumeBindingWaitForFirstConsumer),
	}}
	for i := range 3 {
		name := fmt.Sprint("data-", i)
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: name, UID: types.UID(name)}}
		claim.Spec = corev1.PersistentVolumeClaimSpec{
			StorageClassName: ptr.To("sc"), VolumeName: "pv-" + name, AccessModes: []corev1.PersistentVolumeAccessMode{oneOf(g, corev1.ReadWriteOnce, corev1.ReadWriteOncePod)},
		}
		claim.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
		o.VolumeClaims = append(o.VolumeClaims, claim)
		volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv-" + name, Labels: map[string]string{corev1.LabelTopologyZone: fmt.Sprint("z", i%2)}}}
		volume.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: "csi.example.com", VolumeHandle: name}
		volume.Spec.StorageClassName = "sc"
		volume.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "a", Name: name, UID: claim.UID}
		o.Volumes = append(o.Volumes, volume)
	}
	for _, name := range []string{"a", "b"} {
		o.Namespaces = append(o.Namespaces, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"team": name}}})
	}
	for i := range podCount {
		pod := g.pod(fmt.Sprint("p", i))
		pod.Spec.NodeName = fmt.Sprint("n", g.IntN(nodeCount))
		if g.once(6) {
			pod.Spec.NodeName, pod.Status.NominatedNodeName = "", pod.Spec.NodeName
		}
		o.Pods = append(o.Pods, pod)
	}
	return o
}

// pod makes a pod that says much, of which a lot does not matter to anybody.
func (g pods) pod(name string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: oneOf(g, "a", "a", "b"), Name: name, UID: types.UID("uid-" + name), Labels: map[string]string{"app": oneOf(g, "x", "y"), "team": "t"},
		Annotations: map[string]string{"example.com/note": "anything", "kubernetes.io/ingress-bandwidth": "1M"},
	}}
	if g.once(8) {
		pod.DeletionTimestamp = ptr.To(metav1.Unix(1, 0))
	}
	pod.Spec = corev1.PodSpec{
		SchedulerName: corev1.DefaultSchedulerName, RestartPolicy: corev1.RestartPolicyAlways, ServiceAccountName: "default",
		HostNetwork: g.once(3), Priority: ptr.To(int32(g.IntN(3))), PreemptionPolicy: ptr.To(oneOf(g, corev1.PreemptLowerPriority, corev1.PreemptNever)),
		Volumes: g.volumes(), Affinity: g.affinity(),
	}
	if g.once(3) {
		pod.Spec.HostUsers = ptr.To(g.once(2))
	}
	if g.once(4) {
		pod.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: oneOf(g, "z0", "z1", "z2")}
	}
	if g.once(3) {
		pod.Spec.Tolerations = []corev1.Toleration{{Key: "k", Operator: corev1.TolerationOpExists}}
	}
	if g.once(3) {
		pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: oneOf(g, corev1.LabelHostname, corev1.LabelTopologyZone),
			WhenUnsatisfiable: oneOf(g, corev1.DoNotSchedule, corev1.ScheduleAnyway), LabelSelector: g.selector(),
		}}
	}
	if g.once(4) {
		pod.Spec.Overhead = g.list(2)
	}
	if g.once(4) {
		pod.Spec.Resources = &corev1.ResourceRequirements{Requests: g.list(4)}
	}
	if g.once(10) {
		pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "g"}}
	}
	for i := range g.IntN(3) {
		c := g.container(fmt.Sprint("init-", i))
		if g.once(2) {
			c.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
		}
		pod.Spec.InitContainers = append(pod.Spec.InitContainers, c)
	}
	for i := range 1 + g.IntN(2) {
		pod.Spec.Containers = append(pod.Spec.Containers, g.container(fmt.Sprint("c-", i)))
	}
	if g.once(8) {
		pod.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debug", VolumeMounts: g.mounts()}}}
	}
	g.status(pod)
	return pod
}

func (g pods) list(most int) corev1.ResourceList {
	out := corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(int64(1+g.IntN(most))*500, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(int64(1+g.IntN(most))<<30, resource.BinarySI),
	}
	if g.once(3) {
		out["example.com/gpu"] = *resource.NewQuantity(int64(1+g.IntN(most)), resource.DecimalSI)
	}
	return out
}

func (g pods) container(name string) corev1.Container {
	c := corev1.Container{
		Name: name, Image: "image", Env: []corev1.EnvVar{{Name: "A", Value: "b"}}, VolumeMounts: g.mounts(),
		Resources: corev1.ResourceRequirements{Requests: g.list(3), Limits: g.list(9)},
		Ports:     []corev1.ContainerPort{{Name: "plain", ContainerPort: 8000, Protocol: corev1.ProtocolTCP}},
	}
	if g.once(3) {
		c.Ports = append(c.Ports, corev1.ContainerPort{
			Name: "host", ContainerPort: 80, HostPort: int32(80 + g.IntN(2)), Protocol: oneOf(g, corev1.ProtocolTCP, corev1.ProtocolUDP), HostIP: oneOf(g, "", "10.0.0.1"),
		})
	}
	if g.once(6) {
		c.RestartPolicyRules = []corev1.ContainerRestartRule{{Action: corev1.ContainerRestartRuleActionRestartAllContainers}}
	}
	if g.once(6) {
		c.Resources.Requests = nil
	}
	return c
}

func (g pods) mounts() []corev1.VolumeMount {
	out := []corev1.VolumeMount{{Name: "config", MountPath: "/etc/config"}}
	if g.once(8) {
		out = append(out, corev1.VolumeMount{Name: "data", MountPath: "/data", BindMountOptions: []string{"noexec"}})
	}
	return out
}

func (g pods) volumes() []corev1.Volume {
	out := []corev1.Volume{
		{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{}}},
		{Name: "cache", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}}},
	}
	readOnly := g.once(2)
	for _, source := range []corev1.VolumeSource{
		{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: fmt.Sprint("data-", g.IntN(4))}},
		{Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{}}},
		{GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: "disk", ReadOnly: readOnly}},
		{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "vol-1"}},
		{RBD: &corev1.RBDVolumeSource{CephMonitors: []string{"m"}, RBDImage: "i", RBDPool: "p", ReadOnly: readOnly, SecretRef: &corev1.LocalObjectReference{Name: "s"}}},
		{ISCSI: &corev1.ISCSIVolumeSource{TargetPortal: "t", IQN: "iqn", ReadOnly: readOnly, SecretRef: &corev1.LocalObjectReference{Name: "s"}}},
		{CSI: &corev1.CSIVolumeSource{Driver: "csi.example.com", VolumeAttributes: map[string]string{"password": "x"}}},
	} {
		if g.once(5) {
			out = append(out, corev1.Volume{Name: fmt.Sprint("v", len(out)), VolumeSource: source})
		}
	}
	return out
}

func (g pods) selector() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": oneOf(g, "x", "y")}}
}

func (g pods) affinity() *corev1.Affinity {
	term := func() corev1.PodAffinityTerm {
		t := corev1.PodAffinityTerm{LabelSelector: g.selector(), TopologyKey: oneOf(g, corev1.LabelHostname, corev1.LabelTopologyZone)}
		if g.once(3) {
			t.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": oneOf(g, "a", "b")}}
		}
		return t
	}
	out := &corev1.Affinity{
		NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Weight: 1}}},
		PodAffinity:  &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 1, PodAffinityTerm: term()}}},
	}
	if g.once(4) {
		out.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{"n0", "n1"}}},
		}}}
	}
	if g.once(4) {
		out.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution = []corev1.PodAffinityTerm{term()}
	}
	if g.once(4) {
		out.PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term()}}
	}
	return out
}

// status is what a kubelet says of the pod, in the middle of a resize or not.
func (g pods) status(pod *corev1.Pod) {
	s := &pod.Status
	s.Phase = oneOf(g, corev1.PodPending, corev1.PodRunning, corev1.PodRunning, corev1.PodSucceeded)
	for _, kind := range []corev1.PodConditionType{corev1.PodScheduled, corev1.PodInitialized, corev1.PodReadyToStartContainers, corev1.ContainersReady, corev1.PodReady} {
		s.Conditions = append(s.Conditions, corev1.PodCondition{Type: kind, Status: oneOf(g, corev1.ConditionTrue, corev1.ConditionFalse)})
	}
	if g.once(3) {
		s.Conditions = append(s.Conditions, corev1.PodCondition{
			Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: oneOf(g, corev1.PodReasonInfeasible, corev1.PodReasonDeferred),
		})
	}
	for i := range pod.Spec.InitContainers {
		s.InitContainerStatuses = append(s.InitContainerStatuses, g.containerStatus(&pod.Spec.InitContainers[i]))
	}
	for i := range pod.Spec.Containers {
		s.ContainerStatuses = append(s.ContainerStatuses, g.containerStatus(&pod.Spec.Containers[i]))
	}
	if g.once(3) {
		s.AllocatedResources, s.Resources = g.list(5), &corev1.ResourceRequirements{Requests: g.list(5), Limits: g.list(9)}
	}
	if g.once(3) {
		claim := corev1.NodeAllocatableResourceClaimStatus{ResourceClaimName: "claim", Containers: []string{"c-0"}}
		claim.Mapping = []corev1.NodeAllocatableMappedResources{{Name: corev1.ResourceCPU, Quantity: ptr.To(resource.MustParse("1"))}}
		s.NodeAllocatableResourceClaimStatuses = append(s.NodeAllocatableResourceClaimStatuses, claim)
	}
}

func (g pods) containerStatus(c *corev1.Container) corev1.ContainerStatus {
	s := corev1.ContainerStatus{
		Name: c.Name, Ready: true, Image: c.Image, ImageID: "id", ContainerID: "id", RestartCount: int32(g.IntN(2)),
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
	}
	switch g.IntN(4) {
	case 0: // as the spec says
		s.AllocatedResources, s.Resources = c.Resources.Requests.DeepCopy(), c.Resources.DeepCopy()
	case 1: // the kubelet has not done all yet
		s.AllocatedResources, s.Resources = g.list(5), &corev1.ResourceRequirements{Requests: g.list(5)}
	case 2:
		s.AllocatedResources = g.list(5)
	}
	return s
}
