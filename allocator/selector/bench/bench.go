package bench

import (
	"context"
	"slices"
	"strconv"
	"sync"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/internal/turns"
)

// Subject is a device of a driver that an expression is tried on.
type Subject struct {
	Driver string
	Device *resourcev1.Device
}

// Bench tries expressions on a fixed list of devices, which must not change. It may be used by several
// goroutines at once.
type Bench struct {
	cache    *selector.Cache
	subjects []Subject

	inventory   func() *Inventory
	convertible func() []bool // for each device
}

// New returns a bench for devices. Programs come from the cache.
func New(cache *selector.Cache, subjects []Subject) *Bench {
	subjects = slices.Clone(subjects)
	for i := range subjects {
		subjects[i].Device = cache.Seen(subjects[i].Device)
	}
	b := &Bench{cache: cache, subjects: subjects}
	b.inventory = sync.OnceValue(func() *Inventory { return NewInventory(subjects) })
	b.convertible = sync.OnceValue(func() []bool {
		out := make([]bool, len(subjects))
		for i := range subjects {
			out[i] = selector.Convertible(subjects[i].Device)
		}
		return out
	})
	return b
}

// Inventory returns what the devices have.
func (b *Bench) Inventory() *Inventory { return b.inventory() }

// subject is a device by its number. It must not be changed.
func (b *Bench) subject(i int) *Subject { return &b.subjects[i] }

// Result is what a selector says of a device.
type Result string

// The results.
const (
	// NoMatch means that the selector is false.
	NoMatch Result = "NoMatch"
	// Match means that the selector is true.
	Match Result = "Match"
	// Failed means that the evaluation fails, which makes the scheduler give up the claim.
	Failed Result = "Error"
)

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

// Missed counts the terms that are not true: the fewer, the nearer is a device to a match.
func (o *Outcome) Missed() int {
	n := 0
	for _, v := range o.Terms {
		if v.Err != nil || !v.Match {
			n++
		}
	}
	return n
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
	whole, err := b.evaluate(ctx, b.cache.Selector(expression))
	if err != nil {
		return nil, err
	}
	parts := b.cache.Parts(expression)
	terms := make([]evaluated, len(parts))
	for i, part := range parts {
		t.Terms = append(t.Terms, part.Text)
		if len(parts) == 1 {
			terms[i] = whole // the term is the selector
		} else if terms[i], err = b.evaluate(ctx, b.cache.Selector(part.Text)); err != nil {
			return nil, err
		}
	}
	t.collect(whole, terms)
	return t, nil
}

// evaluated is a program evaluated once for all devices that look the same to it.
type evaluated struct {
	of       []uint32 // the outcome of each device
	outcomes []Outcome
}

func (b *Bench) evaluate(ctx context.Context, p *selector.Program) (evaluated, error) {
	e := b.divide(p)
	err := parallel(ctx, len(e.outcomes), func(i int) {
		o := &e.outcomes[i]
		s := b.subject(o.First)
		ok, cost, err := p.Evaluate(ctx, s.Driver, s.Device, b.convertible()[o.First])
		o.Err, o.Cost, o.Result = err, cost, NoMatch
		if err != nil {
			o.Result = Failed
		} else if ok {
			o.Result = Match
		}
	})
	return e, err
}

// divide puts the devices together of which a program sees the same. Outcomes are in the order of their first
// devices.
func (b *Bench) divide(p *selector.Program) evaluated {
	e := evaluated{of: make([]uint32, len(b.subjects))}
	known := map[string]uint32{}
	var key []byte
	for i, convertible := range b.convertible() {
		s := b.subject(i)
		key = p.Projection(key[:0], s.Driver, s.Device, convertible)
		if !convertible {
			key = strconv.AppendInt(key, int64(i), 10)
		}
		of, ok := known[string(key)]
		if !ok {
			of = uint32(len(e.outcomes)) //nolint:gosec // there are fewer devices than that
			known[string(key)] = of
			e.outcomes = append(e.outcomes, Outcome{First: i})
		}
		e.of[i] = of
		e.outcomes[of].Devices++
	}
	return e
}

// parallel calls f with the numbers below n, until the context ends.
func parallel(ctx context.Context, n int, f func(i int)) error {
	turns.Each(n, func(i int) bool { f(i); return ctx.Err() == nil })
	return context.Cause(ctx)
}

// collect fills the trial. Devices that look the same to the selector look the same to each of its terms.
func (t *Trial) collect(whole evaluated, terms []evaluated) {
	t.Of, t.Outcomes = whole.of, whole.outcomes
	for i := range t.Outcomes {
		o := &t.Outcomes[i]
		for j := range terms {
			its := &terms[j].outcomes[terms[j].of[o.First]]
			o.Terms = append(o.Terms, TermValue{Match: its.Result == Match, Err: its.Err})
		}
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
	s := &b.subjects[o.First]
	var out [][]selector.Read
	for _, part := range b.cache.Parts(t.Expression) {
		out = append(out, part.Reads(s.Driver, s.Device))
	}
	return out
}
