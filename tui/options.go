package tui

import (
	"context"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/kubectl-dra/kubectl-dra/explain/remedy"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/flowcontrol"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/changes"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/priority"
)

// Source is where snapshots come from.
type Source interface {
	// Updates returns a channel, the same at each call, that delivers snapshots, each newer than the one
	// before. A source that has nothing more to say may close the channel. If it has a method Err() error
	// which then returns an error, Run ends with it.
	Updates() <-chan *inspect.Snapshot
}

// Waiter is a Source that tells what its first snapshot waits for.
type Waiter interface {
	// Waiting returns the server, since when it is waited for, and what for, a line each.
	Waiting() (server string, since time.Time, what []string)
}

// Demo is the Origin of the demo cluster.
const Demo = "demo"

// Options say what to show and how.
type Options struct {
	Source Source
	// Origin says in a word what the source is if it is not a live cluster, such as Demo or "recorded". It is
	// empty for a live cluster.
	Origin string
	// Cluster and User are names for the header; they may be empty.
	Cluster, User string
	// Contexts are the names of other clusters that the user may go to: contexts of a kubeconfig, of which
	// Context is the one in use. Run returns a [SwitchContext] to have one of them shown.
	Contexts []string
	Context  string
	// CheckContext says why one of Contexts cannot be used, as far as that is known without asking its
	// server. It must be set if there are Contexts.
	CheckContext func(name string) error
	// Namespace is the namespace to begin with. If it is empty, all namespaces are shown.
	Namespace string
	// View is the name of the view to begin with. If it is empty, that is the first view.
	View string
	// StuckFirst begins with the view of causes, instead of the first view, if something is stuck in the
	// first snapshot.
	StuckFirst bool
	// Preferences are what the user wants to be otherwise than it is by default. They must be in order, as
	// CheckPreferences says. Notice is what is to be said at the beginning, such as why there are none.
	Preferences Preferences
	Notice      string
	// Typing makes the view take text from the beginning, if it can.
	Typing bool
	// Clock tells the time of a live source. It must be set.
	Clock func() time.Time
	// Writer writes to the cluster. If it is nil, nothing can be written, and NoWriter says why.
	Writer   Writer
	NoWriter string
	// Save keeps text that the user wants to have, and returns where. If it is nil, nothing can be saved.
	Save func(text string) (string, error)

	// Asked is how the cluster was asked about, for commands that are shown: the flags for them, Args those
	// of kubectl dra.
	Asked remedy.Asked
	// Remarks returns what others have written while the program waits for its first snapshot, a line each:
	// for example what a credential plugin asks of the user. The lines need not be safe to show. Remarks may
	// be nil.
	Remarks func() []string

	// Events reads the Events of some objects. It is nil if there is nothing to ask.
	Events func(ctx context.Context, objects []inspect.ObjectRef) (inspect.Events, error)
	// Logs reads the last lines that a container of a pod has written. It is nil if there is nothing to ask.
	Logs func(ctx context.Context, namespace, pod, container string, lines int) (string, error)
	// Recent reads the Events of the cluster that may tell what has happened. It is nil if there is nothing
	// to ask; NoRecent then says why.
	Recent   func(ctx context.Context) (inspect.Events, error)
	NoRecent string
	// Levels reads what API priority levels are doing. It is nil if there is no server to ask.
	Levels flowcontrol.Source
	// Seats is the server concurrency limit that priority levels share. If it is 0, it is worked out.
	Seats int

	// Input and Output are the terminal. If they are nil, standard input and output are used. Environ is the
	// environment of the terminal. If it is nil, that of the process is used.
	Input   io.Reader
	Output  io.Writer
	Environ []string
	// Profile is what the terminal can show. If it is Unknown, the terminal is asked.
	Profile colorprofile.Profile
	// Width is the number of columns that Once may use. If it is 0, lines may have any width.
	Width int

	once bool // nothing may wait
	// tick waits between readings of the server. If it is nil, tea.Tick does.
	tick func(time.Duration, func(time.Time) tea.Msg) tea.Cmd
}

// priority is what the view of priority levels needs.
func (o *Options) priority() priority.Config {
	return priority.Config{Reader: o.Levels, Clock: o.Clock, Seats: o.Seats, Once: o.once, Tick: o.tick}
}

// changes is what the view of changes needs.
func (o *Options) changes() changes.Config {
	return changes.Config{Events: o.Recent, NoEvents: o.NoRecent, Once: o.once, Tick: o.tick}
}

// Writer changes a cluster after the user has seen and confirmed the change.
type Writer interface {
	// Plan works out what an action would write for a claim or a pod, and writes nothing.
	Plan(ctx context.Context, action Action, subject screen.Ref) (Plan, error)
}

// Action is something that a Writer does.
type Action string

// The actions.
const (
	Allocate   Action = "allocate"
	Deallocate Action = "deallocate"
	// Release ends the pods of a claim, so that it gives its devices back. Taint puts a DeviceTaintRule on a
	// device or pool, or takes it away again. No Writer does these to a real cluster: only a Player has them.
	Release Action = "release"
	Taint   Action = "taint"
)

// Player is a Writer for a cluster that is only played.
type Player interface {
	Writer
	// Refuses says why Release or Taint cannot be done to an object, or "".
	Refuses(action Action, subject screen.Ref) string
}

// Plan is a change that was worked out and not made.
type Plan interface {
	// Text is exactly what will be written, for people.
	Text() string
	// Execute makes the change and says in a sentence what was done.
	Execute(ctx context.Context) (string, error)
}

// Static is a Source of one snapshot.
func Static(s *inspect.Snapshot) Source {
	updates := make(chan *inspect.Snapshot, 1)
	updates <- s
	return static(updates)
}

type static chan *inspect.Snapshot

func (s static) Updates() <-chan *inspect.Snapshot { return s }
