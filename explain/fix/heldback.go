package fix

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/requirement"
	"github.com/kubectl-dra/kubectl-dra/explain/suppose"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// maxHeldBack is the number of nodes of a large cluster that are asked about a pod which is refused before
// any is.
const maxHeldBack = 32

// FindForHeldBack adds fixes to the explanation of a pod that is refused before any node is asked, if volume
// claims are all that holds it back. Errors are those of [Find].
func FindForHeldBack(ctx context.Context, q *whatif.Question, e *explain.Explanation) error {
	refusals := q.Filtered().Everywhere.Refusals
	for i := range refusals {
		if refusals[i].Code != filters.VolumeUnbound || refusals[i].Object.Kind != "PersistentVolumeClaim" {
			return nil
		}
	}
	s := newSearch(ctx, q, requirement.NewLists(q), nil, nil)
	for _, node := range q.Nodes[:min(len(q.Nodes), maxHeldBack)] {
		s.Q.Near = append(s.Q.Near, whatif.RankedNode{Name: inspect.NodeName(node.Name)})
	}
	claims := objectsOf(refusals)
	s.waitForVolumes(claims)
	if len(claims) == 1 {
		claim, ok := q.Cluster.Snapshot().VolumeClaim(claims[0].Namespace, claims[0].Name)
		if ok && claim.Spec.VolumeName == "" {
			s.otherStorageClass(ctx, &refusedVolume{PersistentVolumeClaim: claim})
		}
	}
	e.Fixes = s.verify(ctx)
	return q.Err()
}

// objectsOf are the objects that refusals are about, each once.
func objectsOf(refusals []filters.Refusal) []filters.Object {
	var out []filters.Object
	for i := range refusals {
		if o := refusals[i].Object; len(out) == 0 || out[len(out)-1] != o {
			out = append(out, o)
		}
	}
	return out
}

// waitForVolumes proposes to wait, if all claims are such that somebody else is about to make them or to bind
// them. The pod is tried without volumes of which is not known yet where they will be.
func (s *search) waitForVolumes(claims []filters.Object) {
	c := requirement.Change{Kind: explain.WaitFor, Cost: requirement.CostRules}
	var parts []string
	for _, object := range claims {
		edit, text := s.waiting(object)
		if edit == nil {
			return
		}
		c.Edits, parts = append(c.Edits, edit), append(parts, text)
	}
	c.Message = "wait until " + strings.Join(parts, ", and ")
	for _, edit := range c.Edits {
		c.Key += edit.Key() + "\n"
	}
	s.changes = append(s.changes, c)
}

// waiting is what will be once somebody has made or bound a claim. The edit is nil if nobody is about to.
func (s *search) waiting(o filters.Object) (whatif.Edit, string) {
	claim, ok := s.Q.Cluster.Snapshot().VolumeClaim(o.Namespace, o.Name)
	without := whatif.DropVolumesEdit{Volumes: suppose.VolumesOf(s.Q.Pod, o.Kind, o.Name)}
	const open = "; without it the pod fits"
	switch {
	case !ok && (suppose.VolumeClaim{Namespace: o.Namespace, Name: o.Name}).OfPod(s.Q.Pod):
		return without, "the controller has made the volume claim " + o.Name + " for the pod" + open
	case !ok || claim.DeletionTimestamp != nil || claim.Status.Phase == "Lost":
		return nil, ""
	case claim.Spec.VolumeName != "":
		return whatif.AroundEdit{Change: suppose.BoundClaim{Namespace: o.Namespace, Name: o.Name}, Possible: true}, fmt.Sprintf("the volume claim %s is bound to the volume %s, which it names", o.Name, claim.Spec.VolumeName)
	}
	classes := s.Q.Cluster.Snapshot().Objects().StorageClasses
	if class := filters.DefaultStorageClass(classes); claim.Spec.StorageClassName == nil && claim.Annotations[corev1.BetaStorageClassAnnotation] == "" && class != nil {
		return whatif.AroundEdit{Change: suppose.WithClass{Namespace: o.Namespace, Name: o.Name, Class: class.Name}, Possible: true}, fmt.Sprintf(
			"the controller has given the volume claim %s the class %s, which is the default", o.Name, class.Name)
	}
	for _, class := range classes {
		if claim.Spec.StorageClassName != nil && class.Name == *claim.Spec.StorageClassName && class.VolumeBindingMode != nil && *class.VolumeBindingMode == storagev1.VolumeBindingImmediate {
			return without, fmt.Sprintf("%s has made a volume for the claim %s%s", words.OneLine(class.Provisioner), o.Name, open)
		}
	}
	return nil, ""
}
