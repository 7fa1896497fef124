package causes

import (
	"fmt"
	"slices"
	"strings"
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

// TestLoneRows: only a cause of several has a heading, and who sorts also orders the causes.
func TestLoneRows(t *testing.T) {
	w := screentest.Demo(t)
	objects := *w.Snapshot.Objects()
	for _, pod := range objects.Pods {
		if pod.Name == "llama-405b-eval" {
			twin := pod.DeepCopy()
			twin.Name, twin.UID = "another-eval", "twin"
			objects.Pods = append(slices.Clone(objects.Pods), twin)
		}
	}
	w = screentest.World(t, objects)
	s := New()
	screentest.Settle(w, s, screen.Shown{})
	head := strings.Split(s.Plain(w, 0), "\n")[1:5]
	if !strings.HasPrefix(head[0], "2 pods stuck  needs a device of class gpu.example.com") || !strings.HasPrefix(head[1], "ml ") || !strings.Contains(head[3], "pretrain-2") {
		t.Errorf("%q", head)
	}
	if got := s.Status(); got != "14 pods and 1 claim stuck" {
		t.Errorf("%q", got)
	}
	s.View(w, 200, 50)
	for range 3 { // namespace, name, how long it waits
		screentest.Settle(w, s, screentest.Key("s"))
	}
	if first := strings.Split(s.Plain(w, 0), "\n")[1]; !strings.Contains(first, "transcode-8k") {
		t.Errorf("sorted by how long they wait, the first is %q", first)
	}
	screentest.Settle(w, s, screen.Filter{Text: "waits>20h"})
	if got := s.Status(); got != "2 shown of 14 pods and 1 claim stuck" {
		t.Errorf("%q", got)
	}
}
