package connection

import (
	"math/rand/v2"
	"sync"
	"time"
)

// Rhythm says how soon something is asked for again.
type Rhythm struct {
	First time.Duration // after the first failure; doubled with each that follows
	Most  time.Duration // the longest pause, but for what is forbidden, or where the server says how long
	// Forbidden is the longest pause when asking is forbidden: permissions change rarely.
	Forbidden time.Duration
	// Longest bounds what a server can demand by Retry-After.
	Longest time.Duration
	// Steady is how long a watch has to last to count as one that works.
	Steady time.Duration
}

// Default is the rhythm of everything that is followed: within two minutes it slows down to a request a minute.
var Default = Rhythm{First: time.Second, Most: time.Minute, Forbidden: 5 * time.Minute, Longest: 10 * time.Minute, Steady: 20 * time.Second}

// Pace is when one thing may be asked for again. The zero value is not valid: use NewPace. It may be used by
// several goroutines at once.
type Pace struct {
	rhythm Rhythm
	jitter func() float64 // from 0 up to 1

	mu       sync.Mutex
	failures int // one after the other
	cuts     int // watches, one after the other, that did not last
	next     time.Time
}

// NewPace returns the pace of something that has not failed.
func NewPace(r Rhythm) *Pace { return &Pace{rhythm: r, jitter: rand.Float64} }

// Wait returns how long to wait before the next request.
func (p *Pace) Wait(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(0, p.next.Sub(now))
}

// Rhythm returns how soon it is asked for again.
func (p *Pace) Rhythm() Rhythm { return p.rhythm }

// Cuts returns how many watches, one after the other, did not last.
func (p *Pace) Cuts() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cuts
}

// Failing reports whether the last request failed or the last watch did not last.
func (p *Pace) Failing() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failures+p.cuts > 0
}

// Failed notes that a request failed, and that the server said to wait, if it did.
func (p *Pace) Failed(now time.Time, forbidden bool, retryAfter time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failures++
	pause := p.pause(p.failures, p.rhythm.First, p.rhythm.Most)
	if forbidden {
		pause = p.pause(p.failures, 10*p.rhythm.First, p.rhythm.Forbidden)
	}
	p.next = now.Add(max(pause, min(retryAfter, p.rhythm.Longest)))
}

// Succeeded notes that a request was answered.
func (p *Pace) Succeeded() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failures = 0
}

// Ended notes that a watch ended which was begun at a time. Watches that do not last are begun less and less
// often, counted from when they begin: a proxy that cuts them every minute does no harm.
func (p *Pace) Ended(begun, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Sub(begun) >= p.rhythm.Steady {
		p.cuts = 0
		return
	}
	p.cuts++
	if next := begun.Add(p.pause(p.cuts, p.rhythm.First, p.rhythm.Most)); next.After(p.next) {
		p.next = next
	}
}

// pause is how long to wait after so many failures: up to a quarter more than the doubled pauses, so that many
// clients that fail at the same time do not ask again at the same time.
func (p *Pace) pause(failures int, first, most time.Duration) time.Duration {
	pause := most
	if doublings := failures - 1; doublings < 16 {
		pause = min(most, first<<doublings)
	}
	return pause + time.Duration(p.jitter()*float64(pause)/4)
}
