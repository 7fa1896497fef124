package flowcontrol

import (
	"cmp"
	"math"
	"slices"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	flowcontrolv1beta3 "k8s.io/api/flowcontrol/v1beta3"
	"k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"
	"k8s.io/utils/ptr"
)

// DefaultServerConcurrency is the server concurrency limit of an API server that is started without
// flags: 400 requests in flight and 200 mutating ones.
const DefaultServerConcurrency = 600

// MaxServerConcurrency is the largest server concurrency limit that Compute takes: that of two flags
// which the server keeps as 32-bit numbers on some platforms. It keeps the arithmetic exact.
const MaxServerConcurrency = math.MaxInt32

// defaultShares are those of a Limited level that does not say, at v1 and v1beta3 alike.
const defaultShares = 30

// Queuing is how a level queues requests for which it has no seats.
type Queuing struct {
	Queues           int `json:"queues"`
	HandSize         int `json:"handSize"`         // the queues among which shuffle sharding chooses for one flow
	QueueLengthLimit int `json:"queueLengthLimit"` // requests in one queue
}

// Level is a priority level and the limits that follow from it. All limits count seats.
type Level struct {
	Name string
	Type flowcontrolv1.PriorityLevelEnablement
	// Shares is the level's part of the server concurrency limit, in relation to all shares.
	Shares int
	// Nominal is what the level has while nobody borrows. A request of an exempt level never waits, so
	// there the limits only say what it takes from, or leaves to, the others.
	Nominal int
	// Lendable is how much of Nominal others may borrow.
	Lendable int
	// Borrowing is how much the level may borrow from others; nil is no limit of its own.
	Borrowing *int
	// Lower and Upper bound the limit that the server adjusts to the demand every ten seconds. Without
	// a limit to borrowing, Upper is Nominal and the whole server concurrency limit, as in the server's
	// metrics.
	Lower, Upper int
	// Response is what happens to a request for which there is no seat: Queue or Reject; "" for an
	// exempt level.
	Response flowcontrolv1.LimitResponseType
	// Queuing is set when Response is Queue.
	Queuing *Queuing
	// Assumed says that the level is mandatory and there is no object for it, so the server makes one up.
	Assumed bool
}

// Limits is the outcome of Compute.
type Limits struct {
	// ServerConcurrency is the server concurrency limit, in seats.
	ServerConcurrency int
	// Shares is the sum of the shares of all levels.
	Shares int
	// Levels are sorted by name.
	Levels []Level
	// Ignored are the objects that the server would pretend do not exist, sorted by name. No API server
	// accepts such an object; files may have them.
	Ignored []Ignored
}

// Ignored is an object that is not used, and why.
type Ignored struct{ Name, Reason string }

// Level returns a level by name.
func (l *Limits) Level(name string) (Level, bool) {
	i, found := slices.BinarySearchFunc(l.Levels, name, func(level Level, name string) int { return cmp.Compare(level.Name, name) })
	if !found {
		return Level{}, false
	}
	return l.Levels[i], true
}

// settings are the three numbers of a level that limits follow from. A nil borrowing percentage is no
// limit.
type settings struct {
	shares, lendable int32
	borrowing        *int32
}

// Compute returns the limits of every level for a server concurrency limit, which must be between 1 and
// MaxServerConcurrency. Of several objects with one name the first counts. The mandatory levels are
// always there.
func Compute(objects []*flowcontrolv1.PriorityLevelConfiguration, serverConcurrency int) Limits {
	limits := Limits{ServerConcurrency: serverConcurrency}
	used := map[string]settings{}
	for _, object := range objects {
		if _, found := used[object.Name]; found {
			continue
		}
		if reason := broken(object); reason != "" {
			limits.Ignored = append(limits.Ignored, Ignored{object.Name, reason})
			continue
		}
		used[object.Name] = settingsOf(object)
		limits.Levels = append(limits.Levels, newLevel(object))
	}
	for _, object := range bootstrap.MandatoryPriorityLevelConfigurations {
		if _, found := used[object.Name]; !found {
			used[object.Name] = settingsOf(object)
			level := newLevel(object)
			level.Assumed = true
			limits.Levels = append(limits.Levels, level)
		}
	}
	for _, s := range used {
		limits.Shares += int(s.shares)
	}
	for i := range limits.Levels {
		level := &limits.Levels[i]
		level.setLimits(used[level.Name], limits.Shares, serverConcurrency)
	}
	slices.SortFunc(limits.Levels, func(a, b Level) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortStableFunc(limits.Ignored, func(a, b Ignored) int { return cmp.Compare(a.Name, b.Name) })
	return limits
}

// newLevel returns a level without its limits.
func newLevel(object *flowcontrolv1.PriorityLevelConfiguration) Level {
	level := Level{Name: object.Name, Type: object.Spec.Type}
	if limited := object.Spec.Limited; limited != nil {
		level.Response = limited.LimitResponse.Type
		if q := limited.LimitResponse.Queuing; q != nil {
			level.Queuing = &Queuing{Queues: int(q.Queues), HandSize: int(q.HandSize), QueueLengthLimit: int(q.QueueLengthLimit)}
		}
	}
	return level
}

// settingsOf reads the settings of an object that is not broken. An exempt level lends but has no say
// in what it borrows: it takes what it needs.
func settingsOf(object *flowcontrolv1.PriorityLevelConfiguration) settings {
	if limited := object.Spec.Limited; limited != nil {
		return settings{sharesOf(object), ptr.Deref(limited.LendablePercent, 0), limited.BorrowingLimitPercent}
	}
	exempt := object.Spec.Exempt
	if exempt == nil {
		return settings{}
	}
	return settings{ptr.Deref(exempt.NominalConcurrencyShares, 0), ptr.Deref(exempt.LendablePercent, 0), nil}
}

// sharesOf returns the shares of a Limited level. Objects normally come with defaults applied. One that
// was read at v1beta3 may lack its shares, which there cannot be told from 0: an annotation tells.
func sharesOf(object *flowcontrolv1.PriorityLevelConfiguration) int32 {
	if shares := object.Spec.Limited.NominalConcurrencyShares; shares != nil {
		return *shares
	}
	if _, zero := object.Annotations[flowcontrolv1beta3.PriorityLevelPreserveZeroConcurrencySharesKey]; zero {
		return 0
	}
	return defaultShares
}

// setLimits computes in floating point, as the server does, so that rounding is the same. Rounding up makes
// the sum of nominal limits a little larger than the server concurrency limit.
func (l *Level) setLimits(s settings, allShares, serverConcurrency int) {
	percent := func(n int32) int { return int(math.Round(float64(l.Nominal) * float64(n) / 100)) }
	l.Shares = int(s.shares)
	if allShares > 0 { // no server has none: the level catch-all always has shares
		l.Nominal = int(math.Ceil(float64(serverConcurrency) * float64(l.Shares) / float64(allShares)))
	}
	l.Lendable = percent(s.lendable)
	l.Lower = l.Nominal - l.Lendable
	l.Upper = l.Nominal + serverConcurrency
	if s.borrowing != nil {
		borrowing := percent(*s.borrowing)
		l.Borrowing, l.Upper = &borrowing, l.Nominal+borrowing
	}
}
