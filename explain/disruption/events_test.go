package disruption

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestToleratedUnreachable: the first toleration of the taint counts, whatever others say.
func TestToleratedUnreachable(t *testing.T) {
	unreachable := func(seconds *int64) corev1.Toleration {
		return corev1.Toleration{Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: seconds}
	}
	all := corev1.Toleration{Operator: corev1.TolerationOpExists}
	other := corev1.Toleration{Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists}
	scheduling := corev1.Toleration{Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}
	for name, test := range map[string]struct {
		tolerations []corev1.Toleration
		after       time.Duration
		evicted     bool
	}{
		"none":                   {nil, 0, true},
		"others":                 {[]corev1.Toleration{other, scheduling}, 0, true},
		"for a while":            {[]corev1.Toleration{other, unreachable(ptr.To[int64](300))}, 5 * time.Minute, true},
		"forever":                {[]corev1.Toleration{unreachable(nil)}, 0, false},
		"for a while, forever":   {[]corev1.Toleration{unreachable(ptr.To[int64](300)), all}, 5 * time.Minute, true},
		"forever, for a while":   {[]corev1.Toleration{all, unreachable(ptr.To[int64](300))}, 0, false},
		"long, short":            {[]corev1.Toleration{unreachable(ptr.To[int64](300)), unreachable(ptr.To[int64](60))}, 5 * time.Minute, true},
		"less than no time":      {[]corev1.Toleration{unreachable(ptr.To[int64](-1))}, 0, true},
		"more than a time has":   {[]corev1.Toleration{unreachable(ptr.To[int64](1 << 62))}, maxTolerated * time.Second, true},
		"less than no time, too": {[]corev1.Toleration{unreachable(ptr.To[int64](-1 << 62))}, 0, true},
	} {
		pod := &corev1.Pod{}
		pod.Spec.Tolerations = test.tolerations
		if after, evicted := toleratedUnreachable(pod); after != test.after || evicted != test.evicted {
			t.Errorf("%s: after %s, evicted %t", name, after, evicted)
		}
	}
}

// TestDrainOnce: a node that is cordoned already keeps its one taint, and its others; other nodes stay as
// they are.
func TestDrainOnce(t *testing.T) {
	for name, taints := range map[string][]corev1.Taint{
		"without":  nil,
		"other":    {{Key: "a", Effect: corev1.TaintEffectNoSchedule}},
		"cordoned": {{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}},
		"harder":   {{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoExecute}},
	} {
		o := explaintest.SmallFarm(2)
		o.Nodes[0].Spec.Taints = taints
		after := After(explaintest.NewCluster(*o).Snapshot(), Drain(explaintest.NewCluster(*o).Snapshot(), inspect.NodeName(o.Nodes[0].Name)))
		want := len(taints) + 1
		if name == "cordoned" {
			want = 1
		}
		nodes := after.Objects().Nodes
		if !nodes[0].Spec.Unschedulable || len(nodes[0].Spec.Taints) != want || nodes[1].Spec.Unschedulable || len(nodes[1].Spec.Taints) > 0 {
			t.Errorf("%s: %+v, %+v", name, nodes[0].Spec, nodes[1].Spec)
		}
		if o.Nodes[0].Spec.Unschedulable {
			t.Errorf("%s: the node that was read was changed", name)
		}
	}
}
