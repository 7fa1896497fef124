package tui

import (
	"context"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/flowcontrol"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/priority"
)

// Source is where snapshots come from.
type Source interface {
	// Updates delivers snapshots, each newer than the one before. A source that has nothing more to say
	// may close the channel. If it has a method Err() error which then returns an error, Run ends with it.
	Updates() <-chan *inspect.Snapshot
}

// Waiter is a Source that tells what its first snapshot waits for.
type Waiter interface {
	// Waiting returns the server, since when it is waited for, and what for, a line each.
	Waiting() (server string, since time.Time, what []string)
}

// Options say what to show and how.
type Options struct {
	Source Source
	// Origin says in a word what the source is when it is no live cluster, such as "demo" or "file"; empty
	// is a live cluster.
	Origin string
	// Cluster and User are names for the header; they may be empty.
	Cluster, User string
	// Namespace is the one to begin with; "" is all.
	Namespace string
	// View is the name of the view to begin with; "" is the first.
	View string
	// Typing: the view takes text from the beginning, if it can.
	Typing bool
	// Clock tells the time of a live source. It must be set.
	Clock func() time.Time
	// Writer writes to the cluster; nil says that nothing can be written, NoWriter why.
	Writer   Writer
	NoWriter string

	// Remarks are lines that something else said while the first snapshot is waited for, such as what a credential
	// plugin wants of the user; nil is none. They need not be safe.
	Remarks func() []string

	// Levels reads what API priority levels are doing; nil where there is no server to ask.
	Levels flowcontrol.Source
	// Seats is the server concurrency limit that priority levels share; 0 finds it out.
	Seats int

	// Input and Output are the terminal; nil is standard input and output. Environ is the environment of
	// the terminal, nil that of the process.
	Input   io.Reader
	Output  io.Writer
	Environ []string
	// Profile is what the terminal can show; Unknown finds out.
	Profile colorprofile.Profile
	// Width is the number of columns that Once may use; 0 is any.
	Width int

	once bool // nothing may be waited for
	// tick waits between readings of the server; nil is tea.Tick.
	tick func(time.Duration, func(time.Time) tea.Msg) tea.Cmd
}

// dark guesses whether the terminal has a dark background, until it says so itself: some terminals tell the
// numbers of their colours, foreground first and background last, in COLORFGBG. Of the sixteen, 7 and those
// above 8 are light.
func (o *Options) dark() bool {
	environ := o.Environ
	if environ == nil {
		environ = os.Environ()
	}
	for _, entry := range environ {
		if colors, ok := strings.CutPrefix(entry, "COLORFGBG="); ok {
			background, err := strconv.Atoi(colors[strings.LastIndexByte(colors, ';')+1:])
			return err != nil || background != 7 && background <= 8
		}
	}
	return true
}

// priority is what the view of priority levels needs.
func (o *Options) priority() priority.Config {
	return priority.Config{Reader: o.Levels, Clock: o.Clock, Seats: o.Seats, Once: o.once, Tick: o.tick}
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
)

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
