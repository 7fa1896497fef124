package live

import (
	"testing"
	"time"

	"github.com/kubectl-dra/kubectl-dra/inspect/live/connection"
)

// LongestLead is how long what somebody waits for goes before all else.
const LongestLead = longestLead

// RealRhythm lets a test wait as long as users do.
func RealRhythm(t *testing.T) {
	quick := rhythm
	rhythm = connection.Default
	t.Cleanup(func() { rhythm = quick })
}

// Tests do not wait for servers to recover.
func init() {
	rhythm.First, rhythm.Most, rhythm.Steady = 20*time.Millisecond, 100*time.Millisecond, time.Second
}

// SmallLimits lets a test meet the limits soon.
func SmallLimits(t *testing.T) {
	large := limits
	limits.page, limits.whole, limits.list, limits.discovery, limits.version, limits.metrics = 2<<10, 4<<10, 32<<10, 2<<10, 2<<10, 2<<10
	limits.token, limits.objects, limits.pages = 100, 100, 10
	t.Cleanup(func() { limits = large })
}
