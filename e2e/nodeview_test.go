package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
	"github.com/kubectl-dra/kubectl-dra/e2e/node"
)

// nodeAnswer is what `kubectl dra node -o json` says.
type nodeAnswer struct {
	Node       string
	Problems   []struct{ Code, Message string }
	Containers []struct {
		Pod, Container string
		Devices        []struct{ Resource, ID string }
		Claims         []struct {
			Name    string
			Devices []struct {
				Device         string
				OtherContainer bool
			}
		}
	}
	Claims    []nodeClaim
	Resources []struct {
		Name                                             string
		Capacity, Allocatable, Healthy, Registered, Used int
	}
	Plugins []struct {
		Type, Name string
		Answers    bool
		Versions   []string
	}
	Sources []struct{ Name, State, Message string }
	Partial []string
}

// nodeClaim is a claim of a nodeAnswer.
type nodeClaim struct {
	Name, Known, Allocated, Prepared string
	Devices                          []struct {
		Device, Published, Allocated, Prepared string
		CDI                                    []string
	}
}

func nodeOf(t *testing.T, c *cluster.Cluster, m *machine, args ...string) nodeAnswer {
	t.Helper()
	var answer nodeAnswer
	must(t, c, 0, append([]string{"node", "--kubelet-dir", m.Dir, "-o", "json"}, args...)...).JSON(t, &answer)
	return answer
}

// splitPod has two containers that ask for a request of one claim each, and one of them for a widget.
const splitPod = `apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: split}
spec: {devices: {requests: [{name: a, exactly: {deviceClassName: gpu}}, {name: b, exactly: {deviceClassName: gpu}}]}}
---
apiVersion: v1
kind: Pod
metadata: {name: split}
spec:
  nodeSelector: {kubernetes.io/hostname: n1}
  terminationGracePeriodSeconds: 1
  resourceClaims: [{name: gpus, resourceClaimName: split}]
  containers:
  - {name: ca, image: example.com/none, resources: {limits: {example.com/widget: "1"}, claims: [{name: gpus, request: a}]}}
  - {name: cb, image: example.com/none, resources: {claims: [{name: gpus, request: b}]}}
`

// nodeView holds what the plugin says of a node against what a real kubelet, its drivers and its device
// plugin did. The kubelet lists both devices of the claim with both containers, and the CDI device of the
// first with the second.
func nodeView(t *testing.T, c *cluster.Cluster, m *machine) {
	c.ApplyText(t, splitPod)
	runs(t, c, "split")
	claim := getClaim(t, c, "split")
	device := map[string]string{}
	for _, r := range claim.Status.Allocation.Devices.Results {
		device[r.Request] = r.Device
	}
	var answer nodeAnswer
	cluster.Eventually(t, func(context.Context) error { // a plugin that takes more than two seconds to answer is told of
		if answer = nodeOf(t, c, m); answer.Node != m.Name || len(answer.Problems) > 0 || len(answer.Partial) > 0 {
			return fmt.Errorf("node %q, problems %v, partial %v; want %s and none", answer.Node, answer.Problems, answer.Partial, m.Name)
		}
		return nil
	})
	var got []string
	for _, container := range answer.Containers {
		for _, d := range container.Devices {
			got = append(got, fmt.Sprintf("%s %s %s", container.Container, d.Resource, strings.TrimRight(d.ID, "01")))
		}
		for _, use := range container.Claims {
			for _, d := range use.Devices {
				got = append(got, fmt.Sprintf("%s %s %s other %v", container.Container, use.Name, d.Device, d.OtherContainer))
			}
		}
	}
	slices.Sort(got)
	want := []string{"ca " + widgets + " device-", fmt.Sprintf("ca split %s other false", device["a"]), fmt.Sprintf("ca split %s other true", device["b"]),
		fmt.Sprintf("cb split %s other true", device["a"]), fmt.Sprintf("cb split %s other false", device["b"])}
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("containers (-given +plugin):\n%s", diff)
	}
	got = nil
	for _, cl := range answer.Claims {
		for _, d := range cl.Devices {
			got = append(got, fmt.Sprint(cl.Name, cl.Known, cl.Allocated, cl.Prepared, d.Device, d.Published, d.Allocated, d.Prepared, d.CDI))
		}
	}
	want = nil
	for _, d := range []string{"gpu-0", "gpu-1"} {
		want = append(want, fmt.Sprint("split", "Yes", "Yes", "Yes", d, "Yes", "Yes", "Yes", []string{node.CDIDevice(gpuDriver, claim.UID, d)}))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("claims (-given +plugin):\n%s", diff)
	}
	for _, r := range answer.Resources {
		if r.Name == widgets && (r.Capacity != 2 || r.Allocatable != 2 || r.Healthy != 2 || r.Registered != 2 || r.Used != 1) {
			t.Errorf("%+v, want 2 of everything, and 1 in use", r)
		}
	}
	got = nil
	for _, p := range answer.Plugins {
		got = append(got, fmt.Sprint(p.Type, " ", p.Name, " ", p.Answers))
	}
	if diff := cmp.Diff([]string{"DRAPlugin " + gpuDriver + " true", "DRAPlugin " + nicDriver + " true", "DevicePlugin  true"}, got); diff != "" {
		t.Errorf("plugins (-running +plugin):\n%s", diff)
	}
	if err := m.offersWidgets(t.Context(), c); err != nil {
		t.Errorf("after the look: %v", err)
	}
	finish(t, c, m, "split")
}

// nodeWithoutKubelet looks at a node whose kubelet is stopped, with the claim of a pod prepared.
func nodeWithoutKubelet(t *testing.T, c *cluster.Cluster, m *machine, claim string) {
	answer := nodeOf(t, c, m, m.Name)
	at := slices.IndexFunc(answer.Claims, func(cl nodeClaim) bool { return cl.Name == claim })
	if at < 0 || answer.Claims[at].Prepared != "Yes" {
		t.Errorf("claims %+v, want %s prepared as the checkpoint says", answer.Claims, claim)
	}
	if s := answer.Sources[0]; s.Name != "pod-resources List" || s.State == "Synced" || s.Message == "" {
		t.Errorf("source %+v, want it said that PodResources does not answer", s)
	}
}
