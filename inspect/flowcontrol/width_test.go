package flowcontrol

import "testing"

// TestWidestOf has the limits of requests, worked out by hand.
func TestWidestOf(t *testing.T) {
	limits := Compute(bootstrapLevels(), 600)
	wide, _ := limits.Level("workload-low") // 245 seats: min(ceil(36.75), 245/6 = 40) = 37
	narrow, _ := limits.Level("node-high")  // 98 seats in hands of 6: min(ceil(14.7), 16) = 15
	for _, test := range []struct {
		level Level
		minor int
		want  Widest
	}{
		{wide, 0, Widest{37, 10}},
		{wide, 34, Widest{37, 10}},
		{wide, 33, Widest{10, 10}},
		{narrow, 0, Widest{15, 10}},
		{Level{Nominal: 10}, 0, Widest{100, 10}}, // no queues, no cap of its own
		{Level{Nominal: 12, Queuing: &Queuing{Queues: 16, HandSize: 6, QueueLengthLimit: 10}}, 0, Widest{2, 2}}, // min(ceil(1.8), 2) = 2
	} {
		if got := WidestOf(&test.level, test.minor); got != test.want {
			t.Errorf("%s of 1.%d: %+v, want %+v", test.level.Name, test.minor, got, test.want)
		}
	}
}
