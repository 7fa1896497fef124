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
					time.Sleep((1 + answerBreath) * test.takes)
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
					time.Sleep((1 + answerBreath) * test.takes)
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

// In a cluster that changes all the time an answer is begun again when the machine has rested for three times
// as long as the last one took: a quarter of a processor is what an answer takes of it.
func TestAnswersRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		var a Answer[int]
		w := NewWorld(t.Context(), 1, inspect.New(inspect.Objects{}, inspect.Config{}))
		messages := make(chan tea.Msg, 10)
		run := func(cmd tea.Cmd) {
			if cmd != nil {
				go func() { messages <- cmd() }()
			}
		}
		run(a.Ask(w, func(context.Context, *World) (int, error) {
			asked++
			time.Sleep(2 * time.Second)
			return asked, nil
		}))
		pass := func(length time.Duration, change bool) {
			for end := time.Now().Add(length); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
				synctest.Wait()
				for len(messages) > 0 {
					cmd, _ := a.Update(w, <-messages)
					run(cmd)
					synctest.Wait()
				}
				if change {
					w = w.Next(w.Version+1, w.Snapshot)
					cmd, _ := a.Update(w, Changed{})
					run(cmd)
				}
			}
		}
		pass(80*time.Second, true)
		if asked != 10 {
			t.Errorf("asked %d times in 80 seconds of which an answer takes 2, want 10", asked)
		}
		pass(20*time.Second, false)
		if a.Version != w.Version {
			t.Errorf("in the end the answer is about version %d, want %d", a.Version, w.Version)
		}
	})
}
