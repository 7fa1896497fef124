package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/kubectl-dra/kubectl-dra/tui/keyboard"
	"github.com/kubectl-dra/kubectl-dra/tui/theme"
)

// ErrInterrupted is returned by Run when the user pressed ctrl+c.
var ErrInterrupted = errors.New("interrupted")

// SwitchContext is returned by Run, as an error, when the user asked for another of Options.Contexts, whose
// name it is.
type SwitchContext string

// Error implements error.
func (s SwitchContext) Error() string { return "the user asked for context " + string(s) }

// Run takes over the terminal until the user quits or ctx ends. The terminal is restored in any case, also
// after a panic. The error is ErrInterrupted after ctrl+c, a SwitchContext, that of the source when it
// ended with one (see Source), and otherwise that of the terminal.
func Run(ctx context.Context, options Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m, list := newModel(ctx, options), programOptions(ctx, options)
	if k := keyboard.Open(options.Input); k != nil {
		defer func() { _ = k.Close() }()
		list = append(list, tea.WithInput(k), tea.WithFilter(k.Suspending))
	}
	_, err := tea.NewProgram(m, list...).Run()
	switch {
	case m.interrupted, errors.Is(err, tea.ErrInterrupted):
		return ErrInterrupted
	case m.failed != nil:
		return m.failed
	case m.next != "":
		return SwitchContext(m.next)
	case errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("running the terminal UI: %w", err)
	}
	return nil
}

// framesPerSecond is how often Bubble Tea looks whether there is a frame to draw: a key waits for it.
const framesPerSecond = 120

func programOptions(ctx context.Context, options Options) []tea.ProgramOption {
	list := []tea.ProgramOption{tea.WithContext(ctx), tea.WithoutSignalHandler(), tea.WithFPS(framesPerSecond)}
	if options.Input != nil {
		list = append(list, tea.WithInput(options.Input))
	}
	if options.Output != nil {
		list = append(list, tea.WithOutput(options.Output))
	}
	if options.Environ != nil {
		list = append(list, tea.WithEnvironment(options.Environ))
	}
	if options.Profile != colorprofile.Unknown {
		list = append(list, tea.WithColorProfile(options.Profile))
	}
	return list
}

// Once waits for the first snapshot and writes the view as text: all of it, however long. The error is
// that of ctx when it ends before there is anything to show.
func Once(ctx context.Context, w io.Writer, options Options) error {
	options.once = true
	m := newModel(ctx, options)
	m.world.Theme = theme.None()
	if options.Profile > colorprofile.NoTTY {
		m.profile = options.Profile
		m.applyTheme()
	}
	select {
	case s, ok := <-options.Source.Updates():
		if !ok {
			return errors.New("the source has nothing to show")
		}
		m.base = s
	case <-ctx.Done():
		return ctx.Err()
	}
	settle(m, m.rebuildWorld())
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, line := range strings.Split(m.top().Plain(m.world, options.Width), "\n") {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// settle runs commands, and those that follow from them, until nothing is left to do. It must not be given
// commands that wait for something outside.
func settle(m *model, cmd tea.Cmd) {
	for _, msg := range runAll(cmd) {
		_, next := m.Update(msg)
		settle(m, next)
	}
}

// runAll runs a command, or the commands of a batch side by side, and returns what they say.
func runAll(cmd tea.Cmd) []tea.Msg {
	if cmd == nil {
		return nil
	}
	msg := cmd()
	batch, ok := msg.(tea.BatchMsg)
	if !ok {
		return []tea.Msg{msg}
	}
	results := make([][]tea.Msg, len(batch))
	var group sync.WaitGroup
	for i, c := range batch {
		group.Go(func() { results[i] = runAll(c) })
	}
	group.Wait()
	return slices.Concat(results...)
}
