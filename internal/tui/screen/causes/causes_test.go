package causes

import (
	"fmt"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/internal/tui/screen/screentest"
)

func TestViews(t *testing.T) {
	w := screentest.Demo(t)
	for _, size := range [][2]int{{80, 24}, {200, 50}, {60, 15}} {
		s := New()
		screentest.Settle(w, s, screen.Shown{})
		screentest.Golden(t, fmt.Sprintf("demo-%dx%d", size[0], size[1]), w, s, size[0], size[1])
	}
	s := New()
	screentest.Settle(w, s, screen.Shown{})
	screentest.GoldenPlain(t, "demo-plain", w, s, 0)
}

func TestNothingStuck(t *testing.T) {
	w := screentest.World(t, inspect.Objects{})
	s := New()
	screentest.Settle(w, s, screen.Shown{})
	if got := s.Plain(w, 80); got != "nothing is stuck" {
		t.Errorf("%q", got)
	}
}

// TestNamespace: the view shows what is stuck in the namespace that is looked at.
func TestNamespace(t *testing.T) {
	w := screentest.Demo(t)
	w.Namespace = "net"
	s := New()
	screentest.Settle(w, s, screen.Shown{})
	if rows := s.Rows(); len(rows) != 1 || rows[0].ref.Name != "cdn-egress-2" {
		t.Errorf("%d rows", len(rows))
	}
	w.Namespace = "nothing"
	screentest.Settle(w, s, screen.Changed{})
	if got := s.Plain(w, 80); got != "nothing is stuck in namespace nothing; n shows other namespaces" {
		t.Errorf("%q", got)
	}
}
