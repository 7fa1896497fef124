package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Newer says of which objects of a Snapshot not all fields are known that may decide about devices or pods.
// A nil one says of none. What it returns are clauses that name a field, or "".
type Newer struct {
	nodes   map[NodeName]string // of the node, of what attaches volumes to it, or of a pod on it
	pools   map[PoolID]string   // of a slice, or of a claim that has devices of the pool
	drivers map[string]string   // of a rule that taints devices of the driver; of all is ""
	// anywhere is of a pod on whichever node, which may keep others away from the nodes beside it.
	anywhere string
	queues   string // of anything of Kueue
	// old says that nothing of the server itself can be newer, only what is of Kueue.
	old bool
}

// newerText names the fields of an object that may decide, as a clause.
func newerText(kind string, object metav1.Object) string {
	fields, _ := NewerFields(object)
	if len(fields) == 0 {
		return ""
	}
	if word, ok := map[string]string{"ResourceClaim": "claim", "Pod": "pod", "Node": "node"}[kind]; ok {
		kind = word
	}
	name := object.GetName()
	if object.GetNamespace() != "" {
		name = object.GetNamespace() + "/" + name
	}
	if len(fields) > 1 {
		return fmt.Sprintf("field %s and %d more of %s %s are newer than this program", fields[0], len(fields)-1, kind, name)
	}
	return fmt.Sprintf("field %s of %s %s is newer than this program", fields[0], kind, name)
}

// Newer returns what is newer than this program in the snapshot. It is nil if nothing is.
func (s *Snapshot) Newer() *Newer { return s.newer() }

func (s *Snapshot) findNewer() *Newer {
	old := s.config.ServerVersion != "" && !s.release.AnyPatch && !NewerThanTypes(s.config.ServerVersion)
	n, found := &Newer{nodes: map[NodeName]string{}, pools: map[PoolID]string{}, drivers: map[string]string{}, old: old}, false
	for _, k := range kinds {
		if old && !k.Resource.OfKueue() {
			continue
		}
		for _, object := range k.Objects(&s.objects) {
			if _, ok := object.GetAnnotations()[NewerKey]; !ok {
				continue
			}
			if text := newerText(k.Name, object); text != "" {
				if n.add(object, text); k.Resource.OfKueue() {
					n.queues = text
				}
				found = true
			}
		}
	}
	if !found {
		return nil
	}
	return n
}

func (n *Newer) add(object metav1.Object, text string) {
	switch o := object.(type) {
	case *corev1.Node:
		n.nodes[NodeName(o.Name)] = text
	case *storagev1.CSINode:
		n.nodes[NodeName(o.Name)] = text
	case *storagev1.VolumeAttachment:
		n.nodes[NodeName(o.Spec.NodeName)] = text
	case *corev1.Pod:
		n.nodes[NodeName(o.Spec.NodeName)] = text
		if deciding, _ := NewerFields(o); o.Spec.NodeName != "" && slices.ContainsFunc(deciding, func(path string) bool { return strings.HasPrefix(path, "spec.affinity") }) {
			n.anywhere = text
		}
	case *resourcev1.ResourceSlice:
		n.pools[PoolID{o.Spec.Driver, o.Spec.Pool.Name}] = text
	case *resourcev1.ResourceClaim:
		if o.Status.Allocation != nil {
			for i := range o.Status.Allocation.Devices.Results {
				n.pools[DeviceOf(&o.Status.Allocation.Devices.Results[i]).PoolID()] = text
			}
		}
	case *resourcev1.DeviceTaintRule:
		driver := ""
		if o.Spec.DeviceSelector != nil && o.Spec.DeviceSelector.Driver != nil {
			driver = *o.Spec.DeviceSelector.Driver
		}
		n.drivers[driver] = text
	}
}

// Of returns what is newer of an object, which need not be in the snapshot.
func (n *Newer) Of(kind string, object metav1.Object) string {
	if n == nil || n.old {
		return ""
	}
	return newerText(kind, object)
}

// OfQueues returns what is newer of an object of Kueue.
func (n *Newer) OfQueues() string {
	if n == nil {
		return ""
	}
	return n.queues
}

// OnNode returns what is newer of a node, or of the pods on it.
func (n *Newer) OnNode(name NodeName) string { return cmp.Or(n.nodes[name], n.anywhere) }

// NewerDevices returns what is newer of the devices that a node can use, or of the claims that have them, or
// of a rule that may taint them. Only drivers that are wanted count.
func (s *Snapshot) NewerDevices(node *corev1.Node, wanted func(driver string) bool) string {
	n := s.Newer()
	for driver, text := range n.drivers {
		if driver == "" || wanted(driver) {
			return text
		}
	}
	if len(n.pools) == 0 {
		return ""
	}
	for _, info := range s.slicesFor(node) {
		text, ok := n.pools[info.pool]
		if !ok || !wanted(info.pool.Driver) {
			continue
		}
		if match, known, err := info.reaches(node); match || !known || err != nil || isTrue(info.slice.Spec.PerDeviceNodeSelection) {
			return text
		}
	}
	return ""
}
