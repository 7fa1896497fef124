package tui

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/kubectl-dra/kubectl-dra/inspect/flowcontrol"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
)

// panicking is a reader of priority levels with a bug, which shows after the first frame.
type panicking struct{ framed <-chan struct{} }

func (p panicking) Read(context.Context) flowcontrol.Reading {
	<-p.framed
	panic("a bug in the background")
}

// framedOutput is what a terminal is sent. It closes framed with the first frame, which comes on the
// alternate screen.
type framedOutput struct {
	bytes.Buffer
	framed chan struct{}
	once   sync.Once
}

func (o *framedOutput) Write(p []byte) (int, error) {
	n, err := o.Buffer.Write(p)
	if strings.Contains(o.String(), "\x1b[?1049h") {
		o.once.Do(func() { close(o.framed) })
	}
	return n, err
}

// TestPanicRestoresTheTerminal: a bug, in the event loop or in the background, ends the program with an error
// and leaves the terminal as it was.
func TestPanicRestoresTheTerminal(t *testing.T) {
	for name, change := range map[string]func(*Options, <-chan struct{}){
		"event loop": func(o *Options, framed <-chan struct{}) {
			o.Clock = func() time.Time {
				select {
				case <-framed:
					panic("a bug in the event loop")
				default:
					return demo.Now()
				}
			}
		},
		"background": func(o *Options, framed <-chan struct{}) { o.View, o.Levels = "priority", panicking{framed} },
	} {
		t.Run(name, func(t *testing.T) {
			keys, typing := io.Pipe()
			defer typing.Close() //nolint:errcheck // never fails
			out := &framedOutput{framed: make(chan struct{})}
			options := Options{
				Source: Static(demoSnapshot(t)), Clock: demo.Now, Input: keys, Output: out,
				Environ: []string{"TERM=xterm-256color"}, Profile: colorprofile.ANSI256,
			}
			change(&options, out.framed)
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
			defer cancel()
			if err := Run(ctx, options); !errors.Is(err, tea.ErrProgramPanic) {
				t.Errorf("it ended with %v", err)
			}
			entered, left := strings.LastIndex(out.String(), "\x1b[?1049h"), strings.LastIndex(out.String(), "\x1b[?1049l")
			if entered < 0 || left < entered {
				t.Errorf("the alternate screen was not on, or still is:\n%q", out.String())
			}
			if shown := strings.LastIndex(out.String(), "\x1b[?25h"); shown < strings.LastIndex(out.String(), "\x1b[?25l") {
				t.Errorf("the cursor is still hidden:\n%q", out.String())
			}
		})
	}
}
