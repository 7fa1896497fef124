package tui

import (
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/triage"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/preferences"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// model is the root of the terminal UI. It is made of parts, each of which knows those below it: the shell,
// where the user is (navigation), and which cluster is shown (worlds); then what can be asked, written, and
// travelled to.
type model struct {
	*worlds
	prompts  prompts
	writes   writes
	timeline timeline

	typeahead []tea.KeyPressMsg

	// touched is when a key was pressed last, or the mouse moved something.
	touched time.Time

	// throttled says that a snapshot came so soon after the one before that it is shown a little later.
	throttled bool
	rebuilt   time.Time
	worked    time.Duration // see screen.WorkedAtOnce, when the world was made

	// leaving says that the user wanted to leave and was told that something is being written.
	leaving     bool
	interrupted bool
	// next is the context to be shown once this program has left.
	next string
	// failed is why the source had nothing to show.
	failed error
}

// shell is what all parts of the root share.
type shell struct {
	ctx     context.Context //nolint:containedctx // the life of the program, from which commands take theirs
	options Options

	width, height int
	dark          bool
	profile       colorprofile.Profile

	world  *screen.World // what is shown
	input  *input
	popup  *popup
	remark screen.Say
}

// set replaces the world by one that differs from it a little.
func (s *shell) set(change func(w *screen.World)) {
	w := *s.world
	change(&w)
	s.world = &w
}

// applyTheme changes how things look, and nothing else.
func (s *shell) applyTheme() {
	s.set(func(w *screen.World) { w.Theme = s.options.Preferences.Palette().New(s.dark, s.profile) })
}

// update hands a message to a screen.
func (s *shell) update(to screen.Screen, msg tea.Msg) tea.Cmd { return to.Update(s.world, msg) }

func (s *shell) say(role styled.Role, text string) tea.Cmd {
	s.remark = screen.Say{Text: text, Role: role}
	return nil
}

func (s *shell) tooSmall() bool { return s.width < minWidth || s.height < minHeight }

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
	s := &shell{ctx: ctx, options: options, profile: options.Profile, world: screen.NewWorld(ctx, 0, nil)}
	s.dark = options.Preferences.Theme.Background != preferences.Light
	s.world.Owners = options.Preferences.OwnerRoles()
	s.remark = screen.Say{Text: options.Notice, Role: styled.Warn}
	s.world.Asked, s.world.Namespace, s.world.Events, s.world.Logs = options.Asked, options.Namespace, options.Events, options.Logs
	s.applyTheme()
	n := &navigation{shell: s}
	for i, entry := range viewTable {
		n.views = append(n.views, view{viewEntry: entry})
		if entry.name == options.View {
			n.current = i
		}
	}
	n.openView()
	w := &worlds{navigation: n}
	return &model{
		worlds: w, prompts: prompts{worlds: w}, writes: writes{worlds: w}, timeline: newTimeline(w), touched: time.Now(),
	}
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

// How often the world changes at most: when four times the time has passed that work in the background took
// since it did, so that three quarters of the time are left to others, and to keys. What is still being
// worked on then is finished before screens begin anew. What rests by itself does not count: otherwise all
// that is shown would be as old as a survey of thousands of claims takes.
const (
	pace        = 50 * time.Millisecond
	busyPace    = time.Second
	worldBreath = 4
)

// pauseFor is the time between two worlds, of which the first made so much work necessary.
func pauseFor(work time.Duration) time.Duration { return min(max(pace, worldBreath*work), busyPace) }

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

// openCauses goes to the view of causes when the first snapshot comes, if that is wanted, something is stuck
// in it, and the user has not gone anywhere yet.
func (m *model) openCauses(s *inspect.Snapshot) tea.Cmd {
	if !m.options.StuckFirst || m.base != nil || m.current != 0 || len(m.pages) > 0 || !triage.Likely(s) {
		return nil
	}
	return m.goTo(screen.Go{View: "causes"})
}

// idleAfter is how long after the last key nobody is thought to look closely.
const idleAfter = 10 * time.Second

// touch notes that somebody is there, and lets the screen that is visible catch up if nobody was.
func (m *model) touch() tea.Cmd {
	m.touched, m.idle = time.Now(), false
	if !m.world.Idle {
		return nil
	}
	m.set(func(w *screen.World) { w.Idle = false })
	return m.update(m.top(), screen.Changed{})
}
