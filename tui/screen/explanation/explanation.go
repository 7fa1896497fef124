package explanation

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/lifecycle"
	"github.com/kubectl-dra/kubectl-dra/explain/remedy"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/reading"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// Kinds are the kinds of objects that can be explained.
var Kinds = []screen.Kind{screen.Claim, screen.Pod, screen.Template, screen.StorageCapacity, screen.ClusterQueue, screen.QueuedWorkload}

// eventsAge is how old Events become before they are read again, while the cluster changes.
const eventsAge = 15 * time.Second

// page is an explanation that is asked again when Events come in. These are waited for beside it, so that the
// page does not wait for them.
type page struct {
	*reading.Reader[[]*explain.Explanation]
	ref    screen.Ref
	job    screen.Job[inspect.Events]
	events atomic.Pointer[inspect.Events] // read by the work of the Reader
	readAt time.Time                      // when Events were asked for
}

// New makes the page for an object.
func New(ref screen.Ref) screen.Screen {
	switch ref.Kind {
	case screen.StorageCapacity:
		return newVolumes(ref)
	case screen.ClusterQueue:
		return newQueue(ref)
	}
	p := &page{ref: ref}
	p.Reader = reading.New(reading.Config[[]*explain.Explanation]{
		Ref: ref, More: "every node, and what becomes of the devices on it",
		Ask: func(ctx context.Context, w *screen.World) ([]*explain.Explanation, error) {
			options := w.Question()
			if events := p.events.Load(); events != nil && !options.Hypothetical {
				options.Events = *events
			} else if w.Events != nil && !options.Hypothetical {
				options.Events.Health = inspect.Health{State: inspect.Syncing, Message: "Events are still being read"}
			}
			answers, err := together(ctx, w, []screen.Ref{ref}, options)
			if err == nil && !options.Hypothetical { // of what is only supposed no command would be true
				for _, e := range answers {
					remedy.Add(w.Snapshot, e, w.AskedAbout(ref))
				}
			}
			return answers, err
		},
		Lines: func(answers []*explain.Explanation, o reading.Layout) []styled.Line {
			part := o.Part - 1
			for _, e := range answers {
				if part >= 0 && part < len(e.Fixes) {
					return text.FixLines(e, part, o.Options())
				}
				part -= len(e.Fixes)
			}
			return lines(answers, o.Options())
		},
		Fixes: func(answers []*explain.Explanation) [][]string {
			var commands [][]string
			for _, e := range answers {
				commands = append(commands, words.Each(e.Fixes, func(f explain.Fix) []string { return f.Commands })...)
			}
			return commands
		},
		Keys: func(answers []*explain.Explanation) (keys screen.Keys) {
			for _, e := range answers[:min(len(answers), 1)] {
				keys = logKeys(e)
			}
			return keys
		},
	})
	return p
}

// logKeys is the key that leads to the logs of a driver that is at fault.
func logKeys(e *explain.Explanation) screen.Keys {
	var offers []screen.Offer
	driver := ""
	if e.Lifecycle == nil {
		return nil
	}
	for i := range e.Lifecycle.Problems {
		p := &e.Lifecycle.Problems[i]
		driver = cmp.Or(driver, p.Driver)
		for _, pod := range p.Logs {
			open := screen.Open{Page: screen.Logs, Ref: screen.Ref{Kind: screen.Pod, Namespace: pod.Namespace, Name: pod.Name}}
			offers = append(offers, screen.Offer{Text: open.Ref.String(), Note: p.Driver, Take: func(*screen.World) tea.Cmd { return screen.Send(open) }})
		}
	}
	if driver == "" && len(offers) == 0 {
		return nil
	}
	key := screen.Key{Name: "logs", Press: []string{"l"}, Short: "logs", Help: "the last lines that the driver's pod on the node has written", Do: func(w *screen.World) tea.Cmd {
		if len(offers) == 1 {
			return offers[0].Take(w)
		}
		return screen.Send(screen.Choose{Label: "logs of: ", Offers: offers})
	}}
	if len(offers) == 0 {
		key.Off = "which pods are those of " + inspect.Sanitize(driver) + " is not known; the command on this page lists those of the node"
	}
	return screen.Keys{key}
}

// Update implements screen.Screen.
func (p *page) Update(w *screen.World, msg tea.Msg) tea.Cmd {
	if result, ok := p.job.Take(msg); ok {
		if result.Err != nil {
			result.Value.Health = inspect.Health{State: inspect.Broken, Message: "reading Events: " + result.Err.Error()}
		}
		p.events.Store(&result.Value)
		return p.Again(w)
	}
	cmd := p.Reader.Update(w, msg)
	switch msg.(type) {
	case screen.Hidden:
		if p.job.Running() {
			p.job.Stop()
			p.readAt = time.Time{}
		}
		return cmd
	case screen.Shown, screen.Changed:
		return tea.Batch(cmd, p.readEvents(w))
	}
	return cmd
}

// readEvents begins to read the Events that belong to the answer, unless they were read a moment ago.
func (p *page) readEvents(w *screen.World) tea.Cmd {
	fresh := !p.readAt.IsZero() && w.Now.Sub(p.readAt) < eventsAge
	if w.Events == nil || w.Snapshot == nil || len(w.Supposed) > 0 || p.job.Running() || fresh {
		return nil
	}
	p.readAt = w.Now
	return p.job.Await(w, func(ctx context.Context) (inspect.Events, error) {
		objects := lifecycle.Concerned(w.Snapshot, string(p.ref.Kind), p.ref.Namespace, p.ref.Name)
		if len(objects) == 0 {
			return inspect.Events{}, nil
		}
		return w.Events(ctx, objects)
	})
}
