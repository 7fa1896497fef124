package priority

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/flowcontrol"
	"github.com/kubectl-dra/kubectl-dra/tui/listing"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// Config is what the view needs besides the world.
type Config struct {
	// Reader is nil if there is no server to ask. Then limits are computed and nothing is live.
	Reader flowcontrol.Source
	// Clock tells the time of readings. It must be set when there is a Reader.
	Clock func() time.Time
	// Seats is the server concurrency limit. If it is 0, it is worked out.
	Seats int
	// Once makes the view read only one time.
	Once bool
	// Tick waits between readings. If it is nil, tea.Tick does.
	Tick func(time.Duration, func(time.Time) tea.Msg) tea.Cmd
}

// pause is the time between two readings. A server's metrics are megabytes, and its limits change every ten
// seconds.
const pause = 5 * time.Second

// Screen is the view.
type Screen struct {
	config Config
	*listing.List[row]
	read screen.Job[sample]
	// past is what rows are made of in the background, and so it is replaced, never changed.
	past   atomic.Pointer[history]
	polled bool
}

// due asks for the next reading.
type due struct{ screen *Screen }

// New makes the view.
func New(config Config) *Screen {
	if config.Tick == nil {
		config.Tick = tea.Tick
	}
	s := &Screen{config: config}
	s.past.Store(&history{})
	s.List = listing.New(listing.Config[row]{
		Noun: "levels", Columns: columns, Groupings: groupings,
		Resources: []inspect.Resource{inspect.PriorityLevels}, None: "there is no PriorityLevelConfiguration",
		Build: func(_ context.Context, w *screen.World) ([]row, error) {
			return build(w.Snapshot, config.Seats, *s.past.Load()), nil
		},
		Key:   func(r *row) string { return r.level.Name },
		Ref:   func(r *row) screen.Ref { return screen.Ref{Kind: screen.PriorityLevel, Name: r.level.Name} },
		Extra: func(r *row) string { return r.schemas },
		Panel: func(r *row, _ *screen.World, _, _ int) (styled.Line, []styled.Line) {
			return styled.Text(styled.Strong, r.name), r.panel()
		},
		Curves: func(r *row) listing.Board { return s.past.Load().board(r) },
	})
	return s
}

// Update implements screen.Screen.
func (s *Screen) Update(w *screen.World, msg tea.Msg) tea.Cmd {
	if result, ok := s.read.Take(msg); ok {
		past := s.past.Load().add(result.Value)
		s.past.Store(&past)
		if s.config.Once {
			return s.List.Update(w, screen.Changed{})
		}
		next := s.config.Tick(pause, func(time.Time) tea.Msg { return due{s} })
		show := s.List.Update(w, screen.Changed{})
		if events := past.rejecting(); len(events) > 0 {
			return tea.Batch(show, next, screen.Send(screen.Noted{Events: events}))
		}
		return tea.Batch(show, next)
	}
	switch msg := msg.(type) {
	case due:
		if msg.screen == s {
			return s.ask(w)
		}
		return nil
	case screen.Shown, screen.Changed:
		// Once it was looked at, the history is kept also while other views are.
		if !s.polled && s.config.Reader != nil && w.Snapshot != nil {
			s.polled = true
			return tea.Batch(s.List.Update(w, msg), s.ask(w))
		}
	}
	return s.List.Update(w, msg)
}

// ask reads the figures of the server.
func (s *Screen) ask(w *screen.World) tea.Cmd {
	reader, clock := s.config.Reader, s.config.Clock
	return s.read.Await(w, func(ctx context.Context) (sample, error) {
		reading := reader.Read(ctx)
		return sample{clock(), reading}, nil
	})
}

// State implements screen.Screen.
func (s *Screen) State() screen.State {
	state, rows := s.List.State(), s.Rows()
	if len(rows) == 0 {
		return state
	}
	state.Status += fmt.Sprintf(", %d seats %s", rows[0].seats, from[rows[0].source])
	if n := len(rows[0].dangling); n > 0 {
		state.Status += fmt.Sprintf(", %s to no level", words.Count(n, "schema"))
	}
	return state
}

// from says in a few words how a server concurrency limit is known.
var from = map[flowcontrol.ConcurrencySource]string{
	flowcontrol.ConcurrencyFromServer: "of this server",
	flowcontrol.ConcurrencyFromFlag:   "as given",
	flowcontrol.ConcurrencyDefault:    "by default",
}
