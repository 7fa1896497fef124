package flowcontrol

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Metrics is what one API server's metrics say about flow control at one moment.
type Metrics struct {
	// Levels are the levels that the server has, or had: the server never forgets the limits of a level
	// that was deleted.
	Levels map[string]*Load
}

// Load is what a priority level is doing. Figures that the server does not give, because it is too old
// or because it hides the metric, are nil.
type Load struct {
	// Nominal, Lower and Upper are the limits that the server computed, in seats; see Level.
	Nominal, Lower, Upper *int
	// Current is the limit that holds now, in seats. More than Nominal is borrowed, less is lent.
	Current *int
	// Demand is what the server's adjustment of Current saw.
	Demand Demand
	// Total sums up Schemas.
	Total Counts
	// Schemas are the requests of the level by the FlowSchema that led to it.
	Schemas map[string]*Counts
}

// Demand is the demand for seats over the last adjustment period, ten seconds.
type Demand struct {
	HighWatermark     *float64 `json:"highWatermark,omitempty"`
	Average           *float64 `json:"average,omitempty"`
	StandardDeviation *float64 `json:"standardDeviation,omitempty"`
	// Smoothed is a moving maximum of average and deviation, and Target is what the level was meant to
	// get out of it.
	Smoothed *float64 `json:"smoothed,omitempty"`
	Target   *float64 `json:"target,omitempty"`
}

// Counts are the requests of a priority level or of one flow schema in it. Executing and queued ones are
// those of now; a watch counts only until it has sent its initial events. The others are counted since
// the server started.
type Counts struct {
	ExecutingRequests, ExecutingSeats int
	QueuedRequests, QueuedSeats       int
	Dispatched                        int
	// Rejected counts by reason: queue-full, concurrency-limit (a level that rejects), time-out, cancelled.
	Rejected map[string]int
	// Waits are the times that requests spent in a queue before they were executed.
	Waits Waits
}

// RejectedRequests sums up Rejected.
func (c *Counts) RejectedRequests() int {
	sum := 0
	for _, n := range c.Rejected {
		sum += n
	}
	return sum
}

// longestLine bounds a line of metrics that is looked at, in bytes. Names of levels and schemas have at
// most 253 characters each.
const longestLine = 16 << 10

// ParseMetrics reads metrics in Prometheus' text format. Metrics of other things are passed over unread:
// they are most of what a server has to say. Values that cannot be, such as a negative number of seats,
// are left out.
func ParseMetrics(in io.Reader) (*Metrics, error) {
	text, err := onlyFlowControl(in)
	if err != nil {
		return nil, fmt.Errorf("reading metrics: %w", err)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("reading metrics: %w", err)
	}
	m := &Metrics{Levels: map[string]*Load{}}
	for name, read := range limitFamilies {
		for _, metric := range families[metricPrefix+name].GetMetric() {
			if level, number := label(metric, "priority_level"), gauge(metric); level != "" {
				read(m.level(level), number)
			}
		}
	}
	for name, read := range countFamilies {
		for _, metric := range families[metricPrefix+name].GetMetric() {
			if level := label(metric, "priority_level"); level != "" {
				read(m.level(level).schema(label(metric, "flow_schema")), metric)
			}
		}
	}
	for _, load := range m.Levels {
		for _, counts := range load.Schemas {
			load.Total.add(counts)
		}
	}
	return m, nil
}

const metricPrefix = "apiserver_flowcontrol_"

// limitFamilies are the gauges of a level.
var limitFamilies = map[string]func(*Load, float64){
	"nominal_limit_seats":         func(l *Load, v float64) { l.Nominal = whole(v) },
	"lower_limit_seats":           func(l *Load, v float64) { l.Lower = whole(v) },
	"upper_limit_seats":           func(l *Load, v float64) { l.Upper = whole(v) },
	"current_limit_seats":         func(l *Load, v float64) { l.Current = whole(v) },
	"demand_seats_high_watermark": func(l *Load, v float64) { l.Demand.HighWatermark = finite(v) },
	"demand_seats_average":        func(l *Load, v float64) { l.Demand.Average = finite(v) },
	"demand_seats_stdev":          func(l *Load, v float64) { l.Demand.StandardDeviation = finite(v) },
	"demand_seats_smoothed":       func(l *Load, v float64) { l.Demand.Smoothed = finite(v) },
	"target_seats":                func(l *Load, v float64) { l.Demand.Target = finite(v) },
}

// countFamilies are the metrics of a level and a flow schema. Servers before 1.28 call the executing
// seats request_concurrency_in_use, later ones may have both.
var countFamilies = map[string]func(*Counts, *dto.Metric){
	"current_executing_requests": func(c *Counts, m *dto.Metric) { c.ExecutingRequests += count(gauge(m)) },
	"current_executing_seats":    func(c *Counts, m *dto.Metric) { c.ExecutingSeats = max(c.ExecutingSeats, count(gauge(m))) },
	"request_concurrency_in_use": func(c *Counts, m *dto.Metric) { c.ExecutingSeats = max(c.ExecutingSeats, count(gauge(m))) },
	"current_inqueue_requests":   func(c *Counts, m *dto.Metric) { c.QueuedRequests += count(gauge(m)) },
	"current_inqueue_seats":      func(c *Counts, m *dto.Metric) { c.QueuedSeats += count(gauge(m)) },
	"dispatched_requests_total":  func(c *Counts, m *dto.Metric) { c.Dispatched += count(gauge(m)) },
	"rejected_requests_total": func(c *Counts, m *dto.Metric) {
		if n := count(gauge(m)); n > 0 {
			c.reject(label(m, "reason"), n)
		}
	},
	"request_wait_duration_seconds": func(c *Counts, m *dto.Metric) {
		if label(m, "execute") != "false" {
			c.Waits.add(waitsOf(m.GetHistogram()))
		}
	},
}

func (m *Metrics) level(name string) *Load {
	if m.Levels[name] == nil {
		m.Levels[name] = &Load{Schemas: map[string]*Counts{}}
	}
	return m.Levels[name]
}

func (l *Load) schema(name string) *Counts {
	if l.Schemas[name] == nil {
		l.Schemas[name] = &Counts{}
	}
	return l.Schemas[name]
}

func (c *Counts) reject(reason string, n int) {
	if c.Rejected == nil {
		c.Rejected = map[string]int{}
	}
	c.Rejected[reason] += n
}

func (c *Counts) add(other *Counts) {
	c.ExecutingRequests += other.ExecutingRequests
	c.ExecutingSeats += other.ExecutingSeats
	c.QueuedRequests += other.QueuedRequests
	c.QueuedSeats += other.QueuedSeats
	c.Dispatched += other.Dispatched
	for reason, n := range other.Rejected {
		c.reject(reason, n)
	}
	c.Waits.add(other.Waits)
}

func label(metric *dto.Metric, name string) string {
	for _, pair := range metric.GetLabel() {
		if pair.GetName() == name {
			return pair.GetValue()
		}
	}
	return ""
}

// gauge returns the value of a metric that is a number, whatever the server says it is.
func gauge(metric *dto.Metric) float64 {
	switch {
	case metric.Gauge != nil:
		return metric.GetGauge().GetValue()
	case metric.Counter != nil:
		return metric.GetCounter().GetValue()
	case metric.Untyped != nil:
		return metric.GetUntyped().GetValue()
	}
	return math.NaN()
}

// largest is the largest figure that is believed; sums of some stay exact.
const largest = 1 << 40

// whole returns a number of seats or requests, or nil for what cannot be one.
func whole(v float64) *int {
	if !(v >= 0 && v <= largest) {
		return nil
	}
	n := int(math.Round(v))
	return &n
}

func count(v float64) int {
	if n := whole(v); n != nil {
		return *n
	}
	return 0
}

func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// onlyFlowControl returns the lines about flow control that ParseMetrics reads.
func onlyFlowControl(in io.Reader) ([]byte, error) {
	var out bytes.Buffer
	reader := bufio.NewReaderSize(in, longestLine)
	for {
		line, err := reader.ReadSlice('\n')
		if !errors.Is(err, bufio.ErrBufferFull) && wanted(line) {
			out.Write(line)
			if err != nil {
				out.WriteByte('\n') // the parser wants a line break behind the last line
			}
		}
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = reader.ReadSlice('\n')
		}
		if errors.Is(err, io.EOF) {
			return out.Bytes(), nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// wanted reports whether a line is a sample or the type of a metric that is read.
func wanted(line []byte) bool {
	line = bytes.TrimPrefix(line, []byte("# TYPE "))
	end := bytes.IndexAny(line, "{ \t")
	if end < 0 {
		return false
	}
	name, found := strings.CutPrefix(string(line[:end]), metricPrefix)
	if !found {
		return false
	}
	for _, suffix := range []string{"", "_bucket", "_sum", "_count"} { // the last three are those of histograms
		base, cut := strings.CutSuffix(name, suffix)
		if cut && (limitFamilies[base] != nil || countFamilies[base] != nil) {
			return true
		}
	}
	return false
}
