package flowcontrol

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
)

const header = "---\nkind: PriorityLevelConfiguration\napiVersion: flowcontrol.apiserver.k8s.io/"

// levelsOf reads objects as files are read: with the defaults of their API version.
func levelsOf(t testing.TB, yaml string) []*flowcontrolv1.PriorityLevelConfiguration {
	t.Helper()
	result, err := manifest.ReadBytes("test", []byte(yaml), manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return result.Objects.PriorityLevels
}

func bootstrapLevels() []*flowcontrolv1.PriorityLevelConfiguration {
	return append(append([]*flowcontrolv1.PriorityLevelConfiguration{}, bootstrap.MandatoryPriorityLevelConfigurations...),
		bootstrap.SuggestedPriorityLevelConfigurations...)
}

// row is the arithmetic of one level: shares, nominal, lendable, borrowing (-1 is no limit), lower, upper.
type row [6]int

func rowsOf(limits Limits) map[string]row {
	rows := map[string]row{}
	for _, l := range limits.Levels {
		borrowing := -1
		if l.Borrowing != nil {
			borrowing = *l.Borrowing
		}
		rows[l.Name] = row{l.Shares, l.Nominal, l.Lendable, borrowing, l.Lower, l.Upper}
	}
	return rows
}

// TestCompute compares with limits that were worked out on paper; the comments have the fractions.
func TestCompute(t *testing.T) {
	limited := func(version, name, fields string) string {
		return header + version + "\nmetadata: {name: " + name + "}\nspec: {type: Limited, limited: {" + fields + "}}\n"
	}
	const queue, reject = "limitResponse: {type: Queue, queuing: {}}", "limitResponse: {type: Reject}"
	for _, test := range []struct {
		name   string
		yaml   string
		server int
		want   map[string]row
	}{{
		name: "no objects: the mandatory levels", server: 600,
		want: map[string]row{"exempt": {0, 0, 0, -1, 0, 600}, "catch-all": {5, 600, 0, -1, 600, 1200}},
	}, {
		name: "lending, half a seat rounds up", server: 20,
		yaml: limited("v1", "a", "nominalConcurrencyShares: 15, lendablePercent: 50, "+queue), // 20*15/20 = 15, 7.5
		want: map[string]row{"exempt": {0, 0, 0, -1, 0, 20}, "catch-all": {5, 5, 0, -1, 5, 25}, "a": {15, 15, 8, -1, 7, 35}},
	}, {
		name: "borrowing limits: none, nothing and more than nominal", server: 100,
		yaml: limited("v1", "a", "nominalConcurrencyShares: 35, lendablePercent: 10, borrowingLimitPercent: 50, "+queue) + // 70, 7, 35
			limited("v1", "b", "nominalConcurrencyShares: 7, borrowingLimitPercent: 0, "+queue) + // 14
			limited("v1", "c", "nominalConcurrencyShares: 3, borrowingLimitPercent: 250, "+queue), // 6, 15
		want: map[string]row{"exempt": {0, 0, 0, -1, 0, 100}, "catch-all": {5, 10, 0, -1, 10, 110}, // 100*5/50
			"a": {35, 70, 7, 35, 63, 105}, "b": {7, 14, 0, 0, 14, 14}, "c": {3, 6, 0, 15, 6, 21}},
	}, {
		name: "exempt with shares that it lends", server: 20,
		yaml: header + "v1\nmetadata: {name: exempt}\nspec: {type: Exempt, exempt: {nominalConcurrencyShares: 10, lendablePercent: 50}}\n" +
			limited("v1", "a", "nominalConcurrencyShares: 15, "+reject),
		// of 30 shares: 6.67, 3.33 and 10
		want: map[string]row{"exempt": {10, 7, 4, -1, 3, 27}, "catch-all": {5, 4, 0, -1, 4, 24}, "a": {15, 10, 0, -1, 10, 30}},
	}, {
		name: "no shares", server: 600,
		yaml: limited("v1", "a", "nominalConcurrencyShares: 0, lendablePercent: 40, borrowingLimitPercent: 80, "+queue),
		want: map[string]row{"exempt": {0, 0, 0, -1, 0, 600}, "catch-all": {5, 600, 0, -1, 600, 1200}, "a": {0, 0, 0, 0, 0, 0}},
	}, {
		name: "defaults of v1: shares that are left out are 30, shares of 0 are 0", server: 70,
		yaml: limited("v1", "a", queue) + limited("v1", "b", "nominalConcurrencyShares: 0, "+queue),
		want: map[string]row{"exempt": {0, 0, 0, -1, 0, 70}, "catch-all": {5, 10, 0, -1, 10, 80}, "a": {30, 60, 0, -1, 60, 130}, "b": {0, 0, 0, -1, 0, 70}},
	}, {
		name: "defaults of v1beta3: shares of 0 are 30 too", server: 65,
		yaml: limited("v1beta3", "a", queue) + limited("v1beta3", "b", "nominalConcurrencyShares: 0, "+queue),
		want: map[string]row{"exempt": {0, 0, 0, -1, 0, 65}, "catch-all": {5, 5, 0, -1, 5, 70}, "a": {30, 30, 0, -1, 30, 95}, "b": {30, 30, 0, -1, 30, 95}},
	}, {
		name: "v1beta3 with the annotation that keeps 0", server: 70,
		yaml: header + "v1beta3\nmetadata: {name: a, annotations: {flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares: \"\"}}\n" +
			"spec: {type: Limited, limited: {nominalConcurrencyShares: 0, " + queue + "}}\n" + limited("v1beta3", "b", "nominalConcurrencyShares: 30, "+queue),
		want: map[string]row{"exempt": {0, 0, 0, -1, 0, 70}, "catch-all": {5, 10, 0, -1, 10, 80}, "a": {0, 0, 0, -1, 0, 70}, "b": {30, 60, 0, -1, 60, 130}},
	}, {
		name: "one seat for all", server: 1,
		yaml: limited("v1", "a", "nominalConcurrencyShares: 1, lendablePercent: 49, "+queue) + limited("v1", "b", "nominalConcurrencyShares: 1, lendablePercent: 50, "+queue),
		want: map[string]row{"exempt": {0, 0, 0, -1, 0, 1}, "catch-all": {5, 1, 0, -1, 1, 2}, "a": {1, 1, 0, -1, 1, 2}, "b": {1, 1, 1, -1, 0, 2}},
	}} {
		t.Run(test.name, func(t *testing.T) {
			limits := Compute(levelsOf(t, test.yaml), test.server)
			if diff := cmp.Diff(test.want, rowsOf(limits)); diff != "" {
				t.Errorf("shares, nominal, lendable, borrowing, lower, upper (-want +got):\n%s", diff)
			}
			if len(limits.Ignored) > 0 {
				t.Errorf("ignored: %v", limits.Ignored)
			}
		})
	}
}

// TestBootstrap compares with the limits of 1000 seats, worked out on paper. Those of 600 seats are
// compared with the metrics of real servers in TestRealMetrics.
func TestBootstrap(t *testing.T) {
	limits := Compute(bootstrapLevels(), 1000)
	want := map[string]row{ // of 245 shares
		"exempt":          {0, 0, 0, -1, 0, 1000},
		"catch-all":       {5, 21, 0, -1, 21, 1021},      // 20.41
		"system":          {30, 123, 41, -1, 82, 1123},   // 122.45, 40.59
		"node-high":       {40, 164, 41, -1, 123, 1164},  // 163.27, 41
		"leader-election": {10, 41, 0, -1, 41, 1041},     // 40.82
		"workload-high":   {40, 164, 82, -1, 82, 1164},   // 163.27, 82
		"workload-low":    {100, 409, 368, -1, 41, 1409}, // 408.16, 368.1
		"global-default":  {20, 82, 41, -1, 41, 1082},    // 81.63, 41
	}
	if diff := cmp.Diff(want, rowsOf(limits)); diff != "" {
		t.Errorf("shares, nominal, lendable, borrowing, lower, upper (-want +got):\n%s", diff)
	}
	system, _ := limits.Level("system")
	if system.Response != flowcontrolv1.LimitResponseTypeQueue || *system.Queuing != (Queuing{64, 6, 50}) || system.Assumed {
		t.Errorf("system: %+v", system)
	}
	rest, _ := limits.Level("catch-all")
	if rest.Response != flowcontrolv1.LimitResponseTypeReject || rest.Queuing != nil || rest.Type != flowcontrolv1.PriorityLevelEnablementLimited {
		t.Errorf("catch-all: %+v", rest)
	}
	exempt, _ := limits.Level("exempt")
	if exempt.Response != "" || exempt.Type != flowcontrolv1.PriorityLevelEnablementExempt {
		t.Errorf("exempt: %+v", exempt)
	}
	if _, found := limits.Level("sys"); found || limits.Shares != 245 {
		t.Errorf("level sys found, or shares %d, want 245", limits.Shares)
	}
}

// TestMandatory: the two mandatory levels are there without objects, and what is made up has a name and a
// spec only.
func TestMandatory(t *testing.T) {
	for _, name := range []string{"exempt", "catch-all"} {
		if level := Mandatory(name); level.Name != name || level.Annotations != nil || RefusedLevel(level) != "" {
			t.Errorf("%+v", level)
		}
	}
	if level := Mandatory("system"); level != nil {
		t.Errorf("%+v", level)
	}
	for _, level := range Compute(bootstrapLevels()[2:], 600).Levels {
		if want := level.Name == "exempt" || level.Name == "catch-all"; level.Assumed != want {
			t.Errorf("%s: assumed is %v", level.Name, level.Assumed)
		}
	}
}

// TestIgnored has objects that no server accepts: they must not change the others.
func TestIgnored(t *testing.T) {
	const queue = "limited: {limitResponse: {type: Queue, queuing: {}}}"
	const good = header + "v1\nmetadata: {name: good}\nspec: {type: Limited, " + queue + "}\n"
	want := rowsOf(Compute(levelsOf(t, good), 600))
	for spec, reason := range map[string]string{
		"type: Exempt":                        "spec.type is Exempt for the level named exempt and for no other",
		"type: Limited":                       "spec.limited has to be set when spec.type is Limited, and only then",
		"type: Open, " + queue:                `spec.type is "Open", not Limited or Exempt`,
		"type: Limited, exempt: {}, " + queue: "spec.exempt is set although spec.type is Limited",
		"type: Limited, limited: {limitResponse: {type: Drop}}":                                     `spec.limited.limitResponse.type is "Drop", not Queue or Reject`,
		"type: Limited, limited: {limitResponse: {type: Queue}}":                                    "spec.limited.limitResponse.queuing is missing although the type is Queue",
		"type: Limited, limited: {limitResponse: {type: Reject, queuing: {}}}":                      "spec.limited.limitResponse.queuing is set although the type is Reject",
		"type: Limited, limited: {lendablePercent: 101, limitResponse: {type: Reject}}":             "lendablePercent is 101, not between 0 and 100",
		"type: Limited, limited: {nominalConcurrencyShares: -1, limitResponse: {type: Reject}}":     "nominalConcurrencyShares is -1, which is negative",
		"type: Limited, limited: {borrowingLimitPercent: -1, limitResponse: {type: Reject}}":        "borrowingLimitPercent is -1, which is negative",
		"type: Limited, limited: {limitResponse: {type: Queue, queuing: {queueLengthLimit: -1}}}":   "spec.limited.limitResponse.queuing.queueLengthLimit is not positive",
		"type: Limited, limited: {limitResponse: {type: Queue, queuing: {queues: 4, handSize: 8}}}": "requests cannot be dealt to 4 queues in hands of 8: handSize 8 is greater than deckSize 4",
	} {
		limits := Compute(levelsOf(t, good+header+"v1\nmetadata: {name: bad}\nspec: {"+spec+"}\n"), 600)
		if diff := cmp.Diff([]Ignored{{"bad", reason}}, limits.Ignored); diff != "" {
			t.Errorf("%s (-want +got):\n%s", spec, diff)
		}
		if diff := cmp.Diff(want, rowsOf(limits)); diff != "" {
			t.Errorf("%s changes other levels (-want +got):\n%s", spec, diff)
		}
	}
}

// TestOldExempt: until 1.25 the object of the exempt level had nothing but its type.
func TestOldExempt(t *testing.T) {
	limits := Compute(levelsOf(t, header+"v1\nmetadata: {name: exempt}\nspec: {type: Exempt}\n"), 600)
	if len(limits.Ignored) > 0 || rowsOf(limits)["exempt"] != (row{0, 0, 0, -1, 0, 600}) {
		t.Errorf("%+v", limits)
	}
}

// randomLevels returns levels with settings anywhere in their range.
func randomLevels(r *rand.Rand) []*flowcontrolv1.PriorityLevelConfiguration {
	var levels []*flowcontrolv1.PriorityLevelConfiguration
	for i := range r.IntN(12) {
		limited := &flowcontrolv1.LimitedPriorityLevelConfiguration{
			NominalConcurrencyShares: ptr.To(r.Int32N(200)), LendablePercent: ptr.To(r.Int32N(101)),
			LimitResponse: flowcontrolv1.LimitResponse{Type: flowcontrolv1.LimitResponseTypeReject},
		}
		if r.IntN(2) == 0 {
			limited.BorrowingLimitPercent = ptr.To(r.Int32N(300))
		}
		levels = append(levels, &flowcontrolv1.PriorityLevelConfiguration{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("level-", i)},
			Spec: flowcontrolv1.PriorityLevelConfigurationSpec{Type: flowcontrolv1.PriorityLevelEnablementLimited, Limited: limited}})
	}
	return levels
}

// metricsOf is what a server with these limits would say.
func metricsOf(limits Limits, withUpper bool) *Metrics {
	m := &Metrics{Levels: map[string]*Load{}}
	for _, l := range limits.Levels {
		load := m.level(l.Name)
		load.Nominal, load.Lower = ptr.To(l.Nominal), ptr.To(l.Lower)
		if withUpper {
			load.Upper = ptr.To(l.Upper)
		}
	}
	return m
}

func TestLaws(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		objects, server := randomLevels(r), 1+r.IntN(5000)
		limits := Compute(objects, server)
		sum := 0
		for _, l := range limits.Levels {
			sum += l.Nominal
			if l.Lower < 0 || l.Lower > l.Nominal || l.Upper < l.Nominal {
				t.Fatalf("server %d: %+v", server, l)
			}
		}
		if sum < server || sum >= server+len(limits.Levels) {
			t.Fatalf("server %d: nominal limits of %d levels sum up to %d", server, len(limits.Levels), sum)
		}
		guess := Compute(objects, 1) // what a caller has who does not know the server concurrency limit yet
		if got, exact, ok := metricsOf(limits, true).ServerConcurrency(guess); got != server || !exact || !ok {
			t.Fatalf("server %d: with upper limits: %d %v %v", server, got, exact, ok)
		}
		got, exact, ok := metricsOf(limits, false).ServerConcurrency(guess)
		if !ok || exact && got != server {
			t.Fatalf("server %d: without upper limits: %d %v %v", server, got, exact, ok)
		}
		if names := metricsOf(limits, false).Disagreements(Compute(objects, got)); len(names) > 0 {
			t.Fatalf("server %d: %d gives other limits of %v", server, got, names)
		}
	}
}
