package filters

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// nearest says in a refusal what there is of volumes on a node, of those that it reaches: what comes nearest
// to the claim.
func (w *waitingClaim) nearest(volumes []*corev1.PersistentVolume, n *nodeInfo, verdict *VolumeVerdict) {
	if verdict.Rule != VolumeExisting {
		return // a volume would have to be made, and the verdict says why it cannot be
	}
	r := verdict.Refusal
	if at := slices.IndexFunc(w.prebound, func(pv *corev1.PersistentVolume) bool { return !nodeReaches(pv, n) }); at >= 0 {
		pv := w.prebound[at]
		verdict.By = Object{Kind: "PersistentVolume", Name: pv.Name}
		r.Code, r.Key, r.By = VolumeNode, "reserved "+w.name.String(), verdict.By
		r.Message = fmt.Sprintf("the volume %s is reserved for the claim %s, and only nodes with %s reach it", pv.Name, w.name, termWords(requiredNodes(pv)))
		return
	}
	if slices.ContainsFunc(volumes, w.suited) {
		verdict.Rule = VolumeShared
		r.Key = "shared " + w.name.String()
		r.Message = fmt.Sprintf("the volumes of class %s that would suit the claim %s are taken by other claims of the pod", w.class.Name, w.name)
		return
	}
	if pv := w.largest(volumes); pv != nil {
		near := w.takes(pv)
		verdict.By, verdict.Offered, verdict.Field = near.By, near.Offered, near.Field
		r.By = near.By
		size := pv.Spec.Capacity[corev1.ResourceStorage]
		r.Allocatable, r.Key = size.Value(), "size "+w.name.String()
		r.Message = fmt.Sprintf("the claim %s asks for %s of class %s; the largest volume that the node reaches and could have is %s (%s)", w.name, w.wanted, w.class.Name, &size, pv.Name)
		return
	}
	if why := w.misfits(volumes); why != "" {
		r.Key = "misfit " + w.name.String()
		r.Message = fmt.Sprintf("no volume of class %s that the node reaches suits the claim %s: %s", w.class.Name, w.name, why)
		return
	}
	r.Message = fmt.Sprintf("the claim %s needs a volume of class %s, and the node reaches none", w.name, w.class.Name)
}

// largest is the largest volume to which nothing is amiss but its size, or nil.
func (w *waitingClaim) largest(volumes []*corev1.PersistentVolume) *corev1.PersistentVolume {
	var out *corev1.PersistentVolume
	for _, pv := range volumes {
		if w.mismatch(pv) != volumeSmall {
			continue
		}
		size := pv.Spec.Capacity[corev1.ResourceStorage]
		if out == nil || size.Cmp(out.Spec.Capacity[corev1.ResourceStorage]) > 0 {
			out = pv
		}
	}
	return out
}

// misfits says how many volumes are amiss in which way, as "2 taken, 1 not available".
func (w *waitingClaim) misfits(volumes []*corev1.PersistentVolume) string {
	count := map[string]int{}
	for _, pv := range volumes {
		count[w.mismatch(pv)]++
	}
	var out []string
	for _, why := range []string{volumeTaken, volumePhase, volumeDeleted, volumeLabels, volumeAccess, volumeMode, volumeAttributes} {
		if count[why] > 0 {
			out = append(out, fmt.Sprintf("%d %s", count[why], why))
		}
	}
	return strings.Join(out, ", ")
}
