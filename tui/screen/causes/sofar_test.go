package causes

import (
	"context"
	"fmt"
	"slices"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/screentest"
)

// telling is a screen whose question is being answered, a piece at a time.
type telling struct {
	*testing.T
	*Screen
	w        *screen.World
	messages chan tea.Msg
	tell     func(*explain.Triage)
	whole    chan *explain.Triage
}

func newTelling(t *testing.T, w *screen.World) *telling {
	d := &telling{T: t, Screen: New(), w: w, messages: make(chan tea.Msg), whole: make(chan *explain.Triage)}
	begun := make(chan func(*explain.Triage))
	d.asked = true
	d.run(d.answer.AskTelling(w, func(_ context.Context, _ *screen.World, tell func(*explain.Triage)) (*explain.Triage, error) {
		begun <- tell
		return <-d.whole, nil
	}))
	d.run(d.Update(w, screen.Shown{}))
	d.tell = <-begun
	return d
}

// run does commands as the program does, each by itself.
func (d *telling) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	go func() {
		switch msg := cmd().(type) {
		case tea.BatchMsg:
			for _, cmd := range msg {
				d.run(cmd)
			}
		case nil:
		default:
			select {
			case d.messages <- msg:
			case <-d.Context().Done():
			}
		}
	}()
}

// until takes messages until the rows are those of a triage.
func (d *telling) until(t *explain.Triage) {
	for len(d.Rows()) == 0 || d.Rows()[0].triage != t {
		d.run(d.Update(d.w, <-d.messages))
	}
}

// part is a triage of which only the subjects of some causes are known so far, so many of each.
func part(whole *explain.Triage, numbers ...int) *explain.Triage {
	out := *whole
	out.Causes = nil
	for i := range whole.Causes {
		c := whole.Causes[i]
		n := 0
		if i < len(numbers) {
			n = min(numbers[i], len(c.Subjects))
		}
		for _, s := range c.Subjects[n:] {
			out.NotLookedInto = append(out.NotLookedInto, s.Subject)
		}
		if c.Subjects, c.Fixes = c.Subjects[:n], nil; n > 0 {
			out.Causes = append(out.Causes, c)
		}
	}
	slices.SortStableFunc(out.Causes, func(a, b explain.Cause) int { return len(b.Subjects) - len(a.Subjects) })
	return &out
}

// wholeOf is all that is stuck in the demo cluster, where several more pods wait as others do.
func wholeOf(t *testing.T) (*screen.World, *explain.Triage) {
	t.Helper()
	objects, err := demo.Objects()
	if err != nil {
		t.Fatal(err)
	}
	for i, pod := range objects.Pods {
		for n := range i % 4 {
			if pod.Spec.NodeName == "" {
				more := *pod
				more.Name = fmt.Sprintf("%s-more-%d", pod.Name, n)
				objects.Pods = append(objects.Pods, &more)
			}
		}
	}
	w := screentest.World(t, objects)
	whole, err := look(t.Context(), w, nil)
	if err != nil || len(whole.Causes) < 4 || len(whole.Causes[0].Subjects) < 2 {
		t.Fatalf("%v, %d causes", err, len(whole.Causes))
	}
	return w, whole
}

// TestSoFarViews: causes are shown as they are found, with how far that is, and what helps comes last.
func TestSoFarViews(t *testing.T) {
	w, whole := wholeOf(t)
	settled := New()
	screentest.Settle(w, settled, screen.Shown{})
	d := newTelling(t, w)
	few := part(whole, 2, 2)
	d.tell(few)
	d.until(few)
	for _, size := range [][2]int{{80, 24}, {200, 50}} {
		screentest.Golden(t, fmt.Sprintf("sofar-%dx%d", size[0], size[1]), w, d.Screen, size[0], size[1])
	}
	if got, want := d.State().Status, fmt.Sprintf("%d pods stuck so far, %d not looked into yet", 4, len(few.NotLookedInto)); got != want || d.State().Unsettled {
		t.Errorf("status %q, want %q; unsettled: %v", got, want, d.State().Unsettled)
	}
	all := part(whole, slices.Repeat([]int{100}, len(whole.Causes))...)
	d.tell(all)
	d.until(all)
	if got, want := d.State().Status, settled.State().Status+", trying what helps"; got != want {
		t.Errorf("status %q, want %q", got, want)
	}
	d.whole <- whole
	d.until(whole)
	if got, want := d.View(w, 120, 40), settled.View(w, 120, 40); got != want || d.State().Status != settled.State().Status {
		t.Errorf("in the end:\n%s\nwant:\n%s", got, want)
	}
}

// TestCursorStaysOnItsCause: causes that come later and keep more do not move the cursor to another one, nor
// does a second pod with the same cause.
func TestCursorStaysOnItsCause(t *testing.T) {
	w, whole := wholeOf(t)
	d := newTelling(t, w)
	few := part(whole, 0, 1, 1)
	d.tell(few)
	d.until(few)
	d.View(w, 120, 40)
	d.run(d.Update(w, tea.MouseClickMsg{X: 2, Y: 2, Button: tea.MouseLeft}))
	cause := func() string { return d.Row().triage.Causes[d.Row().cause].Key }
	at := cause()
	if at != few.Causes[1].Key {
		t.Fatalf("the cursor is on %q", at)
	}
	for _, next := range []*explain.Triage{part(whole, 2, 2, 2), part(whole, 100, 100, 100, 100)} {
		d.tell(next)
		d.until(next)
		if cause() != at {
			t.Errorf("the cursor is on %q, and was on %q", cause(), at)
		}
	}
	d.whole <- whole
	d.until(whole)
	if cause() != at {
		t.Errorf("in the end the cursor is on %q, and was on %q", cause(), at)
	}
}

// TestAnswersAreNotReplacedByParts: once all is known, the next answer is shown when it is whole.
func TestAnswersAreNotReplacedByParts(t *testing.T) {
	w := screentest.Demo(t)
	s := New()
	screentest.Settle(w, s, screen.Shown{})
	w.Version++
	asked := false
	cmd := s.answer.AskTelling(w, func(_ context.Context, _ *screen.World, tell func(*explain.Triage)) (*explain.Triage, error) {
		asked = true
		if tell != nil {
			t.Error("it is asked to tell what is known so far")
		}
		return s.answer.Value, nil
	})
	screentest.Settle(w, s, cmd())
	if !asked {
		t.Error("not asked")
	}
}
