package question_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// TestDemo explains every claim of the demo cluster. The expectations are those of the table in
// inspect/demo/README.md, which that package checks against the scheduler's own allocator.
func TestDemo(t *testing.T) {
	data, err := os.ReadFile("../../internal/demo/README.md")
	if err != nil {
		t.Fatal(err)
	}
	cluster := explaintest.DemoCluster(t)
	rows := 0
	for line := range strings.Lines(string(data)) {
		cells := strings.Split(line, "|")
		if len(cells) < 7 || !strings.Contains(cells[1], "/") {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		namespace, name, _ := strings.Cut(cells[1], "/")
		rows++
		t.Run(cells[1], func(t *testing.T) {
			e, err := question.Claim(context.Background(), cluster, inspect.ClaimRef{Namespace: namespace, Name: name}, question.Options{})
			if err != nil {
				t.Fatal(err)
			}
			checkRow(t, e, cells[2], strings.Fields(cells[3]), strings.FieldsFunc(cells[4], func(r rune) bool { return r == ',' || r == ' ' }))
		})
	}
	if rows < 40 {
		t.Errorf("only %d rows found in the table", rows)
	}
}

// TestDemoPods explains every pod of the demo cluster that waits. With all filters of the scheduler the
// answers are definite: those of the pod's claim in the table, but for the pods of which the table or the
// list below says what else is in the way.
func TestDemoPods(t *testing.T) {
	besides := map[string]filters.Code{
		"ml/allreduce-0": filters.InsufficientResources, "dev/thumbnails": filters.InsufficientResources, "ml/eval-nightly": filters.SchedulingGated,
	}
	cluster := explaintest.DemoCluster(t)
	s := cluster.Snapshot()
	waiting := 0
	for _, pod := range s.Objects().Pods {
		if pod.Spec.NodeName != "" {
			continue
		}
		waiting++
		ref := inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name}
		t.Run(ref.String(), func(t *testing.T) {
			e, err := question.Pod(context.Background(), cluster, ref, question.Options{})
			if err != nil {
				t.Fatal(err)
			}
			want, nodes := explain.Unsatisfiable, 0
			code, otherwise := besides[ref.String()]
			if !otherwise {
				want, nodes = ofClaim(t, cluster, pod)
			}
			if e.Verdict != want || e.Nodes.Allocatable != nodes || len(e.Partial) > 0 {
				t.Errorf("verdict %s on %d nodes, want %s on %d: %s %v", e.Verdict, e.Nodes.Allocatable, want, nodes, e.Message, e.Partial)
			}
			named := 0
			for _, g := range e.Groups {
				if slices.ContainsFunc(g.Reasons, func(r explain.Reason) bool { return string(r.Code) == string(code) }) {
					named += len(g.Nodes)
				}
			}
			if code == filters.InsufficientResources && named != len(s.Nodes()) {
				t.Errorf("%s on %d nodes, want all", code, named)
			}
		})
	}
	if waiting < 15 {
		t.Errorf("only %d pods wait", waiting)
	}
}

// ofClaim is what is said of the claim of a pod by itself.
func ofClaim(t *testing.T, cluster *scheduler.Cluster, pod *corev1.Pod) (verdict explain.Verdict, nodes int) {
	t.Helper()
	if len(pod.Spec.ResourceClaims) != 1 {
		t.Fatalf("the pod has %d claims", len(pod.Spec.ResourceClaims))
	}
	name, _ := inspect.ClaimNameFor(pod, &pod.Spec.ResourceClaims[0])
	e, err := question.Claim(context.Background(), cluster, inspect.ClaimRef{Namespace: pod.Namespace, Name: name}, question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return e.Verdict, e.Nodes.Allocatable
}

// checkRow compares an explanation with a row of the table.
func checkRow(t *testing.T, e *explain.Explanation, verdict string, nodes, reasons []string) {
	t.Helper()
	if string(e.Verdict) != verdict {
		t.Fatalf("verdict %s, want %s: %s", e.Verdict, verdict, e.Message)
	}
	if e.Verdict == explain.Allocatable || e.Verdict == explain.Invalid {
		if e.Nodes.Allocatable != len(nodes) {
			t.Errorf("%d nodes allocatable, want %v", e.Nodes.Allocatable, nodes)
		}
		for _, g := range e.Groups {
			for _, n := range g.Nodes {
				if slices.Contains(nodes, string(n)) {
					t.Errorf("node %s refuses with %v", n, g.Reasons)
				}
			}
		}
	}
	if e.Verdict == explain.Allocatable && !slices.Contains(nodes, string(e.Allocation.Node)) && e.Allocation.Node != "" {
		t.Errorf("allocated on %s, want one of %v", e.Allocation.Node, nodes)
	}
	if len(reasons) == 0 {
		return
	}
	for _, g := range e.Groups {
		for _, r := range g.Reasons {
			if slices.Contains(reasons, string(r.Code)) {
				return
			}
		}
	}
	t.Errorf("none of the reasons %v given", reasons)
}
