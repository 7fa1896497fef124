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
	turn     float64       // when it is its turn, from 0 up to 1; less if there are no turns
	woken    chan struct{} // closed and replaced when it need not wait any longer
}

// NewPace returns the pace of something that has not failed.
func NewPace(r Rhythm) *Pace {
	return &Pace{rhythm: r, jitter: rand.Float64, turn: -1, woken: make(chan struct{})}
}

// Woken returns a channel that is closed when the server has recovered: then Wait is shorter than it was.
func (p *Pace) Woken() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.woken
}

// wake forgets what failed, and that watches did not last: they were cut by a server that failed altogether. What is not
// in trouble goes on as it was.
func (p *Pace) wake(at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failures+p.cuts == 0 {
		return
	}
	p.failures, p.cuts = 0, 0
	if p.next.After(at) {
		p.next = at
	}
	close(p.woken)
	p.woken = make(chan struct{})
}

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

// Failed notes that a request failed, and that the server said to wait, if it did.
func (p *Pace) Failed(now time.Time, forbidden bool, retryAfter time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failures++
	first, most := p.rhythm.First, p.rhythm.Most
	if forbidden {
		first, most = 10*first, p.rhythm.Forbidden
	}
	pause := p.pause(p.failures, first, most)
	if p.turn >= 0 && p.failures > turnsAfter {
		plain := min(most, first<<min(p.failures-1, maxDoublings))
		pause = p.untilTurn(now, plain+plain/8) //nolint:mnd // what pauses are on average
	}
	p.next = now.Add(max(pause, min(retryAfter, p.rhythm.Longest)))
}

const (
	// maxDoublings makes more of any pause than is ever waited.
	maxDoublings = 16
	// turnsAfter is after how many failures turns are taken.
	turnsAfter = 3
)

// untilTurn returns how long it is to the next turn that is half a period away or more: what fails for longer takes turns
// in every period, so that one of many notices soon that the server has recovered.
func (p *Pace) untilTurn(now time.Time, period time.Duration) time.Duration {
	at := time.Duration(now.UnixNano() % int64(period))
	wait := time.Duration(p.turn*float64(period)) - at
	for wait < period/2 { //nolint:mnd // half
		wait += period
	}
	return wait
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
	if doublings := failures - 1; doublings < maxDoublings {
		pause = min(most, first<<doublings)
	}
	return pause + time.Duration(p.jitter()*float64(pause)/4)
}
