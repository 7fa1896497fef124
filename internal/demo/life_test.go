package demo

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
)

// TestLifeIsWhatTheSchedulerWouldDo lets 3,000 steps pass. No device ever has two holders, each new
// allocation is the one that the scheduler's own allocator gives on that node, a job waits only when it has
// to, and everything that the static cluster holds stays.
func TestLifeIsWhatTheSchedulerWouldDo(t *testing.T) {
	steps := effort.Of(3000, 600)
	l, err := NewLife(7, inspect.DefaultFeatures(inspect.NewestMinor))
	if err != nil {
		t.Fatal(err)
	}
	static := *l.Snapshot().Objects()
	seen := map[string]int{}
	checked := map[string]bool{}
	for range steps {
		s := l.Step()
		oneHolder(t, s)
		for _, c := range static.Claims {
			if now, ok := s.Claim(inspect.RefOf(c)); !ok || now != c {
				t.Fatalf("step %d: claim %s is gone or has changed", l.step, inspect.RefOf(c))
			}
		}
		for _, c := range s.Objects().Claims {
			if c.Namespace != jobNamespace {
				continue
			}
			seen[string(inspect.StateOf(c))]++
			if c.Status.Allocation == nil || checked[c.Name] {
				continue
			}
			checked[c.Name] = true
			agree(t, s, c)
		}
		countHealth(s, seen)
	}
	for _, what := range []string{"Pending", "Reserved", "Allocated", "tainted", "healthy", "cordoned", "in service"} {
		if seen[what] == 0 {
			t.Errorf("never seen: %s (%v)", what, seen)
		}
	}
	t.Logf("%d jobs, %v", len(checked), seen)
}

func oneHolder(t *testing.T, s *inspect.Snapshot) {
	t.Helper()
	for id, holders := range s.AllHolders {
		whole := 0
		for _, h := range holders {
			if !h.Admin() && !h.Shared() {
				whole++
			}
		}
		if whole > 1 {
			t.Fatalf("revision %d: %s has %d holders", s.Revision(), id, whole)
		}
	}
}

// agree asks the scheduler's allocator for the claim on its node. Jobs that were given devices in the same
// step come into the oracle with the new snapshot, so the claim is asked for as if it had not been allocated.
func agree(t *testing.T, s *inspect.Snapshot, c *resourcev1.ResourceClaim) {
	t.Helper()
	o := newOracle(t, s, inspect.RefOf(c))
	node := string(inspect.AllocationNode(c.Status.Allocation))
	fresh := c.DeepCopy()
	fresh.Status = resourcev1.ResourceClaimStatus{}
	for _, n := range o.nodes {
		if n.Name != node {
			continue
		}
		got, err := o.allocator.Allocate(t.Context(), n, []*resourcev1.ResourceClaim{fresh})
		if err != nil || len(got) != 1 {
			t.Fatalf("%s on %s: the scheduler says %v, %v", c.Name, node, got, err)
		}
		if want, have := deviceNames(&got[0]), deviceNames(c.Status.Allocation); !slices.Equal(want, have) {
			t.Fatalf("%s on %s has %v, the scheduler gives %v", c.Name, node, have, want)
		}
		return
	}
	t.Fatalf("%s is on node %q, which does not exist", c.Name, node)
}

func deviceNames(a *resourcev1.AllocationResult) []string {
	var names []string
	for _, r := range a.Devices.Results {
		names = append(names, fmt.Sprint(r.Driver, "/", r.Pool, "/", r.Device))
	}
	return names
}

func countHealth(s *inspect.Snapshot, seen map[string]int) {
	state := "healthy"
	for _, slice := range s.Objects().Slices {
		for _, d := range slice.Spec.Devices {
			for _, taint := range d.Taints {
				if taint.Value == "xid-79" {
					state = "tainted"
				}
			}
		}
	}
	seen[state]++
	node, _ := s.Node(cordonedNode)
	if node.Spec.Unschedulable {
		seen["cordoned"]++
	} else {
		seen["in service"]++
	}
}

func TestTheSameSeedGivesTheSameLife(t *testing.T) {
	features := inspect.DefaultFeatures(inspect.NewestMinor)
	a, _ := NewLife(1, features)
	b, _ := NewLife(1, features)
	for range 200 {
		x, y := a.Step(), b.Step()
		if len(x.Objects().Claims) != len(y.Objects().Claims) || !x.Time().Equal(y.Time()) {
			t.Fatal("two lives differ")
		}
	}
}

func TestLiveEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	a, err := Live(ctx, 1, inspect.DefaultFeatures(inspect.NewestMinor), time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	first := <-a.Updates()
	if next := <-a.Updates(); next.Revision() <= first.Revision() {
		t.Errorf("revision %d after %d", next.Revision(), first.Revision())
	}
	cancel()
	for range a.Updates() {
	}
}

// TestLoadKeepsToTheLimits: no level executes more than its current limit, which stays between its limits,
// and counts only grow. Once in a cycle requests wait and are rejected.
func TestLoadKeepsToTheLimits(t *testing.T) {
	l, err := NewLoad()
	if err != nil {
		t.Fatal(err)
	}
	var queued, rejected, borrowed int
	dispatched := map[string]int{}
	for range 3 * floodCycle {
		reading := l.Read(t.Context())
		if wrong := reading.Metrics.Disagreements(l.limits); len(wrong) > 0 {
			t.Fatalf("other limits than computed: %v", wrong)
		}
		for _, level := range l.limits.Levels {
			load := reading.Level(level.Name)
			total, current := &load.Total, *load.Current
			if total.ExecutingSeats > current || current > level.Upper || total.Dispatched < dispatched[level.Name] {
				t.Fatalf("%s: %d of %d seats (%d to %d), %d dispatched", level.Name, total.ExecutingSeats, current, level.Lower, level.Upper, total.Dispatched)
			}
			dispatched[level.Name] = total.Dispatched
			queued += total.QueuedRequests
			rejected += total.RejectedRequests()
			borrowed += max(0, current-level.Nominal)
		}
	}
	if queued == 0 || rejected == 0 || borrowed == 0 {
		t.Errorf("%d queued, %d rejected, %d seats borrowed: it should be livelier", queued, rejected, borrowed)
	}
}

// TestLifeRests: what does not change is the same object from step to step, and in many steps nothing
// changes, in which the terminal UI has nothing to do.
func TestLifeRests(t *testing.T) {
	l, err := NewLife(7, inspect.DefaultFeatures(inspect.NewestMinor))
	if err != nil {
		t.Fatal(err)
	}
	const steps = 1000
	resting, before := 0, l.Snapshot().Objects()
	for range steps {
		now := l.Step().Objects()
		if same(before, now) {
			resting++
		}
		before = now
	}
	if resting < steps*65/100 || resting > steps*9/10 {
		t.Errorf("nothing changes in %d of %d steps", resting, steps)
	}
}
