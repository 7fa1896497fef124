package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
	"github.com/kubectl-dra/kubectl-dra/e2e/node"
)

// TestKubelets has three real kubelets side by side, with DRA drivers that publish their own slices and a
// device plugin on each. What the plugin says is held against what the drivers published, what the
// scheduler chose and what the container runtimes were told. Each part leaves the cluster as it found it.
func TestKubelets(t *testing.T) {
	cluster.BuildKubelet(t)
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Controllers: []string{"resourceclaim-controller"}})
	machines := map[string]*machine{}
	for _, k := range c.StartKubelets(t, "n1", "n2", "n3") {
		machines[k.Name] = furnish(t, c, k)
	}
	for name, m := range machines {
		m.registered(t, c, name)
	}
	c.Apply(t, "testdata/kubelets.yaml")

	t.Run("published slices", func(t *testing.T) { publishedSlices(t, c) })
	t.Run("pod runs with a claim", func(t *testing.T) { podRuns(t, c, machines) })
	t.Run("pod runs on what allocate wrote", func(t *testing.T) { allocatedByHand(t, c, machines) })
	t.Run("reserved before the scheduler looks", func(t *testing.T) { reservedByHand(t, c, machines) })
	t.Run("shared device", func(t *testing.T) { sharedDevice(t, c, machines) })
	t.Run("device plugin beside an extended resource", func(t *testing.T) { bothKinds(t, c, machines) })
	t.Run("the node's own view", func(t *testing.T) { nodeView(t, c, machines["n1"]) })
	t.Run("kubelet restarts", func(t *testing.T) { kubeletRestarts(t, c, machines["n2"]) })
	t.Run("driver goes away", func(t *testing.T) { driverGoesAway(t, c, machines["n3"]) })
}

// publishedDevice is a row of `get devices`.
type publishedDevice struct {
	Driver, Pool, Device, Node, State string
	Claims                            []string
	Attributes                        map[string]any
	Capacity                          map[string]struct{ Total, Used string }
}

func devicesOf(t *testing.T, c *cluster.Cluster) []publishedDevice {
	t.Helper()
	var list struct{ Items []publishedDevice }
	c.Plugin(t, cluster.Admin, "get", "devices", "-o", "json").JSON(t, &list)
	return list.Items
}

// publishedSlices holds devices, pools and nodes against what the drivers were given to publish.
func publishedSlices(t *testing.T, c *cluster.Cluster) {
	var want []publishedDevice
	memory := func(total string) map[string]struct{ Total, Used string } {
		return map[string]struct{ Total, Used string }{"memory": {Total: total, Used: "0"}}
	}
	for _, n := range []string{"n1", "n2", "n3"} {
		for i := range 2 {
			want = append(want, publishedDevice{Driver: gpuDriver, Pool: n, Device: fmt.Sprint("gpu-", i), Node: n, State: "Free", Claims: []string{},
				Attributes: map[string]any{"model": "whole", "index": float64(i), "driverVersion": "1.2.3", "ecc": true}, Capacity: memory("40Gi")})
		}
		want = append(want, publishedDevice{Driver: gpuDriver, Pool: n, Device: "shared", Node: n, State: "Free", Claims: []string{},
			Attributes: map[string]any{"model": "shared"}, Capacity: memory("10Gi")})
	}
	for _, n := range []string{"n1", "n2", "n3"} {
		want = append(want, publishedDevice{Driver: nicDriver, Pool: n, Device: "nic-0", Node: n, State: "Free", Claims: []string{},
			Attributes: map[string]any{"gbps": float64(100)}, Capacity: map[string]struct{ Total, Used string }{}})
	}
	if diff := cmp.Diff(want, devicesOf(t, c)); diff != "" {
		t.Errorf("devices (-published +plugin):\n%s", diff)
	}

	if diff := cmp.Diff([]string{"gpu.example.com/n1 3 of 3", "gpu.example.com/n2 3 of 3", "gpu.example.com/n3 3 of 3",
		"nic.example.com/n1 1 of 1", "nic.example.com/n2 1 of 1", "nic.example.com/n3 1 of 1"}, poolsOf(t, c)); diff != "" {
		t.Errorf("pools (-published +plugin):\n%s", diff)
	}

	type offered struct{ Total, Free int }
	type row struct {
		Name          string
		Devices, Free int
		Drivers       map[string]offered
	}
	var nodes struct{ Items []row }
	c.Plugin(t, cluster.Admin, "get", "nodes", "-o", "json").JSON(t, &nodes)
	var rows []row
	for _, n := range []string{"n1", "n2", "n3"} {
		rows = append(rows, row{Name: n, Devices: 4, Free: 4, Drivers: map[string]offered{gpuDriver: {3, 3}, nicDriver: {1, 1}}})
	}
	if diff := cmp.Diff(rows, nodes.Items); diff != "" {
		t.Errorf("nodes (-published +plugin):\n%s", diff)
	}
}

// poolsOf returns the pools as "driver/pool available of total", and what is wrong with one instead of
// its counts. Each is on the node that it is named after.
func poolsOf(t *testing.T, c *cluster.Cluster) []string {
	t.Helper()
	var list struct {
		Items []struct {
			poolCounts
			Complete bool
			Error    string
		}
	}
	c.Plugin(t, cluster.Admin, "get", "pools", "-o", "json").JSON(t, &list)
	var pools []string
	for _, p := range list.Items {
		if p.Node != p.Pool {
			t.Errorf("pool %s/%s is on node %q", p.Driver, p.Pool, p.Node)
		}
		state := p.Error
		if p.Complete && p.Error == "" && p.Available != nil && p.Total != nil {
			state = fmt.Sprintf("%d of %d", *p.Available, *p.Total)
		}
		pools = append(pools, fmt.Sprintf("%s/%s %s", p.Driver, p.Pool, state))
	}
	return pools
}

// podRuns has the scheduler place a pod with claims from templates for two drivers.
func podRuns(t *testing.T, c *cluster.Cluster, machines map[string]*machine) {
	c.ApplyText(t, claimPod("trainer", "", "{name: gpu, resourceClaimTemplateName: gpu}", "{name: nic, resourceClaimTemplateName: nic}"))
	on := runs(t, c, "trainer")
	names := podClaims(t, c, "trainer", 2)
	for _, name := range names {
		if row := claimRow(t, c, name); row.State != "Reserved" || row.Node != on || !slices.Equal(row.Pods, []string{"default/trainer"}) {
			t.Errorf("claim %+v, want Reserved on %s by default/trainer", row, on)
		}
		var answer explanation
		if result := c.Plugin(t, cluster.Admin, "explain", "claim", name, "-o", "json"); result.Code == 0 {
			result.JSON(t, &answer)
		}
		if answer.Verdict != "Allocated" {
			t.Errorf("explain claim %s says %q, want Allocated", name, answer.Verdict)
		}
	}
	told(t, machines[on], "trainer", getClaim(t, c, names[0]), getClaim(t, c, names[1]))
	finish(t, c, machines[on], "trainer")
}

// allocatedByHand has the plugin choose the device. The scheduler must follow it with the pod that uses
// the claim, and the device must be free for the next one after deallocate.
func allocatedByHand(t *testing.T, c *cluster.Cluster, machines map[string]*machine) {
	must(t, c, 0, "allocate", "claim", "by-hand", "--node", "n3", "--yes", "--settle", "1s")
	claim := getClaim(t, c, "by-hand")
	device := claim.Status.Allocation.Devices.Results[0]
	if device.Pool != "n3" {
		t.Fatalf("allocated %+v, want a device of n3", device)
	}
	c.ApplyText(t, claimPod("user", "", "{name: gpu, resourceClaimName: by-hand}"))
	if on := runs(t, c, "user"); on != "n3" {
		t.Fatalf("the pod runs on %s, but its claim was allocated for n3", on)
	}
	after := getClaim(t, c, "by-hand")
	if diff := cmp.Diff(claim.Status.Allocation, after.Status.Allocation); diff != "" {
		t.Errorf("the allocation changed (-allocated +used):\n%s", diff)
	}
	told(t, machines["n3"], "user", after)
	if refused := must(t, c, 1, "deallocate", "claim", "by-hand", "--yes"); !strings.Contains(refused.Stderr, "user") {
		t.Errorf("deallocate does not name the pod that uses the claim\n%v", refused)
	}
	// The controller takes the allocation of a claim that was used away with the last pod.
	finish(t, c, machines["n3"], "user")

	// A claim for all whole devices of n3 must wait while one of them is held, and run afterwards. It is made
	// after the allocation, so that the scheduler knows of that when it sees the claim.
	must(t, c, 0, "allocate", "claim", "by-hand", "--node", "n3", "--yes", "--settle", "1s")
	c.ApplyText(t, bothClaim("all-of-n3")+"---\n"+claimPod("next", "nodeSelector: {kubernetes.io/hostname: n3}", "{name: gpu, resourceClaimName: all-of-n3}"))
	if condition, on := c.PodScheduled(t, "default", "next", cluster.Unplaced); on != "" {
		t.Fatalf("scheduled on %s although a device is held: %s", on, condition.Message)
	}
	must(t, c, 0, "deallocate", "claim", "by-hand", "--yes")
	runs(t, c, "next")
	told(t, machines["n3"], "next", getClaim(t, c, "all-of-n3"))
	finish(t, c, machines["n3"], "next")
}

// bothClaim is a claim for the two whole devices of a node.
func bothClaim(name string) string {
	return strings.Replace(claimYAML(name), "deviceClassName: gpu", "deviceClassName: gpu, count: 2", 1)
}

// reservedByHand allocates and reserves the claims of a pod that the scheduler may not look at yet.
func reservedByHand(t *testing.T, c *cluster.Cluster, machines map[string]*machine) {
	c.ApplyText(t, claimPod("gated", "schedulingGates: [{name: example.com/wait}]", "{name: gpu, resourceClaimTemplateName: gpu}"))
	name := podClaims(t, c, "gated", 1)[0]
	must(t, c, 0, "allocate", "pod", "gated", "--node", "n2", "--reserve", "--yes", "--settle", "1s")
	reserved := getClaim(t, c, name)
	if len(reserved.Status.ReservedFor) != 1 || reserved.Status.ReservedFor[0].Name != "gated" {
		t.Errorf("claim reserved for %v, want the pod", reserved.Status.ReservedFor)
	}
	if _, err := c.Client().CoreV1().Pods("default").Patch(t.Context(), "gated", types.JSONPatchType,
		[]byte(`[{"op":"remove","path":"/spec/schedulingGates"}]`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if on := runs(t, c, "gated"); on != "n2" {
		t.Fatalf("the pod runs on %s, but its claim was allocated for n2", on)
	}
	told(t, machines["n2"], "gated", reserved)
	finish(t, c, machines["n2"], "gated")
}

// sharedDevice has two pods share a device by its memory; one claim is the scheduler's, one is ours.
func sharedDevice(t *testing.T, c *cluster.Cluster, machines map[string]*machine) {
	c.ApplyText(t, claimPod("share-1", "nodeSelector: {kubernetes.io/hostname: n1}", "{name: gpu, resourceClaimName: share-1}"))
	runs(t, c, "share-1")
	must(t, c, 0, "allocate", "claim", "share-2", "--node", "n1", "--yes", "--settle", "1s")
	c.ApplyText(t, claimPod("share-2", "", "{name: gpu, resourceClaimName: share-2}"))
	runs(t, c, "share-2")
	all := devicesOf(t, c)
	at := slices.IndexFunc(all, func(d publishedDevice) bool { return d.Node == "n1" && d.Device == "shared" })
	if at < 0 {
		t.Fatalf("the shared device of n1 is not listed: %+v", all)
	}
	if d := all[at]; d.Capacity["memory"].Used != "7Gi" || !slices.Equal(d.Claims, []string{"default/share-1", "default/share-2"}) || d.State != "Partial" {
		t.Errorf("device %+v, want 7Gi of it used by both claims", d)
	}
	for _, name := range []string{"share-1", "share-2"} {
		told(t, machines["n1"], name, getClaim(t, c, name))
		finish(t, c, machines["n1"], name)
	}
}

// bothKinds has a pod use an extended resource of a DeviceClass and one of a device plugin.
func bothKinds(t *testing.T, c *cluster.Cluster, machines map[string]*machine) {
	c.ApplyText(t, podYAML("classic", "n2", "terminationGracePeriodSeconds: 1",
		`limits: {example.com/gpu: "1", `+widgets+`: "2"}`))
	runs(t, c, "classic")
	pod, err := c.Client().CoreV1().Pods("default").Get(t.Context(), "classic", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if pod.Status.ExtendedResourceClaimStatus == nil {
		t.Fatal("the scheduler made no claim for the extended resource")
	}
	claim := getClaim(t, c, pod.Status.ExtendedResourceClaimStatus.ResourceClaimName)
	told(t, machines["n2"], "classic", claim)
	started := machines["n2"].Runtime.Containers("default", "classic")
	devices := strings.Split(started[0].Env[node.AllocatedEnv], ",")
	slices.Sort(devices)
	if !slices.Equal(devices, []string{"device-0", "device-1"}) {
		t.Errorf("the device plugin gave %v, want both devices", devices)
	}
	// Only the device of the class is DRA's: the plugin must show that one, and none of the device plugin.
	var holds []string
	for _, d := range devicesOf(t, c) {
		if d.State != "Free" {
			holds = append(holds, fmt.Sprint(d.Driver, "/", d.Pool, "/", d.Device, " ", d.Claims))
		}
	}
	result := claim.Status.Allocation.Devices.Results[0]
	if want := fmt.Sprintf("%s/n2/%s [default/%s]", gpuDriver, result.Device, claim.Name); !slices.Equal(holds, []string{want}) {
		t.Errorf("devices in use: %v, want %s", holds, want)
	}
	for resource, want := range map[string]string{widgets: "n2 DevicePlugin 2/2/2/0 classic:DevicePlugin", "example.com/gpu": "n2 DRA 2/2/1/1 classic:DRA"} {
		if rows := extendedRows(t, c, resource); !slices.Contains(rows, want) {
			t.Errorf("%s: %q, want %q among them", resource, rows, want)
		}
	}
	finish(t, c, machines["n2"], "classic")
}

// kubeletRestarts stops a kubelet under a pod. When it comes back it deletes the slices of its node, so
// the pools are gone until the driver publishes them again; the pod and its claim are not affected.
func kubeletRestarts(t *testing.T, c *cluster.Cluster, m *machine) {
	c.ApplyText(t, claimPod("survivor", "nodeSelector: {kubernetes.io/hostname: n2}", "{name: gpu, resourceClaimTemplateName: gpu}"))
	runs(t, c, "survivor")
	name := podClaims(t, c, "survivor", 1)[0]

	release := m.publishing.hold()
	defer release()
	m.Stop()
	nodeWithoutKubelet(t, c, m, name)
	m.Start(t)
	cluster.Eventually(t, func(ctx context.Context) error { return slicesOf(ctx, c, "n2") })
	for _, pool := range poolsOf(t, c) {
		if strings.Contains(pool, "/n2 ") {
			t.Errorf("pool %s has no slices", pool)
		}
	}
	if row := claimRow(t, c, name); row.State != "Reserved" || row.Node != "n2" {
		t.Errorf("claim %+v, want Reserved on n2 although its device is not published", row)
	}
	waiting(t, c, m, "both-on-n2", "both", "NoDevices")

	release()
	for _, d := range m.drivers {
		if err := d.Publish(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	m.registered(t, c, "n2")
	finish(t, c, m, "survivor")
	runs(t, c, "both-on-n2")
	finish(t, c, m, "both-on-n2")
}

// driverGoesAway stops a driver. The kubelet deletes its slices half a minute later, and a pod that
// needs them has to wait until the driver is back.
func driverGoesAway(t *testing.T, c *cluster.Cluster, m *machine) {
	m.drivers[nicDriver].Stop()
	cluster.Eventually(t, func(ctx context.Context) error { return slicesOf(ctx, c, "n3", gpuDriver) })
	if pools := poolsOf(t, c); len(pools) != 5 || slices.ContainsFunc(pools, func(p string) bool { return strings.HasPrefix(p, nicDriver+"/n3") }) {
		t.Errorf("pools %v, want all but that of %s on n3", pools, nicDriver)
	}
	// The other driver's devices are still there, and none of them is of the class.
	waiting(t, c, m, "networked", "nic", "ClassSelectorRejected")
	m.start(t, c, nicDriver, nics())
	runs(t, c, "networked")
	told(t, m, "networked", getClaim(t, c, "nic"))
	finish(t, c, m, "networked")
}

// waiting creates a pod for a claim on a node, waits until the scheduler has refused it, and has the
// plugin say why.
func waiting(t *testing.T, c *cluster.Cluster, m *machine, pod, claim, code string) {
	t.Helper()
	on := m.Name
	for try := 0; ; try++ {
		c.ApplyText(t, claimPod(pod, "nodeSelector: {kubernetes.io/hostname: "+on+"}", "{name: device, resourceClaimName: "+claim+"}"))
		condition, bound := c.PodScheduled(t, "default", pod, cluster.Unplaced)
		if bound == "" {
			break
		}
		if try == 4 { // no longer because the scheduler has not noticed that the devices are gone
			t.Fatalf("pod %s was scheduled on %s: %s", pod, bound, condition.Message)
		}
		finish(t, c, m, pod)
	}
	var answer struct {
		Verdict string
		Groups  []struct {
			Nodes   []string
			Reasons []struct{ Code string }
		}
	}
	result := must(t, c, 3, "explain", "claim", claim, "--node", on, "-o", "json")
	result.JSON(t, &answer)
	if answer.Verdict != "Unsatisfiable" || len(answer.Groups) != 1 || !slices.Equal(answer.Groups[0].Nodes, []string{on}) ||
		!slices.ContainsFunc(answer.Groups[0].Reasons, func(r struct{ Code string }) bool { return r.Code == code }) {
		t.Errorf("want Unsatisfiable on %s for %s\n%v", on, code, result)
	}
}
