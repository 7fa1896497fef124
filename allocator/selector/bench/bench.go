package bench

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
)

// Bench tries expressions on a fixed list of devices, which must not change. It may be used by several
// goroutines at once.
type Bench struct {
	cache   *selector.Cache
	columns columns

	inventory func() *Inventory
	head      func() *Bench // of the first devices; see Look
}

// New returns a bench for devices. Programs come from the cache.
func New(cache *selector.Cache, subjects []Subject) *Bench {
	subjects = slices.Clone(subjects)
	for i := range subjects {
		subjects[i].Device = cache.Seen(subjects[i].Device)
	}
	b := &Bench{cache: cache, columns: columns{subjects: subjects}}
	b.inventory = sync.OnceValue(func() *Inventory { return NewInventory(subjects) })
	b.head = sync.OnceValue(func() *Bench { return New(cache, subjects[:firstLook]) })
	return b
}

// Inventory returns what the devices have.
func (b *Bench) Inventory() *Inventory { return b.inventory() }

// subject is a device by its number. It must not be changed.
func (b *Bench) subject(i int) *Subject { return &b.columns.subjects[i] }

// Warm reads all fields of all devices, so that later trials need not.
func (b *Bench) Warm() {
	var fields []selector.Field
	for _, info := range b.Inventory().Fields() {
		fields = append(fields, info.Field)
	}
	b.columns.get(fields)
}

// firstLook is how many devices are tried before all are: few enough for a first result at once, even
// when each has to be evaluated by itself.
const firstLook = 2048

// Look is Try on the first devices only, where there are many, so that a user who types sees something at once.
// [Trial.Total] says how many devices were tried.
func (b *Bench) Look(ctx context.Context, expression string) (*Trial, error) {
	if len(b.columns.subjects) > 2*firstLook {
		return b.head().Try(ctx, expression)
	}
	return b.Try(ctx, expression)
}

// Result is what a selector says of a device.
type Result uint8

// The results.
const (
	// NoMatch means that the selector is false.
	NoMatch Result = iota
	// Match means that the selector is true.
	Match
	// Failed means that the evaluation fails, which makes the scheduler give up the claim.
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
	Check      *selector.Check
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
	parts := b.cache.Parts(expression)
	columns := make([]evaluated, 0, len(parts))
	b.columns.get(fieldsOf(b.cache.Selector(expression).Reads())) // in one pass over the devices
	for _, part := range parts {
		t.Terms = append(t.Terms, part.Text)
		program := b.cache.Selector(part.Text)
		if len(parts) == 1 {
			program = b.cache.Selector(expression) // the term is the selector
		}
		term, err := b.evaluate(ctx, program)
		if err != nil {
			return nil, err
		}
		columns = append(columns, term)
	}
	return t, t.collect(ctx, b, columns)
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

func (b *Bench) evaluate(ctx context.Context, p *selector.Program) (evaluated, error) {
	parts := b.columns.divide(p.Reads())
	e := evaluated{partition: parts, values: make([]evaluation, len(parts.first))}
	err := parallel(ctx, len(e.values), func(i int) { e.values[i] = b.run(ctx, p, parts.first[i]) })
	return e, err
}

// parallel calls f with the numbers below n on all processors, until the context ends.
func parallel(ctx context.Context, n int, f func(i int)) error {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), 1+n/fewParts) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(n) && ctx.Err() == nil; i = next.Add(1) - 1 {
				f(int(i))
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// run evaluates a program for a device without remembering the result.
func (b *Bench) run(ctx context.Context, p *selector.Program, subject int) evaluation {
	s := &b.columns.subjects[subject]
	ok, cost, err := p.Evaluate(ctx, s.Driver, s.Device, !b.columns.odd[subject])
	return evaluation{TermValue: TermValue{Match: ok, Err: err}, cost: cost}
}

// collect fills the trial from the evaluations of each of its terms.
func (t *Trial) collect(ctx context.Context, b *Bench, columns []evaluated) error {
	t.Of = columns[0].of
	for _, c := range columns[1:] {
		t.Of = refine(t.Of, c.of)
	}
	for i, part := range t.Of {
		if int(part) == len(t.Outcomes) {
			t.Outcomes = append(t.Outcomes, Outcome{First: i})
		}
		t.Outcomes[part].Devices++
	}
	t.fillTerms(columns)
	if err := t.decide(ctx, b); err != nil {
		return err
	}
	t.count()
	return nil
}

// fillTerms fills in what each term gives, and the cost of those that are evaluated: up to the first
// that is false.
func (t *Trial) fillTerms(columns []evaluated) {
	values := make([]TermValue, len(t.Outcomes)*len(columns))
	for i := range t.Outcomes {
		o, decided := &t.Outcomes[i], false
		o.Terms, values = values[:len(columns):len(columns)], values[len(columns):]
		for j := range columns {
			e := &columns[j].values[columns[j].of[o.First]]
			o.Terms[j] = e.TermValue
			if !decided {
				o.Cost += e.cost
			}
			decided = decided || e.Err == nil && !e.Match
		}
	}
}

// conjoin is the && of terms as CEL defines it: one that is false makes the whole false, even when others
// fail; otherwise the first failure is that of the whole.
func conjoin(terms []TermValue) TermValue {
	whole := TermValue{Match: true}
	for i := range terms {
		switch {
		case terms[i].Err != nil && whole.Err == nil:
			whole = TermValue{Err: terms[i].Err}
		case terms[i].Err == nil && !terms[i].Match:
			return TermValue{}
		}
	}
	return whole
}

func (o *Outcome) set(v TermValue) {
	o.Err, o.Result = v.Err, NoMatch
	switch {
	case v.Err != nil:
		o.Result = Failed
	case v.Match:
		o.Result = Match
	}
}

// decide fills in the results. With several terms they follow from those of the terms, by the definition
// of &&. The selector itself is evaluated for one outcome of every kind, and for all outcomes if it says
// anything else than follows, or costs anything else, or comes near the limit, where the selector may be
// stopped although no term of it is.
func (t *Trial) decide(ctx context.Context, b *Bench) error {
	kinds := map[string]bool{}
	var ask []*Outcome
	for i := range t.Outcomes {
		o := &t.Outcomes[i]
		o.set(conjoin(o.Terms))
		if kind := o.kind(); len(o.Terms) > 1 && (!kinds[kind] || o.Cost >= selector.MaxCost) {
			kinds[kind] = true
			ask = append(ask, o)
		}
	}
	if same, err := b.ask(ctx, t.Expression, ask); same || err != nil {
		return err
	}
	ask = ask[:0]
	for i := range t.Outcomes {
		ask = append(ask, &t.Outcomes[i])
	}
	_, err := b.ask(ctx, t.Expression, ask)
	return err
}

// kind is equal for outcomes of the same values of terms.
func (o *Outcome) kind() string {
	var buf []byte
	for i := range o.Terms {
		switch v := &o.Terms[i]; {
		case v.Err != nil:
			buf = selector.AppendString(append(buf, 'e'), v.Err.Error())
		case v.Match:
			buf = append(buf, 't')
		default:
			buf = append(buf, 'f')
		}
	}
	return string(buf)
}

// ask evaluates a selector for outcomes and reports whether it says what they say already.
func (b *Bench) ask(ctx context.Context, expression string, outcomes []*Outcome) (same bool, err error) {
	program := b.cache.Selector(expression)
	differs := atomic.Bool{}
	err = parallel(ctx, len(outcomes), func(i int) {
		o := outcomes[i]
		e := b.run(ctx, program, o.First)
		result, cost := o.Result, o.Cost
		if o.set(e.TermValue); o.Result != result || e.cost != cost {
			differs.Store(true)
		}
		o.Cost = e.cost
	})
	return !differs.Load(), err
}

func (t *Trial) count() {
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

// Reads returns for each term of a trial the fields that it reads, with their values on the devices of
// an outcome.
func (b *Bench) Reads(t *Trial, o *Outcome) [][]selector.Read {
	s := &b.columns.subjects[o.First]
	var out [][]selector.Read
	for _, part := range b.cache.Parts(t.Expression) {
		out = append(out, part.Reads(s.Driver, s.Device))
	}
	return out
}
