package allocator

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/internal/effort"
)

// TestStepsAreTheSchedulers compares the counted steps with those that the scheduler's allocator makes, also
// of questions that end with a solution or an error. What is said to be a lower bound must be one.
func TestStepsAreTheSchedulers(t *testing.T) {
	n := effort.Of(40_000, 400)
	var exact, bounds [3]atomic.Int64 // by outcome: devices, nothing, abort
	t.Run("problems", func(t *testing.T) {
		for shard := range shards {
			t.Run(fmt.Sprintf("shard %d", shard), func(t *testing.T) {
				t.Parallel()
				for i := shard; i < n; i += shards {
					q := generate(seeded(uint64(3_000_000 + i)))
					if d := stepsDiffer(q, &exact, &bounds); d != "" {
						t.Fatalf("problem %d: %s\n%s", i, d, q)
					}
				}
			})
		}
	})
	for i, outcome := range []outcome{gotDevices, gotNothing, gotAbort} {
		t.Logf("%s: %d counts exact, %d lower bounds", outcome, exact[i].Load(), bounds[i].Load())
		if exact[i].Load() < int64(n)/50 || bounds[i].Load() > exact[i].Load()/5 {
			t.Errorf("%s: only %d exact counts and %d lower bounds", outcome, exact[i].Load(), bounds[i].Load())
		}
	}
}

// stepsDiffer says how the counted steps differ from the scheduler's, or "".
func stepsDiffer(q *question, exact, bounds *[3]atomic.Int64) string {
	ctx := context.Background()
	c := newOurs(q, 4*stepBudget)
	c.plain, c.plainSteps = false, 0 // nothing is counted by walking plainly
	for _, node := range q.objects.Nodes {
		scheduler, err := newScheduler(ctx, q)
		if err != nil {
			return err.Error()
		}
		theirs := ask(ctx, scheduler, q, node, stepBudget)
		if theirs.outcome == gotUndecided || theirs.outcome == gotPanic {
			continue
		}
		got, err := c.PlainSteps(ctx, node, q.pending)
		if err != nil {
			return err.Error()
		}
		at := map[outcome]int{gotDevices: 0, gotNothing: 1, gotInvalidPools: 1, gotAbort: 2}[theirs.outcome]
		switch {
		case got.AtLeast:
			bounds[at].Add(1)
		default:
			exact[at].Add(1)
		}
		if got.Steps > theirs.steps || got.Steps < theirs.steps && !got.AtLeast {
			return fmt.Sprintf("node %s, %s: counted %+v, the scheduler made %d steps", node.Name, theirs.outcome, got, theirs.steps)
		}
	}
	return ""
}

// TestStepsOfFamilies pins counts that are known, by formula or measured with the scheduler's allocator.
func TestStepsOfFamilies(t *testing.T) {
	tests := []struct {
		family
		want StepCount
	}{
		{familyA(20), StepCount{Steps: 1 << 20}},
		{familyA(31), StepCount{Steps: 1 << 31}},
		{familyA(80), StepCount{}}, // more than a claim may have: refused before the search
		{familyB(9), StepCount{Steps: 1_972_819}},
		{familyC(6, 4), StepCount{Steps: 15_625}},
		{familyC(10, 4), StepCount{Steps: 9_765_625}},
		{familyD(2, 24), StepCount{Steps: 1 + 2*(1<<24-1)}},
		{familyE(20, 10, false), StepCount{Steps: 616_666}},
		{familyF(12, 4, 3), StepCount{Steps: 4_889_359}},
		{familyG(6, 4), StepCount{Steps: 10_923_989}},
		{familyH(2, 16), StepCount{Steps: 262_141}},
	}
	for _, tt := range tests {
		c, node := tt.cluster(Options{})
		got, err := c.PlainSteps(context.Background(), node, tt.claims)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %+v", tt.name, got)
		if got != tt.want {
			t.Errorf("%s with %d devices: counted %+v, want %+v", tt.name, len(tt.devices), got, tt.want)
		}
	}
}

// TestStepsSaturate counts more steps than a number can hold.
func TestStepsSaturate(t *testing.T) {
	f := familyB(31)
	f.devices = append(f.devices, familyA(60).devices...)
	f.claims = append(f.claims, claimOf("dead", exactCount("r", 1, `device.driver == "nobody"`)))
	for i := range f.devices {
		f.devices[i] = resourcev1.Device{Name: fmt.Sprintf("d%03d", i)}
	}
	c, node := f.cluster(Options{})
	got, err := c.PlainSteps(context.Background(), node, f.claims)
	if want := (StepCount{Steps: math.MaxInt64, AtLeast: true}); err != nil || got != want {
		t.Errorf("counted %+v (%v), want %+v", got, err, want)
	}
}

// TestStepsWithAdminAccessToPickedDevices: with admin access a device can be picked twice, and then draws on
// its counters twice. Which one that is tells states apart.
func TestStepsWithAdminAccessToPickedDevices(t *testing.T) {
	var exact, bounds [3]atomic.Int64
	for _, problem := range []uint64{4444, 34093} {
		if d := stepsDiffer(generate(seeded(3_000_000+problem)), &exact, &bounds); d != "" {
			t.Errorf("problem %d: %s", problem, d)
		}
	}
}
