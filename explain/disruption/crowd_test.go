package disruption

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/replay"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// crowd is a random problem: pods on nodes with a few devices of two models, and one that waits.
type crowd struct {
	*inspect.Objects
	target *corev1.Pod
}

// randomCrowd is a problem whose pods are of few kinds: with devices, without, one that is nobody's.
func randomCrowd(r *rand.Rand) *crowd {
	o := &inspect.Objects{Classes: []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}}}}
	const isBig = `device.attributes["gpu.example.com"].model == "big"`
	o.Templates = append(o.Templates, explaintest.Template("one", 1, ""), explaintest.Template("two", 2, ""), explaintest.Template("big", 1, isBig))
	for i := range 2 + r.IntN(3) {
		name := fmt.Sprint("n", i)
		o.Nodes = append(o.Nodes, &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name, "zone": fmt.Sprint(i % 2)}},
			Status: corev1.NodeStatus{
				Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(fmt.Sprint(3 + r.IntN(3))), corev1.ResourceMemory: resource.MustParse("512Gi"), corev1.ResourcePods: resource.MustParse("110")},
				Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
			},
		})
		slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: resourcev1.ResourceSliceSpec{
			Driver: "gpu.example.com", NodeName: ptr.To(name), Pool: resourcev1.ResourcePool{Name: name, Generation: 1, ResourceSliceCount: 1},
		}}
		for d := range 1 + r.IntN(4) {
			slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{Name: fmt.Sprint("g", d), Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
				"model": {StringValue: ptr.To([]string{"big", "small"}[r.IntN(2)])},
			}})
		}
		o.Slices = append(o.Slices, slice)
	}
	c := &crowd{Objects: o}
	c.settle(r)
	c.target = randomPod(r, "target")
	o.Pods = append(o.Pods, c.target)
	return c
}

// randomPod is a pod with little of everything.
func randomPod(r *rand.Rand, name string) *corev1.Pod {
	pod := explaintest.Worker(name, []string{"one", "two", "big"}[r.IntN(3)])
	pod.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = *resource.NewQuantity(1+int64(r.IntN(2)), resource.DecimalSI)
	if r.IntN(4) == 0 {
		pod.Spec.ResourceClaims, pod.Spec.Containers[0].Resources.Claims = nil, nil
	}
	if r.IntN(5) == 0 {
		pod.Spec.NodeSelector = map[string]string{"zone": fmt.Sprint(r.IntN(2))}
	}
	pod.Spec.Priority = ptr.To(int32(r.IntN(3)))
	pod.CreationTimestamp = metav1.NewTime(time.Unix(int64(1000+r.IntN(5)), 0))
	if r.IntN(5) > 0 {
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: name, UID: types.UID("rs-" + name), Controller: ptr.To(true)}}
	}
	return pod
}

// settle puts pods on nodes.
func (c *crowd) settle(r *rand.Rand) {
	cluster := c.cluster()
	for i := range 3 + r.IntN(4) {
		pod := randomPod(r, fmt.Sprint("p", i))
		turn, err := replay.PodMember(cluster, pod, cycle.Options{}).Ask(context.Background(), cluster, nil)
		if err != nil || len(turn.Options) == 0 {
			continue
		}
		reservation, err := turn.Options[r.IntN(len(turn.Options))].Reserve(context.Background())
		if err != nil {
			continue
		}
		placed := reservation.Pod
		for k, claim := range reservation.Claims {
			placed.Status.ResourceClaimStatuses = append(placed.Status.ResourceClaimStatuses, corev1.PodResourceClaimStatus{
				Name: placed.Spec.ResourceClaims[k].Name, ResourceClaimName: ptr.To(claim.Name),
			})
			c.Claims = append(c.Claims, claim)
		}
		c.Pods = append(c.Pods, placed)
		cluster = c.cluster()
	}
}

func (c *crowd) cluster() *scheduler.Cluster {
	return scheduler.NewCluster(inspect.New(*c.Objects, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)}), scheduler.Options{})
}
