package flowcontrol

import (
	"math"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
)

// ConcurrencySource is how a server concurrency limit is known.
type ConcurrencySource string

// The sources of a server concurrency limit.
const (
	ConcurrencyFromFlag   ConcurrencySource = "Flag"
	ConcurrencyFromServer ConcurrencySource = "Server"  // its metrics
	ConcurrencyDefault    ConcurrencySource = "Default" // that of a server without flags
)

// Resolved are limits, and how the server concurrency limit that they are computed for is known.
type Resolved struct {
	Limits
	Source ConcurrencySource
	// Exact is false when the metrics only narrow the server concurrency limit down to a range; see
	// Metrics.ServerConcurrency.
	Exact bool
}

// Resolve computes limits for the server concurrency limit that somebody gave, if seats is positive, or
// else for that of the metrics, which may be nil, or else for the default.
func Resolve(objects []*flowcontrolv1.PriorityLevelConfiguration, seats int, metrics *Metrics) Resolved {
	if seats > 0 {
		return Resolved{Compute(objects, seats), ConcurrencyFromFlag, true}
	}
	limits := Compute(objects, DefaultServerConcurrency)
	seats, exact, ok := metrics.ServerConcurrency(limits)
	if !ok {
		return Resolved{limits, ConcurrencyDefault, true}
	}
	return Resolved{Compute(objects, seats), ConcurrencyFromServer, exact}
}

// ServerConcurrency derives the server concurrency limit from the metrics.
//
// A level that may borrow without limit has the whole server concurrency limit on top of its nominal
// one, so the difference of its upper and nominal limits is exact. The level exempt always is such a
// level; the other levels of limits are asked when its metrics are missing.
//
// Where a server hides its upper limits, which are alpha metrics, the nominal ones of all levels narrow
// the number down to a range, because ceil(S·shares/all) = nominal for each. Every number of the range
// gives the same nominal, lendable, borrowing and lower limits, so then the default is taken if it is in
// the range, and else the smallest. exact is false in that case.
//
// The limits are those of Compute for the objects that the server has, with any server concurrency
// limit. ok is false when the metrics do not tell, or do not fit the objects.
func (m *Metrics) ServerConcurrency(limits Limits) (seats int, exact, ok bool) {
	if m == nil {
		return 0, false, false
	}
	if seats, ok := m.Levels[flowcontrolv1.PriorityLevelConfigurationNameExempt].borrowsAll(); ok {
		return seats, true, true
	}
	for _, level := range limits.Levels {
		if level.Borrowing == nil {
			if seats, ok := m.Levels[level.Name].borrowsAll(); ok {
				return seats, true, true
			}
		}
	}
	least, most := m.concurrencyRange(limits)
	switch {
	case least > most || most > MaxServerConcurrency:
		return 0, false, false
	case least <= DefaultServerConcurrency && DefaultServerConcurrency <= most:
		return DefaultServerConcurrency, least == most, true
	}
	return least, least == most, true
}

// borrowsAll returns the server concurrency limit, given that the level may borrow all of it.
func (l *Load) borrowsAll() (int, bool) {
	if l == nil || l.Nominal == nil || l.Upper == nil {
		return 0, false
	}
	seats := *l.Upper - *l.Nominal
	return seats, seats > 0 && seats <= MaxServerConcurrency
}

// concurrencyRange returns the server concurrency limits that give the nominal limits of the metrics:
// nominal - 1 < S·shares/all <= nominal. Without any the range is endless.
func (m *Metrics) concurrencyRange(limits Limits) (least, most int) {
	least, most = 1, math.MaxInt
	for _, level := range limits.Levels {
		load := m.Levels[level.Name]
		if load == nil || load.Nominal == nil || level.Shares == 0 || *load.Nominal > MaxServerConcurrency {
			continue
		}
		least = max(least, (*load.Nominal-1)*limits.Shares/level.Shares+1)
		most = min(most, *load.Nominal*limits.Shares/level.Shares)
	}
	return least, most
}

// Disagreements are the levels whose limits the server computed differently, in the order of limits: it
// may not have seen the latest change yet, still carry a deleted level, or not be the one that the
// objects were read from. Levels without metrics are not among them.
func (m *Metrics) Disagreements(limits Limits) []string {
	if m == nil {
		return nil
	}
	var names []string
	for _, level := range limits.Levels {
		load := m.Levels[level.Name]
		if load == nil {
			continue
		}
		for _, pair := range []struct {
			computed int
			server   *int
		}{{level.Nominal, load.Nominal}, {level.Lower, load.Lower}, {level.Upper, load.Upper}} {
			if pair.server != nil && *pair.server != pair.computed {
				names = append(names, level.Name)
				break
			}
		}
	}
	return names
}
