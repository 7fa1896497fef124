package fix

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/requirement"
	"github.com/kubectl-dra/kubectl-dra/explain/suppose"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

const (
	// maxSizes and maxStorageClasses bound what is tried for a volume claim.
	maxSizes, maxStorageClasses = 8, 16
	// maxClassChanges is the number of other storage classes that are proposed for a claim.
	maxClassChanges = 2
)

// changeVolumes proposes that volume claims of the pod that have no volume yet ask for less, or for another
// storage class.
func (s *search) changeVolumes(ctx context.Context) {
	if s.Q.Pod == nil {
		return
	}
	for _, v := range s.refusedVolumes() {
		s.lessVolume(ctx, v)
		s.otherStorageClass(ctx, v)
	}
}

// refusedVolume is a volume claim without a volume, because of which nodes near by refuse the pod.
type refusedVolume struct {
	*corev1.PersistentVolumeClaim
	// sizes are those that there are instead, in bytes, the largest first.
	sizes []int64
}

// refusedVolumes are in the order in which near nodes name them.
func (s *search) refusedVolumes() []*refusedVolume {
	var out []*refusedVolume
	for _, b := range s.Q.NearSandboxes() {
		for _, r := range s.Q.Filtered().On(inspect.NodeName(b.Node.Name)).Refusals {
			if r.Object.Kind != "PersistentVolumeClaim" || r.Plugin != filters.VolumeBinding {
				continue
			}
			at := slices.IndexFunc(out, func(v *refusedVolume) bool { return v.Namespace == r.Object.Namespace && v.Name == r.Object.Name })
			if at < 0 {
				claim, ok := s.Q.Cluster.Snapshot().VolumeClaim(r.Object.Namespace, r.Object.Name)
				if !ok || claim.Spec.VolumeName != "" {
					continue
				}
				at, out = len(out), append(out, &refusedVolume{claim, s.sizesOf(claim)})
			}
			if r.Allocatable > 0 {
				out[at].sizes = append(out[at].sizes, r.Allocatable)
			}
		}
	}
	for _, v := range out {
		wanted := v.Spec.Resources.Requests.Storage().Value()
		v.sizes = slices.DeleteFunc(v.sizes, func(size int64) bool { return size <= 0 || size >= wanted })
		slices.SortFunc(v.sizes, func(a, b int64) int { return cmp.Compare(b, a) })
		v.sizes = slices.Compact(v.sizes)
		v.sizes = v.sizes[:min(len(v.sizes), maxSizes)]
	}
	return out
}

// sizesOf are those of the volumes of the class of a claim that there are.
func (s *search) sizesOf(claim *corev1.PersistentVolumeClaim) []int64 {
	var out []int64
	for _, pv := range s.Q.Cluster.Snapshot().Objects().Volumes {
		if claim.Spec.StorageClassName != nil && pv.Spec.StorageClassName == *claim.Spec.StorageClassName && pv.Spec.ClaimRef == nil {
			out = append(out, pv.Spec.Capacity.Storage().Value())
		}
	}
	return out
}

// lessVolume proposes the largest size with which the pod fits somewhere.
func (s *search) lessVolume(ctx context.Context, v *refusedVolume) {
	for _, bytes := range v.sizes {
		size := resource.NewQuantity(bytes, resource.BinarySI)
		c := requirement.Change{
			Kind: explain.ReduceVolume, Edits: []whatif.Edit{whatif.VolumeClaimEdit{VolumeClaim: suppose.VolumeClaim{Namespace: v.Namespace, Name: v.Name, Size: size}}},
			Cost: requirement.CostValue, Message: fmt.Sprintf("ask for %s at most in the volume claim %s", size, v.Name),
		}
		if s.helpsVolume(ctx, &c) > 0 {
			s.changes = append(s.changes, c)
			return
		}
	}
}

// otherStorageClass proposes those of the other storage classes with which the pod fits on most nodes.
func (s *search) otherStorageClass(ctx context.Context, v *refusedVolume) {
	if _, annotated := v.Annotations[corev1.BetaStorageClassAnnotation]; annotated {
		return
	}
	type proposal struct {
		requirement.Change
		nodes int
	}
	var found []proposal
	classes := s.Q.Cluster.Snapshot().Objects().StorageClasses
	for _, class := range classes[:min(len(classes), maxStorageClasses)] {
		if v.Spec.StorageClassName != nil && class.Name == *v.Spec.StorageClassName || !s.provisioned(class) {
			continue
		}
		c := requirement.Change{
			Kind: explain.ChangeStorageClass, Edits: []whatif.Edit{whatif.VolumeClaimEdit{VolumeClaim: suppose.VolumeClaim{Namespace: v.Namespace, Name: v.Name, Class: class.Name}}},
			Cost: requirement.CostClass, Message: fmt.Sprintf("ask for a volume of class %s in the volume claim %s", class.Name, v.Name),
		}
		if nodes := s.helpsVolume(ctx, &c); nodes > 0 {
			found = append(found, proposal{c, nodes})
		}
	}
	slices.SortStableFunc(found, func(a, b proposal) int { return b.nodes - a.nodes })
	for i := range found[:min(len(found), maxClassChanges)] {
		s.changes = append(s.changes, found[i].Change)
	}
}

// provisioned reports whether something is known to make volumes of a storage class, or nothing needs to:
// they are made by hand, or by what is part of Kubernetes. A class outlives its provisioner, and a claim of
// it then waits for ever.
func (s *search) provisioned(class *storagev1.StorageClass) bool {
	o, by := s.Q.Cluster.Snapshot().Objects(), class.Provisioner
	return strings.HasPrefix(by, "kubernetes.io/") ||
		slices.ContainsFunc(o.CSIDrivers, func(d *storagev1.CSIDriver) bool { return d.Name == by }) ||
		slices.ContainsFunc(o.CSINodes, func(n *storagev1.CSINode) bool {
			return slices.ContainsFunc(n.Spec.Drivers, func(d storagev1.CSINodeDriver) bool { return d.Name == by })
		}) ||
		slices.ContainsFunc(o.Volumes, func(v *corev1.PersistentVolume) bool { return v.Annotations[provisionedBy] == by })
}

// provisionedBy is the annotation by which a provisioner marks its volumes.
const provisionedBy = "pv.kubernetes.io/provisioned-by"

// helpsVolume tells on how many nodes the pod fits with a change, and notes one of them.
func (s *search) helpsVolume(ctx context.Context, c *requirement.Change) int {
	fitting := s.Q.FittingWith(ctx, c.Edits, "")
	c.Key, c.Node = c.Edits[0].Key(), fitting.First()
	return fitting.Len()
}
