package screen

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// While nobody presses keys, an answer with patience is asked for again only when the one before has become
// old, and that it is then; somebody who presses a key gets it at once.
func TestPatience(t *testing.T) {
	for _, test := range []struct {
		name     string
		patience time.Duration
		takes    time.Duration
		idle     bool
		want     int // asked in a minute in which the world changes every second
	}{
		{"somebody is there", 10 * time.Second, 0, false, 61}, {"nobody is there", 10 * time.Second, 0, true, 7}, {"no patience", 0, 0, true, 61},
		{"nobody is there, and it takes long", 10 * time.Second, 500 * time.Millisecond, true, 3},
		{"it takes a while without patience", 0, 200 * time.Millisecond, true, 61},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				asked, seen := 0, 0
				a := Answer[int]{Patience: test.patience}
				w := NewWorld(ctx, 1, inspect.New(inspect.Objects{}, inspect.Config{}))
				messages := make(chan tea.Msg, 10)
				run := func(cmd tea.Cmd) {
					if cmd != nil {
						go func() { messages <- cmd() }()
					}
				}
				settle := func() {
					synctest.Wait()
					for len(messages) > 0 {
						cmd, _ := a.Update(w, <-messages)
						run(cmd)
						synctest.Wait()
					}
				}
				run(a.Ask(w, func(_ context.Context, w *World) (int, error) {
					asked++
					time.Sleep(test.takes)
					seen = w.Version
					return asked, nil
				}))
				rest := func() {
					time.Sleep(2 * test.takes)
					settle()
				}
				settle()
				rest()
				change := func(version int) {
					w = w.Next(version, w.Snapshot)
					w.Idle = test.idle
					cmd, _ := a.Update(w, Changed{})
					run(cmd)
					settle()
				}
				for second := range 60 {
					time.Sleep(time.Second)
					settle()
					change(second + 2)
				}
				if asked != test.want {
					t.Errorf("asked %d times, want %d", asked, test.want)
				}
				time.Sleep(time.Second)
				settle()
				change(100)
				touched := *w
				touched.Idle = false
				w = &touched
				cmd, _ := a.Update(w, Changed{})
				run(cmd)
				settle()
				for range 4 { // what was under way ends, and the machine rests as long
					time.Sleep(2 * test.takes)
					settle()
				}
				if seen != 100 {
					t.Errorf("after a key the answer is about version %d, want 100", seen)
				}
				if test.idle && test.patience > 0 {
					change(101)
					time.Sleep(3 * test.patience)
					settle()
					rest()
					if seen != 101 {
						t.Errorf("in the end the answer is about version %d, want 101", seen)
					}
				}
			})
		})
	}
}
