package flowcontrol

import (
	"cmp"
	"math"
	"slices"
	"time"

	dto "github.com/prometheus/client_model/go"
)

// Waits are times that requests spent waiting, since the server started.
type Waits struct {
	// Requests is how many waited, if only for an instant, and Seconds is how long in all.
	Requests int
	Seconds  float64
	// Buckets are sorted by bound; each counts the waits that were no longer than its bound.
	Buckets []Bucket
}

// Bucket counts the waits up to a bound, those of the buckets before it included.
type Bucket struct {
	Seconds  float64 // +Inf in the last one
	Requests int
}

func waitsOf(histogram *dto.Histogram) Waits {
	w := Waits{Requests: count(float64(histogram.GetSampleCount()))}
	if seconds := histogram.GetSampleSum(); seconds >= 0 && !math.IsInf(seconds, 0) {
		w.Seconds = seconds
	}
	for _, b := range histogram.GetBucket() {
		if !math.IsNaN(b.GetUpperBound()) {
			w.Buckets = append(w.Buckets, Bucket{b.GetUpperBound(), count(float64(b.GetCumulativeCount()))})
		}
	}
	slices.SortStableFunc(w.Buckets, func(a, b Bucket) int { return cmp.Compare(a.Seconds, b.Seconds) })
	return w
}

// add adds waits that were counted in the same buckets, as one server does.
func (w *Waits) add(other Waits) {
	w.Requests += other.Requests
	w.Seconds += other.Seconds
	if len(w.Buckets) == 0 {
		w.Buckets = slices.Clone(other.Buckets)
		return
	}
	for i := range min(len(w.Buckets), len(other.Buckets)) {
		w.Buckets[i].Requests += other.Buckets[i].Requests
	}
}

// Since returns the waits that ended after an earlier reading of the same server. When that server has
// started anew in between, its counts have too, and they are all that there is.
func (w Waits) Since(earlier Waits) Waits {
	if w.Requests < earlier.Requests || len(w.Buckets) != len(earlier.Buckets) {
		return w
	}
	out := Waits{Requests: w.Requests - earlier.Requests, Seconds: max(0, w.Seconds-earlier.Seconds), Buckets: slices.Clone(w.Buckets)}
	for i := range out.Buckets {
		out.Buckets[i].Requests = max(0, out.Buckets[i].Requests-earlier.Buckets[i].Requests)
	}
	return out
}

// Mean returns the mean wait; 0 when nothing waited.
func (w Waits) Mean() time.Duration {
	if w.Requests == 0 {
		return 0
	}
	return seconds(w.Seconds / float64(w.Requests))
}

// Quantile returns a time that a fraction q of the waits did not exceed: the bound of the bucket that
// the wait at that rank fell into. It is false when nothing waited, or when that wait was longer than
// every bound.
func (w Waits) Quantile(q float64) (time.Duration, bool) {
	rank := math.Ceil(q * float64(w.Requests))
	for _, b := range w.Buckets {
		if w.Requests > 0 && float64(b.Requests) >= rank {
			return seconds(b.Seconds), !math.IsInf(b.Seconds, 0)
		}
	}
	return 0, false
}

// seconds converts without overflow.
func seconds(s float64) time.Duration {
	if s >= math.MaxInt64/float64(time.Second) {
		return math.MaxInt64
	}
	return time.Duration(s * float64(time.Second))
}
