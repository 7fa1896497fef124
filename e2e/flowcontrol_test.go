package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
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
// seen the latest objects. It returns how many numbers were compared.
func agree(t *testing.T, c *cluster.Cluster, seats int, upper bool) (numbers int) {
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
		numbers = 0
		for _, row := range want {
			for _, number := range row {
				if number >= 0 {
					numbers++
				}
			}
		}
		return cmp.Diff(want, limitsOf(list, upper)), nil
	})
	return numbers
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

// configuration is a change of the configuration before it.
type configuration struct {
	name string
	// yaml is what is created, patches are merged into levels that there are, and deleted are those that go.
	yaml    string
	patches map[string]string
	deleted []string
}

// configurations are made one after the other, so that each has what those before it left. Each differs in
// kind.
var configurations = []configuration{
	{name: "bootstrap"},
	{name: "lending", yaml: levelYAML("lend-all", "nominalConcurrencyShares: 37, lendablePercent: 100, "+queue) +
		levelYAML("lend-half", "nominalConcurrencyShares: 11, lendablePercent: 50, "+queue) +
		levelYAML("lend-odd", "nominalConcurrencyShares: 73, lendablePercent: 7, "+queue)},
	{name: "borrowing limits", yaml: levelYAML("borrow-none", "nominalConcurrencyShares: 20, borrowingLimitPercent: 0, "+queue) +
		levelYAML("borrow-some", "nominalConcurrencyShares: 13, lendablePercent: 15, borrowingLimitPercent: 33, "+queue) +
		levelYAML("borrow-much", "nominalConcurrencyShares: 3, borrowingLimitPercent: 450, "+queue)},
	{name: "exempt with shares", patches: map[string]string{"exempt": `{"spec":{"exempt":{"nominalConcurrencyShares":29,"lendablePercent":45}}}`}},
	{name: "reject", yaml: levelYAML("strict", "nominalConcurrencyShares: 17, lendablePercent: 25, borrowingLimitPercent: 10, "+reject)},
	{name: "no shares and the defaults of v1", yaml: levelYAML("no-shares", "nominalConcurrencyShares: 0, lendablePercent: 10, "+queue) +
		levelYAML("defaults", "limitResponse: {type: Queue, queuing: {}}")},
	{name: "lend everything or nothing, borrow nothing", yaml: levelYAML("gives", "nominalConcurrencyShares: 41, lendablePercent: 100, borrowingLimitPercent: 0, "+queue) +
		levelYAML("alone", "nominalConcurrencyShares: 41, lendablePercent: 0, borrowingLimitPercent: 0, "+queue) +
		levelYAML("beggar", "nominalConcurrencyShares: 0, lendablePercent: 100, borrowingLimitPercent: 0, "+queue)},
	{name: "sixty levels", yaml: manyLevels(60)},
	{name: "levels changed", patches: map[string]string{
		"lend-all":    `{"spec":{"limited":{"nominalConcurrencyShares":5,"lendablePercent":0,"limitResponse":{"type":"Reject","queuing":null}}}}`,
		"borrow-none": `{"spec":{"limited":{"borrowingLimitPercent":null}}}`,
		"borrow-some": `{"spec":{"limited":{"borrowingLimitPercent":0}}}`,
		"workload-low": `{"metadata":{"annotations":{"apf.kubernetes.io/autoupdate-spec":"false"}},` +
			`"spec":{"limited":{"nominalConcurrencyShares":0,"lendablePercent":0}}}`,
	}},
	{name: "exempt lends everything", patches: map[string]string{"exempt": `{"spec":{"exempt":{"nominalConcurrencyShares":400,"lendablePercent":100}}}`}},
	{name: "levels deleted", deleted: []string{"lend-half", "lend-odd", "strict", "many-0", "many-7", "many-33", "many-59"}},
	{name: "as many shares as there can be", yaml: levelYAML("greedy", "nominalConcurrencyShares: 2147483647, lendablePercent: 3, "+queue) +
		levelYAML("greedier", "nominalConcurrencyShares: 2147483647, lendablePercent: 97, borrowingLimitPercent: 1, "+queue)},
	{name: "as before", deleted: []string{"greedy", "greedier"}},
}

// manyLevels are levels with settings that have nothing in common.
func manyLevels(n int) string {
	random, text := rand.New(rand.NewPCG(3, 1)), ""
	for i := range n {
		limited := fmt.Sprintf("nominalConcurrencyShares: %d, lendablePercent: %d, ", random.IntN(60), random.IntN(101))
		if random.IntN(2) == 0 {
			limited += fmt.Sprintf("borrowingLimitPercent: %d, ", random.IntN(300))
		}
		text += levelYAML(fmt.Sprint("many-", i), limited+pick(random, []string{queue, reject}))
	}
	return text
}

// make makes a configuration of the one before it.
func (f *configuration) make(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	levels := c.Client().FlowcontrolV1().PriorityLevelConfigurations()
	c.ApplyText(t, f.yaml)
	for name, patch := range f.patches {
		if _, err := levels.Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range f.deleted {
		if err := levels.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPriorityLevelLimits holds every limit of `get prioritylevels` against the server's own metrics, in
// thirteen configurations of four servers. The last server hides its upper limits, from which the server
// concurrency limit follows exactly. What was equal is counted by configuration.
func TestPriorityLevelLimits(t *testing.T) {
	equal := map[string]int{}
	for _, server := range []struct {
		reads, writes int
		flags         []string
	}{{400, 200, nil}, {30, 12, nil}, {7, 4, nil}, {1000, 537, []string{"--disabled-metrics=apiserver_flowcontrol_upper_limit_seats"}}} {
		seats := server.reads + server.writes
		t.Run(fmt.Sprint(seats, " seats"), func(t *testing.T) {
			c := cluster.Start(t, cluster.Options{NoScheduler: true, ServerFlags: append(server.flags,
				fmt.Sprint("--max-requests-inflight=", server.reads), fmt.Sprint("--max-mutating-requests-inflight=", server.writes))})
			for _, f := range configurations {
				f.make(t, c)
				t.Run(f.name, func(t *testing.T) { equal[f.name] += agree(t, c, seats, len(server.flags) == 0) })
			}
			t.Run("v1beta3 from files", func(t *testing.T) { testBeta(t, c, seats, len(server.flags) == 0) })
		})
	}
	for i, f := range configurations {
		t.Logf("configuration %d, %s: %d numbers equal those of the metrics", i+1, f.name, equal[f.name])
		if equal[f.name] < 8*(4+4+4+3) {
			t.Errorf("configuration %s: only %d numbers were compared, want those of eight levels on four servers", f.name, equal[f.name])
		}
	}
}

// TestDeletedLevels deletes levels of which the server still serves a request: until that ends, it counts
// their shares and has other limits than those of the objects, which is told.
func TestDeletedLevels(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{NoScheduler: true, Users: []string{"leaving"},
		ServerFlags: []string{"--max-requests-inflight=60", "--max-mutating-requests-inflight=40", "--request-timeout=1h"}})
	c.ApplyText(t, levelYAML("leaving", "nominalConcurrencyShares: 245, "+queue)+schemaYAML("leaving"))
	permit(t, c, "leaving", rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"create"}})
	awaitSchemas(t, c, "leaving-requests")
	agree(t, c, 100, true)
	h := hold(t, c, "leaving", 3)
	shows(t, c, "leaving", figures{Executing: 3, Seats: 3})
	flowControl := c.Client().FlowcontrolV1()
	if err := flowControl.PriorityLevelConfigurations().Delete(t.Context(), "leaving", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := flowControl.FlowSchemas().Delete(t.Context(), "leaving-requests", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, func(ctx context.Context) error {
		dump, err := c.Client().Discovery().RESTClient().Get().AbsPath("/debug/api_priority_and_fairness/dump_priority_levels").DoRaw(ctx)
		if err == nil && !regexp.MustCompile(`(?m)^leaving,.*true`).Match(dump) {
			err = fmt.Errorf("the server does not say that the level is about to go:\n%s", dump)
		}
		return err
	})
	result := c.Plugin(t, cluster.Admin, "get", "prioritylevels")
	if !strings.Contains(result.Stderr, "still serves a level that was deleted") {
		t.Errorf("%v\nwant to be told that the server has other limits", result)
	}
	h.release()
	agree(t, c, 100, true)
	if result := c.Plugin(t, cluster.Admin, "get", "prioritylevels"); result.Stderr != "" {
		t.Errorf("%v\nwant no warning when the level is gone", result)
	}
}
