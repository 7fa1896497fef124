package demo

import (
	"context"
	"math"
	"sync"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/flowcontrol"
)

// Load plays what the priority levels of the demo cluster are doing: they breathe, and now and then a
// controller floods workload-low, which borrows, queues, and rejects in the end. Each reading is five seconds
// after the one before. It may be used by several goroutines.
type Load struct {
	mu      sync.Mutex
	reading int
	limits  flowcontrol.Limits
	levels  map[string]*flowcontrol.Load
}

// floodedLevel is the level that a controller floods, in the last third of every cycle of so many readings.
const (
	floodedLevel = "workload-low"
	floodCycle   = 36
)

// NewLoad begins to play. The error is that of Objects.
func NewLoad() (*Load, error) {
	objects, err := Objects()
	if err != nil {
		return nil, err
	}
	l := &Load{limits: flowcontrol.Compute(objects.PriorityLevels, flowcontrol.DefaultServerConcurrency), levels: map[string]*flowcontrol.Load{}}
	return l, nil
}

// Read plays the next five seconds.
func (l *Load) Read(context.Context) flowcontrol.Reading {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reading++
	metrics := &flowcontrol.Metrics{Levels: map[string]*flowcontrol.Load{}}
	for i, level := range l.limits.Levels {
		metrics.Levels[level.Name] = l.wanting(i, level)
	}
	for _, current := range metrics.CurrentLimits(&l.limits) {
		level, _ := l.limits.Level(current.Level)
		load := metrics.Levels[level.Name]
		load.Current = ptr.To(current.Limit)
		fill(load, int(*load.Demand.HighWatermark), current.Limit, level)
	}
	l.levels = metrics.Levels
	return flowcontrol.Reading{Metrics: metrics, Health: inspect.Health{State: inspect.Synced}}
}

// wanting is a level with what it wants now. What it gets follows as on a real server.
func (l *Load) wanting(i int, level flowcontrol.Level) *flowcontrol.Load {
	before := l.levels[level.Name]
	if before == nil {
		before = &flowcontrol.Load{}
	}
	wave := 0.5 + 0.5*math.Sin(float64(l.reading)/6+float64(i))
	demand := int(wave*0.4*float64(level.Nominal)) + 1
	if level.Name == floodedLevel && l.reading%floodCycle >= floodCycle*2/3 {
		demand = level.Nominal * (l.reading%floodCycle - floodCycle/2) / 4
	}
	average, deviation := float64(demand*8)/10, float64(demand)/20
	return &flowcontrol.Load{
		Nominal: ptr.To(level.Nominal), Lower: ptr.To(level.Lower), Upper: ptr.To(level.Upper),
		Demand: flowcontrol.Demand{
			HighWatermark: ptr.To(float64(demand)), Average: &average, StandardDeviation: &deviation, Smoothed: ptr.To(average + deviation),
		},
		Total: before.Total,
	}
}

// fill counts the requests of five seconds: what finds a seat, what waits, and what is rejected.
func fill(load *flowcontrol.Load, demand, current int, level flowcontrol.Level) {
	t := &load.Total
	executing := min(demand, current)
	waiting := demand - executing
	t.ExecutingRequests, t.ExecutingSeats = executing, executing
	t.Dispatched += executing * 20
	rejected := map[string]int{}
	for reason, n := range t.Rejected {
		rejected[reason] = n
	}
	if q := level.Queuing; q == nil {
		rejected["concurrency-limit"] += waiting
		waiting = 0
	} else if most := level.Nominal; waiting > most {
		rejected["queue-full"] += waiting - most
		waiting = most
	}
	t.QueuedRequests, t.QueuedSeats, t.Rejected = waiting, waiting, rejected
	t.Waits.Requests += executing * 20
	t.Waits.Seconds += float64(executing) * 20 * (0.001 + 0.002*float64(waiting))
	bound := 0.005
	if waiting > 0 {
		bound = 0.5
	}
	buckets := []flowcontrol.Bucket{{Seconds: 0.005}, {Seconds: 0.5}, {Seconds: math.Inf(1)}}
	for i := range buckets {
		if len(t.Waits.Buckets) == len(buckets) {
			buckets[i].Requests = t.Waits.Buckets[i].Requests
		}
		if buckets[i].Seconds >= bound {
			buckets[i].Requests += executing * 20
		}
	}
	t.Waits.Buckets = buckets
	load.Schemas = bySchema(level.Name, t)
}

// flows are the FlowSchemas of those that keep asking at each level. The first is that of who floods it.
var flows = map[string][]string{
	flowcontrolv1.PriorityLevelConfigurationNameExempt: {"probes"},
	"workload-low":                       {"service-accounts", "service-accounts", "service-accounts"},
	"workload-high":                      {"kube-scheduler", "kube-controller-manager", "kube-system-service-accounts"},
	"system":                             {"system-nodes", "system-nodes"},
	"node-high":                          {"system-node-high"},
	"leader-election":                    {"system-leader-election"},
	"global-default":                     {"global-default", "global-default"},
	flowcontrolv1.FlowSchemaNameCatchAll: {"catch-all"},
}

// bySchema splits the requests of a level by the flows that ask there; what waits or is rejected is of the
// first.
func bySchema(level string, total *flowcontrol.Counts) map[string]*flowcontrol.Counts {
	out := map[string]*flowcontrol.Counts{}
	for i, schema := range flows[level] {
		if out[schema] == nil {
			out[schema] = &flowcontrol.Counts{}
		}
		c, n := out[schema], len(flows[level])
		executing := (total.ExecutingRequests + n - 1 - i) / n
		c.ExecutingRequests, c.ExecutingSeats = c.ExecutingRequests+executing, c.ExecutingSeats+executing
		c.Dispatched += (total.Dispatched + n - 1 - i) / n
		if i == 0 {
			c.QueuedRequests, c.QueuedSeats, c.Rejected, c.Waits = total.QueuedRequests, total.QueuedSeats, total.Rejected, total.Waits
		}
	}
	return out
}
