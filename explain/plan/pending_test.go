package plan

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
)

// TestManyKindsLeftWaiting: of more kinds of pods than are looked into, the others are told together.
func TestManyKindsLeftWaiting(t *testing.T) {
	o := explaintest.SmallFarm(1)
	o.Templates = append(o.Templates, explaintest.Template("nine", 9, ""))
	var pods []*corev1.Pod
	for i := range maxExplained + 3 {
		pod := explaintest.Worker(fmt.Sprint("p", i), "nine")
		pod.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = *resource.NewMilliQuantity(int64(1+i), resource.DecimalSI)
		pods = append(pods, pod)
	}
	got := place(t, o, pods...).Replay.Pending
	alike := map[int]int{}
	for _, p := range got {
		alike[p.Alike]++
		if p.Verdict != explain.Unsatisfiable || strings.HasSuffix(p.Message, "why was looked into only for the first 24 kinds of pods") != (alike[p.Alike] > 1 || p.Alike == maxExplained) {
			t.Errorf("%+v", p)
		}
	}
	if len(got) != len(pods) || len(alike) != maxExplained+1 || alike[maxExplained] != 3 {
		t.Errorf("%v", alike)
	}
}
