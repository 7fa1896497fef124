package usage_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/inspect/usage"
	"github.com/kubectl-dra/kubectl-dra/internal/clusters"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
)

// TestSumsAgree holds what usage counts against the devices, the pools and the header's drivers, for the demo
// cluster and every scenario.
func TestSumsAgree(t *testing.T) { clusters.Each(t, agree) }

func agree(t *testing.T, s *inspect.Snapshot) {
	t.Helper()
	inventory := s.Inventory()
	pools := inspect.DeviceCount{}
	for _, stock := range inventory.Stocks {
		p := &stock.Pool
		pools.Total += p.Devices.Total
		pools.Used += p.Devices.Used
		pools.Blocked += p.Devices.Blocked
		pools.Tainted += p.Devices.Tainted
		pools.Unreachable += p.Devices.Unreachable
		pools.Gone += p.Devices.Gone
		pools.Free += p.Devices.Free
		pools.AtOnce += p.Devices.AtOnce
	}
	for _, by := range usage.Groupings() {
		r := usage.Of(s, inventory, by, nil)
		if r.Cluster != pools || r.Total.Devices != pools.Used {
			t.Errorf("by %s: %d are held of %+v; get pools has %+v", by, r.Total.Devices, r.Cluster, pools)
		}
		sum, wanted := r.Total.Joint, 0
		for i := range r.Rows {
			row := &r.Rows[i]
			sum += row.Devices - row.Joint
			wanted += row.Wanted
			amounts(t, by, row)
		}
		if sum != r.Total.Devices {
			t.Errorf("by %s: the rows come to %d devices, the total is %d", by, sum, r.Total.Devices)
		}
		if (by == usage.Namespace || by == usage.Driver) && wanted != r.Total.Wanted {
			t.Errorf("by %s: the rows want %d devices, the total is %d", by, wanted, r.Total.Wanted)
		}
		amounts(t, by, &r.Total)
	}
	namespaces(t, s, inventory)
	drivers(t, s, inventory)
}

// amounts holds the numbers of one row against each other.
func amounts(t *testing.T, by usage.By, r *usage.Row) {
	t.Helper()
	byDriver := 0
	for _, d := range r.Drivers {
		byDriver += d.Devices
	}
	if r.Devices != r.Whole+r.Shared+r.Partitions || r.Devices != byDriver || r.Idle > r.Devices || r.Joint > r.Devices || r.Shares > float64(r.Shared) {
		t.Errorf("by %s: %+v: %+v, by driver %v", by, r.Key, r.Amount, r.Drivers)
	}
}

// namespaces counts once more, by hand: of the allocations of the claims of each namespace the devices that
// are published.
func namespaces(t *testing.T, s *inspect.Snapshot, inventory *inspect.Inventory) {
	t.Helper()
	published := map[inspect.DeviceID]bool{}
	for i := range inventory.Devices() {
		published[inventory.Devices()[i].ID] = true
	}
	want := map[string]map[inspect.DeviceID]bool{}
	for _, claim := range s.Objects().Claims {
		if want[claim.Namespace] == nil {
			want[claim.Namespace] = map[inspect.DeviceID]bool{}
		}
		if claim.Status.Allocation == nil {
			continue
		}
		for i := range claim.Status.Allocation.Devices.Results {
			r := &claim.Status.Allocation.Devices.Results[i]
			if id := inspect.DeviceOf(r); published[id] && (r.AdminAccess == nil || !*r.AdminAccess) {
				want[claim.Namespace][id] = true
			}
		}
	}
	wants, got := map[string]int{}, map[string]int{}
	for namespace, devices := range want {
		wants[namespace] = len(devices)
	}
	for _, row := range usage.Of(s, inventory, usage.Namespace, nil).Rows {
		got[row.Namespace] = row.Devices
	}
	if diff := cmp.Diff(wants, got); diff != "" {
		t.Error("by namespace (-claims +usage):\n" + diff)
	}
}

// drivers holds the rows of each driver against what the header of the terminal UI shows of it.
func drivers(t *testing.T, s *inspect.Snapshot, inventory *inspect.Inventory) {
	t.Helper()
	devices, whole, taken := map[string]int{}, map[string]int{}, map[usage.CounterAmount]resource.Quantity{}
	for _, row := range usage.Of(s, inventory, usage.Driver, nil).Rows {
		devices[row.Name] += row.Devices
		whole[row.Name] += row.Whole + row.Shared
		for _, c := range row.Counters {
			key := usage.CounterAmount{Driver: c.Driver, Counter: c.Counter}
			sum := taken[key]
			sum.Add(c.Taken)
			taken[key] = sum
		}
	}
	for _, d := range inventory.Drivers {
		if devices[d.Driver] != d.Devices.Used || whole[d.Driver] != d.Whole.Used {
			t.Errorf("driver %s: %d devices, %d without counters; the header says %d and %d", d.Driver, devices[d.Driver], whole[d.Driver], d.Devices.Used, d.Whole.Used)
		}
		for _, c := range d.Counters {
			used := c.Total.DeepCopy()
			used.Sub(c.Left)
			got := taken[usage.CounterAmount{Driver: d.Driver, Counter: c.Counter}]
			if got.Cmp(used) != 0 {
				t.Errorf("driver %s: %s of counter %s is taken, the header says %s", d.Driver, got.String(), c.Counter, used.String())
			}
		}
	}
}

// TestDemo: what the demo cluster shows is what its README says.
func TestDemo(t *testing.T) {
	s := clusters.Demo(t)
	r := usage.Of(s, s.Inventory(), usage.Workload, nil)
	rows := map[string]usage.Row{}
	for _, row := range r.Rows {
		rows[row.Namespace+"/"+row.Kind+"/"+row.Name] = row
	}
	chat := rows["infer/Deployment/chat-7b"]
	if chat.Devices != 2 || chat.Whole != 2 {
		t.Errorf("the two replicas of chat-7b: %+v", chat.Amount)
	}
	if got := slices.Sorted(maps.Keys(rows)); len(got) < 20 || strings.Contains(strings.Join(got, " "), "ReplicaSet") {
		t.Errorf("workloads are %v", got)
	}
	health := rows["infer/DaemonSet/gpu-health"]
	if health.Devices != 0 || len(health.Claims) != 1 {
		t.Errorf("admin access holds nothing: %+v", health.Amount)
	}
}

const cluster = `
apiVersion: v1
kind: Node
metadata: {name: n1}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s1}
spec:
  driver: gpu.example.com
  nodeName: n1
  pool: {name: n1, generation: 1, resourceSliceCount: 1}
  devices:
  - {name: gpu-0, attributes: {model: {string: H100}}}
  - {name: gpu-1, attributes: {productName: {string: A100}}}
  - {name: nic, allowMultipleAllocations: true, capacity: {bandwidth: {value: 100}, queues: {value: 8}}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {namespace: a, name: idle}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}, {name: gone, exactly: {deviceClassName: gpu}}]}}
status:
  allocation: {devices: {results: [{request: r, driver: gpu.example.com, pool: n1, device: gpu-0}, {request: gone, driver: gpu.example.com, pool: n1, device: gpu-9}]}}
  reservedFor: [{resource: pods, name: done, uid: d}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {namespace: a, name: nobody}
spec: {devices: {requests: [{name: r, firstAvailable: [{name: big, deviceClassName: gpu-80}, {name: small, deviceClassName: gpu}]}]}}
status:
  allocation: {devices: {results: [{request: r/small, driver: gpu.example.com, pool: n1, device: gpu-1}]}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {namespace: a, name: half}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: nic}}]}}
status:
  allocation: {devices: {results: [{request: r, driver: gpu.example.com, pool: n1, device: nic, shareID: 7ee4e0a5-8c1c-4b3e-8d7a-33f6a8a5d001, consumedCapacity: {bandwidth: 50, queues: 1}}]}}
  reservedFor: [{resource: pods, name: web-5d-x, uid: w}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {namespace: b, name: quarter}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: nic}}]}}
status:
  allocation: {devices: {results: [{request: r, driver: gpu.example.com, pool: n1, device: nic, shareID: 7ee4e0a5-8c1c-4b3e-8d7a-33f6a8a5d002, consumedCapacity: {bandwidth: 20, queues: 2}}]}}
  reservedFor: [{resource: pods, name: unread, uid: u}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {namespace: b, name: wants}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, count: 3}}, {name: nics, exactly: {deviceClassName: nic, allocationMode: All}}]}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {namespace: b, name: fresh}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, count: 2}}]}}
---
apiVersion: v1
kind: Pod
metadata: {namespace: a, name: done, uid: d}
spec: {nodeName: n1, containers: [{name: c, image: i}], resourceClaims: [{name: c, resourceClaimName: idle}]}
status:
  phase: Failed
  containerStatuses: [{name: c, state: {terminated: {exitCode: 1, finishedAt: "2026-11-20T07:00:00Z"}}}]
  conditions: [{type: Ready, status: "False", lastTransitionTime: "2026-11-20T07:00:02Z"}]
---
apiVersion: v1
kind: Pod
metadata: {namespace: a, name: web-5d-x, uid: w, labels: {pod-template-hash: 5d}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-5d, uid: r, controller: true}]}
spec: {nodeName: n1, containers: [{name: c, image: i}], resourceClaims: [{name: c, resourceClaimName: half}]}
status: {phase: Running}
---
apiVersion: v1
kind: Pod
metadata: {namespace: b, name: odd, uid: o, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: odd-77, uid: s, controller: true}]}
spec: {containers: [{name: c, image: i}], resourceClaims: [{name: c, resourceClaimName: wants}]}
status:
  phase: Pending
  conditions: [{type: PodScheduled, status: "False", reason: Unschedulable, lastTransitionTime: "2026-11-20T08:00:00Z"}]
`

// small is the cluster above.
func small(t *testing.T) *inspect.Snapshot {
	t.Helper()
	result, err := manifest.Read(t.Context(), []string{"-"}, manifest.Options{Stdin: strings.NewReader(cluster)})
	if err != nil {
		t.Fatal(err)
	}
	return inspect.New(result.Objects, inspect.Config{Time: demo.Now(), Features: inspect.DefaultFeatures(inspect.NewestMinor), Health: result.Health})
}

// TestRows: each number of each row of a small cluster, by all groupings.
func TestRows(t *testing.T) {
	s := small(t)
	tests := map[usage.By][]string{
		usage.Namespace: {"a 3 = 2 + 1 of 0.50 + 0, joint 1, gone 1, idle 2, refused 0 of 0", "b 1 = 0 + 1 of 0.25 + 0, joint 1, gone 0, idle 0, refused 1 of 4"},
		usage.Class: {
			" gpu 2 = 2 + 0 of 0.00 + 0, joint 0, gone 1, idle 2, refused 1 of 3", " nic 1 = 0 + 1 of 0.70 + 0, joint 0, gone 0, idle 0, refused 1 of 1",
		},
		usage.Workload: {
			"a Pod/done 1 = 1 + 0 of 0.00 + 0, joint 0, gone 1, idle 1, refused 0 of 0", "a Deployment/web 1 = 0 + 1 of 0.50 + 0, joint 1, gone 0, idle 0, refused 0 of 0",
			"a ResourceClaim/nobody 1 = 1 + 0 of 0.00 + 0, joint 0, gone 0, idle 1, refused 0 of 0", "b Pod/unread 1 = 0 + 1 of 0.25 + 0, joint 1, gone 0, idle 0, refused 0 of 0",
			"b ReplicaSet/odd-77 0 = 0 + 0 of 0.00 + 0, joint 0, gone 0, idle 0, refused 1 of 4", "b ResourceClaim/fresh 0 = 0 + 0 of 0.00 + 0, joint 0, gone 0, idle 0, refused 0 of 0",
		},
		usage.Driver: {
			" gpu.example.com 1 = 0 + 1 of 0.70 + 0, joint 0, gone 1, idle 0, refused 0 of 0", // neither the NIC nor what is gone has a model
			" gpu.example.com A100 1 = 1 + 0 of 0.00 + 0, joint 0, gone 0, idle 1, refused 0 of 0", " gpu.example.com H100 1 = 1 + 0 of 0.00 + 0, joint 0, gone 0, idle 1, refused 0 of 0",
			" 0 = 0 + 0 of 0.00 + 0, joint 0, gone 0, idle 0, refused 1 of 4", // which driver would serve it is not known
		},
	}
	for by, want := range tests {
		var got []string
		for _, row := range usage.Of(s, s.Inventory(), by, nil).Rows {
			got = append(got, text(&row))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("by %s (-want +got):\n%s", by, diff)
		}
	}
}

// TestSince: since when claims are refused or idle is what their pods tell, and not known where none does.
func TestSince(t *testing.T) {
	s := small(t)
	at := func(text string) time.Time {
		moment, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return moment
	}
	r := usage.Of(s, s.Inventory(), usage.Namespace, nil)
	if !r.Rows[0].IdleSince.Equal(at("2026-11-20T07:00:02Z")) || !r.Rows[0].RefusedSince.IsZero() || !r.Rows[1].RefusedSince.Equal(at("2026-11-20T08:00:00Z")) {
		t.Errorf("idle since %v, refused since %v", r.Rows[0].IdleSince, r.Rows[1].RefusedSince)
	}
	var got []string
	for _, row := range r.Rows {
		for _, c := range row.Claims {
			got = append(got, strings.Join([]string{c.Ref.String(), string(c.State), c.Pod.Name}, " "))
		}
	}
	want := []string{"a/idle Idle done", "a/nobody Idle ", "a/half Held ", "b/wants Refused odd", "b/quarter Held ", "b/fresh Waiting "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("claims (-want +got):\n%s", diff)
	}
	if nobody := r.Rows[0].Claims[1]; !nobody.Since.IsZero() {
		t.Errorf("a claim that no pod uses is idle since %v", nobody.Since)
	}
}

// TestCounts: what is not to be counted is in no number but those of the cluster.
func TestCounts(t *testing.T) {
	s := small(t)
	r := usage.Of(s, s.Inventory(), usage.Namespace, func(c *resourcev1.ResourceClaim) bool { return c.Namespace == "b" })
	if len(r.Rows) != 1 || r.Total.Devices != 1 || r.Total.Joint != 0 || r.Total.Refused != 1 || r.Cluster.Used != 3 || r.Cluster.Total != 3 {
		t.Errorf("%d rows, total %+v, cluster %+v", len(r.Rows), r.Total.Amount, r.Cluster)
	}
}

func TestEndOf(t *testing.T) {
	pod := &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}}}
	pod.Status.Conditions[0].LastTransitionTime.Time = demo.Now()
	if at := usage.EndOf(pod); !at.IsZero() {
		t.Errorf("a pod that runs has ended at %v", at)
	}
	pod.Status.Phase = corev1.PodSucceeded
	if at := usage.EndOf(pod); !at.Equal(demo.Now()) {
		t.Errorf("a pod that has ended did so at %v", at)
	}
}

// TestSharedIdle: a device that an idle claim and another one share is not idle, whichever of them comes
// first.
func TestSharedIdle(t *testing.T) {
	for _, name := range []string{"a-idle", "z-idle"} {
		s := small(t).With(func(o *inspect.Objects) {
			for _, c := range o.Claims {
				if c.Name == "half" {
					c = c.DeepCopy()
					c.Name, c.Status.ReservedFor = name, nil
					o.Claims = append(slices.Clone(o.Claims), c)
				}
			}
		})
		if row := usage.Of(s, s.Inventory(), usage.Namespace, nil).Rows[0]; row.Idle != 2 || row.IdleClaims != 3 || row.Devices != 3 || row.Shares != 1 {
			t.Errorf("%s: %+v, %d idle claims", name, row.Amount, row.IdleClaims)
		}
	}
}

// TestEndThatIsNotKnown: of a claim of two pods that have ended, of which one does not tell when, it is not
// known since when it is idle.
func TestEndThatIsNotKnown(t *testing.T) {
	for _, name := range []string{"a-pod", "z-pod"} {
		s := small(t).With(func(o *inspect.Objects) {
			for _, p := range o.Pods {
				if p.Name == "done" {
					p = p.DeepCopy()
					p.Name, p.UID, p.Status.Conditions, p.Status.ContainerStatuses = name, "", nil, nil
					o.Pods = append(slices.Clone(o.Pods), p)
				}
			}
		})
		row := usage.Of(s, s.Inventory(), usage.Namespace, nil).Rows[0]
		if c := row.Claims[0]; c.Ref.Name != "idle" || c.State != usage.Idle || !c.Since.IsZero() || c.Pod.Name != "" {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

// TestKeep: the total of some rows is theirs, each device and claim once.
func TestKeep(t *testing.T) {
	s := small(t)
	for _, by := range usage.Groupings() {
		r := usage.Of(s, s.Inventory(), by, nil)
		whole := r.Total.Amount
		r.Keep(func(*usage.Row) bool { return true })
		if r.Total.Amount != whole {
			t.Errorf("by %s: all rows come to %+v, the total was %+v", by, r.Total.Amount, whole)
		}
		rows := len(r.Rows)
		first := r.Rows[0]
		r.Keep(func(row *usage.Row) bool { return row.Key == first.Key })
		first.Joint = 0 // with rows that are left out
		if len(r.Rows) != 1 || r.Total.Amount != first.Amount || r.Counted != len(first.Claims) || r.Total.Refused != first.Refused {
			t.Errorf("by %s: of %d rows %d are left with %+v of %d claims, want %+v of %d", by, rows, len(r.Rows), r.Total.Amount, r.Counted, first.Amount, len(first.Claims))
		}
	}
}

// TestGoneOnce: a device that is gone and of which two claims hold a share is one device.
func TestGoneOnce(t *testing.T) {
	s := small(t).With(func(o *inspect.Objects) {
		o.Slices = nil
	})
	inventory := s.Inventory()
	for _, by := range usage.Groupings() {
		r := usage.Of(s, inventory, by, nil)
		if r.Total.Gone != len(inventory.Gone) || r.Cluster.Gone != len(inventory.Gone) || r.Total.Devices != 0 || r.Total.Gone != 4 {
			t.Errorf("by %s: %+v are gone, the total has %+v, the cluster %+v", by, inventory.Gone, r.Total.Amount, r.Cluster)
		}
	}
}
