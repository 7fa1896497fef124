package record

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// tape is a recorded cluster in which one more pod waits each minute, and of which nothing can be read from a
// moment on.
type tape struct {
	from, to, torn time.Time
}

func (p tape) Span() (from, to time.Time) { return p.from, p.to }

func (p tape) At(_ context.Context, t time.Time) (*inspect.Snapshot, error) {
	if !p.torn.IsZero() && t.After(p.torn) {
		return nil, errors.New("torn")
	}
	pods := make([]*corev1.Pod, int(t.Sub(p.from)/time.Minute))
	for i := range pods {
		pods[i] = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "p" + string(rune('a'+i))}}
	}
	return inspect.New(inspect.Objects{Pods: pods}, inspect.Config{}), nil
}

// settle does all work of a tally.
func settle(tally *Tally, cmd tea.Cmd) {
	for _, msg := range all(cmd) {
		more, _ := tally.Take(msg)
		settle(tally, more)
	}
}

func all(cmd tea.Cmd) []tea.Msg {
	if cmd == nil {
		return nil
	}
	msg := cmd()
	var out []tea.Msg
	if batch, ok := msg.(tea.BatchMsg); ok {
		for _, c := range batch {
			out = append(out, all(c)...)
		}
		return out
	}
	return append(out, msg)
}

// TestPast: levels of a recorded cluster reach from the beginning of its log to the end, whichever moment is
// shown, and are there again when what has happened is forgotten. Of what cannot be read nothing is known.
func TestPast(t *testing.T) {
	from := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		torn time.Time
		last int // that is known
	}{
		"all is read": {last: 20},
		"torn":        {torn: from.Add(10*time.Minute + time.Second), last: 10},
	} {
		t.Run(name, func(t *testing.T) {
			log := tape{from, from.Add(20 * time.Minute), tc.torn}
			s, _ := tape{from: from, to: log.to}.At(t.Context(), from.Add(5*time.Minute))
			w := screen.NewWorld(t.Context(), 1, s)
			w.Now = from.Add(5 * time.Minute)
			tally := &Tally{}
			tally.Recall(log)
			for range 2 {
				tally.Begin(w)
				settle(tally, tally.Look(w))
				levels := tally.History.Levels
				if len(levels) < pastLevels/3 || levels[0].Time != from {
					t.Fatalf("%d levels", len(levels))
				}
				known := slices.DeleteFunc(slices.Clone(levels), func(l screen.Level) bool { return l.Waiting < 0 })
				for _, l := range known {
					if want := int(l.Time.Sub(from) / time.Minute); l.Waiting != want {
						t.Errorf("at %v %d wait, want %d", l.Time, l.Waiting, want)
					}
				}
				if got := known[len(known)-1].Waiting; got != tc.last {
					t.Errorf("the last that is known has %d, want %d", got, tc.last)
				}
				if last := levels[len(levels)-1]; (last.Waiting < 0) != (name == "torn") {
					t.Errorf("the last one is %+v", last)
				}
				tally.Forget()
			}
		})
	}
}

// TestHeldByClass: each class has the devices that its requests hold, and one that is all that there is of a
// driver is told from the others.
func TestHeldByClass(t *testing.T) {
	objects, err := demo.Objects()
	if err != nil {
		t.Fatal(err)
	}
	s := inspect.New(objects, demo.Config(inspect.DefaultFeatures(inspect.NewestMinor)))
	held, sum := heldByClass(s, s.Inventory().Devices()), 0
	for _, h := range held {
		if alone := h.Class == "mig.example.com" || h.Class == "fpga.example.com"; alone != (h.Driver == h.Class) {
			t.Errorf("%+v", h)
		}
		sum += h.Devices
	}
	if sum < 50 || !slices.IsSortedFunc(held, func(a, b screen.Holding) int { return b.Devices - a.Devices }) {
		t.Errorf("%+v", held)
	}
}
