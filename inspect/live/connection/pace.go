package connection

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// Rhythm says how soon something is asked for again.
type Rhythm struct {
	First time.Duration // after the first failure; doubled with each that follows
	Most  time.Duration // the longest pause, unless the server says how long
	// Longest bounds what a server can demand by Retry-After.
	Longest time.Duration
	// Steady is how long a watch has to last to count as one that works.
	Steady time.Duration
}

// Default is the rhythm of everything that is followed, that of client-go's reflectors.
var Default = Rhythm{First: time.Second, Most: 30 * time.Second, Longest: 10 * time.Minute, Steady: 20 * time.Second}

// backoff has pauses of up to a quarter more, so that many clients that fail at the same time do not ask
// again at the same time.
func (r Rhythm) backoff() wait.Backoff {
	const doublings, jitter = 16, 0.25
	return wait.Backoff{Duration: r.First, Factor: 2, Jitter: jitter, Steps: doublings, Cap: r.Most} //nolint:mnd // doubled
}

// Pace is when one thing may be asked for again. The zero value is not valid: use NewPace. It may be used by
// several goroutines at once.
type Pace struct {
	rhythm Rhythm

	mu       sync.Mutex
	failures wait.Backoff // of requests, one after the other
	cuts     wait.Backoff // of watches, one after the other, that did not last
	next     time.Time
}

// NewPace returns the pace of something that has not failed.
func NewPace(r Rhythm) *Pace { return &Pace{rhythm: r, failures: r.backoff(), cuts: r.backoff()} }

// Wait returns how long to wait before the next request.
func (p *Pace) Wait(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(0, p.next.Sub(now))
}

// Failed notes that a request failed, and that the server said to wait, if it did.
func (p *Pace) Failed(now time.Time, retryAfter time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next = now.Add(max(p.failures.Step(), min(retryAfter, p.rhythm.Longest)))
}

// Succeeded notes that a request was answered.
func (p *Pace) Succeeded() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failures = p.rhythm.backoff()
}

// Ended notes that a watch ended which was begun at a time, or could not begin. Watches that do not last are
// begun less and less often, counted from when they begin: a proxy that cuts them every minute does no harm.
func (p *Pace) Ended(begun, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Sub(begun) >= p.rhythm.Steady {
		p.cuts = p.rhythm.backoff()
		return
	}
	if next := begun.Add(p.cuts.Step()); next.After(p.next) {
		p.next = next
	}
}
