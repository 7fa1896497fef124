package selector

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/internal/effort"
)

// trialsEqual reports whether two trials say the same of every device.
func trialsEqual(a, b *Trial) bool {
	return slices.Equal(a.Of, b.Of) && a.Matched == b.Matched && a.Failed == b.Failed &&
		slices.EqualFunc(a.Outcomes, b.Outcomes, func(x, y Outcome) bool {
			return x.Result == y.Result && x.First == y.First && x.Devices == y.Devices && (x.Err == nil) == (y.Err == nil)
		})
}

// A bench that is continued through many changes says what a new one says.
func TestContinuedBenchesAgreeWithNewOnes(t *testing.T) {
	for round := range effort.Of(12, 2) {
		g := generator{rand.New(rand.NewPCG(5, uint64(round))), round%2 == 0}
		cache := NewCache(Features{ConsumableCapacity: true, ListTypeAttributes: true})
		var subjects []Subject
		for i := range 40 {
			subjects = append(subjects, g.subject(i))
		}
		bench := NewBench(cache, subjects)
		for step := range 12 {
			for range 4 {
				expression := g.boolean(2)
				continued, err := bench.Try(context.Background(), expression)
				if err != nil {
					t.Fatal(err)
				}
				fresh, err := NewBench(cache, subjects).Try(context.Background(), expression)
				if err != nil {
					t.Fatal(err)
				}
				if !trialsEqual(continued, fresh) {
					t.Fatalf("step %d: %s: continued %+v, new %+v", step, expression, continued.Outcomes, fresh.Outcomes)
				}
				if continued.Check.Scheduler == nil {
					verify(t, bench, continued)
				}
			}
			subjects = slices.Clone(subjects)
			g.change(&subjects, step)
			bench = bench.Continue(subjects)
		}
	}
}

// change changes some devices, or only their order.
func (g generator) change(subjects *[]Subject, step int) {
	s := *subjects
	switch g.IntN(5) {
	case 0:
		g.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
	case 1:
		s = slices.Delete(s, 3, 6)
	case 2:
		s = slices.Insert(s, g.IntN(len(s)), g.subject(100+step), g.subject(200+step))
	case 3:
		s[g.IntN(len(s))] = g.subject(300 + step)
	}
	*subjects = s
}

func TestTrialsEndWithAllDevices(t *testing.T) {
	subjects := fleet(2*firstLook + 1)
	bench := NewBench(NewCache(Features{}), subjects)
	var totals []int
	for trial, err := range bench.Trials(context.Background(), fourTerms) {
		if err != nil {
			t.Fatal(err)
		}
		totals = append(totals, trial.Total())
	}
	if !slices.Equal(totals, []int{firstLook, len(subjects)}) {
		t.Errorf("trials of %v devices", totals)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	n := 0
	for _, err := range bench.Trials(ctx, fourTerms) {
		if n++; n == 1 {
			cancel()
		} else if err == nil {
			t.Error("a trial was given after the context ended")
		}
	}
}

func TestHistograms(t *testing.T) {
	bench := NewBench(NewCache(Features{}), fleet(256))
	trial, err := bench.Try(context.Background(), `device.attributes["gpu.example.com"].productName == "Example H100"`)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]Histogram{}
	for _, h := range bench.Histograms(trial, 2) {
		got[h.Field.Name] = h
	}
	if h := got["productName"]; h.Distinct != 1 || h.Values[0] != (ValueCount{`"Example H100"`, 64}) {
		t.Errorf("productName %+v", h)
	}
	if h := got["index"]; h.Distinct != 8 || len(h.Values) != 2 || h.Values[0] != (ValueCount{"0", 8}) || h.Values[1] != (ValueCount{"1", 8}) {
		t.Errorf("index %+v", h)
	}
	if h := got["memory"]; h.Field.Kind != "capacity" || h.Devices != 64 || h.Values[0].Value != "80Gi" {
		t.Errorf("memory %+v", h)
	}
}
