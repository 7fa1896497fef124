package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
)

// priorityLevel is an item of a PriorityLevelList.
type priorityLevel struct {
	Name                             string
	Nominal, Lower, Upper            int
	Current, Executing               *int
	Queued, Rejected, ExecutingSeats *int
	RejectedBy                       map[string]int
}

type priorityLevelList struct {
	Items             []priorityLevel
	ServerConcurrency struct {
		Limit  int
		Source string
	}
}

// levels asks the plugin for the priority levels.
func levels(t testing.TB, c *cluster.Cluster, user string, args ...string) priorityLevelList {
	t.Helper()
	var list priorityLevelList
	result := c.Plugin(t, user, append([]string{"get", "prioritylevels", "-o", "json"}, args...)...)
	if result.Code != 0 {
		t.Fatal(result)
	}
	result.JSON(t, &list)
	return list
}

// named returns a level of the list, or fails the test.
func (l priorityLevelList) named(t testing.TB, name string) priorityLevel {
	t.Helper()
	for _, level := range l.Items {
		if level.Name == name {
			return level
		}
	}
	t.Fatalf("there is no priority level %s", name)
	return priorityLevel{}
}

// sample matches a line of metrics about flow control. The test reads them by itself, so that it does
// not believe the parser that it tests.
var sample = regexp.MustCompile(`(?m)^apiserver_flowcontrol_([a-z_]+)\{([^}]*)\} (\S+)$`)

// serverFigures are the server's own figures, by metric and priority level; those of several flow
// schemas are added up.
func serverFigures(ctx context.Context, c *cluster.Cluster) (map[string]map[string]float64, error) {
	text, err := c.Client().Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return nil, err
	}
	figures := map[string]map[string]float64{}
	for _, line := range sample.FindAllStringSubmatch(string(text), -1) {
		_, level, _ := strings.Cut(line[2], `priority_level="`)
		level, _, _ = strings.Cut(level, `"`)
		value, err := strconv.ParseFloat(line[3], 64)
		if err != nil {
			return nil, err
		}
		if figures[line[1]] == nil {
			figures[line[1]] = map[string]float64{}
		}
		figures[line[1]][level] += value
	}
	return figures, nil
}

// limits is the rows that both sides must agree on: nominal, lower, upper and current limit by level.
type limits map[string][4]int

func limitsOf(list priorityLevelList, upper bool) limits {
	out := limits{}
	for _, l := range list.Items {
		row := [4]int{l.Nominal, l.Lower, l.Upper, -1}
		if !upper {
			row[2] = -1
		}
		if l.Current != nil {
			row[3] = *l.Current
		}
		out[l.Name] = row
	}
	return out
}

// serverLimits are those of the metrics for the levels that there are objects of: metrics of deleted
// levels stay.
func serverLimits(ctx context.Context, c *cluster.Cluster) (limits, error) {
	figures, err := serverFigures(ctx, c)
	if err != nil {
		return nil, err
	}
	objects, err := c.Client().FlowcontrolV1().PriorityLevelConfigurations().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	out := limits{}
	for _, o := range objects.Items {
		row := [4]int{-1, -1, -1, -1}
		for i, metric := range []string{"nominal_limit_seats", "lower_limit_seats", "upper_limit_seats", "current_limit_seats"} {
			if value, found := figures[metric][o.Name]; found {
				row[i] = int(value)
			}
		}
		out[o.Name] = row
	}
	return out, nil
}

// agree waits until the plugin and the server give the same limits. They differ until the server has
// seen the latest objects.
func agree(t *testing.T, c *cluster.Cluster, seats int, upper bool) {
	t.Helper()
	untilEqual(t, func(ctx context.Context) (string, error) {
		list := levels(t, c, cluster.Admin)
		want, err := serverLimits(ctx, c)
		if err != nil {
			return "", err
		}
		if list.ServerConcurrency.Source != "Server" || upper && list.ServerConcurrency.Limit != seats {
			return fmt.Sprintf("server concurrency limit %+v, want %d of the server", list.ServerConcurrency, seats), nil
		}
		return cmp.Diff(want, limitsOf(list, upper)), nil
	})
}

// untilEqual waits until compare finds no difference between what the server and the plugin say. It
// shows the last difference, even when the time is up in the middle of another try.
func untilEqual(t *testing.T, compare func(context.Context) (diff string, err error)) {
	t.Helper()
	last := ""
	cluster.Eventually(t, func(ctx context.Context) error {
		diff, err := compare(ctx)
		if err != nil && last == "" {
			return err
		}
		if err == nil {
			last = diff
		}
		if last == "" {
			return nil
		}
		return fmt.Errorf("nominal, lower, upper and current limits (-server +plugin):\n%s", last)
	})
}

func levelYAML(name, limited string) string {
	return "---\napiVersion: flowcontrol.apiserver.k8s.io/v1\nkind: PriorityLevelConfiguration\nmetadata: {name: " + name +
		"}\nspec: {type: Limited, limited: {" + limited + "}}\n"
}

const (
	queue  = "limitResponse: {type: Queue, queuing: {queues: 16, handSize: 4, queueLengthLimit: 10}}"
	reject = "limitResponse: {type: Reject}"
)

// configurations are added to the default one, one after the other, so that the last has them all.
var configurations = []struct{ name, yaml, exempt string }{
	{name: "bootstrap"},
	{name: "lending", yaml: levelYAML("lend-all", "nominalConcurrencyShares: 37, lendablePercent: 100, "+queue) +
		levelYAML("lend-half", "nominalConcurrencyShares: 11, lendablePercent: 50, "+queue) +
		levelYAML("lend-odd", "nominalConcurrencyShares: 73, lendablePercent: 7, "+queue)},
	{name: "borrowing limits", yaml: levelYAML("borrow-none", "nominalConcurrencyShares: 20, borrowingLimitPercent: 0, "+queue) +
		levelYAML("borrow-some", "nominalConcurrencyShares: 13, lendablePercent: 15, borrowingLimitPercent: 33, "+queue) +
		levelYAML("borrow-much", "nominalConcurrencyShares: 3, borrowingLimitPercent: 450, "+queue)},
	{name: "exempt with shares", exempt: `{"spec":{"exempt":{"nominalConcurrencyShares":29,"lendablePercent":45}}}`},
	{name: "reject", yaml: levelYAML("strict", "nominalConcurrencyShares: 17, lendablePercent: 25, borrowingLimitPercent: 10, "+reject)},
	{name: "no shares and the defaults of v1", yaml: levelYAML("no-shares", "nominalConcurrencyShares: 0, lendablePercent: 10, "+queue) +
		levelYAML("defaults", "limitResponse: {type: Queue, queuing: {}}")},
}

// TestPriorityLevelLimits holds every limit of `get prioritylevels` against the server's own metrics, in
// six configurations of four servers. The last server hides its upper limits, from which the server
// concurrency limit follows exactly.
func TestPriorityLevelLimits(t *testing.T) {
	for _, server := range []struct {
		reads, writes int
		flags         []string
	}{{400, 200, nil}, {30, 12, nil}, {7, 4, nil}, {1000, 537, []string{"--disabled-metrics=apiserver_flowcontrol_upper_limit_seats"}}} {
		seats := server.reads + server.writes
		t.Run(fmt.Sprint(seats, " seats"), func(t *testing.T) {
			c := cluster.Start(t, cluster.Options{NoScheduler: true, ServerFlags: append(server.flags,
				fmt.Sprint("--max-requests-inflight=", server.reads), fmt.Sprint("--max-mutating-requests-inflight=", server.writes))})
			for _, configuration := range configurations {
				if configuration.yaml != "" {
					c.ApplyText(t, configuration.yaml)
				}
				if configuration.exempt != "" {
					if _, err := c.Client().FlowcontrolV1().PriorityLevelConfigurations().Patch(t.Context(), "exempt",
						types.MergePatchType, []byte(configuration.exempt), metav1.PatchOptions{}); err != nil {
						t.Fatal(err)
					}
				}
				t.Run(configuration.name, func(t *testing.T) { agree(t, c, seats, len(server.flags) == 0) })
			}
			t.Run("v1beta3 from files", func(t *testing.T) { testBeta(t, c, seats, len(server.flags) == 0) })
		})
	}
}

// betaYAML is served by no server of today. A server that did kept these objects as storedYAML: at
// v1beta3, shares of 0 could not be told from none, but for the annotation.
const betaYAML = `
{apiVersion: flowcontrol.apiserver.k8s.io/v1beta3, kind: PriorityLevelConfiguration, metadata: {name: beta-none},
 spec: {type: Limited, limited: {lendablePercent: 20, ` + reject + `}}}
---
{apiVersion: flowcontrol.apiserver.k8s.io/v1beta3, kind: PriorityLevelConfiguration, metadata: {name: beta-zero},
 spec: {type: Limited, limited: {nominalConcurrencyShares: 0, borrowingLimitPercent: 60, ` + reject + `}}}
---
{apiVersion: flowcontrol.apiserver.k8s.io/v1beta3, kind: PriorityLevelConfiguration,
 metadata: {name: beta-kept, annotations: {flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares: ""}},
 spec: {type: Limited, limited: {nominalConcurrencyShares: 0, ` + reject + `}}}
`

var storedYAML = levelYAML("beta-none", "nominalConcurrencyShares: 30, lendablePercent: 20, "+reject) +
	levelYAML("beta-zero", "nominalConcurrencyShares: 30, lendablePercent: 0, borrowingLimitPercent: 60, "+reject) +
	levelYAML("beta-kept", "nominalConcurrencyShares: 0, lendablePercent: 0, "+reject)

// testBeta compares what the plugin makes of v1beta3 manifests, together with the other levels of the
// server, with what the server makes of the objects as they were stored.
func testBeta(t *testing.T, c *cluster.Cluster, seats int, upper bool) {
	objects, err := c.Client().FlowcontrolV1().PriorityLevelConfigurations().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	text := betaYAML
	for _, o := range objects.Items {
		o.TypeMeta = metav1.TypeMeta{APIVersion: flowcontrolv1.SchemeGroupVersion.String(), Kind: "PriorityLevelConfiguration"}
		data, err := json.Marshal(o) // JSON is YAML
		if err != nil {
			t.Fatal(err)
		}
		text += "---\n" + string(data) + "\n"
	}
	file := filepath.Join(t.TempDir(), "levels.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c.ApplyText(t, storedYAML)
	untilEqual(t, func(ctx context.Context) (string, error) {
		want, err := serverLimits(ctx, c)
		if err != nil {
			return "", err
		}
		for name, row := range want {
			row[3] = -1 // a file has no current limits
			want[name] = row
		}
		got := limitsOf(levels(t, c, cluster.Admin, "--from", file, "--server-concurrency", fmt.Sprint(seats)), upper)
		return cmp.Diff(want, got), nil
	})
	list := levels(t, c, cluster.Admin)
	if names := []string{"beta-none", "beta-zero", "beta-kept"}; slices.ContainsFunc(names, func(name string) bool {
		return list.named(t, name).Nominal == 0 != (name == "beta-kept")
	}) {
		t.Errorf("of %v, the last one alone should be without seats", names)
	}
}
