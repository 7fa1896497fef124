package changes

import (
	"cmp"
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/listing"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// Config is what the view needs besides the world.
type Config struct {
	// Events reads the Events of the cluster. It is nil if there is nothing to ask; NoEvents then says why.
	Events   func(ctx context.Context) (inspect.Events, error)
	NoEvents string
	// Once makes the view read only one time.
	Once bool
	// Tick waits between readings. If it is nil, tea.Tick does.
	Tick func(time.Duration, func(time.Time) tea.Msg) tea.Cmd
}

// pause is the time between two readings of Events, while the view is visible.
const pause = 15 * time.Second

// Screen is the view.
type Screen struct {
	config Config
	*listing.List[row]
	read screen.Job[inspect.Events]
	// told are the Events that were read last.
	told    told
	visible bool
	// waiting says that due will come.
	waiting bool
}

// told are Events, or why there are none.
type told struct {
	events inspect.Events
	known  bool
	err    error
}

// due asks for the next reading.
type due struct{ screen *Screen }

// New makes the view.
func New(config Config) *Screen {
	if config.Tick == nil {
		config.Tick = tea.Tick
	}
	s := &Screen{config: config}
	s.List = listing.New(listing.Config[row]{
		Noun: "changes", Build: builder(inspect.Events{}), Columns: columns, Groupings: groupings, Empty: s.whyEmpty,
		Key: func(r *row) string {
			return fmt.Sprint(r.event.Kind, r.event.Ref, r.event.Time.UnixNano(), r.event.Text)
		},
		Ref:   func(r *row) screen.Ref { return r.event.Ref },
		Extra: func(r *row) string { return string(r.event.Ref.Kind) + " " + r.event.Driver + " " + r.event.Text },
		Panel: func(r *row, w *screen.World, width, _ int) (styled.Line, []styled.Line) {
			return styled.Text(styled.Strong, r.what()), append(r.panel(width), s.sources(w))
		},
	})
	return s
}

// Update implements screen.Screen.
func (s *Screen) Update(w *screen.World, msg tea.Msg) tea.Cmd {
	if result, ok := s.read.Take(msg); ok {
		s.told = told{events: result.Value, known: true, err: result.Err}
		return tea.Batch(s.Rebuild(w, builder(s.told.events)), s.wait())
	}
	switch msg := msg.(type) {
	case due:
		if msg.screen != s {
			return nil
		}
		s.waiting = false
		return s.ask(w)
	case screen.Shown:
		s.visible = true
		return tea.Batch(s.List.Update(w, msg), s.ask(w))
	case screen.Changed:
		return tea.Batch(s.List.Update(w, msg), s.ask(w)) // the first snapshot may have come
	case screen.Hidden:
		s.visible = false
	}
	return s.List.Update(w, msg)
}

// ask reads the Events, unless they were read just now. It is asked again after a pause, while the view is
// visible.
func (s *Screen) ask(w *screen.World) tea.Cmd {
	events := s.config.Events
	if events == nil || !s.visible && !s.config.Once || s.waiting || s.read.Running() || w.Snapshot == nil || s.config.Once && s.told.known {
		return nil
	}
	return s.read.Await(w, events)
}

// wait lets a pause pass before Events are read again.
func (s *Screen) wait() tea.Cmd {
	if s.config.Once {
		return nil
	}
	s.waiting = true
	return s.config.Tick(pause, func(time.Time) tea.Msg { return due{s} })
}

// Plain implements screen.Screen.
func (s *Screen) Plain(w *screen.World, width int) string {
	return s.List.Plain(w, width) + "\n\n" + s.sources(w).String()[2:]
}

// sources says how far back the view looks, and where that is from.
func (s *Screen) sources(w *screen.World) styled.Line {
	text := "what objects tell"
	if start := w.History.Start(); !s.config.Once && !start.IsZero() {
		text = "seen since " + clock(start) + "; before that " + text
	}
	note, role := s.eventsNote(), styled.Dim
	if note != "" {
		role = styled.Warn
		text += "; Events: " + note
	} else {
		text += " and Events of the cluster"
	}
	return styled.Text(role, "  "+text)
}

// eventsNote says what keeps Events from being shown, in whole or in part. It is empty if nothing does.
func (s *Screen) eventsNote() string {
	switch h := s.told.events.Health; {
	case s.config.Events == nil:
		return cmp.Or(s.config.NoEvents, "not read")
	case !s.told.known:
		return "being read"
	case s.told.err != nil:
		return inspect.Sanitize(s.told.err.Error())
	case h.Message != "":
		return inspect.Sanitize(h.Message)
	}
	return ""
}

// whyEmpty says what it means that there are no rows.
func (s *Screen) whyEmpty(w *screen.World) string {
	unread := screen.Unread(w, inspect.Claims, inspect.Pods)
	switch note := s.eventsNote(); {
	case s.told.known && !s.Current():
		return "one moment"
	case unread != "" && note != "":
		return "nothing is known to have happened: " + unread + "; Events: " + note
	case unread != "":
		return "nothing is known to have happened: " + unread
	case note != "":
		return "nothing has happened that objects tell of; Events: " + note
	}
	return "nothing has happened that objects or Events tell of"
}
