package screen

import (
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Age is how long ago something was. It grows while it is shown. Of the zero Age that is not known.
type Age struct {
	since time.Time
	clock *atomic.Int64
}

// Age is how long ago a time is, which may be zero.
func (w *World) Age(since time.Time) Age { return Age{since, w.clock} }

// Length is how long it is now. It is negative if that is not known.
func (a Age) Length() time.Duration {
	if a.since.IsZero() || a.clock == nil {
		return -1
	}
	return max(0, time.Unix(0, a.clock.Load()).Sub(a.since))
}

// String prints an age as kubectl does.
func (a Age) String() string { return FormatAge(a.Length()) }

// SetNow sets the time that ages are measured by, those too that were made of worlds before this one.
func (w *World) SetNow(now time.Time) {
	w.Now = now
	if !now.IsZero() {
		w.clock.Store(now.UnixNano())
	}
}

// FormatAge prints an age as kubectl does.
func FormatAge(age time.Duration) string {
	if age < 0 {
		return "–"
	}
	return duration.HumanDuration(age)
}

// ParseAge reads an age as FormatAge writes it, such as 3d4h, in seconds.
func ParseAge(s string) (seconds float64, ok bool) {
	units := map[byte]float64{'s': 1, 'm': 60, 'h': 60 * 60, 'd': 24 * 60 * 60, 'y': 365 * 24 * 60 * 60}
	for s != "" {
		at := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' })
		if at < 1 || units[s[at]] == 0 {
			return 0, false
		}
		n, err := strconv.ParseFloat(s[:at], 64)
		if err != nil {
			return 0, false
		}
		seconds, s, ok = seconds+n*units[s[at]], s[at+1:], true
	}
	return seconds, ok
}

// ShortDriver is the first label of the name of a driver, which is what people call it: "gpu" of
// "gpu.example.com". It is safe to show.
func ShortDriver(driver string) string {
	short, _, _ := strings.Cut(driver, ".")
	return inspect.Sanitize(short)
}
