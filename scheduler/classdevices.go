package scheduler

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
)

// ClassDevices counts the devices of a node that a class selects, and those of them that claims hold, as
// kube-scheduler does to compare nodes for a pod that asks for the extended resource of the class: whatever
// taints they have, and however old their pools are. If that fails, as where a selector does, there are none.
func (c *Cluster) ClassDevices(class *resourcev1.DeviceClass, node *corev1.Node) (all, held int64) {
	fails := false
	err := c.Snapshot().Published(node, func(driver string, d *resourcev1.Device, isHeld bool) {
		if fails {
			return
		}
		if d.AllowMultipleAllocations != nil { // which is not told to the selectors here
			own := *d
			own.AllowMultipleAllocations, d = nil, &own
		}
		for i := range class.Spec.Selectors {
			if class.Spec.Selectors[i].CEL == nil {
				continue
			}
			ok, err := c.Selectors().Selector(class.Spec.Selectors[i].CEL.Expression).Match(context.Background(), driver, d)
			if fails = err != nil; !ok || fails {
				return
			}
		}
		if all++; isHeld {
			held++
		}
	})
	if err != nil || fails {
		return 0, 0
	}
	return all, held
}
