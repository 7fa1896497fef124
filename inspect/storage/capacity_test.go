package storage

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
)

const capacity = "---\napiVersion: storage.k8s.io/v1\nkind: CSIStorageCapacity\nmetadata: "

func snapshot(t *testing.T, yaml string) *inspect.Snapshot {
	t.Helper()
	result, err := manifest.ReadBytes("test", []byte(yaml), manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return inspect.New(result.Objects, inspect.Config{Revision: 1})
}

// TestTopology has one object for each way to select nodes. The difference between no topology and an
// empty one is that of the API: no node, or all of them.
func TestTopology(t *testing.T) {
	node := func(name, zone string) string {
		return fmt.Sprintf("---\napiVersion: v1\nkind: Node\nmetadata: {name: %[1]s, labels: {kubernetes.io/hostname: %[1]s, zone: %[2]s}}\n", name, zone)
	}
	yaml := node("n3", "b") + node("n1", "a") + node("n2", "a") +
		"---\napiVersion: v1\nkind: Node\nmetadata: {name: n4}\n"
	const tail = "storageClassName: fast\ncapacity: 1Gi\n"
	want := map[string][]inspect.NodeName{}
	for _, c := range []struct {
		name, topology string
		nodes          []inspect.NodeName
	}{
		{"absent", "", nil},
		{"empty", "nodeTopology: {}\n", []inspect.NodeName{"n1", "n2", "n3", "n4"}},
		{"one-node", "nodeTopology: {matchLabels: {kubernetes.io/hostname: n2}}\n", []inspect.NodeName{"n2"}},
		{"zone", "nodeTopology: {matchLabels: {zone: a}}\n", []inspect.NodeName{"n1", "n2"}},
		{"zone-and-node", "nodeTopology: {matchLabels: {zone: a, kubernetes.io/hostname: n3}}\n", nil},
		{"expression-of-one", "nodeTopology: {matchExpressions: [{key: zone, operator: In, values: [b]}]}\n", []inspect.NodeName{"n3"}},
		{"several-values", "nodeTopology: {matchExpressions: [{key: zone, operator: In, values: [b, a]}]}\n", []inspect.NodeName{"n1", "n2", "n3"}},
		{"not-in", "nodeTopology: {matchExpressions: [{key: zone, operator: NotIn, values: [a]}]}\n", []inspect.NodeName{"n3", "n4"}},
		{"exists", "nodeTopology: {matchExpressions: [{key: zone, operator: Exists}]}\n", []inspect.NodeName{"n1", "n2", "n3"}},
		{"does-not-exist", "nodeTopology: {matchExpressions: [{key: zone, operator: DoesNotExist}]}\n", []inspect.NodeName{"n4"}},
		{"unknown-label", "nodeTopology: {matchLabels: {rack: a}}\n", nil},
		{"invalid", "nodeTopology: {matchExpressions: [{key: zone, operator: Near}]}\n", nil},
	} {
		yaml += capacity + "{name: " + c.name + ", namespace: kube-system}\n" + c.topology + tail
		want[c.name] = c.nodes
	}
	got := map[string][]inspect.NodeName{}
	for _, c := range Capacities(snapshot(t, yaml)) {
		got[c.Object.Name] = c.Nodes
		if (c.Err != nil) != (c.Object.Name == "invalid") {
			t.Errorf("%s: error %v", c.Object.Name, c.Err)
		}
		if c.Class != "fast" || c.Total.String() != "1Gi" || c.Largest != nil {
			t.Errorf("%s: %+v", c.Object.Name, c)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
}

// TestAssumedNodes: when no nodes could be read, those that ResourceSlices name stand in for them.
func TestAssumedNodes(t *testing.T) {
	yaml := capacity + "{name: all}\nnodeTopology: {}\nstorageClassName: fast\n"
	if got := Capacities(snapshot(t, yaml)); len(got) != 1 || len(got[0].Nodes) != 0 {
		t.Errorf("without any node: %+v", got)
	}
	yaml += "---\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s}\nspec: {driver: d.example.com, nodeName: n7, pool: {name: n7, generation: 1, resourceSliceCount: 1}, devices: []}\n"
	yaml += capacity + "{name: elsewhere}\nnodeTopology: {matchExpressions: [{key: zone, operator: NotIn, values: [a]}]}\nstorageClassName: fast\n"
	got := Capacities(snapshot(t, yaml))
	if len(got) != 2 || !cmp.Equal(got[0].Nodes, []inspect.NodeName{"n7"}) || got[1].Nodes != nil {
		t.Errorf("with a slice of n7, whose labels are not known: %+v", got)
	}
}

// TestFixtures reads the objects with every field set that Kubernetes publishes.
func TestFixtures(t *testing.T) {
	for _, version := range []string{"v1", "v1beta1"} {
		data, err := os.ReadFile("testdata/" + version + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		got := Capacities(snapshot(t, string(data)))
		if len(got) != 1 || got[0].Class != "storageClassNameValue" || got[0].Total.String() != "0" || got[0].Largest.String() != "0" ||
			got[0].Err == nil || !strings.Contains(got[0].Err.Error(), "operatorValue") { // the operator is as made up as the rest
			t.Errorf("%s: %+v", version, got)
		}
	}
}

// TestIndexAgrees holds the index against trying every node.
func TestIndexAgrees(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	value := func() string { return fmt.Sprint("v", r.IntN(3)) }
	operators := []metav1.LabelSelectorOperator{"In", "NotIn", "Exists", "DoesNotExist"}
	for range 300 {
		var objects inspect.Objects
		for n := range 6 {
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("n", n), Labels: map[string]string{}}}
			for k := range 3 {
				if r.IntN(3) > 0 {
					node.Labels[fmt.Sprint("k", k)] = value()
				}
			}
			objects.Nodes = append(objects.Nodes, node)
		}
		for c := range 8 {
			topology := &metav1.LabelSelector{}
			for range r.IntN(3) {
				e := metav1.LabelSelectorRequirement{Key: fmt.Sprint("k", r.IntN(4)), Operator: operators[r.IntN(4)]}
				if e.Operator == "In" || e.Operator == "NotIn" {
					e.Values = []string{value(), value()}[:1+r.IntN(2)]
				}
				topology.MatchExpressions = append(topology.MatchExpressions, e)
			}
			objects.StorageCapacities = append(objects.StorageCapacities,
				&storagev1.CSIStorageCapacity{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("c", c)}, NodeTopology: topology})
		}
		for _, c := range Capacities(inspect.New(objects, inspect.Config{Revision: 1})) {
			var want []inspect.NodeName
			for _, node := range objects.Nodes {
				if c.Topology.Matches(labels.Set(node.Labels)) {
					want = append(want, inspect.NodeName(node.Name))
				}
			}
			if diff := cmp.Diff(want, c.Nodes); diff != "" {
				t.Fatalf("%v (-want +got):\n%s", c.Topology, diff)
			}
		}
	}
}

// BenchmarkCapacities is 5,000 nodes with two classes of local storage each.
func BenchmarkCapacities(b *testing.B) {
	var objects inspect.Objects
	for n := range 5000 {
		name := fmt.Sprintf("n%04d", n)
		host := map[string]string{"topology.example.com/node": name}
		objects.Nodes = append(objects.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: host}})
		for _, class := range []string{"fast", "slow"} {
			objects.StorageCapacities = append(objects.StorageCapacities, &storagev1.CSIStorageCapacity{
				ObjectMeta: metav1.ObjectMeta{Name: class + name}, StorageClassName: class, NodeTopology: &metav1.LabelSelector{MatchLabels: host}})
		}
	}
	s := inspect.New(objects, inspect.Config{Revision: 1})
	for b.Loop() {
		if got := Capacities(s); len(got) != 10000 || len(got[4].Nodes) != 1 {
			b.Fatal(len(got))
		}
	}
}
