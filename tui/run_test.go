package tui

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/kubectl-dra/kubectl-dra/inspect/demo"
	"github.com/kubectl-dra/kubectl-dra/inspect/flowcontrol"
)

// panicking is a reader of priority levels with a bug, which shows after the first frames.
type panicking struct{}

func (panicking) Read(context.Context) flowcontrol.Reading {
	time.Sleep(300 * time.Millisecond)
	panic("a bug in the background")
}

// TestPanicRestoresTheTerminal: a bug, in the event loop or in the background, ends the program with an error and
// leaves the terminal as it was.
func TestPanicRestoresTheTerminal(t *testing.T) {
	var calls atomic.Int32
	for name, change := range map[string]func(*Options){
		"event loop": func(o *Options) {
			o.Clock = func() time.Time {
				if calls.Add(1) > 2 {
					panic("a bug in the event loop")
				}
				return demo.Now()
			}
		},
		"background": func(o *Options) { o.View, o.Levels = "priority", panicking{} },
	} {
		t.Run(name, func(t *testing.T) {
			keys, typing := io.Pipe()
			defer typing.Close() //nolint:errcheck // never fails
			var out bytes.Buffer
			options := Options{
				Source: Static(demoSnapshot(t)), Clock: demo.Now, Input: keys, Output: &out,
				Environ: []string{"TERM=xterm-256color"}, Profile: colorprofile.ANSI256,
			}
			change(&options)
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
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
