package whatif

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// What is there hypothetically that is not there: classes, devices and nodes.

// CreateClassesEdit creates device classes that select every device.
type CreateClassesEdit struct{ Names []string }

// Key names the classes.
func (e CreateClassesEdit) Key() string { return fmt.Sprintf("create classes %q", e.Names) }

// Apply adds those classes that do not exist.
func (e CreateClassesEdit) Apply(d *Draft) {
	d.changes[e.Key()] = func(o *inspect.Objects) {
		for _, name := range e.Names {
			if !slices.ContainsFunc(o.Classes, func(c *resourcev1.DeviceClass) bool { return c.Name == name }) {
				o.Classes = append(o.Classes, &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: name}})
			}
		}
	}
}

// GrantEdit lets claims of a namespace have admin access.
type GrantEdit struct{ Namespace string }

// Key names the namespace.
func (e GrantEdit) Key() string { return "grant admin access in " + e.Namespace }

// Apply labels the namespace.
func (e GrantEdit) Apply(d *Draft) {
	d.changes[e.Key()] = func(o *inspect.Objects) { o.GrantAdminAccess(e.Namespace) }
}

// AddDevicesEdit publishes copies of devices on a node, free and with no taints but those that rules set on
// all of the pool, each with counters of its own: in the pool that the driver has there or, where it has
// none, each in a pool of its own. A pool that is incomplete or invalid stays so.
type AddDevicesEdit struct {
	Node  string
	Added []DeviceCopies
}

// DeviceCopies is a number of copies of a device.
type DeviceCopies struct {
	ID     inspect.DeviceID
	Device *resourcev1.Device
	// Counters are those of the pool of the device.
	Counters []resourcev1.CounterSet
	Count    int
}

// Key names the node and the devices.
func (e AddDevicesEdit) Key() string {
	var b strings.Builder
	fmt.Fprintf(&b, "add devices %s", e.Node)
	for _, a := range e.Added {
		fmt.Fprintf(&b, " %d %s", a.Count, a.ID)
	}
	return b.String()
}

// Apply adds the slices.
func (e AddDevicesEdit) Apply(d *Draft) {
	s := d.q.Cluster.Snapshot()
	d.changes[e.Key()] = func(o *inspect.Objects) {
		number := 0
		pools := map[string]resourcev1.ResourcePool{} // of drivers, as they are by now
		for _, a := range e.Added {
			pool, there := pools[a.ID.Driver]
			if !there {
				pool, there = driversPool(s, a.ID.Driver, e.Node)
			}
			taints := taintsOfPool(s, a.ID.Driver, cmp.Or(pool.Name, e.Node))
			for range a.Count {
				name := fmt.Sprintf("added-%d.kubectl-dra.dev", number)
				number++
				more := a.copied(e.Node, name, taints)
				in := inspect.PoolID{Driver: a.ID.Driver, Pool: name}
				of := resourcev1.ResourcePool{Name: name, Generation: 1}
				if there {
					in.Pool, of = pool.Name, pool
				}
				of.ResourceSliceCount += int64(len(more))
				pool.ResourceSliceCount = of.ResourceSliceCount
				for _, slice := range more {
					slice.Spec.Pool = of
				}
				newest := func(s *resourcev1.ResourceSlice) bool { return s.Spec.Pool.Generation == of.Generation }
				changeSlices(o, in, newest, func(s *resourcev1.ResourceSlice) { s.Spec.Pool = of })
				o.Slices = append(o.Slices, more...)
			}
			if there {
				pools[a.ID.Driver] = pool
			}
		}
	}
}

// driversPool is the pool that a driver has on a node, in its newest generation, if it has one.
func driversPool(s *inspect.Snapshot, driver, node string) (resourcev1.ResourcePool, bool) {
	var out resourcev1.ResourcePool
	for _, slice := range s.Slices() {
		p := slice.Spec.Pool
		if slice.Spec.Driver != driver || slice.Spec.NodeName == nil || *slice.Spec.NodeName != node {
			continue
		}
		if out.Name == "" || p.Name == out.Name && p.Generation > out.Generation {
			out = p
		}
	}
	return out, out.Name != ""
}

// taintsOfPool are the taints that DeviceTaintRules give to whatever a driver adds to a pool.
func taintsOfPool(s *inspect.Snapshot, driver, pool string) []resourcev1.DeviceTaint {
	var out []resourcev1.DeviceTaint
	for _, rule := range s.Objects().TaintRules {
		if s.RuleTaints(rule, inspect.DeviceID{Driver: driver, Pool: pool}) {
			out = append(out, rule.Spec.Taint)
		}
	}
	return out
}

// copied returns slices for a node with one copy of the device, with the taints that it gets there, and with
// its counters. They are in no pool yet.
func (a DeviceCopies) copied(node, name string, taints []resourcev1.DeviceTaint) []*resourcev1.ResourceSlice {
	device := a.Device.DeepCopy()
	device.Name, device.Taints, device.NodeName, device.NodeSelector, device.AllNodes = name[:strings.Index(name, ".")], taints, nil, nil, nil
	slice := func(name string, devices []resourcev1.Device, counters []resourcev1.CounterSet) *resourcev1.ResourceSlice {
		return &resourcev1.ResourceSlice{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       resourcev1.ResourceSliceSpec{Driver: a.ID.Driver, NodeName: ptr.To(node), Devices: devices, SharedCounters: counters},
		}
	}
	var sets []resourcev1.CounterSet
	for i := range device.ConsumesCounters {
		consumed := &device.ConsumesCounters[i].CounterSet
		for k := range a.Counters {
			if a.Counters[k].Name == *consumed {
				set := *a.Counters[k].DeepCopy()
				set.Name += "-" + device.Name
				sets = append(sets, set)
			}
		}
		*consumed += "-" + device.Name
	}
	out := []*resourcev1.ResourceSlice{slice(name, []resourcev1.Device{*device}, nil)}
	if len(sets) > 0 {
		out = append(out, slice(name+"-counters", nil, sets))
	}
	return out
}

// CountersOf returns the counter sets that the devices of a pool share.
func CountersOf(s *inspect.Snapshot, pool inspect.PoolID) []resourcev1.CounterSet {
	var out []resourcev1.CounterSet
	for _, slice := range s.Slices() {
		if inspect.PoolOf(slice) == pool {
			out = append(out, slice.Spec.SharedCounters...)
		}
	}
	return out
}

// AddNode adds a node like another, with the devices of its own pools and nothing taken of them. It is as a
// node is that was just added: ready, and not cordoned, with the volume drivers of the other and the pods
// that every such node gets. rename gives what is added its name. Where nodes are assumed because slices name
// them, only slices are added.
func AddNode(o *inspect.Objects, like string, assumed bool, rename func(string) string) {
	added := rename(like)
	at := slices.IndexFunc(o.Nodes, func(n *corev1.Node) bool { return n.Name == like })
	if at < 0 && !assumed {
		return
	}
	if at >= 0 {
		node := o.Nodes[at].DeepCopy()
		node.Name = added
		node.Spec.Unschedulable = false
		node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, ofCondition)
		for i := range node.Status.Conditions {
			c := &node.Status.Conditions[i]
			if c.Status = corev1.ConditionFalse; c.Type == corev1.NodeReady {
				c.Status = corev1.ConditionTrue
			}
		}
		if _, ok := node.Labels[corev1.LabelHostname]; ok {
			node.Labels[corev1.LabelHostname] = added
		}
		o.Nodes = append(o.Nodes, node)
		addCompany(o, like, rename)
	}
	for _, slice := range slices.Clone(o.Slices) {
		if slice.Spec.NodeName == nil || *slice.Spec.NodeName != like {
			continue
		}
		slice = slice.DeepCopy()
		slice.Name, slice.Spec.Pool.Name = rename(slice.Name), rename(slice.Spec.Pool.Name)
		slice.Spec.NodeName = &added
		o.Slices = append(o.Slices, slice)
	}
}

// addCompany adds to a node what comes with it: how many volumes of each driver it attaches, and the pods
// that are bound to each node.
func addCompany(o *inspect.Objects, like string, rename func(string) string) {
	added := rename(like)
	for _, drivers := range slices.Clone(o.CSINodes) {
		if drivers.Name == like {
			drivers = drivers.DeepCopy()
			drivers.Name = added
			o.CSINodes = append(o.CSINodes, drivers)
		}
	}
	for _, pod := range slices.Clone(o.Pods) {
		if pod.Spec.NodeName == like && BoundToNode(pod) {
			pod = pod.DeepCopy()
			pod.Name, pod.UID, pod.Spec.NodeName, pod.Spec.ResourceClaims = rename(pod.Name), types.UID(rename(string(pod.UID))), added, nil
			o.Pods = append(o.Pods, pod)
		}
	}
}

// BoundToNode reports whether a pod comes back to the node when it ends: that of a daemon set, or of a file
// of the kubelet.
func BoundToNode(pod *corev1.Pod) bool {
	owner := metav1.GetControllerOf(pod)
	return owner != nil && (owner.Kind == "DaemonSet" || owner.Kind == "Node")
}

// ofCondition reports whether a taint says in what state a node is. Kubernetes itself sets it and takes it
// back, or what adds and removes nodes.
func ofCondition(taint corev1.Taint) bool {
	return slices.ContainsFunc(conditionTaints, func(prefix string) bool { return strings.HasPrefix(taint.Key, prefix) })
}

// conditionTaints are what the keys of such taints begin with: of the node controller, of cloud providers,
// and of autoscalers.
var conditionTaints = []string{
	"node.kubernetes.io/", "node.cloudprovider.kubernetes.io/",
	"ToBeDeletedByClusterAutoscaler", "DeletionCandidateOfClusterAutoscaler", "karpenter.sh/disrupt", "karpenter.sh/unregistered",
}

// TaintsLikeOf are the taints that AddNode gives a node too which is like another: those of the node that do
// not say in what state it is, and how many of its devices its drivers have tainted. Whether the new one
// would have them is not known.
func TaintsLikeOf(s *inspect.Snapshot, like string) (ofNode []corev1.Taint, devices int) {
	if node, ok := s.Node(inspect.NodeName(like)); ok {
		ofNode = slices.DeleteFunc(slices.Clone(node.Spec.Taints), ofCondition)
	}
	for _, slice := range s.Objects().Slices {
		if slice.Spec.NodeName == nil || *slice.Spec.NodeName != like {
			continue
		}
		for i := range slice.Spec.Devices {
			if len(slice.Spec.Devices[i].Taints) > 0 {
				devices++
			}
		}
	}
	return ofNode, devices
}
