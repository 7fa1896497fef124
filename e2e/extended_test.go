package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
)

// TestExtendedResources has device plugins on some nodes and DRA on another offer the same resource. Whatever
// the plugin says is free on a node, the scheduler gives to a pod, and no more; and it is served by whom the
// plugin says.
func TestExtendedResources(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Controllers: []string{"resourceclaim-controller"}})
	c.ApplyText(t, `apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec: {extendedResourceName: example.com/gpu, selectors: [{cel: {expression: device.driver == "gpu.example.com"}}]}
`)
	for _, node := range []string{"dra", "many", "sick", "stopped"} {
		c.AddNode(t, node, map[string]string{corev1.LabelHostname: node})
	}
	c.ApplyText(t, sliceYAML("gpu.example.com", "dra", 3))
	report(t, c, "many", 5, 5)
	report(t, c, "sick", 4, 3)
	report(t, c, "stopped", 4, 0)
	ask := func(name, node string, count int) {
		c.ApplyText(t, podYAML(name, node, "", fmt.Sprintf(`limits: {example.com/gpu: "%d"}`, count)))
	}
	ask("a", "sick", 2)
	ask("b", "many", 1)
	ask("c", "dra", 1)
	for pod, node := range map[string]string{"a": "sick", "b": "many", "c": "dra"} {
		bound(t, c, pod, node)
	}
	want := []string{"dra DRA 3/3/1/2 c:DRA", "many DevicePlugin 5/5/1/4 b:DevicePlugin", "sick DevicePlugin 4/3/2/1 a:DevicePlugin", "stopped DRA 0/0/0/0"}
	if diff := cmp.Diff(append(want, "in all 7 free, 4 on many"), extendedRows(t, c, "example.com/gpu")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for node, free := range map[string]int{"dra": 2, "many": 4, "sick": 1, "stopped": 0} {
		ask("more-than-"+node, node, free+1)
		if condition, on := c.PodScheduled(t, "default", "more-than-"+node, refused); on != "" {
			t.Errorf("a pod that asks for %d is on %s: %s", free+1, on, condition.Message)
		}
		if free > 0 {
			ask("all-of-"+node, node, free)
			bound(t, c, "all-of-"+node, node)
		}
	}
	// A device plugin comes to the node where DRA has served: it serves from now on, and the scheduler does
	// not tell apart what pods have from whom.
	report(t, c, "dra", 4, 4)
	got := extendedRows(t, c, "example.com/gpu")
	if want := "dra DevicePlugin 4/4/0/1 all-of-dra:DRA c:DRA"; got[0] != want {
		t.Errorf("%s, want %s", got[0], want)
	}
	ask("late", "dra", 1)
	bound(t, c, "late", "dra")
	ask("too-late", "dra", 1)
	if condition, on := c.PodScheduled(t, "default", "too-late", refused); on != "" {
		t.Errorf("a pod of which the plugin says that nothing is left for it is on %s: %s", on, condition.Message)
	}
}

// refused is what to expect of a pod that fits nowhere.
func refused(decision corev1.PodCondition, node string) bool {
	return node == "" && decision.Reason == corev1.PodReasonUnschedulable
}

// report is what a kubelet says of a device plugin.
func report(t *testing.T, c *cluster.Cluster, node string, capacity, allocatable int) {
	t.Helper()
	patch := fmt.Sprintf(`{"status": {"capacity": {"example.com/gpu": "%d"}, "allocatable": {"example.com/gpu": "%d"}}}`, capacity, allocatable)
	if _, err := c.Client().CoreV1().Nodes().Patch(t.Context(), node, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}
}

// extendedRows are the rows of a resource, as "NODE SERVER OFFERED/HEALTHY/USED/FREE POD:SERVER", and its
// total.
func extendedRows(t *testing.T, c *cluster.Cluster, resource string) []string {
	t.Helper()
	var list struct {
		Items []struct {
			Node, ServedBy                    string
			Capacity, Allocatable, Used, Free int
			Pods                              []struct{ Name, ServedBy string }
		}
		Totals []struct {
			Free, MostFree int
			MostFreeNode   string
		}
	}
	result := c.Plugin(t, cluster.Admin, "get", "extended", resource, "-o", "json")
	result.JSON(t, &list)
	var rows []string
	for _, i := range list.Items {
		row := fmt.Sprintf("%s %s %d/%d/%d/%d", i.Node, i.ServedBy, i.Capacity, i.Allocatable, i.Used, i.Free)
		for _, p := range i.Pods {
			row += " " + p.Name + ":" + p.ServedBy
		}
		rows = append(rows, row)
	}
	for _, total := range list.Totals {
		rows = append(rows, strings.TrimSpace(fmt.Sprintf("in all %d free, %d on %s", total.Free, total.MostFree, total.MostFreeNode)))
	}
	return rows
}
