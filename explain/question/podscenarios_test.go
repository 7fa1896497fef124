package question_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/scenario"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
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
			c := scheduler.NewCluster(s.Snapshot, scheduler.Options{})
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

// TestReleaseScenarios explains the pods of testdata/releases by the rules of two releases.
func TestReleaseScenarios(t *testing.T) {
	files, err := filepath.Glob("../../testdata/releases/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		s, err := scenario.LoadPods(file)
		if err != nil {
			t.Fatal(err)
		}
		for minor, wants := range map[int][]scenario.PodWant{inspect.NewestMinor: s.Wants, inspect.PreviewMinor: s.Preview} {
			t.Run(fmt.Sprintf("%s/1.%d", s.Name, minor), func(t *testing.T) {
				if len(wants) == 0 {
					t.Fatal("nothing is wanted")
				}
				c := scheduler.NewCluster(s.Snapshot.WithRelease(inspect.Release{Minor: minor, Patch: inspect.LatestPatch}, inspect.DefaultFeatures(minor).With(s.Features)), scheduler.Options{})
				for i := range wants {
					e, err := question.Pod(t.Context(), c, wants[i].Pod, question.Options{})
					if err != nil {
						t.Fatal(err)
					}
					checkPod(t, &wants[i], e)
				}
			})
		}
	}
}

// TestSeveralScenarios explains the pods of each file of testdata/several together. The same files are played
// on a real scheduler in e2e.
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
			answers := askTogether(t, s, s.Snapshot)
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

// TestJointFixesHelp makes each change that is to let several pods find room together, and asks about all of
// them again.
func TestJointFixesHelp(t *testing.T) {
	files, err := filepath.Glob("../../testdata/several/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, file := range files {
		s, err := scenario.LoadPods(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range askTogether(t, s, s.Snapshot) {
			for _, f := range e.Fixes {
				if f.Kind != explain.PinPod && f.Kind != explain.DropChoice {
					continue
				}
				tried++
				for _, then := range askTogether(t, s, changedBy(t, s.Snapshot, f)) {
					if count(then, explain.Allocatable, explain.Allocated) == 0 {
						t.Errorf("%s: with %q, %s", s.Name, f.Message, then.Message)
					}
				}
			}
		}
	}
	if tried < 5 {
		t.Errorf("only %d changes were tried", tried)
	}
}

// askTogether asks about all pods of a scenario.
func askTogether(t *testing.T, s *scenario.PodScenario, snapshot *inspect.Snapshot) []*explain.Explanation {
	t.Helper()
	var subjects []metav1.Object
	for i := range s.Wants {
		pod, _ := snapshot.Pod(s.Wants[i].Pod)
		subjects = append(subjects, pod)
	}
	answers, err := question.Objects(t.Context(), scheduler.NewCluster(snapshot, scheduler.Options{}), subjects, question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return answers
}

// changedBy is a snapshot with the changes of a fix.
func changedBy(t *testing.T, s *inspect.Snapshot, f explain.Fix) *inspect.Snapshot {
	t.Helper()
	return s.With(func(o *inspect.Objects) {
		for _, c := range f.Changes {
			for i, pod := range o.Pods {
				if c.Kind == "Pod" && pod.Namespace == c.Namespace && pod.Name == c.Name {
					o.Pods[i] = patched(t, pod, c.Patch)
				}
			}
			for i, claim := range o.Claims {
				if c.Kind == "ResourceClaim" && claim.Namespace == c.Namespace && claim.Name == c.Name {
					o.Claims[i] = patched(t, claim, c.Patch)
				}
			}
		}
	})
}

// patched is an object after a patch.
func patched[T any](t *testing.T, object *T, operations []explain.PatchOperation) *T {
	t.Helper()
	type operation struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value,omitempty"`
	}
	var list []operation
	for _, o := range operations {
		list = append(list, operation(o))
	}
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	patch, err := jsonpatch.DecodePatch(text)
	if err != nil {
		t.Fatal(err)
	}
	before, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	after, err := patch.Apply(before)
	if err != nil {
		t.Fatal(err)
	}
	out := new(T)
	if err := json.Unmarshal(after, out); err != nil {
		t.Fatal(err)
	}
	return out
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
