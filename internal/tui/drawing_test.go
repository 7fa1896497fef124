package tui

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
)

// A program draws when it is told to. If this fails after an update of Bubble Tea, top works, but takes a processor more
// time while nothing happens than everything else does.
func TestGiveTicker(t *testing.T) {
	m := newModel(t.Context(), Options{Source: Static(demoSnapshot(t)), Clock: demo.Now, Profile: colorprofile.ANSI256})
	in, _ := io.Pipe()
	p := tea.NewProgram(m, tea.WithInput(in), tea.WithOutput(io.Discard), tea.WithWindowSize(80, 24), tea.WithContext(t.Context()), tea.WithoutSignalHandler())
	m.pacer.follow(p)
	go func() {
		for range 3 {
			m.pacer.ticks <- time.Now() // one fits in, so that the program has taken one at least
		}
		p.Send(tea.QuitMsg{})
	}()
	if _, err := p.Run(); err != nil {
		t.Fatal(err)
	}
}

// ticks counts what a program is told to draw in some time.
func ticks(p *pacer, within time.Duration) int {
	for n, end := 0, time.After(within); ; n++ {
		select {
		case <-p.ticks:
		case <-end:
			return n
		}
	}
}

// pacedTest runs a test of a pacer in a bubble of its own.
func pacedTest(t *testing.T, test func(p *pacer)) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		test(&pacer{ticks: make(chan time.Time, 1), send: func(tea.Msg) {}})
	})
}

// drawnWithin fails unless a frame is drawn within a time, and at once if that is 0.
func drawnWithin(t *testing.T, p *pacer, what string, most time.Duration) {
	t.Helper()
	begin := time.Now()
	<-p.ticks
	if waited := time.Since(begin); waited > most {
		t.Errorf("%s waits for %v", what, waited)
	}
}

// A frame is drawn as soon as the program has taken it, those that follow it at the pace of 120 a second, and then the program rests.
func TestPacer(t *testing.T) {
	pacedTest(t, func(p *pacer) {
		frame := func() {
			p.wake()
			p.taken(drawn{})
		}
		for _, after := range []time.Duration{time.Hour, time.Second, 30 * time.Millisecond, beat} {
			time.Sleep(after)
			ticks(p, 1)
			frame()
			drawnWithin(t, p, "a frame "+after.String()+" after the one before", 0)
		}
		n := 0
		for range 1000 {
			frame()
			n += ticks(p, time.Millisecond)
		}
		if n < 118 || n > 121 {
			t.Errorf("%d ticks while there are frames for a second, want 120", n)
		}
		ticks(p, beat)
		if n := ticks(p, 10*rest); n > 10 {
			t.Errorf("%d ticks in %v without a frame", n, 10*rest)
		}
	})
}

// A frame of which nobody says that it is taken is drawn soon. One that the program takes late, since it had to wait for a processor
// after it had made the frame, is drawn then.
func TestFrameTakenLate(t *testing.T) {
	for _, late := range []time.Duration{0, soon / 2, soon, 2 * soon, beat, 2 * rest} {
		pacedTest(t, func(p *pacer) {
			p.wake()
			if n := ticks(p, late); n == 0 && late > soon {
				t.Errorf("no tick in %v", late)
			}
			p.taken(tea.KeyPressMsg{})
			drawnWithin(t, p, "a frame that is taken "+late.String()+" late", 0)
		})
	}
}

// A frame that is made while a slow terminal takes the one before is drawn as soon as that is done, however long it takes.
func TestSlowTerminal(t *testing.T) {
	for _, slow := range []time.Duration{2 * soon, beat, 100 * time.Millisecond, 10 * rest} {
		pacedTest(t, func(p *pacer) {
			p.wake()
			p.taken(drawn{})
			<-p.ticks
			p.wake()
			p.taken(drawn{})
			time.Sleep(slow) // in which nobody looks at the ticker
			drawnWithin(t, p, "a frame", max(0, beat-slow))
		})
	}
}

// The program says when it has taken a frame, and does not make another one for that.
func TestFramesAreTaken(t *testing.T) {
	m := driveLarge(t, demoSnapshot(t), "claims")
	sent := make(chan tea.Msg, 10)
	m.pacer = pacer{ticks: make(chan time.Time, 1), send: func(msg tea.Msg) { sent <- msg }}
	m.Update(tea.KeyPressMsg{Code: 'j', Text: "j"})
	_ = m.View()
	_ = m.View() // which asks no second time
	m.Update(<-sent)
	if !m.drawing.resting || m.pacer.made {
		t.Errorf("resting is %v and a frame is not taken: %v", m.drawing.resting, m.pacer.made)
	}
	_ = m.View()
	if len(sent) > 0 || m.pacer.made {
		t.Error("another frame was made")
	}
}

// While nothing happens, the screen is looked at rarely; what tells seconds is looked at every second.
func TestIdleFrames(t *testing.T) {
	m := driveLarge(t, demoSnapshot(t), "claims")
	_ = m.View()
	looks := func(m *model) (n int) {
		for range 60 {
			m.Update(ticked{})
			if !m.drawing.resting {
				n++
			}
			_ = m.View()
		}
		return n
	}
	if n := looks(m); n > 10 {
		t.Errorf("a screen on which nothing changes is drawn %d times a minute", n)
	}
	m.Update(tea.KeyPressMsg{Code: 'j', Text: "j"})
	if m.drawing.resting {
		t.Error("a key is not drawn")
	}
	at := demo.Now()
	w := newModel(context.Background(), Options{Source: patient{}, Clock: func() time.Time { at = at.Add(time.Second); return at }, Profile: colorprofile.ANSI256})
	w.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	_ = w.View()
	if n := looks(w); n != 60 {
		t.Errorf("seconds are drawn %d times a minute", n)
	}
}

// patient is a source whose server does not answer.
type patient struct{}

func (patient) Updates() <-chan *inspect.Snapshot { return nil }

func (patient) Waiting() (string, time.Time, []string) { return "server", demo.Now(), nil }
