package history_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/history"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
)

// The model of a day: what docs/history.md says is measured. Every node has eight devices and runs eight pods
// with a device each, which end after a while and are replaced, and other pods besides, which stay. Each pod
// makes these changes, with its claim:
//
//	pod made; claim made; claim allocated; pod on its node; pod runs; pod ends; claim released; claim deleted; pod deleted
//
// A claim is reserved in the update that allocates it. Besides, nodes say every five minutes how they are,
// where nothing changes but the time, and a few slices change.
const (
	modelNodes    = 5000
	modelStay     = 16                        // pods of a node that stay
	modelDevices  = 8                         // devices of a node
	modelLife     = 6 * time.Hour             // of a pod with a device
	modelPods     = modelNodes * modelDevices // with a device
	changesOfPod  = 9
	sliceChanges  = 1000 // a day
	mostBytesADay = 200_000_000
)

// TestDayOfLargeCluster: a day of 5,000 nodes takes at most 200 MB. A part of the cluster is measured, whose
// changes are as dense in time as those of the whole, and a part of the day.
func TestDayOfLargeCluster(t *testing.T) {
	const part = 25
	m := newModel(modelNodes / part)
	r := history.NewRecorder(history.Bounds{}, time.Time{})
	var base, rest int64
	if err := r.Take(m.snapshot()); err != nil {
		t.Fatal(err)
	}
	flush := func() {
		blocks, err := r.Flush(m.now)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range blocks {
			if b.Checkpoint() {
				base = int64(len(b.Data))
			} else {
				rest += int64(len(b.Data))
			}
		}
	}
	flush()
	replaced := 0
	day := float64(24*time.Hour) / float64(modelLife) * modelPods // pods that are replaced in a day
	every := time.Duration(float64(24*time.Hour) / day)
	for ; replaced < effort.Of(1500, 120); replaced++ {
		for step := range changesOfPod {
			m.now = m.now.Add(every / changesOfPod)
			m.replace(replaced, step)
			if err := r.Take(m.snapshot()); err != nil {
				t.Fatal(err)
			}
		}
		if replaced%9 == 0 { // five seconds
			flush()
		}
	}
	flush()
	perChange := float64(rest) / float64(replaced*changesOfPod)
	changes := day*changesOfPod + sliceChanges
	deltas := perChange * changes
	checkpoints := float64(base*int64(part)) + deltas/4 // one for each four times its own length
	total := deltas + checkpoints
	t.Logf("%d pods replaced: %.0f bytes a change; %.1f million changes a day: %.0f MB, and %.0f MB of checkpoints of %.1f MB each",
		replaced, perChange, changes/1e6, deltas/1e6, checkpoints/1e6, float64(base*int64(part))/1e6)
	if total > mostBytesADay {
		t.Errorf("a day takes %.0f MB", total/1e6)
	}
}

// model is a cluster that lives.
type model struct {
	random  *rand.Rand
	now     time.Time
	nodes   int
	objects inspect.Objects
	pods    []*corev1.Pod
	last    *inspect.Snapshot
	version int
}

func newModel(nodes int) *model {
	m := &model{random: rand.New(rand.NewPCG(1, 1)), now: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), nodes: nodes} //nolint:gosec // repeatable
	o := &m.objects
	o.Classes = []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "gpu.example.com"}}}
	for n := range nodes {
		o.Nodes = append(o.Nodes, m.node(n))
		o.Slices = append(o.Slices, m.slice(n))
		for i := range modelStay {
			m.pods = append(m.pods, m.pod(fmt.Sprintf("svc-%05d-%02d", n, i), n, false))
		}
		for i := range modelDevices {
			pod := m.pod(name(n, i, 0), n, true)
			claim := m.claim(pod)
			m.allocate(claim, pod, n, i)
			m.run(pod)
			o.Claims, o.Pods = append(o.Claims, claim), append(o.Pods, pod)
		}
	}
	o.Pods = append(o.Pods, m.pods...)
	o.Sort()
	return m
}

func name(n, i, generation int) string { return fmt.Sprintf("train-%05d-%d-%03d", n, i, generation) }

func (m *model) meta(name string) metav1.ObjectMeta {
	m.version++
	return metav1.ObjectMeta{
		Name: name, Namespace: "ml", UID: m.uid(), ResourceVersion: fmt.Sprint(100_000_000 + m.version), CreationTimestamp: metav1.NewTime(m.now),
	}
}

func (m *model) uid() types.UID {
	return types.UID(fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x", m.random.Uint32(), m.random.IntN(1<<16), m.random.IntN(1<<12), m.random.IntN(1<<12), m.random.Int64N(1<<48)))
}

func (m *model) node(n int) *corev1.Node {
	meta := m.meta(fmt.Sprintf("node-%05d", n))
	meta.Namespace, meta.Labels = "", map[string]string{corev1.LabelHostname: meta.Name, corev1.LabelTopologyZone: fmt.Sprintf("zone-%d", n%3), "rack": fmt.Sprintf("r%03d", n/16)}
	node := &corev1.Node{ObjectMeta: meta}
	for _, c := range []corev1.NodeConditionType{corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure, corev1.NodeReady} {
		node.Status.Conditions = append(node.Status.Conditions, corev1.NodeCondition{Type: c, Status: corev1.ConditionFalse, LastHeartbeatTime: meta.CreationTimestamp, LastTransitionTime: meta.CreationTimestamp, Reason: "KubeletHas", Message: "kubelet says so"})
	}
	node.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("192"), corev1.ResourceMemory: resource.MustParse("2Ti"), corev1.ResourcePods: resource.MustParse("110")}
	node.Status.Capacity = node.Status.Allocatable
	return node
}

func (m *model) slice(n int) *resourcev1.ResourceSlice {
	meta := m.meta(fmt.Sprintf("node-%05d-gpu", n))
	meta.Namespace = ""
	slice := &resourcev1.ResourceSlice{ObjectMeta: meta, Spec: resourcev1.ResourceSliceSpec{
		Driver: "gpu.example.com", NodeName: new(fmt.Sprintf("node-%05d", n)), Pool: resourcev1.ResourcePool{Name: fmt.Sprintf("node-%05d", n), ResourceSliceCount: 1, Generation: 1},
	}}
	for i := range modelDevices {
		slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{
			Name: fmt.Sprintf("gpu-%d", i), Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
				"model": {StringValue: new("H200")}, "uuid": {StringValue: new("GPU-" + string(m.uid()))}, "index": {IntValue: new(int64(i))},
			},
			Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse("141Gi")}},
		})
	}
	return slice
}

func (m *model) pod(name string, n int, device bool) *corev1.Pod {
	meta := m.meta(name)
	meta.Labels = map[string]string{"app": "train", "batch.kubernetes.io/controller-uid": string(m.uid()), "batch.kubernetes.io/job-name": name[:11]}
	meta.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: name[:11], UID: m.uid(), Controller: new(true)}}
	pod := &corev1.Pod{ObjectMeta: meta, Spec: corev1.PodSpec{
		SchedulerName: corev1.DefaultSchedulerName, Priority: new(int32(100)), RestartPolicy: corev1.RestartPolicyNever,
		Containers:  []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("32Gi")}}}},
		Tolerations: []corev1.Toleration{{Key: "node.kubernetes.io/not-ready", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(300))}},
	}, Status: corev1.PodStatus{Phase: corev1.PodPending}}
	if device {
		pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: new("gpu")}}
		pod.Status.ResourceClaimStatuses = []corev1.PodResourceClaimStatus{{Name: "gpu", ResourceClaimName: new(name + "-gpu")}}
	} else {
		pod.Spec.NodeName = fmt.Sprintf("node-%05d", n)
		m.run(pod)
	}
	return pod
}

func (m *model) run(pod *corev1.Pod) {
	pod.Status.Phase, pod.Status.StartTime = corev1.PodRunning, &metav1.Time{Time: m.now}
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(m.now)}}
}

func (m *model) claim(pod *corev1.Pod) *resourcev1.ResourceClaim {
	meta := m.meta(pod.Name + "-gpu")
	meta.Annotations = map[string]string{resourcev1.PodResourceClaimAnnotation: "gpu"}
	meta.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID, Controller: new(true), BlockOwnerDeletion: new(true)}}
	return &resourcev1.ResourceClaim{ObjectMeta: meta, Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{
		{Name: "gpu", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu.example.com", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1}},
	}}}}
}

func (m *model) allocate(claim *resourcev1.ResourceClaim, pod *corev1.Pod, n, i int) {
	node := fmt.Sprintf("node-%05d", n)
	claim.Finalizers = []string{resourcev1.Finalizer}
	claim.Status.Allocation = &resourcev1.AllocationResult{
		Devices:             resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{{Request: "gpu", Driver: "gpu.example.com", Pool: node, Device: fmt.Sprintf("gpu-%d", i)}}},
		AllocationTimestamp: &metav1.Time{Time: m.now},
		NodeSelector: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{
			{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{node}},
		}}}},
	}
	claim.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: pod.Name, UID: pod.UID}}
}

// replace makes a step of the life of the pods that use a device: the end of one and the beginning of the
// next.
func (m *model) replace(number, step int) {
	at := number * 7919 % (m.nodes * modelDevices) // a prime: neighbours do not change together
	n, i := at/modelDevices, at%modelDevices
	generation := number / (m.nodes * modelDevices)
	old, next := name(n, i, generation), name(n, i, generation+1)
	switch step {
	case 0:
		m.updatePod(old, func(p *corev1.Pod) { p.Status.Phase, p.Status.Conditions = corev1.PodSucceeded, nil })
	case 1:
		m.updateClaim(old, func(c *resourcev1.ResourceClaim) { c.Status, c.Finalizers = resourcev1.ResourceClaimStatus{}, nil })
	case 2:
		m.objects.Claims = slices.DeleteFunc(slices.Clone(m.objects.Claims), func(c *resourcev1.ResourceClaim) bool { return c.Name == old+"-gpu" })
	case 3:
		m.objects.Pods = slices.DeleteFunc(slices.Clone(m.objects.Pods), func(p *corev1.Pod) bool { return p.Name == old })
	case 4:
		m.objects.Pods = append(slices.Clone(m.objects.Pods), m.pod(next, n, true))
	case 5:
		pod, _ := m.last.Pod(inspect.PodRef{Namespace: "ml", Name: next})
		m.objects.Claims = append(slices.Clone(m.objects.Claims), m.claim(pod))
	case 6:
		pod, _ := m.last.Pod(inspect.PodRef{Namespace: "ml", Name: next})
		m.updateClaim(next, func(c *resourcev1.ResourceClaim) { m.allocate(c, pod, n, i) })
	case 7:
		m.updatePod(next, func(p *corev1.Pod) {
			p.Spec.NodeName = fmt.Sprintf("node-%05d", n)
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(m.now)}}
		})
	case 8:
		m.updatePod(next, m.run)
	}
}

func (m *model) updatePod(name string, change func(*corev1.Pod)) {
	i, _ := slices.BinarySearchFunc(m.objects.Pods, name, func(p *corev1.Pod, name string) int { return compare(p.Name, name) })
	m.objects.Pods = slices.Clone(m.objects.Pods)
	pod := m.objects.Pods[i].DeepCopy()
	pod.ResourceVersion = m.meta("").ResourceVersion
	change(pod)
	m.objects.Pods[i] = pod
}

func (m *model) updateClaim(pod string, change func(*resourcev1.ResourceClaim)) {
	i, _ := slices.BinarySearchFunc(m.objects.Claims, pod+"-gpu", func(c *resourcev1.ResourceClaim, name string) int { return compare(c.Name, name) })
	m.objects.Claims = slices.Clone(m.objects.Claims)
	claim := m.objects.Claims[i].DeepCopy()
	claim.ResourceVersion = m.meta("").ResourceVersion
	change(claim)
	m.objects.Claims[i] = claim
}

func compare(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func (m *model) snapshot() *inspect.Snapshot {
	config := inspect.Config{Time: m.now, Features: inspect.DefaultFeatures(inspect.NewestMinor), Health: map[inspect.Resource]inspect.Health{}}
	if m.last == nil {
		m.last = inspect.New(m.objects, config)
	} else {
		m.last = m.last.Next(m.objects, config)
	}
	m.objects = *m.last.Objects()
	return m.last
}
