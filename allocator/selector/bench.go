package selector

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"k8s.io/dynamic-resource-allocation/cel"
)

// Bench tries expressions on a fixed list of devices, which must not change. It may be used by several
// goroutines at once.
type Bench struct {
	cache   *Cache
	columns columns

	inventoryOnce sync.Once
	inventory     *Inventory
}

// NewBench returns a bench for devices. Programs come from the cache.
func NewBench(cache *Cache, subjects []Subject) *Bench {
	return &Bench{cache: cache, columns: columns{subjects: subjects}}
}

// Subjects returns the devices in their order. They must not be changed.
func (b *Bench) Subjects() []Subject { return b.columns.subjects }

// Inventory returns what the devices have.
func (b *Bench) Inventory() *Inventory {
	b.inventoryOnce.Do(func() { b.inventory = newInventory(b.columns.subjects) })
	return b.inventory
}

// Result is what a selector says of a device.
type Result uint8

// The results.
const (
	// NoMatch: the selector is false.
	NoMatch Result = iota
	// Match: the selector is true.
	Match
	// Failed: the evaluation fails, which makes the scheduler give up the claim.
	Failed
)

func (r Result) String() string {
	switch r {
	case Match:
		return "Match"
	case Failed:
		return "Error"
	}
	return "NoMatch"
}

// TermValue is what a term gives for a device.
type TermValue struct {
	Match bool
	Err   error
}

func (v TermValue) String() string {
	switch {
	case v.Err != nil:
		return "error"
	case v.Match:
		return "true"
	}
	return "false"
}

// Outcome is what becomes of some of the devices.
type Outcome struct {
	Result Result
	// Err is why the evaluation failed.
	Err error
	// Terms has a value for each term of the trial.
	Terms []TermValue
	// Cost is what the evaluation of the whole selector cost.
	Cost uint64
	// First is the first device, by its index among the subjects, and Devices how many they are.
	First, Devices int
}

// Trial is a selector tried on all devices of a bench.
type Trial struct {
	Expression string
	Check      *Check
	// Terms are the parts of the selector at its top-level &&, in normal form. It is true exactly when
	// all are, and false when one is, whatever the others say.
	Terms []string
	// Outcomes are the different outcomes in the order of their first devices; Of says for each device
	// which is its own. Both are empty when the selector does not compile.
	Outcomes []Outcome
	Of       []uint32
	// Matched and Failed count devices.
	Matched, Failed int
	// Dearest is the device whose evaluation cost most, by its index, and Cost what it cost.
	Dearest int
	Cost    uint64
}

// Total is the number of devices that were tried.
func (t *Trial) Total() int { return len(t.Of) }

// OutcomeOf returns what becomes of a device.
func (t *Trial) OutcomeOf(subject int) *Outcome { return &t.Outcomes[t.Of[subject]] }

// Try evaluates a selector, and each of its terms, on every device. An error is that of the context.
// That a selector does not compile is no error, it is said by Check.
func (b *Bench) Try(ctx context.Context, expression string) (*Trial, error) {
	t := &Trial{Expression: expression, Check: b.cache.Check(expression)}
	if t.Check.Scheduler != nil {
		return t, nil
	}
	whole, err := b.evaluate(ctx, b.cache.Selector(expression))
	if err != nil {
		return nil, err
	}
	columns := []evaluated{whole}
	parts := b.cache.parts(expression)
	for _, part := range parts {
		t.Terms = append(t.Terms, part.text)
		if len(parts) == 1 {
			columns = append(columns, whole) // the term is the selector
			break
		}
		term, err := b.evaluate(ctx, b.cache.Selector(part.text))
		if err != nil {
			return nil, err
		}
		columns = append(columns, term)
	}
	t.collect(columns)
	return t, nil
}

// evaluated is a program evaluated on each part of a partition.
type evaluated struct {
	partition
	values []evaluation
}

type evaluation struct {
	TermValue
	cost uint64
}

// fewParts is the number of evaluations that are not worth starting goroutines for.
const fewParts = 32

func (b *Bench) evaluate(ctx context.Context, p *Program) (evaluated, error) {
	parts := b.columns.divide(p.Reads())
	e := evaluated{partition: parts, values: make([]evaluation, len(parts.first))}
	one := func(i int) {
		s := b.columns.subjects[parts.first[i]]
		e.values[i] = p.run(ctx, s)
	}
	workers := min(runtime.GOMAXPROCS(0), 1+len(e.values)/fewParts)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(e.values)) && ctx.Err() == nil; i = next.Add(1) - 1 {
				one(int(i))
			}
		})
	}
	wg.Wait()
	return e, context.Cause(ctx)
}

// run evaluates the program for a device without remembering the result.
func (p *Program) run(ctx context.Context, s Subject) evaluation {
	if err := p.CompileError(); err != nil {
		return evaluation{TermValue: TermValue{Err: err}}
	}
	ok, details, err := p.result().DeviceMatches(ctx, input(s.Driver, s.Device))
	e := evaluation{TermValue: TermValue{Match: ok, Err: cel.EnhanceRuntimeError(err)}}
	if details != nil && details.ActualCost() != nil {
		e.cost = *details.ActualCost()
	}
	return e
}

// collect fills the trial from the evaluations of the whole selector and of each of its terms.
func (t *Trial) collect(columns []evaluated) {
	of := columns[0].of
	for _, c := range columns[1:] {
		of = refine(of, c.of)
	}
	t.Of = of
	for i, part := range of {
		if int(part) == len(t.Outcomes) {
			t.Outcomes = append(t.Outcomes, outcome(columns, i))
		}
		t.Outcomes[part].Devices++
	}
	for i := range t.Outcomes {
		o := &t.Outcomes[i]
		switch o.Result {
		case Match:
			t.Matched += o.Devices
		case Failed:
			t.Failed += o.Devices
		case NoMatch:
		}
		if i == 0 || o.Cost > t.Cost {
			t.Dearest, t.Cost = o.First, o.Cost
		}
	}
}

func outcome(columns []evaluated, subject int) Outcome {
	at := func(c *evaluated) *evaluation { return &c.values[c.of[subject]] }
	whole := at(&columns[0])
	o := Outcome{Err: whole.Err, Cost: whole.cost, First: subject}
	switch {
	case whole.Err != nil:
		o.Result = Failed
	case whole.Match:
		o.Result = Match
	}
	for i := range columns[1:] {
		o.Terms = append(o.Terms, at(&columns[i+1]).TermValue)
	}
	return o
}

// Reads returns for each term of a trial the fields that it reads, with their values on the devices of
// an outcome.
func (b *Bench) Reads(t *Trial, o *Outcome) [][]Read {
	s := b.columns.subjects[o.First]
	var out [][]Read
	for _, part := range b.cache.parts(t.Expression) {
		out = append(out, allReads(part.expr, s))
	}
	return out
}
