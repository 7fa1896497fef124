package cycle

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain/lifecycle"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// A field that the API types of this program do not know may ask for more, or for less, than is seen here.

// maxNewer is how many objects are named that have such fields.
const maxNewer = 3

// NewerOf says what is newer than this program of what a question asks for: of the pod, its group and its
// volumes, the claims and their classes. Then nothing is known of the answer.
func NewerOf(q *whatif.Question) []string {
	s := q.Cluster.Snapshot()
	n := s.Newer()
	if n == nil {
		return nil
	}
	var out []string
	add := func(kind string, object metav1.Object, found bool) {
		if text := n.Of(kind, object); found && text != "" && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	for _, claim := range q.Claims {
		add("ResourceClaim", claim, true)
	}
	for ref := range q.Own {
		claim, found := s.Claim(ref)
		add("ResourceClaim", claim, found)
	}
	for _, at := range q.RequestRefs() {
		class, found := s.Class(*whatif.FieldsOf(q.Claims, at).Class)
		add("DeviceClass", class, found)
	}
	if q.Pod == nil {
		return out
	}
	add("Pod", q.Pod, true)
	for _, group := range s.Around().PodGroups {
		add("PodGroup", group, group.Namespace == q.Pod.Namespace && group.Name == inspect.PodGroupOf(q.Pod))
	}
	for _, group := range s.Around().CompositePodGroups { // one that the pod is in may be below any
		add("CompositePodGroup", group, group.Namespace == q.Pod.Namespace && inspect.PodGroupOf(q.Pod) != "")
	}
	newerOfVolumes(q, add)
	slices.Sort(out)
	return out
}

// newerOfVolumes adds what is newer of the volumes of a pod, and of the drivers that have them.
func newerOfVolumes(q *whatif.Question, add func(kind string, object metav1.Object, found bool)) {
	s := q.Cluster.Snapshot()
	around, drivers, classes := s.Around(), map[string]bool{}, map[string]bool{}
	for i := range q.Pod.Spec.Volumes {
		if csi := q.Pod.Spec.Volumes[i].CSI; csi != nil {
			drivers[csi.Driver] = true
		}
	}
	for _, name := range lifecycle.VolumeClaimNames(q.Pod) {
		claim, found := s.VolumeClaim(q.Pod.Namespace, name)
		if add("PersistentVolumeClaim", claim, found); !found {
			continue
		}
		for _, volume := range around.Volumes {
			if add("PersistentVolume", volume, volume.Name == claim.Spec.VolumeName); volume.Name == claim.Spec.VolumeName && volume.Spec.CSI != nil {
				drivers[volume.Spec.CSI.Driver] = true
			}
		}
		for _, class := range around.StorageClasses {
			if claim.Spec.StorageClassName != nil && class.Name == *claim.Spec.StorageClassName {
				add("StorageClass", class, true)
				drivers[class.Provisioner], classes[class.Name] = true, true
			}
		}
	}
	for _, driver := range around.CSIDrivers {
		add("CSIDriver", driver, drivers[driver.Name])
	}
	for _, capacity := range around.StorageCapacities {
		add("CSIStorageCapacity", capacity, classes[capacity.StorageClassName])
	}
}

// AddNewer adds that the answer is not known where something may decide about it that is newer than this
// program.
func (l *Limits) AddNewer(ctx context.Context, q *whatif.Question, answers []whatif.Answer, o Tally) {
	l.addNominations(q)
	if texts := NewerOf(q); len(texts) > 0 {
		l.MayBeMore, l.MayBeTaken, l.MayGoOn = true, true, true
		l.Remarks = append(l.Remarks, texts[:min(maxNewer, len(texts))]...)
		return
	}
	s := q.Cluster.Snapshot()
	n := s.Newer()
	if n == nil {
		return
	}
	wanted := driversOf(ctx, q)
	certain, open := false, false // there is a node that fits whatever that is, or that may fit
	var texts []string
	for i := range answers {
		a := &answers[i]
		lacks := a.Result != nil && a.Result.Outcome != allocator.Allocated
		for _, at := range a.Nodes {
			node := q.Nodes[at]
			ofNode, ofDevices := newerOn(q, a, node, wanted)
			if ofNode == "" && ofDevices == "" {
				certain = certain || a.Allocatable()
				continue
			}
			open = open || len(a.Unsuitable) == 0 && (!a.Refused() || ofNode != "") && (!lacks || ofDevices != "")
			texts = addText(addText(texts, ofNode), ofDevices)
		}
	}
	switch {
	case o.First != nil && !certain:
		l.MayBeTaken = true
	case o.First == nil && open:
		l.MayBeMore, l.MayGoOn = true, true
	default:
		return
	}
	l.Remarks = append(l.Remarks, texts...)
}

// addNominations adds that devices may be held for a pod for which kube-scheduler has made others go: only
// its memory has them, and a node that is nominated is the only trace.
func (l *Limits) addNominations(q *whatif.Question) {
	s := q.Cluster.Snapshot()
	if !s.Features().Enabled(inspect.GatePreemption) || len(q.Claims) == 0 && q.PerNode == nil {
		return
	}
	for _, pod := range s.Objects().Pods {
		own := q.Pod != nil && pod.Namespace == q.Pod.Namespace && pod.Name == q.Pod.Name
		if pod.Status.NominatedNodeName != "" && pod.Spec.NodeName == "" && !own {
			l.MayBeTaken = true
			l.Remarks = append(l.Remarks, fmt.Sprintf("devices may be held for pod %s/%s, which is nominated for node %s (feature gate %s)",
				pod.Namespace, pod.Name, pod.Status.NominatedNodeName, inspect.GatePreemption))
			return
		}
	}
}

// newerOn is what is newer of a node, if the question is about a pod, and of its devices, if they are wanted.
func newerOn(q *whatif.Question, a *whatif.Answer, node *corev1.Node, wanted func(driver string) bool) (ofNode, ofDevices string) {
	s := q.Cluster.Snapshot()
	if q.Pod != nil {
		ofNode = s.Newer().OnNode(inspect.NodeName(node.Name))
	}
	if len(a.Q.Claims) > 0 {
		ofDevices = s.NewerDevices(node, wanted)
	}
	return ofNode, ofDevices
}

// addText adds a text to a few that differ.
func addText(texts []string, text string) []string {
	if text == "" || len(texts) >= maxNewer || slices.Contains(texts, text) {
		return texts
	}
	return append(texts, text)
}

// driversOf says of which drivers a question wants devices.
func driversOf(ctx context.Context, q *whatif.Question) func(driver string) bool {
	drivers := map[string]bool{}
	for _, at := range q.RequestRefs() {
		class, _ := q.Cluster.Snapshot().Class(*whatif.FieldsOf(q.Claims, at).Class)
		drivers[q.DriverOf(ctx, class)] = true
	}
	return func(driver string) bool { return drivers[driver] || drivers[""] || q.PerNode != nil }
}
