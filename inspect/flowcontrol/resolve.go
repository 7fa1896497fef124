package flowcontrol

import flowcontrolv1 "k8s.io/api/flowcontrol/v1"

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
