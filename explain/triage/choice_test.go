package triage_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/triage"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/scenario"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// cpus lets a pod ask for so many CPUs.
func cpus(n string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(n)}
	}
}

// TestChoiceOfNodes: the larger pod fits only on the larger node. If the smaller one, which is taken first,
// fits on both nodes, it is not known whether there is room left.
func TestChoiceOfNodes(t *testing.T) {
	for _, test := range []struct {
		name   string
		n0     string // CPUs of the smaller node
		stuck  bool
		unsure bool
	}{
		{"there is a choice", "2", false, true},
		{"there is none", "500m", true, false},
		{"it does not matter", "0", false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := &inspect.Objects{}
			large := "4"
			if test.n0 == "0" {
				large = "5"
			}
			for name, cpu := range map[string]string{"n0": test.n0, "n1": large} {
				node := explaintest.Node(name)
				node.Status.Allocatable = corev1.ResourceList{
					corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse("8Gi"), corev1.ResourcePods: resource.MustParse("10"),
				}
				o.Nodes = append(o.Nodes, node)
			}
			waiting(o, "small", 0, 0, cpus("1"))
			waiting(o, "large", 0, 1, cpus("4"))
			s := inspect.New(*o, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)})
			got, err := triage.Of(t.Context(), scheduler.NewCluster(s, scheduler.Options{}), triage.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got.Stuck() > 0 != test.stuck || len(got.Depends) > 0 || got.Unsure != test.unsure {
				t.Errorf("stuck %d, depends %v, unsure %t (%v):\n%s", got.Stuck(), got.Depends, got.Unsure, got.Partial, strings.Join(outline(got), "\n"))
			}
		})
	}
}

// TestGroupInSomeRuns: kube-scheduler may put the leader where a worker needs the room. So it is not known
// whether the group fits, though the run that is played places it.
func TestGroupInSomeRuns(t *testing.T) {
	s, err := scenario.LoadPods("../../testdata/several/gang-of-leader-and-workers.txtar")
	if err != nil {
		t.Fatal(err)
	}
	got, err := triage.Of(t.Context(), scheduler.NewCluster(s.Snapshot, scheduler.Options{}), triage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Undecided() != 3 || len(got.Ready)+len(got.Depends) > 0 {
		t.Errorf("ready %v, depends %v, %d not known", got.Ready, got.Depends, got.Undecided())
	}
}
