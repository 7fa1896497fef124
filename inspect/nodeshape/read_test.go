package nodeshape

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// told is what a shape says, in short.
func told(s *Shape) string {
	var parts []string
	parts = append(parts, s.Name, string(s.Source))
	for _, name := range slices.Sorted(maps.Keys(s.Node.Status.Allocatable)) {
		q := s.Node.Status.Allocatable[name]
		parts = append(parts, fmt.Sprintf("%s=%s", name, q.String()))
	}
	for _, key := range slices.Sorted(maps.Keys(s.Node.Labels)) {
		if key != corev1.LabelOSStable && key != corev1.LabelArchStable {
			parts = append(parts, key+":"+s.Node.Labels[key])
		}
	}
	for _, t := range s.Node.Spec.Taints {
		parts = append(parts, fmt.Sprintf("%s=%s:%s", t.Key, t.Value, t.Effect))
	}
	for _, slice := range s.Company.Slices {
		parts = append(parts, fmt.Sprintf("%d of %s", len(slice.Spec.Devices), slice.Spec.Driver))
	}
	for _, d := range s.Company.CSINodes {
		for _, driver := range d.Spec.Drivers {
			parts = append(parts, fmt.Sprintf("%d volumes of %s", *driver.Allocatable.Count, driver.Name))
		}
	}
	if s.Max > 0 {
		parts = append(parts, fmt.Sprintf("at most %d", s.Max))
	}
	return strings.Join(parts, " ")
}

const sliceManifest = `
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s-%[1]s}
spec:
  driver: gpu.example.com
  nodeName: %[1]s
  pool: {name: %[1]s, generation: 1, resourceSliceCount: 1}
  devices: [{name: gpu-0}, {name: gpu-1}]
---`

const nodeManifest = `
apiVersion: v1
kind: Node
metadata: {name: %[1]s, labels: {tier: fast}}
spec: {unschedulable: true, taints: [{key: gpu, effect: NoSchedule}, {key: node.kubernetes.io/not-ready, effect: NoSchedule}]}
status: {allocatable: {cpu: 8, memory: 1Gi}}
---`

const group = `
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDeployment
metadata:
  name: pool
  annotations:
    cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size: "7"
    capacity.cluster-autoscaler.kubernetes.io/cpu: "16"
    capacity.cluster-autoscaler.kubernetes.io/memory: 128G
    capacity.cluster-autoscaler.kubernetes.io/ephemeral-disk: 100Gi
    capacity.cluster-autoscaler.kubernetes.io/maxPods: "200"
    capacity.cluster-autoscaler.kubernetes.io/gpu-count: "%s"
    capacity.cluster-autoscaler.kubernetes.io/%s
    capacity.cluster-autoscaler.kubernetes.io/labels: "a=b,c=d"
    capacity.cluster-autoscaler.kubernetes.io/taints: "own=1:NoSchedule,key=x:NoExecute"
    capacity.cluster-autoscaler.kubernetes.io/csi-driver: "ebs.csi.aws.com=25"
spec:
  template:
    metadata: {labels: {node-role.kubernetes.io/worker: "", not-for-nodes: x, my.node.cluster.x-k8s.io/zone: z}}
    spec: {taints: [{key: own, value: "0", effect: NoSchedule}, {key: kept, effect: NoSchedule}]}
`

const karpenter = `
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: spot}
spec:
  template:
    metadata: {labels: {team: ml}}
    spec:
      taints: [{key: spot, effect: NoSchedule}]
      requirements:
      - {key: karpenter.sh/capacity-type, operator: In, values: [spot]}
      - {key: example.com/size, operator: Gte, values: ["4"]}
      - {key: stage, operator: In, values: [prod]}
---
apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata: {name: cheaper}
spec:
  weight: 2
  requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [g5]}]
  priceAdjustment: "-10%"
  capacity: {example.com/fuse: 1}
  resourceSlices: [{spec: {driver: nic.example.com, devices: [{name: nic-0}]}}]
---
instanceTypes:
- name: g5
  labels: {example.com/size: "4"}
  capacity: {cpu: 16, memory: 64Gi, pods: 58}
  offerings: [{capacityType: spot, zone: a, price: 2}, {capacityType: on-demand, zone: a, price: 9}, {capacityType: spot, zone: b, price: 3, available: false}]
  resourceSlices: [{driver: gpu.example.com, devices: [{name: gpu-0}]}]
- name: g4
  labels: {example.com/size: "3"}
  resources: {cpu: 8}
`

// TestRead reads each format.
func TestRead(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"a node and its slices", fmt.Sprintf(nodeManifest, "gpu") + fmt.Sprintf(sliceManifest, "gpu"),
			[]string{"gpu Manifest cpu=8 memory=1Gi pods=110 tier:fast gpu=:NoSchedule 2 of gpu.example.com"}},
		{"a node and slices of a node without a name yet", fmt.Sprintf(nodeManifest, "gpu") + fmt.Sprintf(sliceManifest, "node-name"),
			[]string{"gpu Manifest cpu=8 memory=1Gi pods=110 tier:fast gpu=:NoSchedule 2 of gpu.example.com"}},
		{"two nodes", fmt.Sprintf(nodeManifest, "a") + fmt.Sprintf(sliceManifest, "b") + fmt.Sprintf(nodeManifest, "b"),
			[]string{"a Manifest cpu=8 memory=1Gi pods=110 tier:fast gpu=:NoSchedule", "b Manifest cpu=8 memory=1Gi pods=110 tier:fast gpu=:NoSchedule 2 of gpu.example.com"}},
		{"a list", `{"kind": "List", "items": [{"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n"}, "status": {"capacity": {"cpu": "1"}}}]}`, []string{"n Manifest cpu=1 pods=110"}},
		{"a group with a DRA driver", fmt.Sprintf(group, "4", "dra-driver: gpu.example.com"), []string{
			"pool ClusterAutoscaler cpu=16 ephemeral-storage=100Gi memory=128G pods=200 a:b c:d my.node.cluster.x-k8s.io/zone:z node-role.kubernetes.io/worker: " +
				"kept=:NoSchedule own=1:NoSchedule key=x:NoExecute 4 of gpu.example.com 25 volumes of ebs.csi.aws.com at most 7"}},
		{"a group with an extended resource", fmt.Sprintf(group, "4", "gpu-type: example.com/gpu"), []string{
			"pool ClusterAutoscaler cpu=16 ephemeral-storage=100Gi example.com/gpu=4 memory=128G pods=200 a:b c:d my.node.cluster.x-k8s.io/zone:z node-role.kubernetes.io/worker: " +
				"kept=:NoSchedule own=1:NoSchedule key=x:NoExecute 25 volumes of ebs.csi.aws.com at most 7"}},
		{"a group and the slices of its driver", fmt.Sprintf(group, "4", "dra-driver: gpu.example.com") + "---" + fmt.Sprintf(sliceManifest, "x"), []string{
			"pool ClusterAutoscaler cpu=16 ephemeral-storage=100Gi memory=128G pods=200 a:b c:d my.node.cluster.x-k8s.io/zone:z node-role.kubernetes.io/worker: " +
				"kept=:NoSchedule own=1:NoSchedule key=x:NoExecute 2 of gpu.example.com 25 volumes of ebs.csi.aws.com at most 7"}},
		{"instance types of a NodePool", karpenter, []string{
			"spot/g5/a/spot Karpenter cpu=16 example.com/fuse=1 memory=64Gi pods=58 example.com/size:4 karpenter.sh/capacity-type:spot karpenter.sh/nodepool:spot " +
				"node.kubernetes.io/instance-type:g5 stage:prod team:ml topology.kubernetes.io/zone:a spot=:NoSchedule 1 of gpu.example.com 1 of nic.example.com"}},
		{"instance types alone", `[{"name": "t", "resources": {"cpu": "2"}, "allocatable": {"cpu": "1"}, "price": 1, "dynamicResources": {"resourceSliceTemplates": [{"driver": "d.example.com", "devices": [{"name": "x"}]}]}}]`,
			[]string{"t Karpenter cpu=1 pods=110 node.kubernetes.io/instance-type:t 1 of d.example.com"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			shapes, err := Read("file", []byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i := range shapes {
				got = append(got, told(&shapes[i]))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

// TestReadMistakes reads files of which no node can be made.
func TestReadMistakes(t *testing.T) {
	annotated := func(key, value string) string {
		return fmt.Sprintf("kind: MachineSet\nmetadata: {name: m, annotations: {capacity.cluster-autoscaler.kubernetes.io/cpu: '1', capacity.cluster-autoscaler.kubernetes.io/memory: 1Gi, %s: '%s'}}", key, value)
	}
	const ca = "capacity.cluster-autoscaler.kubernetes.io/"
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "", "describes no node"},
		{"something else", "kind: ConfigMap\nmetadata: {name: x}", "describes no node"},
		{"no YAML", "{", "reading nodes from file"},
		{"text", "just text", "reading nodes from file"},
		{"no kind", "a: b", "an object has no kind"},
		{"a node without room", "apiVersion: v1\nkind: Node\nmetadata: {name: nn}", "neither status.allocatable nor status.capacity"},
		{"a slice for all nodes", fmt.Sprintf(nodeManifest, "nn") + "\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s}\nspec: {driver: d.example.com, allNodes: true, pool: {name: p, generation: 1, resourceSliceCount: 1}, devices: [{name: x}]}", "names no node"},
		{"slices alone", fmt.Sprintf(sliceManifest, "a"), "no Node"},
		{"a slice of a third node", fmt.Sprintf(nodeManifest, "a") + fmt.Sprintf(nodeManifest, "b") + fmt.Sprintf(sliceManifest, "c"), "1 ResourceSlices are of none"},
		{"a group without memory", "kind: MachineSet\nmetadata: {name: m, annotations: {" + ca + "cpu: '1'}}", "memory is missing"},
		{"a count that is none", annotated(ca+"gpu-count", "many"), "is no number"},
		{"too many", annotated(ca+"gpu-count", "1000000000"), "is no number"},
		{"a quantity that is none", annotated(ca+"maxPods", "x"), "is no quantity"},
		{"labels that are none", annotated(ca+"labels", "x"), "is not key=value"},
		{"a taint without an effect", annotated(ca+"taints", "x=y"), "is not key=value:effect"},
		{"a taint with another effect", annotated(ca+"taints", "x=y:Never"), "is no effect"},
		{"no size", annotated("cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size", "0"), "may have no nodes"},
		{"a type without a name", "instanceTypes: [{capacity: {cpu: 1}}]", "has no name"},
		{"a type without room", "instanceTypes: [{name: x}]", "has no capacity"},
		{"a slice without a driver", "instanceTypes: [{name: x, capacity: {cpu: 1}, resourceSlices: [{devices: [{name: a}]}]}]", "names no driver"},
		{"a pool without types", "kind: NodePool\nmetadata: {name: p}", "no instance types"},
		{"a pool that takes none", karpenter + "\n---\n", ""},
		{"an operator that is none", strings.Replace(karpenter, "Gte", "About", 1), "is no operator"},
		{"an overlay that is none", strings.Replace(karpenter, "fuse: 1", "fuse: x", 1), "NodeOverlay"},
		{"requirements that nothing meets", strings.Replace(karpenter, `"4"]`, `"40"]`, 1), "no NodePool takes any"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Read("file", []byte(tt.text))
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("the error is %v, want %q", err, tt.want)
			}
		})
	}
}

// FuzzRead reads what is no description of nodes, and adds to a cluster what can be read.
func FuzzRead(f *testing.F) {
	for _, text := range []string{fmt.Sprintf(nodeManifest, "a") + fmt.Sprintf(sliceManifest, "a"), fmt.Sprintf(group, "4", "dra-driver: gpu.example.com"), karpenter, "[{}]", "instanceTypes: [null]", "items: [[]]", "shapes: {a: 1}"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		shapes, err := Read("file", data)
		if err != nil {
			return
		}
		MakeUnique(shapes)
		names := map[string]bool{}
		o := &inspect.Objects{}
		for i := range shapes {
			if names[shapes[i].Name] {
				t.Errorf("two shapes are called %q", shapes[i].Name)
			}
			names[shapes[i].Name] = true
			shapes[i].Add(o, 0)
			shapes[i].Add(o, 1)
		}
		inspect.New(*o, inspect.Config{}).Inventory()
	})
}
