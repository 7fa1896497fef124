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

// The ticker of a program can be reached. If this fails after an update of Bubble Tea, top works, but takes a processor more
// time while nothing happens than everything else does.
func TestTickerOf(t *testing.T) {
	m := newModel(t.Context(), Options{Source: Static(demoSnapshot(t)), Clock: demo.Now, Profile: colorprofile.ANSI256})
	in, _ := io.Pipe()
	p := tea.NewProgram(m, tea.WithInput(in), tea.WithOutput(io.Discard), tea.WithWindowSize(80, 24), tea.WithContext(t.Context()), tea.WithoutSignalHandler())
	if got := tickerOf(p); got != nil {
		t.Error("a program that does not run has a ticker")
	}
	m.pacer.follow(p)
	go p.Send(tea.QuitMsg{})
	if _, err := p.Run(); err != nil {
		t.Fatal(err)
	}
	if m.pacer.ticker == nil {
		t.Error("the ticker was not found")
	}
}

// ticks counts what a ticker tells in some time.
func ticks(ticker *time.Ticker, within time.Duration) int {
	for n, end := 0, time.After(within); ; n++ {
		select {
		case <-ticker.C:
		case <-end:
			return n
		}
	}
}

// A frame after a rest is drawn at once, those that follow it at the pace of 120 a second, and then the ticker rests.
func TestPacer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ticker := time.NewTicker(time.Second / 60)
		defer ticker.Stop()
		p := &pacer{program: &tea.Program{}, ticker: ticker, send: func(tea.Msg) {}}
		frame := func() {
			p.wake()
			p.drawn() // at once
		}
		frame()
		time.Sleep(time.Second)
		if n := ticks(ticker, 10*rest); n > 11 {
			t.Errorf("%d ticks in %v without a frame", n, 10*rest)
		}
		for _, after := range []time.Duration{time.Second, beat, alert / 2} {
			time.Sleep(after)
			ticks(ticker, 1)
			frame()
			begin := time.Now()
			<-ticker.C
			if waited := time.Since(begin); waited > soon {
				t.Errorf("a frame %v after the one before waits for %v", after, waited)
			}
		}
		n := 0
		for range 100 {
			frame()
			n += ticks(ticker, time.Millisecond)
		}
		if n < 10 || n > 15 {
			t.Errorf("%d ticks while there are frames for 100 ms, want about 12", n)
		}
		time.Sleep(2 * alert)
		if n := ticks(ticker, rest/2); n > 1 {
			t.Errorf("%d ticks after the last frame", n)
		}
	})
}

// A frame that the program takes late, since it had to wait for a processor after it had made the frame, is drawn then and not when
// the ticker has rested.
func TestFrameTakenLate(t *testing.T) {
	for _, late := range []time.Duration{0, 2 * soon, beat, 2 * alert, 2 * rest} {
		synctest.Test(t, func(t *testing.T) {
			ticker := time.NewTicker(time.Second / 60)
			defer ticker.Stop()
			p := &pacer{program: &tea.Program{}, ticker: ticker, send: func(tea.Msg) {}}
			p.wake()
			ticks(ticker, late)
			p.drawn()
			begin := time.Now()
			<-ticker.C
			if waited := time.Since(begin); waited > soon {
				t.Errorf("a frame that is taken after %v is drawn %v after that", late, waited)
			}
			time.Sleep(2 * alert)
			if n := ticks(ticker, rest/2); n > 1 {
				t.Errorf("%d ticks after the last frame", n)
			}
		})
	}
}

// A frame that is made while a slow terminal takes the one before is drawn after that.
func TestSlowTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ticker := time.NewTicker(time.Second / 60)
		defer ticker.Stop()
		p := &pacer{program: &tea.Program{}, ticker: ticker, send: func(tea.Msg) {}}
		p.wake()
		p.drawn()
		time.Sleep(100 * time.Millisecond) // in which nobody looks at the ticker
		begin := time.Now()
		<-ticker.C
		if waited := time.Since(begin); waited > beat {
			t.Errorf("it waits for another %v", waited)
		}
	})
}

// The program says when it has taken a frame, and does not make another one for that.
func TestFramesAreTaken(t *testing.T) {
	m := driveLarge(t, demoSnapshot(t), "claims")
	sent := make(chan tea.Msg, 10)
	m.pacer = pacer{program: &tea.Program{}, ticker: time.NewTicker(time.Second), send: func(msg tea.Msg) { sent <- msg }}
	m.Update(tea.KeyPressMsg{Code: 'j', Text: "j"})
	_ = m.View()
	m.Update(<-sent)
	if !m.drawing.resting || m.pacer.making != 0 {
		t.Errorf("resting is %v and %d frames are not taken", m.drawing.resting, m.pacer.making)
	}
	_ = m.View()
	if len(sent) > 0 || m.pacer.making != 0 {
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
