package tui

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	tea "charm.land/bubbletea/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

const (
	// historyLength is how many values the graph of a driver remembers.
	historyLength = 60
	// longestGraph is how many columns it has at most.
	longestGraph = 8
)

// header knows how much of each driver's devices is taken, now and before.
type header struct {
	job     screen.Job[summary]
	missed  *screen.World // the newest world that came while the job was running
	took    *atomic.Int64 // see tallying
	now     []driverUse
	atMost  bool // more may be taken: not all claims could be read
	history map[string][]float64
	// namespaces are those that have something to show.
	namespaces []string
}

// summary is what the header and the prompts need to know of a snapshot.
type summary struct {
	usage      []driverUse
	atMost     bool
	namespaces []string
}

// driverUse is how much of the devices of a driver is used.
type driverUse struct{ inspect.DriverStatus }

// share is the used part of the devices or of the counter that is scarcest, whichever is more, from 0 to 1. Devices
// that draw on counters are not counted by number: they overlap, and could never be used all at once.
func (u driverUse) share() float64 {
	scarcest := u.Scarcest()
	if scarcest == nil {
		return float64(u.Devices.Used) / float64(max(1, u.Devices.Total))
	}
	return max(scarcest.Used(), float64(u.Whole.Used)/float64(max(1, u.Whole.Total)))
}

// text is how much is free, as everywhere.
func (u driverUse) text() string { return screen.FreeOfDriver(&u.DriverStatus) }

// full reports whether nothing is free.
func (u driverUse) full() bool { return u.Devices.Free == 0 }

// refresh counts again.
func (h *header) refresh(w *screen.World, took *atomic.Int64) tea.Cmd {
	if w.Snapshot == nil {
		return nil
	}
	if h.job.Running() {
		h.missed = w
		return nil
	}
	h.missed, h.took = nil, took
	return h.job.StartLater(w, func(context.Context) (summary, error) {
		return timed(took, func() summary {
			s := summary{namespaces: namespacesOf(w.Snapshot.Objects()), atMost: w.Snapshot.Health(inspect.Claims).Partial()}
			if !beingRead(w.Snapshot, inspect.Claims, inspect.Slices, inspect.Nodes) { // what is free of half of the devices is of no use
				s.usage = usageOf(w.Inventory().Drivers)
			}
			return s
		}), nil
	})
}

// beingRead reports whether one of several resources is being read for the first time.
func beingRead(s *inspect.Snapshot, resources ...inspect.Resource) bool {
	return slices.ContainsFunc(resources, func(r inspect.Resource) bool { return s.Health(r).State == inspect.Syncing })
}

// usageOf puts the drivers with most devices first.
func usageOf(drivers []inspect.DriverStatus) []driverUse {
	out := make([]driverUse, len(drivers))
	for i := range drivers {
		out[i] = driverUse{drivers[i]}
	}
	slices.SortFunc(out, func(a, b driverUse) int {
		return cmp.Or(cmp.Compare(b.Devices.Total, a.Devices.Total), strings.Compare(a.Driver, b.Driver))
	})
	return out
}

// namespacesOf returns the namespaces that have something to show, sorted.
func namespacesOf(o *inspect.Objects) []string {
	seen := map[string]bool{}
	note(seen, o.Claims)
	note(seen, o.Templates)
	note(seen, o.Pods)
	note(seen, o.StorageCapacities)
	return slices.Sorted(maps.Keys(seen))
}

// note notes the namespaces of objects that are sorted by them.
func note[T metav1.Object](seen map[string]bool, objects []T) {
	last := ""
	for i, o := range objects {
		if namespace := o.GetNamespace(); i == 0 || namespace != last {
			seen[namespace], last = true, namespace
		}
	}
}

// take takes the counts of a message.
func (h *header) take(msg tea.Msg) (tea.Cmd, bool) {
	result, ok := h.job.Take(msg)
	if !ok {
		return nil, false
	}
	h.now, h.atMost, h.namespaces = result.Value.usage, result.Value.atMost, result.Value.namespaces
	if h.history == nil {
		h.history = map[string][]float64{}
	}
	for _, u := range h.now {
		past := append(h.history[u.Driver], u.share())
		h.history[u.Driver] = past[max(0, len(past)-historyLength):]
	}
	if h.missed != nil {
		return h.refresh(h.missed, h.took), true
	}
	return nil, true
}

// headerLine is the first line: which cluster, and how it is.
func (m *model) headerLine() string {
	left := styled.Line{{Text: " kubectl dra", Role: styled.Accent}}
	for _, s := range []string{m.options.Cluster, m.options.User, m.serverVersion()} {
		if s != "" {
			left = append(left, styled.Span{Text: "  " + styled.Cut(inspect.Sanitize(s), 32), Role: styled.Strong})
		}
	}
	left = append(left, m.timeText(m.width-left.Width()-m.healthText().Width()-3)...)
	right := m.healthText()
	room := m.width - left.Width() - right.Width() - 3
	right = append(right, m.usageLine(room)...)
	right = append(right, styled.Span{Text: " "})
	if over := left.Width() + right.Width() + 1 - m.width; over > 0 {
		left = styled.Text(styled.Strong, styled.Cut(left.String(), max(12, left.Width()-over)))
	}
	gap := styled.Span{Text: strings.Repeat(" ", max(1, m.width-left.Width()-right.Width()))}
	return widget.Render(m.world.Theme, append(append(left, gap), right...), m.width)
}

func (m *model) serverVersion() string {
	if m.base == nil {
		return ""
	}
	return m.base.ServerVersion()
}

// usageLine tells in at most so many columns of as many drivers as possible, the largest first, with graphs as
// long as there is room for.
func (m *model) usageLine(room int) styled.Line {
	shown, length := m.header.now, longestGraph
	for len(shown) > 0 && m.usages(shown, 1).Width() > room {
		shown = shown[:len(shown)-1]
	}
	for length > 1 && m.usages(shown, length).Width() > room {
		length--
	}
	return m.usages(shown, length)
}

func (m *model) usages(shown []driverUse, length int) (line styled.Line) {
	if len(shown) > 0 {
		line = styled.Text(styled.Dim, map[bool]string{false: "  free", true: "  free at most"}[m.header.atMost])
	}
	for _, u := range shown {
		line = append(append(line, styled.Span{Text: "  "}), m.usageText(u, length)...)
	}
	return line
}

func (m *model) usageText(u driverUse, length int) styled.Line {
	role := styled.Good
	if u.full() {
		role = styled.Warn
	}
	return styled.Line{
		{Text: screen.ShortDriver(u.Driver) + " ", Role: styled.Plain},
		{Text: widget.Sparkline(m.header.history[u.Driver], length), Role: styled.Used},
		{Text: " " + u.text(), Role: role},
	}
}

// healthText says how fresh and how complete the picture is.
func (m *model) healthText() styled.Line {
	if m.base == nil {
		return styled.Text(styled.Warn, "◌ connecting")
	}
	var bad, syncing, unserved []string
	for _, r := range shownResources {
		h := m.base.Health(r)
		switch h.State {
		case inspect.Syncing:
			syncing = append(syncing, string(r))
		case inspect.Broken:
			since := ""
			if !h.Since.IsZero() {
				since = " since " + h.Since.Local().Format("15:04:05")
			}
			return styled.Text(styled.Bad, fmt.Sprintf("✗ stale%s: %s", since, r))
		case inspect.Forbidden, inspect.Narrowed, inspect.Incomplete:
			bad = append(bad, string(r))
		case inspect.NotServed:
			if !r.Optional() {
				unserved = append(unserved, string(r))
			}
		}
	}
	switch {
	case len(unserved) > 1:
		return styled.Text(styled.Bad, fmt.Sprintf("✗ not served: %s and %d more", unserved[0], len(unserved)-1))
	case len(unserved) == 1:
		return styled.Text(styled.Bad, "✗ not served: "+unserved[0])
	case len(syncing) > 1:
		return styled.Text(styled.Warn, fmt.Sprintf("◌ reading %s and %d more", syncing[0], len(syncing)-1))
	case len(syncing) > 0:
		return styled.Text(styled.Warn, "◌ reading "+syncing[0])
	case len(bad) > 1:
		return styled.Text(styled.Warn, fmt.Sprintf("◐ partial: %s and %d more", bad[0], len(bad)-1))
	case len(bad) == 1:
		return styled.Text(styled.Warn, "◐ partial: "+bad[0])
	case m.options.Origin != "":
		return styled.Text(styled.Dim, "○ "+m.options.Origin)
	}
	return styled.Text(styled.Good, "● live")
}

// shownResources are those whose health the header reports.
var shownResources = []inspect.Resource{
	inspect.Claims, inspect.Slices, inspect.Classes, inspect.TaintRules, inspect.Nodes, inspect.Pods, inspect.Templates,
}
