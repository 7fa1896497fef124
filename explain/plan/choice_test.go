package plan

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/replay"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler/scores"
)

// known is that there is no image on any node, and nothing that spreads pods.
func known(o *inspect.Objects) replay.Choosing {
	return replay.Choosing{Images: scores.ImagesOf(o.Nodes), Workloads: &inspect.Selecting{}}
}

// TestPlaceChooses sees that pods go where kube-scheduler likes it best, as far as that is known.
func TestPlaceChooses(t *testing.T) {
	busy := func(o *inspect.Objects) {
		pod := explaintest.Worker("busy", "one")
		pod.Spec.NodeName, pod.Spec.ResourceClaims = "node-0000", nil
		pod.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("32")
		o.Pods = append(o.Pods, pod)
	}
	tests := []struct {
		name     string
		change   func(*inspect.Objects)
		choosing func(*inspect.Objects) replay.Choosing
		pods     []*corev1.Pod
		want     string
		certain  bool
	}{
		{"the emptier node", busy, known, explaintest.Workers(1, "w", "one"), "w-0000→node-0001/1", true},
		{"nothing is known of images", busy, func(*inspect.Objects) replay.Choosing { return replay.Choosing{} }, explaintest.Workers(1, "w", "one"), "w-0000→node-0000/2", true},
		{"then the other", nil, known, explaintest.Workers(2, "w", "one"), "w-0000→node-0000/2, w-0001→node-0001/1", true},
		{
			"the better alternative", func(o *inspect.Objects) {
				o.Templates = append(o.Templates, firstOf("choice", `device.attributes["gpu.example.com"].model == "a100"`))
			}, known, explaintest.Workers(1, "w", "choice"), "w-0000→node-0001/1", true,
		},
		{
			"what others need is left by choice", busy, known, []*corev1.Pod{explaintest.Worker("any", "one"), explaintest.Worker("only", "old")},
			"any→node-0001/1, only→node-0000/1", true,
		},
		{
			"what others need may be taken", nil, known, []*corev1.Pod{explaintest.Worker("any", "one"), explaintest.Worker("only", "old")},
			"any→node-0000/2, only waits Unknown NotEnoughDevices", false,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o := explaintest.SmallFarm(2)
			if test.change != nil {
				test.change(o)
			}
			p, err := Place(t.Context(), explaintest.NewCluster(*o), test.pods, Options{Choosing: test.choosing(o)})
			if err != nil {
				t.Fatal(err)
			}
			if got := explaintest.Ends(&p.Replay); got != test.want || p.Replay.Certain != test.certain {
				t.Errorf("%s (certain %t), want %s", got, p.Replay.Certain, test.want)
			}
			if p.Joint.Verdict != explain.Feasible {
				t.Errorf("together: %s", p.Joint.Verdict)
			}
		})
	}
}

// TestAllRunsTellsRunsApart sees that a choice between nodes that makes no difference leaves a plan certain,
// although the pods are not alike.
func TestAllRunsTellsRunsApart(t *testing.T) {
	o := explaintest.SmallFarm(3)
	o.Slices = append(o.Slices[:0:0], o.Slices[1], o.Slices[2]) // both of newer devices
	for _, slice := range o.Slices {
		slice.Spec.Devices = append([]resourcev1.Device{}, slice.Spec.Devices[:4]...)
	}
	p, err := Place(t.Context(), explaintest.NewCluster(*o), []*corev1.Pod{explaintest.Worker("a", "four"), explaintest.Worker("b", "one")}, Options{Choosing: known(o), NoJoint: true})
	if err != nil || !p.Replay.Certain || len(p.Replay.Placed) != 2 {
		t.Errorf("%s, certain %t: %v, %v", explaintest.Ends(&p.Replay), p.Replay.Certain, p.Replay.Remarks, err)
	}
}
