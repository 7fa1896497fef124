package connection

import (
	"math"
	"math/rand/v2"
	"sync"
	"time"
)

// Recovery is what all that is asked of one server have in common: they take turns while it fails, and when one of
// them can be read again, the others need not wait until their own turn comes, which may be minutes away. The zero value is not valid: use
// NewRecovery.
type Recovery struct {
	rhythm Rhythm
	jitter func() float64 // from 0 up to 1
	offset float64        // other clients have another

	mu    sync.Mutex
	paces []*Pace
	woken int       // how often all were woken, one time soon after the other
	last  time.Time // when, the last time
}

// NewRecovery returns the recovery of a server that has not failed.
func NewRecovery(r Rhythm) *Recovery {
	return &Recovery{rhythm: r, jitter: rand.Float64, offset: rand.Float64()}
}

// NewPace returns the pace of one more thing that is asked of the server.
func (r *Recovery) NewPace() *Pace {
	// Multiples of it lie far from each other, however many there are.
	const golden = math.Phi - 1
	p := NewPace(r.rhythm)
	r.mu.Lock()
	defer r.mu.Unlock()
	_, p.turn = math.Modf(r.offset + golden*float64(len(r.paces)))
	r.paces = append(r.paces, p)
	return p
}

// Recovered notes that something was read that could not be read the last time. All paces are woken, one after the other
// within a second. A server that fails and recovers all the time is not asked more often for it: each time it takes
// twice as long until all are woken again.
func (r *Recovery) Recovered(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	gap := r.rhythm.First << min(r.woken, maxDoublings)
	switch since := now.Sub(r.last); {
	case since > quiet*max(gap, r.rhythm.Most):
		r.woken = 0
	case r.woken > 0 && since < gap:
		return
	}
	r.last = now
	r.woken++
	for _, p := range r.paces {
		p.wake(now.Add(time.Duration(r.jitter() * float64(r.rhythm.First))))
	}
}

// quiet is for how many pauses a server must not have recovered, to count as one that does so rarely.
const quiet = 3
