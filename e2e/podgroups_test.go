package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
)

// TestPodGroups reads and follows PodGroups of servers that serve them at one version only.
func TestPodGroups(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"v1beta1", "v1alpha3"} {
		t.Run(version, func(t *testing.T) {
			served := fmt.Sprintf("api/all=true,scheduling.k8s.io/v1beta1=%t,scheduling.k8s.io/v1alpha3=%t", version == "v1beta1", version == "v1alpha3")
			c := cluster.Start(t, cluster.Options{NoScheduler: true, FeatureGates: "GenericWorkload=true", RuntimeConfig: served})
			c.ApplyText(t, strings.ReplaceAll(`
{apiVersion: scheduling.k8s.io/VERSION, kind: PodGroup, metadata: {name: train, namespace: default}, spec: {schedulingPolicy: {gang: {minCount: 3}}}}
---
{apiVersion: v1, kind: ResourceQuota, metadata: {name: few, namespace: default}, spec: {hard: {gpu.deviceclass.resource.k8s.io/devices: "2"}}}
---
{apiVersion: storage.k8s.io/v1, kind: VolumeAttachment, metadata: {name: a}, spec: {attacher: csi.example.com, nodeName: n1, source: {persistentVolumeName: pv}}}
---
{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: n1}, spec: {drivers: [{name: csi.example.com, nodeID: i-1, allocatable: {count: 5}}]}}
`, "VERSION", version))
			check := func(o *inspect.Objects, health inspect.Health) bool {
				return len(o.PodGroups) == 1 && o.PodGroups[0].Spec.SchedulingPolicy.Gang.MinCount == 3 && health.Version == "scheduling.k8s.io/"+version &&
					len(o.Quotas) == 1 && len(o.VolumeAttachments) == 1 && len(o.CSINodes) == 1 && len(o.Namespaces) > 1
			}
			got := read(t, c, cluster.Admin, live.Options{Resources: inspect.Resources()})
			if !check(&got.Objects, got.Health[inspect.PodGroups]) {
				t.Errorf("read %+v, %+v", got.Objects.PodGroups, got.Health)
			}
			w, err := live.Watch(t.Context(), c.Config(cluster.Admin), live.Options{Resources: inspect.Resources()})
			if err != nil {
				t.Fatal(err)
			}
			for end := time.After(3 * time.Minute); ; {
				select {
				case s := <-w.Updates():
					if check(s.Objects(), s.Health(inspect.PodGroups)) {
						return
					}
				case <-end:
					t.Fatal("the group did not arrive")
				}
			}
		})
	}
}
