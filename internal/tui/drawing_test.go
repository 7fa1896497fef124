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
	m.pacer.program = p
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
		p := &pacer{program: &tea.Program{}, ticker: ticker}
		p.wake()
		time.Sleep(time.Second)
		if n := ticks(ticker, 10*rest); n > 11 {
			t.Errorf("%d ticks in %v without a frame", n, 10*rest)
		}
		p.wake()
		begin := time.Now()
		<-ticker.C
		if waited := time.Since(begin); waited > soon {
			t.Errorf("the first frame waits for %v", waited)
		}
		n := 0
		for range 100 {
			p.wake()
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
