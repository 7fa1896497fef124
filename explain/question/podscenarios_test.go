package question_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/scenario"
)

// TestPodScenarios explains the pods of testdata/pods. The same files are played on a real scheduler in e2e.
func TestPodScenarios(t *testing.T) {
	files, err := filepath.Glob("../../testdata/pods/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		s, err := scenario.LoadPods(file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(s.Name, func(t *testing.T) {
			c := allocator.NewCluster(s.Snapshot, allocator.Options{})
			for i := range s.Wants {
				w := &s.Wants[i]
				e, err := question.Pod(t.Context(), c, w.Pod, question.Options{})
				if err != nil {
					t.Fatal(err)
				}
				checkPod(t, w, e)
			}
		})
	}
}

// TestSeveralScenarios explains the pods of each file of testdata/several together. The same files are played on a real
// scheduler in e2e.
func TestSeveralScenarios(t *testing.T) {
	files, err := filepath.Glob("../../testdata/several/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		s, err := scenario.LoadPods(file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(s.Name, func(t *testing.T) {
			var subjects []metav1.Object
			for i := range s.Wants {
				pod, _ := s.Snapshot.Pod(s.Wants[i].Pod)
				subjects = append(subjects, pod)
			}
			answers, err := question.Objects(t.Context(), allocator.NewCluster(s.Snapshot, allocator.Options{}), subjects, question.Options{})
			if err != nil {
				t.Fatal(err)
			}
			least, most := 0, 0
			for i, e := range answers {
				if e.Turn != nil && e.Verdict == explain.Allocated {
					e.Verdict = explain.Allocatable // with devices that those before it got
				}
				checkPod(t, &s.Wants[i], e)
				least, most = least+count(e, explain.Allocatable), most+count(e, explain.Allocatable, explain.Unknown)
			}
			if s.Placed >= 0 && (s.Placed < least || s.Placed > most) {
				t.Errorf("%d to %d pods are placed, want %d", least, most, s.Placed)
			}
		})
	}
}

// count is 1 if an answer has one of the verdicts.
func count(e *explain.Explanation, verdicts ...explain.Verdict) int {
	if slices.Contains(verdicts, e.Verdict) {
		return 1
	}
	return 0
}

func checkPod(t *testing.T, w *scenario.PodWant, e *explain.Explanation) {
	t.Helper()
	if string(e.Verdict) != w.Verdict {
		t.Errorf("%s: verdict %s (%s; %q), want %s", w.Pod, e.Verdict, e.Message, e.Partial, w.Verdict)
	}
	if w.Headline != "" && e.Predicate != w.Headline {
		t.Errorf("%s: headline\n%q, want\n%q", w.Pod, e.Predicate, w.Headline)
	}
	if w.Refuses != nil {
		checkRefusals(t, w, e)
	}
	if w.Conflict != nil {
		var kinds []string
		if e.Conflict != nil {
			for i := range e.Conflict.Requirements {
				kinds = append(kinds, string(e.Conflict.Requirements[i].Kind))
			}
		}
		if !slices.Equal(kinds, w.Conflict) {
			t.Errorf("%s: conflict %q, want %q", w.Pod, kinds, w.Conflict)
		}
	}
	for _, f := range w.Fixes {
		if !slices.ContainsFunc(e.Fixes, func(o explain.Fix) bool { return string(o.Kind) == f.Kind && o.Message == f.Message }) {
			t.Errorf("%s: no fix %s %q among %+v", w.Pod, f.Kind, f.Message, e.Fixes)
		}
	}
	if w.Preemption != "" && (e.Preemption == nil || e.Preemption.Message != w.Preemption) {
		t.Errorf("%s: preemption %+v, want %q", w.Pod, e.Preemption, w.Preemption)
	}
	for _, text := range w.Unknown {
		if !slices.ContainsFunc(e.Partial, func(p string) bool { return strings.Contains(p, text) }) {
			t.Errorf("%s: %q is not said to be unknown: %q", w.Pod, text, e.Partial)
		}
	}
}

// checkRefusals compares the plugins that refuse each node.
func checkRefusals(t *testing.T, w *scenario.PodWant, e *explain.Explanation) {
	t.Helper()
	got := map[inspect.NodeName][]string{}
	for i := range e.Groups {
		var plugins []string
		for _, r := range e.Groups[i].Reasons {
			plugin := r.Plugin
			if plugin == "" {
				plugin = "DynamicResources"
			}
			plugins = append(plugins, plugin)
		}
		slices.Sort(plugins)
		for _, node := range e.Groups[i].Nodes {
			got[node] = slices.Compact(plugins)
		}
	}
	for node, plugins := range w.Refuses {
		if !slices.Equal(got[node], plugins) {
			t.Errorf("%s: %s is refused by %q, want %q", w.Pod, node, got[node], plugins)
		}
	}
	for node, plugins := range got {
		if w.Refuses[node] == nil && len(plugins) > 0 {
			t.Errorf("%s: %s is refused by %q, want by none", w.Pod, node, plugins)
		}
	}
}
