package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
	"github.com/kubectl-dra/kubectl-dra/e2e/node"
)

// fpgas is the resource of a second device plugin.
const fpgas = "example.com/fpga"

// nodeState is what `kubectl dra node -o json` says of what changes.
type nodeState struct {
	Node, Pod      string
	Kubelet        bool
	KubeletStarted time.Time
	Problems       []struct{ Code, Message string }
	Containers     []struct {
		Pod, Container, CPUs string
		NUMA                 []int
		Devices              []struct {
			Resource, ID string
			NUMA         []int
		}
		Claims []struct{ Name string }
	}
	CPUs    struct{ Policy, Allocatable, Exclusive, Shared string }
	Claims  []struct{ Name, Prepared string }
	Plugins []struct{ Type, Name string }
	Missing []struct {
		Type, Name string
		Evidence   []string
	}
	Health []struct {
		Pod, Container, Claim, Resource, ID, Health, Message string
		Device                                               struct{ Device string }
	}
	Sources        []struct{ Name, State string }
	Notes, Partial []string
}

func stateOf(t *testing.T, c *cluster.Cluster, args ...string) nodeState {
	t.Helper()
	var state nodeState
	must(t, c, 0, append([]string{"node", "-o", "json"}, args...)...).JSON(t, &state)
	return state
}

// source is how a part of the node could be read.
func (s *nodeState) source(name string) string {
	for _, source := range s.Sources {
		if source.Name == name {
			return source.State
		}
	}
	return ""
}

// unhealthy are the devices that are not healthy, and what is said of them.
func (s *nodeState) unhealthy() []string {
	var out []string
	for _, h := range s.Health {
		if h.Health != "Healthy" && h.Health != "Unknown" {
			out = append(out, strings.TrimSpace(fmt.Sprint(h.Pod, " ", h.Container, " ", h.Resource, " ", h.Device.Device, " ", h.Health, " ", h.Message)))
		}
	}
	return out
}

func (s *nodeState) missing() []string {
	var out []string
	for _, m := range s.Missing {
		out = append(out, fmt.Sprint(m.Type, " ", m.Name, " ", m.Evidence))
	}
	return out
}

// codes are those of the problems, each once.
func (s *nodeState) codes() []string {
	var out []string
	for _, p := range s.Problems {
		out = append(out, p.Code)
	}
	return slices.Compact(out)
}

// guaranteedPod has a CPU of its own, a widget, and a claim from a template for each driver.
const guaranteedPod = `apiVersion: v1
kind: Pod
metadata: {name: trainer}
spec:
  nodeSelector: {kubernetes.io/hostname: v1}
  resourceClaims: [{name: gpu, resourceClaimTemplateName: gpu}, {name: nic, resourceClaimTemplateName: nic}]
  containers:
  - name: main
    image: example.com/none
    resources:
      limits: {cpu: "1", memory: 64Mi, example.com/widget: "1"}
      claims: [{name: gpu}, {name: nic}]
`

// TestNodeState has real kubelets whose devices turn unhealthy and whose plugins do not come back. One gives
// containers CPUs of their own and serves the Pods API; the other one does not serve it.
func TestNodeState(t *testing.T) {
	cluster.BuildKubelet(t)
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Controllers: []string{"resourceclaim-controller"}})
	c.Apply(t, "testdata/kubelets.yaml")
	static := cluster.KubeletOptions{Configuration: "cpuManagerPolicy: static\nreservedSystemCPUs: \"0\"\n"}
	v1 := &machine{Kubelet: c.StartKubeletsWith(t, static, "v1")[0], drivers: map[string]*node.Driver{}}
	v2 := c.StartKubeletsWith(t, cluster.KubeletOptions{FeatureGates: map[string]bool{"PodsAPI": false}}, "v2")[0]
	gpu, err := node.StartDriver(t.Context(), node.DriverOptions{Name: gpuDriver, Node: v1.Name, KubeletDir: v1.Dir, Client: c.Client(), Devices: gpus(), Log: t.Output(), Health: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(gpu.Stop)
	v1.drivers[gpuDriver] = gpu
	v1.start(t, c, nicDriver, nics())
	widget := startPlugin(t, v1.Kubelet, widgets)
	t.Cleanup(widget.Stop)
	v1.registered(t, c, "v1")

	t.Run("device plugins come and go", func(t *testing.T) { pluginsComeAndGo(t, c, v2) })
	c.ApplyText(t, guaranteedPod)
	runs(t, c, "trainer")
	t.Run("what a container has to itself", func(t *testing.T) { ownCPUs(t, c, v1) })
	t.Run("devices turn unhealthy", func(t *testing.T) { turnUnhealthy(t, c, v1, gpu, widget) })
	t.Run("one pod", func(t *testing.T) { onePod(t, c, v1) })
	t.Run("not back after a restart", func(t *testing.T) { notBack(t, c, v1) })
}

func startPlugin(t *testing.T, k *cluster.Kubelet, resource string) *node.DevicePlugin {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	p, err := node.StartDevicePlugin(ctx, k.Dir, resource, 2)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// awaitState waits until the plugin says what is wanted of a node.
func awaitState(t *testing.T, c *cluster.Cluster, what string, want []string, get func(*nodeState) []string, args ...string) nodeState {
	t.Helper()
	var state nodeState
	cluster.Eventually(t, func(context.Context) error {
		state = nodeState{}
		result := c.Plugin(t, cluster.Admin, append([]string{"node", "-o", "json"}, args...)...)
		if result.Code != 0 && result.Code != 3 {
			return fmt.Errorf("exit code %d\n%v", result.Code, result)
		}
		if result.JSON(t, &state); (result.Code == 3) != (len(state.Problems) > 0) {
			return fmt.Errorf("exit code %d with the problems %v", result.Code, state.Problems)
		}
		if got := get(&state); !slices.Equal(got, want) {
			return fmt.Errorf("%s: %q, want %q; problems %v", what, got, want, state.Problems)
		}
		return nil
	})
	return state
}

// pluginsComeAndGo stops a device plugin, and then restarts the kubelet without it.
func pluginsComeAndGo(t *testing.T, c *cluster.Cluster, k *cluster.Kubelet) {
	plugin := startPlugin(t, k, fpgas)
	missing := (*nodeState).missing
	state := awaitState(t, c, "with the plugin", nil, missing, "v2", "--kubelet-dir", k.Dir)
	if s := state.source("pods-api ListPods"); s != "NotServed" {
		t.Errorf("the Pods API is %q, want that it is not served", s)
	}
	if s := state.source("pod-resources List"); s != "Synced" {
		t.Errorf("PodResources is %q", s)
	}
	plugin.Stop()
	awaitState(t, c, "without the plugin", []string{"DevicePlugin " + fpgas + " [Stopped]"}, missing, "v2", "--kubelet-dir", k.Dir)
	k.Stop()
	k.Start(t)
	state = awaitState(t, c, "after a restart", []string{"DevicePlugin " + fpgas + " [NotBack]"}, missing, "v2", "--kubelet-dir", k.Dir)
	if !slices.Contains(state.codes(), "PluginMissing") {
		t.Errorf("problems %v, want that the plugin is missing", state.Problems)
	}
	again := startPlugin(t, k, fpgas)
	t.Cleanup(again.Stop)
	awaitState(t, c, "when it is back", nil, missing, "v2", "--kubelet-dir", k.Dir)
}

// ownCPUs has a container with an exclusive CPU and devices of both kinds.
func ownCPUs(t *testing.T, c *cluster.Cluster, m *machine) {
	wrong := func(s *nodeState) []string { return append(s.codes(), s.Partial...) } // what does not answer in two seconds is told
	state := awaitState(t, c, "nothing is wrong", nil, wrong, "--kubelet-dir", m.Dir)
	if state.Node != "v1" || state.source("pods-api ListPods") != "Synced" || state.KubeletStarted.IsZero() {
		t.Errorf("%+v", state)
	}
	if len(state.Containers) != 1 {
		t.Fatalf("containers %+v", state.Containers)
	}
	container := state.Containers[0]
	if container.CPUs != "1" || len(container.Devices) != 1 || !slices.Equal(container.Devices[0].NUMA, []int{0}) || !slices.Equal(container.NUMA, []int{0}) || len(container.Claims) != 2 {
		t.Errorf("container %+v, want CPU 1, a widget of NUMA node 0 and two claims", container)
	}
	cpus := state.CPUs
	if cpus.Policy != "static" || cpus.Exclusive != "1" || strings.Contains(","+cpus.Shared+",", ",1,") || !strings.HasPrefix(cpus.Allocatable, "1") {
		t.Errorf("CPUs %+v, want that 1 is exclusive and not shared", cpus)
	}
	if len(state.Notes) != 1 || !strings.Contains(state.Notes[0], "no hints") {
		t.Errorf("notes %q, want that DRA gives no hints", state.Notes)
	}
}

// turnUnhealthy has a driver and a device plugin report that devices of the pod are unhealthy. The node, the
// API server and the kubelet alone all tell.
func turnUnhealthy(t *testing.T, c *cluster.Cluster, m *machine, gpu *node.Driver, widget *node.DevicePlugin) {
	claims := map[string]string{}
	for _, name := range podClaims(t, c, "trainer", 2) {
		result := getClaim(t, c, name).Status.Allocation.Devices.Results[0]
		claims[result.Driver] = result.Device
	}
	sick := claims[gpuDriver]
	state := stateOf(t, c, "--kubelet-dir", m.Dir)
	for _, d := range state.Containers[0].Devices {
		widget.SetHealth(d.ID, false)
	}
	gpu.SetHealth(sick, "it is hot")
	want := []string{"trainer main claim:gpu " + sick + " Unhealthy it is hot", "trainer main " + widgets + "  Unhealthy"}
	for _, args := range [][]string{{"--kubelet-dir", m.Dir}, {"v1"}, {"--kubelet-dir", m.Dir, "--server", "https://127.0.0.1:1"}} {
		state := awaitState(t, c, fmt.Sprint(args), want, (*nodeState).unhealthy, args...)
		if codes := state.codes(); !slices.Contains(codes, "DeviceUnhealthy") {
			t.Errorf("%v: problems %v", args, state.Problems)
		}
		if state.Node != "v1" || state.Kubelet != (len(args) > 1) {
			t.Errorf("%v: node %q, kubelet %v", args, state.Node, state.Kubelet)
		}
	}
	for _, d := range state.Containers[0].Devices {
		widget.SetHealth(d.ID, true)
	}
	gpu.SetHealth(sick, "")
	awaitState(t, c, "healthy again", nil, (*nodeState).unhealthy, "--kubelet-dir", m.Dir)
}

// onePod asks for a pod that the kubelet knows, and for one that it does not.
func onePod(t *testing.T, c *cluster.Cluster, m *machine) {
	state := stateOf(t, c, "--kubelet-dir", m.Dir, "--pod", "trainer")
	if state.Pod != "default/trainer" || len(state.Containers) != 1 || len(state.Claims) != 2 || len(state.Plugins) != 2 || state.CPUs.Exclusive != "" {
		t.Errorf("%+v", state)
	}
	if refused := must(t, c, 1, "node", "--kubelet-dir", m.Dir, "--pod", "other"); !strings.Contains(refused.Stderr, `"other" not found`) {
		t.Errorf("of a pod that nobody knows\n%v", refused)
	}
}

// notBack restarts the kubelet of the pod. Of its four plugins a driver and a device plugin do not come back.
func notBack(t *testing.T, c *cluster.Cluster, m *machine) {
	second := startPlugin(t, m.Kubelet, fpgas)
	before := awaitState(t, c, "before", nil, (*nodeState).missing, "--kubelet-dir", m.Dir)
	second.Stop()
	m.drivers[nicDriver].Stop()
	m.Stop()
	m.Start(t)
	want := []string{"DRAPlugin " + nicDriver + " [PreparedClaims AllocatedClaims]", "DevicePlugin " + fpgas + " [NoDevice]"}
	missingAndCodes := func(s *nodeState) []string {
		return append(s.missing(), slices.DeleteFunc(s.codes(), func(code string) bool { return code == "DeviceUnpublished" })...)
	}
	after := awaitState(t, c, "after a restart", append(slices.Clone(want), "DriverSilent", "PluginMissing"), missingAndCodes, "--kubelet-dir", m.Dir)
	if !after.KubeletStarted.After(before.KubeletStarted) {
		t.Errorf("the kubelet has run since %v, and before its restart since %v", after.KubeletStarted, before.KubeletStarted)
	}
	m.start(t, c, nicDriver, nics())
	cluster.Eventually(t, func(context.Context) error {
		if !m.drivers[nicDriver].Registered() {
			return errors.New("the driver is not registered")
		}
		return nil
	})
	awaitState(t, c, "when the driver is back", want[1:], (*nodeState).missing, "--kubelet-dir", m.Dir)
}
