package filters

import corev1 "k8s.io/api/core/v1"

// VolumesDiffer reports whether nodes that fit a pod may differ in the volumes that its claims would get
// there: by the size of those that there are, or by how much can be made.
func (x *Index) VolumesDiffer(pod *corev1.Pod) bool {
	v, everywhere := newVolumeBinding(x, pod)
	if len(everywhere.Doubts) > 0 || len(v.waiting) > 0 && v.volumesUnread {
		return true
	}
	for _, w := range v.waiting {
		tracked := w.driver != nil && w.driver.Spec.StorageCapacity != nil && *w.driver.Spec.StorageCapacity
		if w.driverUnread || tracked && w.wanted != nil || len(x.storage.byName().ofClass[w.class.Name]) > 0 {
			return true
		}
	}
	return false
}
