package tui

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

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
	if n := looks(m); n > 16 {
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

// TestAgesGrow: the ages that are shown are never more than five seconds old, though nothing changes in the cluster but that time passes.
func TestAgesGrow(t *testing.T) {
	first := demoSnapshot(t)
	objects := *first.Objects()
	claim := objects.Claims[0].DeepCopy()
	claim.Namespace, claim.Name, claim.CreationTimestamp = "aaa", "fresh", metav1.NewTime(demo.Now().Add(-2*time.Second))
	objects.Claims = []*resourcev1.ResourceClaim{claim}
	objects.Pods = nil
	now := demo.Now()
	s := inspect.New(objects, inspect.Config{Revision: 1, Time: now, Features: first.Features(), Health: demo.Health()})
	d := start(t, Options{Source: Static(s), View: "claims", Profile: colorprofile.NoTTY, Clock: func() time.Time { return now }}, 120, 24)
	for passed := range 900 {
		_ = d.m.View()
		lines := strings.Split(d.m.drawing.view.Content, "\n")
		fields := strings.Fields(lines[slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "fresh") })])
		shown, ok := screen.ParseAge(fields[len(fields)-1])
		if exact := duration.HumanDuration(time.Duration(passed+2-5) * time.Second); !ok || passed >= 5 && shown < ageOf(t, exact) {
			t.Fatalf("after %d s the claim is %s old, and was %s old five seconds ago", passed+2, fields[len(fields)-1], exact)
		}
		now = now.Add(time.Second)
		d.m.Update(ticked{})
	}
}

// ageOf is an age in seconds.
func ageOf(t *testing.T, text string) float64 {
	t.Helper()
	seconds, ok := screen.ParseAge(text)
	if !ok {
		t.Fatal(text)
	}
	return seconds
}
