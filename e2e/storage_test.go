package e2e

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
)

// TestStorage reads storage capacities of two namespaces from a server.
func TestStorage(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{NoScheduler: true})
	c.AddNode(t, "n1", map[string]string{"zone": "a"})
	c.AddNode(t, "n2", map[string]string{"zone": "b"})
	c.ApplyText(t, `
{apiVersion: v1, kind: Namespace, metadata: {name: csi}}
---
{apiVersion: storage.k8s.io/v1, kind: CSIStorageCapacity, metadata: {name: zone-b, namespace: csi}, storageClassName: fast,
 nodeTopology: {matchLabels: {zone: b}}, capacity: 200Gi, maximumVolumeSize: 80Gi}
---
{apiVersion: storage.k8s.io/v1, kind: CSIStorageCapacity, metadata: {name: everywhere}, storageClassName: slow, nodeTopology: {}}
---
{apiVersion: storage.k8s.io/v1, kind: CSIStorageCapacity, metadata: {name: nowhere}, storageClassName: slow, capacity: "0"}
`)
	type item struct {
		Namespace, Name, StorageClass, Capacity, MaximumVolumeSize string
		Nodes                                                      []string
	}
	var list struct{ Items []item }
	c.Plugin(t, cluster.Admin, "get", "storage", "-o", "json").JSON(t, &list)
	want := []item{
		{"csi", "zone-b", "fast", "200Gi", "80Gi", []string{"n2"}},
		{"default", "everywhere", "slow", "", "", []string{"n1", "n2"}},
		{"default", "nowhere", "slow", "0", "", []string{}},
	}
	if diff := cmp.Diff(want, list.Items); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if result := c.Plugin(t, cluster.Admin, "get", "storage", "-n", "csi", "-o", "name"); result.Stdout != "csistoragecapacity.storage.k8s.io/zone-b\n" {
		t.Errorf("want those of one namespace\n%v", result)
	}
}
