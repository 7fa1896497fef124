package flowcontrol

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func parse(t testing.TB, text string) *Metrics {
	t.Helper()
	m, err := ParseMetrics(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestRealMetrics: what real servers computed for the default configuration is what we compute.
func TestRealMetrics(t *testing.T) {
	for _, version := range []string{"1.31", "1.35"} {
		m := parse(t, string(readFile(t, "metrics-"+version+".txt")))
		guess := Compute(bootstrapLevels(), 1)
		seats, exact, ok := m.ServerConcurrency(guess)
		if seats != 600 || !exact || !ok {
			t.Errorf("%s: server concurrency limit is %d %v %v, want 600", version, seats, exact, ok)
		}
		limits := Compute(bootstrapLevels(), seats)
		if names := m.Disagreements(limits); len(names) > 0 || len(m.Levels) != 8 {
			t.Errorf("%s: other limits of %v; the server has %d levels", version, names, len(m.Levels))
		}
		if names := m.Disagreements(Compute(bootstrapLevels(), 602)); len(names) != 8 {
			t.Errorf("%s: with 602 seats only %v are different", version, names)
		}
	}
}

// TestFigures reads the figures of 1.35 that stand in the file.
func TestFigures(t *testing.T) {
	m := parse(t, string(readFile(t, "metrics-1.35.txt")))
	high := m.Levels["workload-high"]
	if *high.Nominal != 98 || *high.Lower != 49 || *high.Upper != 698 || *high.Current != 114 {
		t.Errorf("limits of workload-high: %+v", high)
	}
	if *high.Demand.HighWatermark != 4 {
		t.Errorf("demand of workload-high: %v", *high.Demand.HighWatermark)
	}
	if got := high.Total.Dispatched; got != 229+73+490 {
		t.Errorf("dispatched of workload-high: %d", got)
	}
	if got := high.Schemas["kube-scheduler"]; got.Dispatched != 73 || got.Waits.Requests != 73 || got.Waits.Seconds != 0.0026501229999999995 {
		t.Errorf("kube-scheduler: %+v", got)
	}
	if got := m.Levels["workload-low"].Total; got.ExecutingRequests != 1 || got.ExecutingSeats != 1 || got.QueuedRequests != 0 || got.RejectedRequests() != 0 {
		t.Errorf("workload-low: %+v", got)
	}
	reading := Reading{Metrics: m}
	if low := reading.Level("workload-low"); *low.Current != 56 || low.Total.ExecutingRequests != 1 || low.Total.QueuedSeats != 0 || low.Total.RejectedRequests() != 0 {
		t.Errorf("figures of workload-low: %+v", low)
	}
	if reading.Level("gone") != nil || reading.Schema("workload-low", "gone").Dispatched != 0 || (Reading{}).Schema("workload-low", "service-accounts") != nil {
		t.Error("figures of what was not read")
	}
}

// TestCounts sums over schemas and reasons and does not count seats twice where two metrics give them.
func TestCounts(t *testing.T) {
	m := parse(t, `
# HELP apiserver_flowcontrol_current_executing_seats a comment
# TYPE apiserver_flowcontrol_current_executing_seats gauge
apiserver_flowcontrol_current_executing_seats{flow_schema="f",priority_level="p"} 12
apiserver_flowcontrol_current_executing_seats{priority_level="p",flow_schema="g"} 3
# TYPE apiserver_flowcontrol_request_concurrency_in_use gauge
apiserver_flowcontrol_request_concurrency_in_use{flow_schema="f",priority_level="p"} 12
apiserver_flowcontrol_current_executing_requests{flow_schema="f",priority_level="p"} 4 1700000000000
apiserver_flowcontrol_current_inqueue_requests{flow_schema="f",priority_level="p"} 7
apiserver_flowcontrol_current_inqueue_seats{flow_schema="f",priority_level="p"} 70
# TYPE apiserver_flowcontrol_rejected_requests_total counter
apiserver_flowcontrol_rejected_requests_total{flow_schema="f",priority_level="p",reason="queue-full"} 5
apiserver_flowcontrol_rejected_requests_total{flow_schema="f",priority_level="p",reason="time-out"} 2
apiserver_flowcontrol_rejected_requests_total{flow_schema="g",priority_level="p",reason="queue-full"} 1e1
apiserver_request_total{verb="GET"} 99
`)
	got := m.Levels["p"].Total
	want := Counts{ExecutingRequests: 4, ExecutingSeats: 15, QueuedRequests: 7, QueuedSeats: 70, Rejected: map[string]int{"queue-full": 15, "time-out": 2}}
	if diff := cmp.Diff(want, got); diff != "" || got.RejectedRequests() != 17 {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestImpossibleFigures: what cannot be a number of seats is not known.
func TestImpossibleFigures(t *testing.T) {
	for _, value := range []string{"NaN", "+Inf", "-Inf", "-1", "1e300"} {
		m := parse(t, "apiserver_flowcontrol_nominal_limit_seats{priority_level=\"p\"} "+value+"\n"+
			"apiserver_flowcontrol_current_executing_requests{flow_schema=\"f\",priority_level=\"p\"} "+value+"\n"+
			"apiserver_flowcontrol_demand_seats_average{priority_level=\"p\"} "+value)
		load := m.Levels["p"]
		if load.Nominal != nil || load.Total.ExecutingRequests != 0 {
			t.Errorf("%s: nominal %v, executing %d", value, load.Nominal, load.Total.ExecutingRequests)
		}
		if average := load.Demand.Average; (average == nil) != (strings.Contains(value, "Inf") || value == "NaN") {
			t.Errorf("%s: average demand %v", value, average)
		}
	}
}

func TestParseMetricsErrors(t *testing.T) {
	if _, err := ParseMetrics(strings.NewReader("apiserver_flowcontrol_nominal_limit_seats{priority_level=\"p} 3\n")); err == nil {
		t.Error("a label that does not end: no error")
	}
	if _, err := ParseMetrics(iotest.ErrReader(errors.New("cut off"))); err == nil || err.Error() != "reading metrics: cut off" {
		t.Errorf("a connection that ends: %v", err)
	}
	long := "apiserver_flowcontrol_nominal_limit_seats{priority_level=\"" + strings.Repeat("x", 2*longestLine) + "\"} 1\n"
	if m := parse(t, long+"apiserver_flowcontrol_nominal_limit_seats{priority_level=\"p\"} 1"); len(m.Levels) != 1 || m.Levels["p"] == nil {
		t.Errorf("behind a line that is too long: %v", m.Levels)
	}
	if m := parse(t, ""); len(m.Levels) != 0 {
		t.Errorf("no metrics: %v", m.Levels)
	}
}

// TestServerConcurrency has the sources in their order.
func TestServerConcurrency(t *testing.T) {
	objects := levelsOf(t, header+"v1\nmetadata: {name: a}\nspec: {type: Limited, limited: {nominalConcurrencyShares: 5, limitResponse: {type: Reject}}}\n")
	limits := Compute(objects, 1)
	gauge := func(name, level string, value int) string {
		return fmt.Sprintf("apiserver_flowcontrol_%s_limit_seats{priority_level=%q} %d\n", name, level, value)
	}
	for _, test := range []struct {
		name, metrics string
		seats         int
		exact, ok     bool
	}{
		{"the exempt level", gauge("nominal", "exempt", 0) + gauge("upper", "exempt", 450), 450, true, true},
		{"an exempt level with shares", gauge("nominal", "exempt", 7) + gauge("upper", "exempt", 457), 450, true, true},
		{"another level without a limit", gauge("nominal", "a", 225) + gauge("upper", "a", 675), 450, true, true},
		{"a level that is not there any more", gauge("nominal", "b", 225) + gauge("upper", "b", 675) + gauge("nominal", "a", 225), 449, false, true},
		{"nominal limits: 300 of 10/5 shares are 599 or 600", gauge("nominal", "a", 300), 600, false, true},
		{"nominal limits: 225 are 449 or 450", gauge("nominal", "a", 225), 449, false, true},
		{"nominal limits that contradict each other", gauge("nominal", "a", 225) + gauge("nominal", "catch-all", 13), 0, false, false},
		{"no limits", "", 0, false, false},
	} {
		seats, exact, ok := parse(t, test.metrics).ServerConcurrency(limits)
		if seats != test.seats || exact != test.exact || ok != test.ok {
			t.Errorf("%s: %d exact %v ok %v, want %d %v %v", test.name, seats, exact, ok, test.seats, test.exact, test.ok)
		}
	}
	if _, _, ok := (*Metrics)(nil).ServerConcurrency(limits); ok {
		t.Error("a server concurrency limit without metrics")
	}
}

func TestWaits(t *testing.T) {
	text := func(half, one, inf int, sum float64) string {
		const name = "apiserver_flowcontrol_request_wait_duration_seconds"
		labels := `execute="true",flow_schema="f",priority_level="p"`
		return fmt.Sprintf("# TYPE %[1]s histogram\n%[1]s_bucket{%[2]s,le=\"0.5\"} %[3]d\n%[1]s_bucket{%[2]s,le=\"1\"} %[4]d\n"+
			"%[1]s_bucket{%[2]s,le=\"+Inf\"} %[5]d\n%[1]s_sum{%[2]s} %[6]v\n%[1]s_count{%[2]s} %[5]d\n"+
			"%[1]s_sum{%[7]s} 60\n%[1]s_count{%[7]s} 1\n", name, labels, half, one, inf, sum, strings.Replace(labels, "true", "false", 1))
	}
	earlier := parse(t, text(2, 3, 4, 5)).Levels["p"].Total.Waits
	later := parse(t, text(12, 13, 14, 9)).Levels["p"].Total.Waits
	if got := earlier.Mean(); got != 1250*time.Millisecond {
		t.Errorf("mean %v, want 1.25s: those that ended without execution are not counted", got)
	}
	for q, want := range map[float64]time.Duration{0.5: 500 * time.Millisecond, 0.75: time.Second} {
		if got, ok := earlier.Quantile(q); got != want || !ok {
			t.Errorf("quantile %v is %v %v, want %v", q, got, ok, want)
		}
	}
	if _, ok := earlier.Quantile(1); ok {
		t.Error("the longest wait was longer than every bound, but has one")
	}
	if got := later.Since(earlier); got.Mean() != 400*time.Millisecond || got.Requests != 10 || got.Buckets[2].Requests != 10 {
		t.Errorf("between the readings: %+v", got)
	}
	if got := earlier.Since(later); got.Requests != 4 {
		t.Errorf("after a restart: %+v", got)
	}
	if got := (Waits{}).Mean(); got != 0 {
		t.Errorf("mean of nothing is %v", got)
	}
	if _, ok := (Waits{}).Quantile(0.5); ok {
		t.Error("nothing waited, but has a quantile")
	}
}

func FuzzParseMetrics(f *testing.F) {
	for _, name := range []string{"metrics-1.31.txt", "metrics-1.35.txt"} {
		for line := range bytes.SplitSeq(readFile(f, name), []byte("\n")) {
			if wanted(line) && len(line)%7 == 0 {
				f.Add(append(line, '\n'))
			}
		}
	}
	f.Add([]byte("apiserver_flowcontrol_request_wait_duration_seconds_bucket{priority_level=\"p\",le=\"x\"} 1\n"))
	limits := Compute(bootstrapLevels(), 600)
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := ParseMetrics(bytes.NewReader(text))
		if err != nil {
			return
		}
		if seats, _, ok := m.ServerConcurrency(limits); ok && (seats < 1 || seats > MaxServerConcurrency) {
			t.Errorf("server concurrency limit %d", seats)
		}
		m.Disagreements(limits)
		for name, load := range m.Levels {
			sum := 0
			for _, counts := range load.Schemas {
				sum += counts.ExecutingSeats
			}
			if name == "" || sum != load.Total.ExecutingSeats || sum < 0 {
				t.Errorf("level %q: %d seats in all, %d by schema", name, load.Total.ExecutingSeats, sum)
			}
			if load.Total.Waits.Mean() < 0 {
				t.Errorf("level %q: mean wait %v", name, load.Total.Waits.Mean())
			}
			Reading{Metrics: m}.Level(name)
		}
	})
}

// BenchmarkParseMetrics reads what a large server says: 30 MB, of which a hundredth is about flow control.
func BenchmarkParseMetrics(b *testing.B) {
	other := strings.Repeat("apiserver_request_duration_seconds_bucket{component=\"apiserver\",verb=\"LIST\",resource=\"pods\",le=\"0.05\"} 12345\n", 300000)
	text := append([]byte(other), readFile(b, "metrics-1.35.txt")...)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if m, err := ParseMetrics(bytes.NewReader(text)); err != nil || len(m.Levels) != 8 {
			b.Fatal(err)
		}
	}
}
