package question_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
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
