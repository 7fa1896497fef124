package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
)

// nodeToAdd is a node as a file describes it, and as it is made.
type nodeToAdd struct {
	name    string
	cpus    int
	devices int
	model   string
	taint   string
}

func (n *nodeToAdd) slice(node string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: %[1]s-shapes}
spec:
  driver: shapes.example.com
  nodeName: %[1]s
  pool: {name: %[1]s, generation: 1, resourceSliceCount: 1}
  devices:
`, node)
	for i := range n.devices {
		fmt.Fprintf(&b, "  - {name: gpu-%d, attributes: {model: {string: %s}}}\n", i, n.model)
	}
	return b.String()
}

// manifests describes the node by what it is.
func (n *nodeToAdd) manifests() string {
	text := fmt.Sprintf("apiVersion: v1\nkind: Node\nmetadata: {name: %s}\n", n.name)
	if n.taint != "" {
		text += fmt.Sprintf("spec: {taints: [{key: %s, effect: NoSchedule}]}\n", n.taint)
	}
	text += fmt.Sprintf("status: {allocatable: {cpu: %d, memory: 8Gi, pods: 20}}\n", n.cpus)
	return text + "---\n" + n.slice(n.name) + "---\n"
}

// instanceType describes the node as something that can be bought.
func (n *nodeToAdd) instanceType() string {
	text := fmt.Sprintf("- name: %s\n  capacity: {cpu: %d, memory: 8Gi, pods: 20}\n", n.name, n.cpus)
	if n.taint != "" {
		text += fmt.Sprintf("  taints: [{key: %s, effect: NoSchedule}]\n", n.taint)
	}
	text += "  resourceSlices:\n  - driver: shapes.example.com\n    devices:\n"
	for i := range n.devices {
		text += fmt.Sprintf("    - {name: gpu-%d, attributes: {model: {string: %s}}}\n", i, n.model)
	}
	return text
}

// add makes a node of the kind. The scheduler does not look at it before it is as it is meant.
func (n *nodeToAdd) add(t *testing.T, c *cluster.Cluster, name string) {
	t.Helper()
	nodes := c.Client().CoreV1().Nodes()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}}, Spec: corev1.NodeSpec{Unschedulable: true}}
	if _, err := nodes.Create(t.Context(), node, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if n.devices > 0 {
		c.ApplyText(t, n.slice(name))
	}
	patch := fmt.Sprintf(`{"status":{"allocatable":{"cpu":"%d","memory":"8Gi","pods":"20"},"conditions":[{"type":"Ready","status":"True","reason":"Test"}]}}`, n.cpus)
	if _, err := nodes.Patch(t.Context(), name, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}
	taints := "[]"
	if n.taint != "" {
		taints = fmt.Sprintf(`[{"key":%q,"effect":"NoSchedule"}]`, n.taint)
	}
	patch = fmt.Sprintf(`{"spec":{"unschedulable":null,"taints":%s}}`, taints)
	if _, err := nodes.Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

const shapesYAML = `apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: shapes}
spec: {selectors: [{cel: {expression: device.driver == "shapes.example.com"}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: many}
spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: shapes, count: COUNT, selectors: [{cel: {expression: 'device.attributes["shapes.example.com"].model == "good"'}}]}}]}}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one}
spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: shapes}}]}}}
---
`

const shapesPodYAML = `apiVersion: v1
kind: Pod
metadata: {name: NAME}
spec:
  resourceClaims: [{name: gpu, resourceClaimTemplateName: TEMPLATE}]
  containers: [{name: main, image: example.com/none, resources: {requests: {cpu: CPUS}, claims: [{name: gpu}]}}]
---
`

type shapeAnswers struct {
	Shapes []struct {
		Name, Verdict, Pod, Code, Why string
		Count                         int
		Fits                          bool
	}
}

// TestShapes adds to a cluster what is proposed, and the scheduler has to place all pods; and before that
// what is said to fail, and the pod that is named has to wait for the reason that is given.
func TestShapes(t *testing.T) {
	t.Parallel()
	problems := effort.InFull(40, 10)
	c := cluster.Start(t, cluster.Options{Controllers: []string{"resourceclaim-controller"}})
	for seed := range problems {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			tryShapes(t, c, rand.New(rand.NewPCG(uint64(seed), 1)), seed)
		})
	}
}

func tryShapes(t *testing.T, c *cluster.Cluster, r *rand.Rand, seed int) {
	t.Helper()
	count, cpus := 1+r.IntN(2), 1+r.IntN(3)
	good := nodeToAdd{name: "good", cpus: cpus * (1 + r.IntN(3)), devices: count + r.IntN(4), model: "good"}
	bad := good
	bad.name = "bad"
	says := "cannot allocate all claims"
	switch seed % 4 {
	case 0:
		bad.model = "other"
	case 1:
		bad.devices = count - 1
	case 2:
		bad.cpus, says = cpus-1, "Insufficient cpu"
	case 3:
		bad.taint, says = "example.com/no", "untolerated taint"
	}
	text := strings.ReplaceAll(shapesYAML, "COUNT", fmt.Sprint(count))
	pods := 1 + r.IntN(4)
	var names []string
	for i := range pods {
		name, template := fmt.Sprintf("waits-%d", i), "many"
		if i > 0 && r.IntN(2) == 0 {
			template = "one"
		}
		names = append(names, name)
		text += strings.NewReplacer("NAME", name, "TEMPLATE", template, "CPUS", fmt.Sprint(cpus)).Replace(shapesPodYAML)
	}
	begin := func() {
		c.Clear(t)
		(&nodeToAdd{}).add(t, c, "base")
		c.ApplyText(t, text)
		for _, name := range names {
			c.PodScheduled(t, "default", name, func(corev1.PodCondition, string) bool { return true })
		}
	}
	begin()
	file := filepath.Join(t.TempDir(), "nodes.yaml")
	described := good.manifests() + bad.manifests()
	if seed%2 == 1 {
		described = "instanceTypes:\n" + good.instanceType() + bad.instanceType()
	}
	if err := os.WriteFile(file, []byte(described), 0o600); err != nil {
		t.Fatal(err)
	}
	var answers shapeAnswers
	result := c.Plugin(t, cluster.Admin, "plan", "nodes", "pending", "-n", "default", "--shape", file, "-o", "json")
	result.JSON(t, &answers)
	if result.Code != 0 {
		t.Fatalf("exit code %d\n%v", result.Code, result)
	}
	for _, a := range answers.Shapes {
		if a.Name == "bad" {
			if a.Verdict != "Fails" {
				t.Fatalf("bad: %s\n%v", a.Verdict, result)
			}
			refusedOn(t, c, &bad, strings.TrimPrefix(a.Pod, "default/"), a.Code, says, result)
		}
	}
	best := answers.Shapes[0]
	if best.Name != "good" || !best.Fits {
		t.Fatalf("best is %s\n%v", best.Name, result)
	}
	begin()
	for i := range best.Count {
		good.add(t, c, fmt.Sprintf("good-%d", i))
	}
	for _, name := range names {
		if decision, node := c.PodScheduled(t, "default", name, cluster.Placed); node == "" {
			t.Errorf("pod %s waits with %d × good: %s\n%v", name, best.Count, decision.Message, result)
		}
	}
}

// refusedOn adds nodes of which it is said that they do not help a pod, because of a code. The scheduler has
// to refuse it and say the like.
func refusedOn(t *testing.T, c *cluster.Cluster, bad *nodeToAdd, pod, code, says string, result cluster.Result) {
	t.Helper()
	for i := range 2 {
		bad.add(t, c, fmt.Sprintf("bad-%d", i))
	}
	codes := map[string][]string{
		"cannot allocate all claims": {"NotEnoughDevices", "SelectorRejected", "NoDevices", "ClassSelectorRejected"},
		"Insufficient cpu":           {"NodeResources", "InsufficientResources"}, "untolerated taint": {"NodeTainted", "TaintToleration"},
	}
	if !slices.Contains(codes[says], code) {
		t.Errorf("the code is %s, and the scheduler should say %q\n%v", code, says, result)
	}
	decision, node := c.PodScheduled(t, "default", pod, func(d corev1.PodCondition, _ string) bool {
		return strings.Contains(d.Message, says) && strings.Contains(d.Message, "3 nodes")
	})
	if node != "" || !strings.Contains(decision.Message, says) {
		t.Errorf("pod %s is on node %q: %s\n%v", pod, node, decision.Message, result)
	}
	var left []string
	cluster.Eventually(t, func(ctx context.Context) error {
		left = nil
		list, err := c.Client().CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
		for i := range list.Items {
			if list.Items[i].Spec.NodeName == "" {
				left = append(left, list.Items[i].Name)
			}
		}
		return err
	})
	if !slices.Contains(left, pod) {
		t.Errorf("pod %s does not wait\n%v", pod, result)
	}
}
