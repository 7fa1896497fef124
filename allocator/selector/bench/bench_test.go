package bench

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/dynamic-resource-allocation/cel"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
	"github.com/kubectl-dra/kubectl-dra/internal/randomselector"
)

// verify compares a trial with the scheduler's own program on every device, and the whole of each
// outcome with the conjunction of its terms: false when one is false, whatever the others do, and true
// when all are true.
func verify(t *testing.T, b *Bench, f selector.Features, trial *Trial) {
	t.Helper()
	features := cel.Features{EnableConsumableCapacity: f.ConsumableCapacity, EnableListTypeAttributes: f.ListTypeAttributes}
	whole := cel.GetCompiler(features).CompileCELExpression(trial.Expression, cel.Options{DisableCostEstimation: true})
	if (whole.Error != nil) != (trial.Check.Scheduler != nil) {
		t.Fatalf("%s: the scheduler compiles it: %v, the trial says %v", trial.Expression, whole.Error, trial.Check.Scheduler)
	}
	if whole.Error != nil {
		return
	}
	matched, failed := 0, 0
	for i, s := range b.subjects {
		o := trial.OutcomeOf(i)
		ok, details, err := whole.DeviceMatches(context.Background(), cel.Device{
			Driver: s.Driver, AllowMultipleAllocations: s.Device.AllowMultipleAllocations,
			Attributes: unshadowed(s.Driver, s.Device.Attributes), Capacity: unshadowed(s.Driver, s.Device.Capacity),
		})
		// A comprehension over a map goes on until it knows, in whatever order the map has this time.
		if details != nil && !strings.Contains(trial.Expression, ".exists(k,") && !strings.Contains(trial.Expression, ".all(") && *details.ActualCost() != o.Cost {
			t.Fatalf("%s on %s: it costs %d, traced %d", trial.Expression, s.Device.Name, *details.ActualCost(), o.Cost)
		}
		if (err != nil) != (o.Result == Failed) || ok != (o.Result == Match) {
			t.Fatalf("%s on %s %s: decided %v %v, traced %v %v", trial.Expression, s.Driver, s.Device.Name, ok, err, o.Result, o.Err)
		}
		if want := conjunction(o.Terms); want != o.Result && !limited(o.Err) {
			t.Fatalf("%s on %s: the terms %v give %v, the whole is %v (%v)", trial.Expression, s.Device.Name, o.Terms, want, o.Result, o.Err)
		}
		switch o.Result {
		case Match:
			matched++
		case Failed:
			failed++
		case NoMatch:
		}
	}
	if matched != trial.Matched || failed != trial.Failed || len(trial.Of) != len(b.subjects) {
		t.Fatalf("%s: counted %d, %d of %d, want %d, %d of %d", trial.Expression, trial.Matched, trial.Failed, trial.Total(), matched, failed, len(b.subjects))
	}
}

// unshadowed leaves out bare names of which there is a qualified one, so that the scheduler does not choose
// at random.
func unshadowed[V any](driver string, of map[resourcev1.QualifiedName]V) map[resourcev1.QualifiedName]V {
	out := maps.Clone(of)
	for name := range of {
		if bare, own := strings.CutPrefix(string(name), driver+"/"); own {
			delete(out, resourcev1.QualifiedName(bare))
		}
	}
	return out
}

// subject is a random device.
func subject(g randomselector.Generator, n int) Subject {
	driver, device := g.Device(n)
	return Subject{driver, device}
}

// limited reports whether the whole was stopped for its cost, which its terms alone need not be.
func limited(err error) bool {
	return err != nil && strings.Contains(err.Error(), "cost limit exceeded")
}

func conjunction(terms []TermValue) Result {
	result := Match
	for _, v := range terms {
		switch {
		case v.Err != nil:
			result = Failed
		case !v.Match:
			return NoMatch
		}
	}
	return result
}

func TestTrialsAgreeWithTheScheduler(t *testing.T) {
	rounds, perRound := effort.Of(30, 3), 40
	compiled, matched, failed, total, several := 0, 0, 0, 0, 0
	for round := range rounds {
		g := randomselector.New(1, uint64(round), false)
		var subjects []Subject
		for i := range 1 + g.IntN(80) {
			subjects = append(subjects, subject(g, i))
		}
		features := selector.Features{ConsumableCapacity: round%2 == 0, ListTypeAttributes: round%4 < 2}
		b := New(selector.NewCache(features), subjects)
		for range perRound {
			trial, err := b.Try(context.Background(), g.Boolean(3))
			if err != nil {
				t.Fatal(err)
			}
			verify(t, b, features, trial)
			if trial.Check.Scheduler != nil && trial.Check.Server == nil {
				t.Logf("only the API server accepts %s", trial.Expression)
			}
			if trial.Check.Scheduler != nil {
				continue
			}
			compiled++
			matched, failed, total = matched+trial.Matched, failed+trial.Failed, total+trial.Total()
			if len(trial.Terms) > 1 {
				several++
			}
		}
	}
	t.Logf("%d selectors (%d of several terms) on %d devices: %d matches, %d failures", compiled, several, total, matched, failed)
	if compiled < rounds*perRound*2/3 || several < compiled/10 || matched < total/20 || failed < total/20 || matched+failed > total*9/10 {
		t.Error("the random selectors are too much alike")
	}
}

func TestTryStopsWithItsContext(t *testing.T) {
	g := randomselector.New(3, 3, false)
	b := New(selector.NewCache(selector.Features{}), []Subject{subject(g, 0), subject(g, 1)})
	ctx, cancel := context.WithCancelCause(context.Background())
	reason := errors.New("superseded")
	cancel(reason)
	if _, err := b.Try(ctx, `device.driver == "x"`); !errors.Is(err, reason) {
		t.Errorf("error %v, want %v", err, reason)
	}
}

// An expression that would take hours is stopped by the cost limit.
func TestCostLimitHolds(t *testing.T) {
	nested := `[0,1,2,3,4,5,6,7,8,9]`
	expression := "true"
	for range 9 {
		expression = nested + ".all(x, " + expression + ")"
	}
	g := randomselector.New(4, 4, true)
	b := New(selector.NewCache(selector.Features{}), []Subject{{Driver: "d", Device: subject(g, 0).Device}})
	trial, err := b.Try(context.Background(), expression)
	if err != nil {
		t.Fatal(err)
	}
	if ok, why := trial.Check.Accepted(); ok || !strings.Contains(why, "worst case") {
		t.Errorf("the API server accepts it: %v, %s", ok, why)
	}
	if trial.Failed != 1 || !limited(trial.Outcomes[0].Err) {
		t.Errorf("outcome %+v, want one that is stopped for its cost", trial.Outcomes)
	}
	if findings := b.Findings(trial); len(findings) < 2 || findings[0].Code != CodeCost {
		t.Errorf("findings %+v", findings)
	}
}

func TestCheckFindsWhereServerAndSchedulerDiffer(t *testing.T) {
	tests := []struct {
		name, expression string
		features         selector.Features
		scheduler        bool
		server           string // part of why not; "" is accepted
	}{
		{"plain", `device.driver == "x"`, selector.Features{}, true, ""},
		{"sharing while off", `device.allowMultipleAllocations`, selector.Features{}, true, "undefined field"},
		{"sharing while on", `device.allowMultipleAllocations`, selector.Features{ConsumableCapacity: true}, true, ""},
		{"includes while lists are off", `device.attributes["d"].l.includes("a")`, selector.Features{}, true, "includes"},
		{"includes while lists are on", `device.attributes["d"].l.includes("a")`, selector.Features{ListTypeAttributes: true}, true, ""},
		{"a number", `size(device.driver)`, selector.Features{}, false, "must evaluate to bool"},
		{"too long", `device.driver == "` + strings.Repeat("x", selector.MaxLength) + `"`, selector.Features{}, true, "limit is 10240"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			check := selector.NewCache(tt.features).Check(tt.expression)
			ok, why := check.Accepted()
			if (check.Scheduler == nil) != tt.scheduler || ok != (tt.server == "") || !strings.Contains(why, tt.server) {
				t.Errorf("scheduler %v, API server %v %s", check.Scheduler, ok, why)
			}
		})
	}
}
