package live_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
)

// gateLines are metrics as component-base writes them, amid others.
const gateLines = `# HELP go_goroutines Number of goroutines that currently exist.
# TYPE go_goroutines gauge
go_goroutines 12
# HELP kubernetes_feature_enabled [BETA] This metric records the data about the stage and enablement of a k8s feature.
# TYPE kubernetes_feature_enabled gauge
kubernetes_feature_enabled{name="DRADerivedAttributes",stage="ALPHA"} 1
kubernetes_feature_enabled{name="DRADeviceTaints",stage="BETA"} 0
kubernetes_feature_enabled{name="DynamicResourceAllocation",stage=""} 1
kubernetes_feature_enabled{name="SomethingElse",stage=""} 1
# HELP later_metric x
later_metric 1
kubernetes_feature_enabled{name="DRAConsumableCapacity",stage="BETA"} 0
`

func TestGatesOfTheServer(t *testing.T) {
	f := newFake()
	f.metrics = gateLines
	features := mustRead(t, f, live.Options{}).Features
	if features.Source != "feature gates of the API server (kubernetes_feature_enabled)" || features.Minor != 37 {
		t.Errorf("source %q, minor %d", features.Source, features.Minor)
	}
	for gate, want := range map[inspect.Gate]bool{
		inspect.GateDerivedAttributes:         true,  // alpha, off by default
		inspect.GateDeviceTaints:              false, // on by default
		inspect.GateDynamicResourceAllocation: true,
		inspect.GatePrioritizedList:           true,  // not listed: the default of 1.37
		inspect.GateConsumableCapacity:        true,  // listed only behind another family: not read
		"SomethingElse":                       false, // unknown to us
	} {
		if got := features.Enabled(gate); got != want {
			t.Errorf("%s is %v, want %v", gate, got, want)
		}
	}
}

func TestDefaultsWhereMetricsCannotBeRead(t *testing.T) {
	cases := map[string]struct {
		version, metrics string
		timeout          time.Duration
		minor            int
		source           string
	}{
		"forbidden":             {`{"major":"1","minor":"36","gitVersion":"v1.36.3"}`, "", 0, 36, "defaults of Kubernetes 1.36 (metrics not readable: forbidden)"},
		"distribution":          {`{"major":"1","minor":"35+","gitVersion":"v1.35.2-gke.1"}`, "", 0, 35, "defaults of Kubernetes 1.35 (metrics not readable: forbidden)"},
		"emulates an old one":   {`{"major":"1","minor":"37","emulationMajor":"1","emulationMinor":"35","gitVersion":"v1.37.1"}`, "", 0, 35, "defaults of Kubernetes 1.35 (metrics not readable: forbidden)"},
		"newer than we know":    {`{"major":"1","minor":"39","gitVersion":"v1.39.0"}`, "", 0, 39, "defaults of Kubernetes 1.38 (metrics not readable: forbidden)"},
		"no version either":     {"", "", 0, 37, "defaults of Kubernetes 1.37 (version not readable: forbidden; metrics not readable: forbidden)"},
		"version is nonsense":   {`{"major":"1","minor":"x\u001b[2J","gitVersion":"v"}`, "", 0, 37, `defaults of Kubernetes 1.37 (version not readable: "1.x [2J" is not a version 1.x; metrics not readable: forbidden)`},
		"metrics without gates": {`{"major":"1","minor":"37","gitVersion":"v1.37.1"}`, "go_goroutines 12\n", 0, 37, "defaults of Kubernetes 1.37 (metrics not readable: they list no feature gates)"},
		"metrics are slow":      {`{"major":"1","minor":"37","gitVersion":"v1.37.1"}`, "slow", 200 * time.Millisecond, 37, "defaults of Kubernetes 1.37 (metrics not readable: no answer in time)"},
		"metrics break off":     {`{"major":"1","minor":"37","gitVersion":"v1.37.1"}`, "break", 0, 37, "defaults of Kubernetes 1.37 (metrics not readable: unexpected EOF)"},
		"metrics do not exist":  {`{"major":"1","minor":"37","gitVersion":"v1.37.1"}`, "404", 0, 37, "defaults of Kubernetes 1.37 (metrics not readable: not served)"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.version, f.metrics = c.version, c.metrics
			switch c.metrics {
			case "slow":
				f.override["/metrics"] = func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
			case "break":
				f.override["/metrics"] = func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Length", "100000")
					_, _ = w.Write([]byte(gateLines[:strings.Index(gateLines, "DynamicResource")]))
				}
			case "404":
				f.status["/metrics"] = http.StatusNotFound
			}
			config := f.start(t)
			var cluster *live.Cluster
			for _, config.Timeout = range slower(c.timeout) {
				var err error
				cluster, err = live.Read(t.Context(), config, live.Options{})
				if err == nil && cluster.Features.Source == c.source {
					break
				}
				t.Logf("with a timeout of %v: %v", config.Timeout, err)
			}
			if cluster == nil {
				t.Fatal("it cannot be read")
			}
			if got := cluster.Features; got.Source != c.source || got.Minor != c.minor {
				t.Errorf("minor %d, source %q\nwant  %d, %q", got.Minor, got.Source, c.minor, c.source)
			}
			if c.version == "" && cluster.ServerVersion != "v1.37" {
				t.Errorf("server version %q, want the newest minor release without a patch", cluster.ServerVersion)
			}
			if !cluster.Features.Enabled(inspect.GatePrioritizedList) {
				t.Error("a gate that is on by default since 1.34 is off")
			}
		})
	}
}

// slower are timeouts to try one after the other. A machine that is busy may not manage with the first to
// answer what it shall answer.
func slower(first time.Duration) []time.Duration {
	return []time.Duration{first, 5 * first, 25 * first, 125 * first}
}

// A gate of 1.37 is on by default only where no replica of 1.36 has to be reckoned with. A server of 1.37
// says that it is compatible with 1.36 unless it was told otherwise. In 1.38 it is on in any case.
func TestDefaultThatDependsOnCompatibility(t *testing.T) {
	for _, test := range []struct {
		minor, compatible string
		want              bool
	}{{"37", "36", false}, {"37", "37", true}, {"38", "36", true}, {"38", "37", true}} {
		f := newFake()
		f.metrics = ""
		f.version = `{"major":"1","minor":"` + test.minor + `","emulationMajor":"1","emulationMinor":"` + test.minor + `","minCompatibilityMajor":"1",
			"minCompatibilityMinor":"` + test.compatible + `","gitVersion":"v1.` + test.minor + `.1"}`
		features := mustRead(t, f, live.Options{}).Features
		if got := features.Enabled(inspect.GateFractionalCapacityRange); got != test.want {
			t.Errorf("1.%s, compatible with 1.%s: the gate is %v, want %v", test.minor, test.compatible, got, test.want)
		}
	}
}

// TestGatesThatObjectsUse: where the metrics do not tell, a gate without which an object could not be as it
// is is on: pods of a group are not decided as if each were alone.
func TestGatesThatObjectsUse(t *testing.T) {
	const path = "/api/v1/pods"
	for _, c := range []struct {
		metrics string
		want    bool
	}{{"", true}, {`kubernetes_feature_enabled{name="GenericWorkload",stage="ALPHA"} 0` + "\n", false}} {
		f := newFake()
		f.metrics = c.metrics
		f.override[path] = func(w http.ResponseWriter, _ *http.Request) {
			answerJSON(w, listJSON(path, "", `{"metadata":{"name":"w","namespace":"ml","uid":"u"},"spec":{"schedulingGroup":{"podGroupName":"train"}}}`))
		}
		features := mustRead(t, f, live.Options{}).Features
		if got := features.Enabled(inspect.GateGenericWorkload); got != c.want {
			t.Errorf("metrics %q: the gate is %t, want %t (%s)", c.metrics, got, c.want, features.Source)
		}
		ctx, cancel := context.WithCancel(t.Context())
		w, err := live.Watch(ctx, f.start(t), live.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for s := range w.Updates() {
			if len(s.Objects().Pods) == 0 {
				continue
			}
			if got := s.Features().Enabled(inspect.GateGenericWorkload); got != c.want {
				t.Errorf("metrics %q, followed: the gate is %t, want %t (%s)", c.metrics, got, c.want, s.Features().Source)
			}
			cancel()
		}
		cancel()
	}
}

// A server of 1.38 does not list gates that are gone: what they stood for is on.
func TestGatesThatAreGone(t *testing.T) {
	f := newFake()
	f.version = strings.ReplaceAll(f.version, "37", "38")
	features := mustRead(t, f, live.Options{}).Features
	for _, gate := range []inspect.Gate{inspect.GateDynamicResourceAllocation, inspect.GatePodGroupPreemptionPolicy} {
		if !features.Enabled(gate) || features.Knows(gate) || !features.Locked(gate) {
			t.Errorf("%s: on %t, known %t, locked %t", gate, features.Enabled(gate), features.Knows(gate), features.Locked(gate))
		}
	}
}

// Before 1.35 there is no gate for DeviceTaintRules: the one for taints turns them on.
func TestTaintRulesOfOldServers(t *testing.T) {
	for _, c := range []struct {
		minor, taints string
		want          bool
	}{{"34", "1", true}, {"34", "0", false}, {"35", "1", false}} {
		f := newFake()
		f.version = `{"major":"1","minor":"` + c.minor + `","gitVersion":"v1.` + c.minor + `.0"}`
		f.metrics = `kubernetes_feature_enabled{name="DRADeviceTaints",stage="ALPHA"} ` + c.taints + "\n"
		features := mustRead(t, f, live.Options{}).Features
		if got := features.Enabled(inspect.GateDeviceTaintRules); got != c.want {
			t.Errorf("1.%s with DRADeviceTaints %s: taint rules %v, want %v", c.minor, c.taints, got, c.want)
		}
	}
}

func TestHostileMetrics(t *testing.T) {
	f := newFake()
	f.metrics = strings.Repeat("x", 1<<20) + "\n" +
		`kubernetes_feature_enabled{name="DRADeviceTaints` + strings.Repeat("x", 1<<20) + `",stage="BETA"} 0` + "\n" +
		`kubernetes_feature_enabled{name="DRADeviceTaints",stage="BETA"} NaN` + "\n" +
		`kubernetes_feature_enabled{name="DRADeviceTaints",stage="BETA"} 2` + "\n" +
		`kubernetes_feature_enabled{name="DRADeviceTaints",stage="BETA"}` + "\n" +
		`kubernetes_feature_enabled{name=DRADeviceTaints} 0` + "\n" +
		`kubernetes_feature_enabled{name="} 0` + "\n" +
		`kubernetes_feature_enabled{} 0` + "\n\n" +
		`kubernetes_feature_enabled{stage="ALPHA",name="DRAListTypeAttributes",} 1 1700000000` + "\r\n" +
		`kubernetes_feature_enabled{name="DRAAdminAccess",stage=""} 0` // no newline at the end
	features := mustRead(t, f, live.Options{}).Features
	if !features.Enabled(inspect.GateDeviceTaints) {
		t.Error("a malformed line turned a gate off")
	}
	if !features.Enabled(inspect.GateListTypeAttributes) {
		t.Error("labels in another order, with a time stamp: the gate was not read")
	}
	if features.Enabled(inspect.GateAdminAccess) {
		t.Error("the last line, without a newline, was not read")
	}
}
