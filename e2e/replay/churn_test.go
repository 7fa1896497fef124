package replay

import (
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Churn makes change number i of a busy cluster: mostly pods that report, claims that come free and are
// allocated again, heartbeats of nodes, and now and then a device that becomes unhealthy.
func (s *Server) Churn(i int) error {
	at := i * 7919 // a prime: neighbours do not change together
	switch i % 10 {
	case 0, 1, 2, 3, 4:
		return s.Change("/v1/pods", at, func(o object) {
			pod := o.(*corev1.Pod) //nolint:forcetypeassert // of that collection
			pod.Status.ContainerStatuses[0].RestartCount++
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}
		})
	case 5, 6, 7:
		return s.Change("resource.k8s.io/v1/resourceclaims", at, func(o object) {
			claim := o.(*resourcev1.ResourceClaim) //nolint:forcetypeassert // of that collection
			var n, c int
			if _, err := fmt.Sscanf(claim.Name, "train-%d-%d", &n, &c); err != nil || claim.Spec.Devices.Requests[0].Exactly.Count > 2 {
				return
			}
			if claim.Status.Allocation == nil {
				allocate(claim, n, c)
			} else {
				claim.Finalizers, claim.Status = nil, resourcev1.ResourceClaimStatus{}
			}
		})
	case 8:
		return s.Change("/v1/nodes", at, func(o object) {
			node := o.(*corev1.Node) //nolint:forcetypeassert // of that collection
			for i := range node.Status.Conditions {
				node.Status.Conditions[i].LastHeartbeatTime = metav1.Now()
			}
		})
	default:
		return s.Change("resource.k8s.io/v1/resourceslices", at, func(o object) {
			slice := o.(*resourcev1.ResourceSlice) //nolint:forcetypeassert // of that collection
			device := &slice.Spec.Devices[i/10%devicesPerNode]
			if len(device.Taints) > 0 {
				device.Taints = nil
			} else {
				now := metav1.Now()
				device.Taints = []resourcev1.DeviceTaint{{Key: "gpu.example.com/unhealthy", Effect: resourcev1.DeviceTaintEffectNoSchedule, TimeAdded: &now}}
			}
		})
	}
}

// Storm makes so many changes a second until stop is called, which returns how many they were, in what time.
func (s *Server) Storm(rate int) (stop func() (changes int, elapsed time.Duration)) {
	begin, n := time.Now(), 0
	end := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		ticker := time.NewTicker(10 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-end:
				return
			case <-ticker.C:
			}
			for due := int(time.Since(begin).Seconds() * float64(rate)); n < due; n++ {
				if s.Churn(n) != nil { // what was encoded once can be encoded again
					return
				}
			}
		}
	})
	return func() (int, time.Duration) {
		close(end)
		group.Wait()
		return n, time.Since(begin)
	}
}
