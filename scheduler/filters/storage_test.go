package filters

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Objects of storage for tests. The functions that come after the name of an object change it.

func named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name)}
}

func in(namespace, name string) metav1.ObjectMeta {
	m := named(name)
	m.Namespace = namespace
	return m
}

func node(name string, labels ...string) *corev1.Node {
	n := &corev1.Node{ObjectMeta: named(name)}
	n.Labels = map[string]string{corev1.LabelHostname: name}
	for i := 0; i < len(labels); i += 2 {
		n.Labels[labels[i]] = labels[i+1]
	}
	return n
}

const (
	zone = corev1.LabelTopologyZone
	host = corev1.LabelHostname
)

// podWith is pod ml/p with volumes, each the name of a claim.
func podWith(claims ...string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: in("ml", "p")}
	for i, claim := range claims {
		source := corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}
		if claim == "ephemeral" {
			source = corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}
		}
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: fmt.Sprintf("v%d", i), VolumeSource: source})
	}
	return p
}

// on puts a pod on a node under another name.
func on(node, name string, p *corev1.Pod) *corev1.Pod {
	p.ObjectMeta = in(p.Namespace, name)
	p.Spec.NodeName = node
	return p
}

type claimChange func(*corev1.PersistentVolumeClaim)

// pvc is a claim in namespace ml for 10Gi of a class.
func pvc(name, class string, changes ...claimChange) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{ObjectMeta: in("ml", name)}
	c.Spec.StorageClassName = &class
	c.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	size("10Gi")(c)
	c.Status.Phase = corev1.ClaimPending
	for _, change := range changes {
		change(c)
	}
	return c
}

func size(q string) claimChange {
	return func(c *corev1.PersistentVolumeClaim) {
		c.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(q)}
	}
}

func sizeless(c *corev1.PersistentVolumeClaim) { c.Spec.Resources.Requests = nil }

func bound(volume string) claimChange {
	return func(c *corev1.PersistentVolumeClaim) {
		c.Spec.VolumeName = volume
		c.Annotations = map[string]string{bindCompleted: "yes"}
		c.Status.Phase = corev1.ClaimBound
	}
}

func prebound(volume string) claimChange {
	return func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeName = volume }
}

func nodeChosen(node string) claimChange {
	return func(c *corev1.PersistentVolumeClaim) { c.Annotations = map[string]string{selectedNode: node} }
}

func ownedBy(pod string) claimChange {
	return func(c *corev1.PersistentVolumeClaim) {
		c.OwnerReferences = []metav1.OwnerReference{{UID: types.UID("uid-" + pod), Controller: ptr.To(true)}}
	}
}

func deletedClaim(c *corev1.PersistentVolumeClaim) { c.DeletionTimestamp = &metav1.Time{} }

func access(modes ...corev1.PersistentVolumeAccessMode) claimChange {
	return func(c *corev1.PersistentVolumeClaim) { c.Spec.AccessModes = modes }
}

type volumeChange func(*corev1.PersistentVolume)

// pv is a volume of 10Gi of a class that is available everywhere.
func pv(name, class string, changes ...volumeChange) *corev1.PersistentVolume {
	v := &corev1.PersistentVolume{ObjectMeta: named(name)}
	v.Spec.StorageClassName = class
	v.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	v.Status.Phase = corev1.VolumeAvailable
	holds("10Gi")(v)
	for _, change := range changes {
		change(v)
	}
	return v
}

func holds(q string) volumeChange {
	return func(v *corev1.PersistentVolume) {
		v.Spec.Capacity = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(q)}
	}
}

func phase(p corev1.PersistentVolumePhase) volumeChange {
	return func(v *corev1.PersistentVolume) { v.Status.Phase = p }
}

// nodesIn limits a volume to nodes with a label.
func nodesIn(key string, values ...string) volumeChange {
	return func(v *corev1.PersistentVolume) {
		v.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}},
		}}}}
	}
}

// onlyField limits a volume to a node by its name, which the scheduler does not look at for volumes.
func onlyField(node string) volumeChange {
	return func(v *corev1.PersistentVolume) {
		v.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{node}}},
		}}}}
	}
}

// reservedFor reserves a volume for a claim in namespace ml.
func reservedFor(claim string) volumeChange {
	return func(v *corev1.PersistentVolume) {
		v.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "ml", Name: claim}
	}
}

func csi(driver, handle string) volumeChange {
	return func(v *corev1.PersistentVolume) {
		v.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: handle}
	}
}

// late is a class that binds once a node has been chosen.
func late(name, provisioner string) *storagev1.StorageClass {
	return &storagev1.StorageClass{ObjectMeta: named(name), Provisioner: provisioner, VolumeBindingMode: ptr.To(storagev1.VolumeBindingWaitForFirstConsumer)}
}

// early is a class that binds at once.
func early(name, provisioner string) *storagev1.StorageClass {
	return &storagev1.StorageClass{ObjectMeta: named(name), Provisioner: provisioner, VolumeBindingMode: ptr.To(storagev1.VolumeBindingImmediate)}
}

// allowed limits a class to nodes with a label.
func allowed(class *storagev1.StorageClass, key string, values ...string) *storagev1.StorageClass {
	class.AllowedTopologies = append(class.AllowedTopologies, corev1.TopologySelectorTerm{
		MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: key, Values: values}},
	})
	return class
}

// driver is a CSIDriver that wants the scheduler to look at capacities, or not.
func driver(name string, looks bool) *storagev1.CSIDriver {
	return &storagev1.CSIDriver{ObjectMeta: named(name), Spec: storagev1.CSIDriverSpec{StorageCapacity: &looks}}
}

// room is a storage capacity, with sizes that are "" where the driver says none. Labels are those of the
// topology.
func room(name, class, total, largest string, labels ...string) *storagev1.CSIStorageCapacity {
	c := &storagev1.CSIStorageCapacity{ObjectMeta: in("driver-"+name, name), StorageClassName: class, NodeTopology: &metav1.LabelSelector{}}
	for i := 0; i < len(labels); i += 2 {
		metav1.AddLabelToSelector(c.NodeTopology, labels[i], labels[i+1])
	}
	if total != "" {
		c.Capacity = ptr.To(resource.MustParse(total))
	}
	if largest != "" {
		c.MaximumVolumeSize = ptr.To(resource.MustParse(largest))
	}
	return c
}

// storageCase is a pod with volumes in a cluster.
type storageCase struct {
	objects []metav1.Object
	pod     *corev1.Pod
	// files says that the objects are from files, forbidden what cannot be read, minor the release if it is
	// not the newest.
	files     bool
	forbidden []inspect.Resource
	minor     int
	gates     map[inspect.Gate]bool
}

// liveSnapshot is a case on a server that was read completely.
func liveSnapshot(pod *corev1.Pod, objects ...metav1.Object) storageCase {
	return storageCase{objects: objects, pod: pod}
}

func (c storageCase) without(forbidden ...inspect.Resource) storageCase {
	c.forbidden = forbidden
	return c
}

func (c storageCase) asFiles() storageCase {
	c.files = true
	return c
}

func (c storageCase) snapshot() *inspect.Snapshot {
	var objects inspect.Objects
	for _, object := range c.objects {
		switch o := object.(type) {
		case *storagev1.CSINode:
			objects.CSINodes = append(objects.CSINodes, o)
		case *storagev1.VolumeAttachment:
			objects.VolumeAttachments = append(objects.VolumeAttachments, o)
		default:
			if !objects.Add(object) {
				panic(fmt.Sprintf("%T is no kind", object))
			}
		}
	}
	if c.minor == 0 {
		c.minor = inspect.NewestMinor
	}
	config := inspect.Config{Features: inspect.DefaultFeatures(c.minor).With(c.gates), Health: map[inspect.Resource]inspect.Health{}}
	if !c.files {
		config.ServerVersion = fmt.Sprintf("v1.%d.0", c.minor)
		for _, r := range append(inspect.Resources(), inspect.CSINodes, inspect.VolumeAttachments) {
			config.Health[r] = inspect.Health{State: inspect.Synced}
		}
	}
	for _, r := range c.forbidden {
		config.Health[r] = inspect.Health{State: inspect.Forbidden}
	}
	return inspect.New(objects, config)
}

// says is what plugins say of a pod on all nodes ("*") and on each: codes of refusals with the object that
// decided, and what was not read in brackets. What passes is not in it.
func (c storageCase) says(only ...Plugin) string {
	return saysOf(NewIndex(c.snapshot(), nil), c.pod, only...)
}

func saysOf(x *Index, pod *corev1.Pod, only ...Plugin) string {
	p := x.Prepare(pod)
	said := map[string]Outcome{"*": p.Everywhere}
	for _, n := range p.nodes {
		said[n.Name] = p.On(inspect.NodeName(n.Name))
	}
	var out []string
	for _, where := range slices.Sorted(maps.Keys(said)) {
		var what []string
		for _, r := range said[where].Refusals {
			if slices.Contains(only, r.Plugin) {
				what = append(what, strings.TrimSpace(string(r.Code)+" "+r.By.Name))
			}
		}
		for _, d := range said[where].Doubts {
			if slices.Contains(only, d.Plugin) {
				what = append(what, "["+string(d.Resource)+"]")
			}
		}
		if len(what) > 0 {
			out = append(out, where+": "+strings.Join(what, ", "))
		}
	}
	return strings.Join(out, "; ")
}

// storageTest is a case with what the plugins say, and a text that is part of what they say to the reader.
type storageTest struct {
	storageCase
	want, message string
}

func runStorage(t *testing.T, plugin Plugin, tests map[string]storageTest) {
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := test.says(plugin); got != test.want {
				t.Errorf("the plugin says %q, want %q", got, test.want)
			}
			if got := test.messages(plugin); !strings.Contains(got, test.message) {
				t.Errorf("the plugin tells the reader %q, want %q in it", got, test.message)
			}
		})
	}
}

// messages are all that a plugin tells the reader.
func (c storageCase) messages(plugin Plugin) string {
	p := NewIndex(c.snapshot(), nil).Prepare(c.pod)
	all := p.Everywhere
	for _, n := range p.nodes {
		all.and(p.On(inspect.NodeName(n.Name)))
	}
	var out []string
	for _, r := range all.Refusals {
		if r.Plugin == plugin {
			out = append(out, r.Message)
		}
	}
	for _, d := range all.Doubts {
		if d.Plugin == plugin {
			out = append(out, d.Message)
		}
	}
	return strings.Join(out, "\n")
}
