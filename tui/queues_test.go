package tui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/kubectl-dra/kubectl-dra/explain/admission"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// TestQueuesSayOneThing: on a queue and on a workload the page says what explain says of them.
func TestQueuesSayOneThing(t *testing.T) {
	s := demoSnapshot(t)
	d := drive(t, 122, 100, "claims")
	d.press("Q", "enter")
	page := unindented(d.frame())
	for _, queue := range s.Around().ClusterQueues {
		if queue.Name != "research" {
			continue
		}
		for _, line := range text.QueueLines(admission.NewQueues(s).ClusterQueue(queue), text.Options{Width: 120, Screen: true}) {
			if !strings.Contains(page, strings.TrimSpace(line.String())) {
				t.Errorf("the page about the queue lacks %q:\n%s", line.String(), page)
			}
		}
	}
	for !strings.Contains(d.frame(), "Workload ml/job-ablation") {
		d.press("down")
	}
	d.press("enter")
	page = unindented(d.frame())
	for _, w := range s.Around().KueueWorkloads {
		if w.Name != "job-ablation-b91e4" {
			continue
		}
		sets, err := manifest.Queued([]*kueuev1beta2.Workload{w})
		if err != nil {
			t.Fatal(err)
		}
		answers, err := admission.Objects(t.Context(), scheduler.NewCluster(s, scheduler.Options{}), []metav1.Object{sets[0]}, admission.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(answers[0].Message, "; ") {
			if !strings.Contains(strings.Join(strings.Fields(page), " "), line) {
				t.Errorf("the page about the workload lacks %q:\n%s", line, page)
			}
		}
	}
}

func unindented(frame string) string {
	lines := strings.Split(frame, "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, "\n")
}

// TestNoQueuesWithoutKueue: where there is no Kueue, no title, no key and no place is about queues.
func TestNoQueuesWithoutKueue(t *testing.T) {
	objects, err := demo.Objects()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range inspect.Resources() {
		if r.OfKueue() {
			inspect.SetObjects(&objects, inspect.KindOf(r), []metav1.Object{})
		}
	}
	s := inspect.New(objects, demo.Config(inspect.DefaultFeatures(inspect.NewestMinor)))
	for _, size := range [][2]int{{60, 15}, {80, 24}, {200, 50}} {
		d := start(t, Options{Source: Static(s), Origin: "demo", Cluster: "demo", Profile: colorprofile.NoTTY, Clock: demo.Now, Asked: askedOfDemo}, size[0], size[1])
		for i := range numbered {
			d.press(viewKey(i))
			if frame := d.frame(); strings.Contains(strings.Split(frame, "\n")[1], "Q") || strings.Contains(frame, "Queue") {
				t.Errorf("view %d speaks of queues:\n%s", i+1, frame)
			}
		}
		if _, known := d.m.keys().Find(queuesKey); known {
			t.Error("there is a key for queues")
		}
		d.press("tab") // behind the last one is the first
		if d.m.current != 0 {
			t.Errorf("Tab leads to view %d", d.m.current)
		}
		for _, p := range d.m.prompts.index().In(d.m.world) {
			if strings.Contains(p.Text, "queue") || p.Ref.Kind == screen.QueuedWorkload {
				t.Errorf("one can go to %s", p.Text)
			}
		}
	}
}
