package logs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	tea "charm.land/bubbletea/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/reading"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// Kinds are the kinds of objects that have logs.
var Kinds = []screen.Kind{screen.Pod}

// mostLines is how many lines of each container are read.
const mostLines = 200

// page reads the logs once, when it is first shown, and again when it is asked to.
type page struct {
	*reading.Reader[[]styled.Line]
	ref   screen.Ref
	job   screen.Job[[]styled.Line]
	asked bool
	lines atomic.Pointer[[]styled.Line] // read by the work of the Reader
}

// New makes the page for a pod.
func New(ref screen.Ref) screen.Screen {
	p := &page{ref: ref}
	p.Reader = reading.New(reading.Config[[]styled.Line]{
		Ref: ref,
		Ask: func(_ context.Context, w *screen.World) ([]styled.Line, error) {
			switch lines := p.lines.Load(); {
			case w.Logs == nil:
				return nil, errors.New("logs are read from a cluster only")
			case lines == nil:
				return []styled.Line{styled.Text(styled.Dim, "the logs are being read")}, nil
			default:
				return *lines, nil
			}
		},
		Lines: func(lines []styled.Line, _ reading.Layout) []styled.Line { return lines },
	})
	return p
}

// Update implements screen.Screen.
func (p *page) Update(w *screen.World, msg tea.Msg) tea.Cmd {
	if result, ok := p.job.Take(msg); ok {
		p.lines.Store(&result.Value)
		return p.Again(w)
	}
	cmd := p.Reader.Update(w, msg)
	if p.asked || w.Snapshot == nil {
		return cmd
	}
	p.asked = true
	return tea.Batch(cmd, p.read(w))
}

// State implements screen.Screen.
func (p *page) State() screen.State {
	s := p.Reader.State()
	again := screen.Key{Name: "again", Press: []string{"r"}, Short: "read again", Help: "read the logs again", Do: p.read}
	s.Keys = append(screen.Keys{again}, s.Keys...)
	return s
}

// read begins to read the logs.
func (p *page) read(w *screen.World) tea.Cmd {
	if w.Logs == nil {
		return nil
	}
	return p.job.Await(w, func(ctx context.Context) ([]styled.Line, error) {
		object, _, ok := screen.Find(w, p.ref)
		pod, isPod := object.(*corev1.Pod)
		if !ok || !isPod {
			return failed(fmt.Errorf("pod %s is gone", p.ref)), nil
		}
		var all []styled.Line
		for i := range pod.Spec.Containers {
			all = append(all, container(ctx, w, pod, pod.Spec.Containers[i].Name)...)
		}
		return all, nil
	})
}

// container is what a container has written, below its name.
func container(ctx context.Context, w *screen.World, pod *corev1.Pod, name string) []styled.Line {
	lines := []styled.Line{styled.Text(styled.Strong, fmt.Sprintf("── %s, the last %d lines", inspect.Sanitize(name), mostLines))}
	text, err := w.Logs(ctx, pod.Namespace, pod.Name, name, mostLines)
	switch text = strings.TrimRight(text, "\n"); {
	case err != nil:
		return append(lines, failed(err)...)
	case text == "":
		return append(lines, styled.Text(styled.Dim, "it has written nothing"))
	}
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, styled.Text(styled.Plain, inspect.Sanitize(strings.TrimRight(line, "\r"))))
	}
	return append(lines, nil)
}

func failed(err error) []styled.Line {
	return []styled.Line{styled.Text(styled.Bad, inspect.Sanitize(err.Error()))}
}
