package tui

import (
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/kubectl-dra/kubectl-dra/explain/triage"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/theme"
)

// model is the root of the terminal UI.
type model struct {
	ctx     context.Context //nolint:containedctx // the life of the program, from which commands take theirs
	options Options

	width, height int
	dark          bool
	profile       colorprofile.Profile

	// base is the newest snapshot as it came, world what is shown.
	base       *inspect.Snapshot
	version    int
	world      *screen.World
	actual     *screen.World // the newest with nothing supposed
	hypotheses []screen.Change
	again      screen.Change // what the key before supposed, if that was the key that does so
	suppose    screen.Job[supposition]

	views   []view
	current int
	// pages lie above the view, the last one on top.
	pages []page
	// trail are the places that were left by going somewhere by name, the last one at the end.
	trail []spot

	drawing drawing

	timeline  timeline
	header    header
	record    recorder
	tallying  tallying
	input     *input
	popup     *popup
	remark    screen.Say
	typeahead []tea.KeyPressMsg
	find      screen.Job[found]
	plan      screen.Job[Plan]
	commit    screen.Job[string]

	// touched is when a key was pressed last, or the mouse moved something.
	touched time.Time

	// throttled says that a snapshot came so soon after the one before that it is shown a little later.
	throttled bool
	rebuilt   time.Time
	worked    time.Duration // see screen.WorkedAtOnce, when the world was made

	// leaving says that the user wanted to leave and was told that something is being written.
	leaving     bool
	interrupted bool
	// failed is why the source had nothing to show.
	failed error
}

// view is a view of the table; its screen is made when it is first shown.
type view struct {
	viewEntry
	screen screen.Screen
}

// page is a screen about an object, or about several that were marked.
type page struct {
	kind   screen.Page
	refs   []screen.Ref
	screen screen.Screen
}

// name is what the page is about.
func (p *page) name() string {
	if len(p.refs) == 1 {
		return p.refs[0].String()
	}
	return fmt.Sprintf("%d objects", len(p.refs))
}

func newModel(ctx context.Context, options Options) *model {
	m := &model{ctx: ctx, options: options, touched: time.Now(), dark: options.dark(), profile: options.Profile}
	for i, entry := range viewTable {
		m.views = append(m.views, view{viewEntry: entry})
		if entry.name == options.View {
			m.current = i
		}
	}
	m.world = screen.NewWorld(ctx, 0, nil)
	m.world.Asked = options.Asked
	m.world.Namespace, m.world.Events = options.Namespace, options.Events
	m.world.Theme = theme.New(m.dark, m.profile)
	m.timeline = newTimeline(options.Source)
	m.openView()
	return m
}

// openView makes the screen of the current view if there is none yet.
func (m *model) openView() {
	v := &m.views[m.current]
	if v.screen != nil {
		return
	}
	v.screen = v.make(&m.options)
}

// top is the screen that is visible.
func (m *model) top() screen.Screen {
	if n := len(m.pages); n > 0 {
		return m.pages[n-1].screen
	}
	return m.views[m.current].screen
}

// arrived is a snapshot of the source.
type arrived struct{ snapshot *inspect.Snapshot }

// wait waits for the next snapshot.
func (m *model) wait() tea.Cmd {
	ctx, updates := m.ctx, m.options.Source.Updates()
	return func() tea.Msg {
		select {
		case s, ok := <-updates:
			if ok {
				return arrived{s}
			}
			return ended{}
		case <-ctx.Done():
		}
		return nil
	}
}

// ended comes when the source has nothing more to say.
type ended struct{}

// end leaves when that is because the source failed.
func (m *model) end() tea.Cmd {
	source, ok := m.options.Source.(interface{ Err() error })
	if !ok || source.Err() == nil {
		return nil
	}
	m.failed = source.Err()
	return tea.Quit
}

// Init implements tea.Model.
func (m *model) Init() tea.Cmd {
	if m.options.Typing {
		m.update(m.top(), screen.Type{})
	}
	return tea.Batch(m.wait(), m.update(m.top(), screen.Shown{}), tea.RequestBackgroundColor, tick())
}

// ticked comes once a second, for what is told by the clock.
type ticked struct{}

func tick() tea.Cmd { return tea.Tick(time.Second, func(time.Time) tea.Msg { return ticked{} }) }

// update hands a message to a screen.
func (m *model) update(s screen.Screen, msg tea.Msg) tea.Cmd { return s.Update(m.world, msg) }

// now is the time of a live cluster, and that of the snapshot otherwise.
func (m *model) now() time.Time {
	if m.options.Origin != "" && m.base != nil {
		return m.base.Time()
	}
	return m.options.Clock()
}

// rebuildWorld makes a world of the newest snapshot and of what is supposed. With suppositions the snapshot is
// changed in the background first.
func (m *model) rebuildWorld() tea.Cmd {
	if len(m.hypotheses) == 0 {
		m.suppose.Stop()
		return m.change(m.base, nil)
	}
	if m.suppose.Running() {
		return nil // its result is looked at when it comes
	}
	base, changes := m.base, m.hypotheses
	return m.suppose.Start(m.world, func(context.Context) (supposition, error) {
		return supposition{base, changes, applyAll(base, changes)}, nil
	})
}

// How often the world changes at most: when twice the time has passed that work in the background took since it did, so that half
// of the time is left to others. What is still being worked on then is finished before screens begin anew. What rests by itself does not
// count: otherwise all that is shown would be as old as a survey of thousands of claims takes.
const (
	pace     = 50 * time.Millisecond
	busyPace = time.Second
)

// pauseFor is the time between two worlds, of which the first made so much work necessary.
func pauseFor(work time.Duration) time.Duration { return min(max(pace, 2*work), busyPace) }

// paced says that it is time to show the newest snapshot.
type paced struct{}

// takeSnapshot takes in a snapshot: at once, or, when they come fast, together with those that follow it.
func (m *model) takeSnapshot(s *inspect.Snapshot) tea.Cmd {
	open := m.openCauses(s)
	m.base = s
	if m.throttled {
		return nil
	}
	if wait := pauseFor(screen.WorkedAtOnce()-m.worked) - time.Since(m.rebuilt); wait > 0 {
		m.throttled = true
		return tea.Tick(wait, func(time.Time) tea.Msg { return paced{} })
	}
	return tea.Batch(m.showNewest(), open)
}

// showNewest makes the world that is shown from the newest snapshot.
func (m *model) showNewest() tea.Cmd {
	m.throttled, m.rebuilt, m.worked = false, time.Now(), screen.WorkedAtOnce()
	return m.rebuildWorld()
}

// openCauses goes to the view of causes when the first snapshot comes, if that is wanted, something is stuck in it, and the
// user has not gone anywhere yet.
func (m *model) openCauses(s *inspect.Snapshot) tea.Cmd {
	if !m.options.StuckFirst || m.base != nil || m.current != 0 || len(m.pages) > 0 || !triage.Likely(s) {
		return nil
	}
	return m.goTo(screen.Go{View: "causes"})
}

// change replaces the world.
func (m *model) change(s *inspect.Snapshot, supposed []screen.Change) tea.Cmd {
	m.version++
	w := m.world.Next(m.version, s)
	w.SetNow(m.now())
	w.Supposed, w.Idle = supposed, time.Since(m.touched) > idleAfter
	w.History = m.record.begin(w)
	if len(supposed) == 0 {
		m.actual = w
	} else {
		w.Actual = m.asItIs()
	}
	m.world = w
	return tea.Batch(m.update(m.top(), screen.Changed{}), m.tally(w))
}

// idleAfter is how long after the last key nobody is thought to look closely.
const idleAfter = 10 * time.Second

// touch notes that somebody is there, and lets the screen that is visible catch up if nobody was.
func (m *model) touch() tea.Cmd {
	m.touched = time.Now()
	if !m.world.Idle {
		return nil
	}
	w := *m.world
	w.Idle = false
	m.world = &w
	return m.update(m.top(), screen.Changed{})
}

// asItIs is the world of the newest snapshot with nothing supposed.
func (m *model) asItIs() *screen.World {
	if m.actual == nil || m.actual.Snapshot != m.base {
		m.actual = m.world.Next(m.version, m.base)
	}
	return m.actual
}

// applyTheme changes how things look, and nothing else.
func (m *model) applyTheme() {
	w := *m.world
	w.Theme = theme.New(m.dark, m.profile)
	m.world = &w
}
