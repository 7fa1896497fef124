package demo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Life is the demo cluster in motion: jobs come, take GPUs of rack a, and go; a GPU fails and heals; a node
// is cordoned and comes back. Everything that the static cluster shows stays as it is, unless users write to
// it. The same seed gives the same life. A Life is used by one goroutine only.
type Life struct {
	rng      *rand.Rand
	step     int
	serial   int
	static   inspect.Objects
	features inspect.Features
	snapshot *inspect.Snapshot
	jobs     []*job
	sick     *sickness
	cordoned int // until this step, 0 when the node is in service
	// closed is the node that is out of service.
	closed *corev1.Node
	writes int // of users
}

// Pace is how much time passes in the cluster with each step.
const Pace = 3 * time.Second

const (
	jobNamespace = "batch"
	mostJobs     = 7
	gpuDriver    = "gpu.example.com"
	// cordonedNode is the node that goes out of service now and then.
	cordonedNode = "cpu-02"
)

// jobNodes are the nodes of rack a with GPUs to spare.
var jobNodes = []string{"gpu-a-02", "gpu-a-03"}

// job is a pod with a claim of its own.
type job struct {
	name    string
	count   int64
	length  int // steps that it runs
	until   int // step at which the next thing happens to it
	created time.Time
	phase   corev1.PodPhase
	node    string
	devices []string
	// claim and pod are made anew when something changes. Message is what the scheduler said of the pod.
	claim   *resourcev1.ResourceClaim
	pod     *corev1.Pod
	message string
}

// sickness is a GPU whose driver has tainted it.
type sickness struct {
	slice  int // in static.Slices
	device int
	until  int
	// tainted is the slice with the taint.
	tainted *resourcev1.ResourceSlice
}

// NewLife begins a life, in a cluster with these feature gates. The error is that of Objects.
func NewLife(seed uint64, features inspect.Features) (*Life, error) {
	objects, err := Objects()
	if err != nil {
		return nil, err
	}
	l := &Life{rng: rand.New(rand.NewPCG(seed, 1)), static: objects, features: features} //nolint:gosec // a play, not a secret
	l.snapshot = inspect.New(objects, l.config())
	l.static = *l.snapshot.Objects()
	return l, nil
}

func (l *Life) config() inspect.Config {
	config := Config(l.features)
	config.Revision, config.Time = int64(l.step+l.writes+1), l.now()
	return config
}

func (l *Life) now() time.Time { return Now().Add(time.Duration(l.step) * Pace) }

// Snapshot is the cluster as it is now.
func (l *Life) Snapshot() *inspect.Snapshot { return l.snapshot }

// Step lets some time pass.
func (l *Life) Step() *inspect.Snapshot {
	l.step++
	l.ageJobs()
	l.health()
	l.cordon()
	if len(l.jobs) < mostJobs && l.rng.IntN(4) == 0 {
		l.submit()
	}
	l.schedule()
	l.snapshot = l.snapshot.Next(l.objects(), l.config())
	return l.snapshot
}

// objects are the static ones with the changes of life.
func (l *Life) objects() inspect.Objects {
	o := l.static
	o.Claims, o.Pods, o.Slices, o.Nodes = slices.Clone(o.Claims), slices.Clone(o.Pods), slices.Clone(o.Slices), slices.Clone(o.Nodes)
	for _, j := range l.jobs {
		o.Claims, o.Pods = append(o.Claims, j.claim), append(o.Pods, j.pod)
	}
	if s := l.sick; s != nil {
		o.Slices[s.slice] = s.tainted
	}
	if l.cordoned > 0 {
		at := slices.IndexFunc(o.Nodes, func(n *corev1.Node) bool { return n.Name == cordonedNode })
		if l.closed == nil {
			l.closed = o.Nodes[at].DeepCopy()
			l.closed.Spec.Unschedulable = true
			l.closed.Spec.Taints = append(l.closed.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
		}
		o.Nodes[at] = l.closed
	}
	return o
}

// same reports whether nothing has changed between two moments of a life.
func same(a, b *inspect.Objects) bool {
	return slices.Equal(a.Claims, b.Claims) && slices.Equal(a.Pods, b.Pods) && slices.Equal(a.Slices, b.Slices) && slices.Equal(a.Nodes, b.Nodes)
}

// submit adds a job that waits.
func (l *Life) submit() {
	l.serial++
	j := &job{
		name: fmt.Sprintf("render-%03d", l.serial), count: 1 + l.rng.Int64N(3), length: 10 + l.rng.IntN(40),
		created: l.now(), phase: corev1.PodPending,
	}
	l.jobs = append(l.jobs, j)
	j.draw("")
}

// ageJobs ends jobs that have run long enough, and removes those that ended a while ago.
func (l *Life) ageJobs() {
	kept := l.jobs[:0:0]
	for _, j := range l.jobs {
		switch {
		case j.phase == corev1.PodRunning && l.step >= j.until:
			j.phase, j.until = corev1.PodSucceeded, l.step+3
			j.draw("")
		case j.phase == corev1.PodSucceeded && l.step >= j.until:
			continue
		}
		kept = append(kept, j)
	}
	l.jobs = kept
}

// health lets a free GPU fail, or heals the one that did.
func (l *Life) health() {
	if l.sick != nil {
		if l.step >= l.sick.until {
			l.sick = nil
		}
		return
	}
	if l.rng.IntN(25) != 0 {
		return
	}
	at := slices.IndexFunc(l.static.Slices, func(s *resourcev1.ResourceSlice) bool {
		return s.Spec.Driver == gpuDriver && s.Spec.Pool.Name == jobNodes[0]
	})
	free := l.free(jobNodes[0])
	if len(free) == 0 {
		return
	}
	name := free[l.rng.IntN(len(free))]
	device := slices.IndexFunc(l.static.Slices[at].Spec.Devices, func(d resourcev1.Device) bool { return d.Name == name })
	slice := l.static.Slices[at].DeepCopy()
	d := &slice.Spec.Devices[device]
	d.Taints = append(d.Taints, resourcev1.DeviceTaint{Key: gpuDriver + "/unhealthy", Value: "xid-79", Effect: resourcev1.DeviceTaintEffectNoSchedule})
	l.sick = &sickness{slice: at, device: device, until: l.step + 10 + l.rng.IntN(20), tainted: slice}
}

// cordon takes a node out of service for a while.
func (l *Life) cordon() {
	switch {
	case l.cordoned > 0 && l.step >= l.cordoned:
		l.cordoned = 0
	case l.cordoned == 0 && l.rng.IntN(60) == 0:
		l.cordoned = l.step + 15
	}
}

// schedule gives devices to the jobs that wait, the oldest first, as the scheduler does: the first free ones
// of a node.
func (l *Life) schedule() {
	for _, j := range l.jobs {
		if j.phase != corev1.PodPending {
			continue
		}
		if len(j.devices) > 0 { // given by users
			j.phase, j.until = corev1.PodRunning, l.step+j.length
			j.draw("")
			continue
		}
		node := ""
		for _, n := range jobNodes {
			if free := l.free(n); int64(len(free)) >= j.count {
				node, j.devices = n, free[:j.count]
				break
			}
		}
		if node == "" {
			if j.message == "" {
				j.draw("0/12 nodes are available: 4 cannot allocate all claims, 8 node(s) didn't match Pod's node affinity/selector. " +
					"preemption: 0/12 nodes are available: 12 Preemption is not helpful for scheduling.")
			}
			continue
		}
		j.phase, j.node, j.until = corev1.PodRunning, node, l.step+j.length
		j.draw("")
	}
}

// free returns the GPUs of a node that nobody holds and that are not tainted, in the order of their slice.
func (l *Life) free(node string) []string {
	held := map[string]bool{}
	for _, c := range l.static.Claims {
		if c.Status.Allocation == nil {
			continue
		}
		for _, r := range c.Status.Allocation.Devices.Results {
			if r.Driver == gpuDriver && r.Pool == node && !ptr.Deref(r.AdminAccess, false) {
				held[r.Device] = true
			}
		}
	}
	for _, j := range l.jobs {
		if j.node == node {
			for _, d := range j.devices {
				held[d] = true
			}
		}
	}
	var free []string
	for i, slice := range l.static.Slices {
		if slice.Spec.Driver != gpuDriver || slice.Spec.Pool.Name != node {
			continue
		}
		for k, d := range slice.Spec.Devices {
			sick := l.sick != nil && l.sick.slice == i && l.sick.device == k
			if !held[d.Name] && len(d.Taints) == 0 && !sick && !l.ruledOut(inspect.DeviceIDOf(slice, k)) {
				free = append(free, d.Name)
			}
		}
	}
	return free
}

// ruledOut reports whether a DeviceTaintRule keeps jobs off a device.
func (l *Life) ruledOut(id inspect.DeviceID) bool {
	return slices.ContainsFunc(l.static.TaintRules, func(r *resourcev1.DeviceTaintRule) bool { return inspect.RuleSelects(r, id) })
}

// draw makes the objects of a job. A message is what the scheduler says of a pod that does not fit.
func (j *job) draw(message string) {
	meta := metav1.ObjectMeta{Namespace: jobNamespace, Name: j.name, CreationTimestamp: metav1.NewTime(j.created)}
	claim := &resourcev1.ResourceClaim{ObjectMeta: meta}
	claim.UID = types.UID(j.name + "-claim")
	claim.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "gpus", Exactly: &resourcev1.ExactDeviceRequest{
		DeviceClassName: gpuDriver, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: j.count}}}
	pod := &corev1.Pod{ObjectMeta: meta}
	pod.UID = types.UID(j.name + "-pod")
	pod.Spec = corev1.PodSpec{
		NodeName: j.node, NodeSelector: map[string]string{"topology.example.com/rack": "a"},
		Containers:     []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Claims: []corev1.ResourceClaim{{Name: "gpus"}}}}},
		ResourceClaims: []corev1.PodResourceClaim{{Name: "gpus", ResourceClaimName: ptr.To(j.name)}},
	}
	scheduled := corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}
	if message != "" {
		scheduled.Status, scheduled.Reason, scheduled.Message = corev1.ConditionFalse, corev1.PodReasonUnschedulable, message
	}
	pod.Status = corev1.PodStatus{Phase: j.phase, Conditions: []corev1.PodCondition{scheduled}}
	if j.phase == corev1.PodPending {
		pod.Spec.NodeName = ""
	}
	if len(j.devices) > 0 {
		j.allocate(claim, pod)
	}
	j.claim, j.pod, j.message = claim, pod, message
}

func (j *job) allocate(claim *resourcev1.ResourceClaim, pod *corev1.Pod) {
	claim.Finalizers = []string{resourcev1.Finalizer}
	allocation := &resourcev1.AllocationResult{NodeSelector: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchFields: []corev1.NodeSelectorRequirement{{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{j.node}}}}}}}
	for _, d := range j.devices {
		allocation.Devices.Results = append(allocation.Devices.Results, resourcev1.DeviceRequestAllocationResult{
			Request: "gpus", Driver: gpuDriver, Pool: j.node, Device: d})
	}
	claim.Status.Allocation = allocation
	if j.phase == corev1.PodRunning {
		claim.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: pod.Name, UID: pod.UID}}
	}
}

// Alive is a Life that goes on by itself, and that can be written to meanwhile.
type Alive struct {
	updates chan *inspect.Snapshot

	now atomic.Pointer[inspect.Snapshot]

	mu    sync.Mutex // guards what follows
	life  *Life
	ended bool
}

// Live begins a life that takes a step at each interval, until ctx is done. Steps in which nothing happens
// make no snapshot.
func Live(ctx context.Context, seed uint64, features inspect.Features, interval time.Duration) (*Alive, error) {
	l, err := NewLife(seed, features)
	if err != nil {
		return nil, err
	}
	a := &Alive{updates: make(chan *inspect.Snapshot, 1), life: l}
	a.publish(l.Snapshot())
	go func() {
		defer a.end()
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			a.mu.Lock()
			before := a.life.Snapshot()
			if next := a.life.Step(); !same(before.Objects(), next.Objects()) {
				a.publish(next)
			}
			a.mu.Unlock()
		}
	}()
	return a, nil
}

func (a *Alive) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
	close(a.updates)
}

// publish delivers a snapshot; one that nobody took is replaced. The caller holds mu.
func (a *Alive) publish(next *inspect.Snapshot) {
	a.now.Store(next)
	select {
	case <-a.updates:
	default:
	}
	a.updates <- next
}

// Snapshot is the cluster as it is now. It does not wait for a step that is being made.
func (a *Alive) Snapshot() *inspect.Snapshot { return a.now.Load() }

// Look lets a function look at the life, which stands still meanwhile.
func (a *Alive) Look(look func(*Life)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	look(a.life)
}

// Write changes the life, which stands still meanwhile, and delivers how the cluster is then. If change
// returns an error, nothing may have been changed.
func (a *Alive) Write(change func(*Life) error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return errors.New("the demo has ended")
	}
	if err := change(a.life); err != nil {
		return err
	}
	a.publish(a.life.Written())
	return nil
}

// Updates delivers the newest snapshot; one that nobody took is replaced by the next.
func (a *Alive) Updates() <-chan *inspect.Snapshot { return a.updates }
