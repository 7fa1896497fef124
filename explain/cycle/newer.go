package cycle

import (
	"context"
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
	for _, name := range lifecycle.VolumeClaimNames(q.Pod) {
		claim, found := s.VolumeClaim(q.Pod.Namespace, name)
		if add("PersistentVolumeClaim", claim, found); !found {
			continue
		}
		for _, volume := range s.Around().Volumes {
			add("PersistentVolume", volume, volume.Name == claim.Spec.VolumeName)
		}
		for _, class := range s.Around().StorageClasses {
			add("StorageClass", class, claim.Spec.StorageClassName != nil && class.Name == *claim.Spec.StorageClassName)
		}
	}
	slices.Sort(out)
	return out
}

// AddNewer adds that the answer is not known where something may decide about it that is newer than this
// program.
func (l *Limits) AddNewer(ctx context.Context, q *whatif.Question, answers []whatif.Answer, o Tally) {
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
