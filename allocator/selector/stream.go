package selector

import (
	"context"
	"iter"
)

// firstLook is how many devices are tried before all are: few enough for a first result at once, even
// when each has to be evaluated by itself.
const firstLook = 2048

// Trials tries a selector on the first devices and then on all of them, so that a user who types sees
// something at once. The last trial is that of [Bench.Try]; [Trial.Total] says how many devices one is
// of. A bench of few devices gives that one only. Whoever stops early, or ends the context, abandons the
// rest.
func (b *Bench) Trials(ctx context.Context, expression string) iter.Seq2[*Trial, error] {
	return func(yield func(*Trial, error) bool) {
		if len(b.columns.subjects) > 2*firstLook {
			first, err := b.head().Try(ctx, expression)
			if !yield(first, err) || err != nil || first.Check.Scheduler != nil {
				return
			}
		}
		yield(b.Try(ctx, expression))
	}
}

// head returns a bench of the first devices.
func (b *Bench) head() *Bench {
	b.headOnce.Do(func() { b.first = NewBench(b.cache, b.columns.subjects[:firstLook]) })
	return b.first
}
