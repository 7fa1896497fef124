package moves

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// TestWhoMayBeMoved makes room on the only node that is full by moving its only pod, which is each time
// another one.
func TestWhoMayBeMoved(t *testing.T) {
	owner := func(kind string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) { pod.OwnerReferences[0].Kind = kind }
	}
	for name, tt := range map[string]struct {
		change func(*corev1.Pod)
		fixed  string // the rule, or "" if it may be moved
	}{
		"of a replica set":          {func(*corev1.Pod) {}, ""},
		"of a job":                  {owner("Job"), ""},
		"of a stateful set":         {owner("StatefulSet"), ""},
		"of what is not known":      {owner("TrainJob"), ""},
		"bare":                      {func(pod *corev1.Pod) { pod.OwnerReferences = nil }, "NoOwner"},
		"owned, but not controlled": {func(pod *corev1.Pod) { pod.OwnerReferences[0].Controller = nil }, "NoOwner"},
		"of a daemon set":           {owner("DaemonSet"), "DaemonSet"},
		"mirror":                    {owner("Node"), "NoOwner"},
		"ending":                    {func(pod *corev1.Pod) { pod.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }, "Ending"},
		"system":                    {func(pod *corev1.Pod) { pod.Spec.Priority = ptr.To[int32](2_000_000_000) }, "System"},
		"important":                 {func(pod *corev1.Pod) { pod.Spec.Priority = ptr.To[int32](1_000_000_000) }, ""},
		"of another scheduler":      {func(pod *corev1.Pod) { pod.Spec.SchedulerName = "volcano" }, "OtherScheduler"},
		"of the default scheduler":  {func(pod *corev1.Pod) { pod.Spec.SchedulerName = "default-scheduler" }, ""},
		"of a pod group": {func(pod *corev1.Pod) {
			pod.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: ptr.To("g")}
		}, "PodGroup"},
		"tolerant of everything":     {tolerating(corev1.Toleration{Operator: corev1.TolerationOpExists}), "ToleratesGuard"},
		"tolerant of a cordon":       {tolerating(corev1.Toleration{Key: corev1.TaintNodeUnschedulable, Operator: corev1.TolerationOpExists}), "ToleratesGuard"},
		"tolerant of our taint":      {tolerating(corev1.Toleration{Key: explain.RoomTaint, Effect: corev1.TaintEffectNoSchedule}), "ToleratesGuard"},
		"tolerant of something else": {tolerating(corev1.Toleration{Key: "nvidia.com/gpu", Operator: corev1.TolerationOpExists}), ""},
		"tolerant of another effect": {tolerating(corev1.Toleration{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute}), ""},
		"with an ephemeral volume": {func(pod *corev1.Pod) {
			pod.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}}}
		}, "OwnVolume"},
		"with a claim of its own name": {func(pod *corev1.Pod) { named(pod, "node-0000-0-gpus") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := busyFarm(1, 8)
			for _, pod := range o.Pods[1:] {
				pod.OwnerReferences = nil
			}
			tt.change(o.Pods[0])
			more := explaintest.Farm(2)
			o.Nodes, o.Slices = append(o.Nodes, more.Nodes[1]), append(o.Slices, more.Slices[1])
			o.Templates = append(o.Templates, explaintest.Template("old", 1, `device.attributes["gpu.example.com"].model == "v100"`)) // which node-0001 has not
			m := makeRoomFor(t, o, explaintest.Worker("target", "old"))
			if moved := len(m.Moves) == 1 && m.Verdict == explain.Feasible; moved != (tt.fixed == "") {
				t.Errorf("%s, %d moves, %v", m.Verdict, len(m.Moves), m.Fixed)
			}
			if m.Verdict == explain.JointUnknown {
				t.Error(m.Message)
			}
			at := slices.IndexFunc(m.Fixed, func(f explain.FixedPods) bool {
				return slices.ContainsFunc(f.Pods, func(s explain.Subject) bool { return s.Name == o.Pods[0].Name })
			})
			if key := ""; at >= 0 {
				if key = m.Fixed[at].Key; key != tt.fixed {
					t.Errorf("it may not be moved because of %q, not %q", key, tt.fixed)
				}
			}
		})
	}
}

func tolerating(toleration corev1.Toleration) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Spec.Tolerations = []corev1.Toleration{toleration} }
}

// named makes a pod name its claim.
func named(pod *corev1.Pod, claim string) {
	pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpus", ResourceClaimName: ptr.To(claim)}}
	pod.Status.ResourceClaimStatuses = nil
}

func makeRoomFor(t *testing.T, o *inspect.Objects, target *corev1.Pod) *explain.Moves {
	t.Helper()
	c := scheduler.NewCluster(inspect.New(*o, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)}), scheduler.Options{})
	m, err := MakeRoom(t.Context(), c, target)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestMovesOfSharedClaims: a claim that is of others too is not given back when one pod ends.
func TestMovesOfSharedClaims(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(o *inspect.Objects, claim *resourcev1.ResourceClaim)
		moved  bool
	}{
		"of one pod":            {func(*inspect.Objects, *resourcev1.ResourceClaim) {}, true},
		"of another pod, too":   {func(o *inspect.Objects, _ *resourcev1.ResourceClaim) { named(o.Pods[1], "node-0000-0-gpus") }, false},
		"reserved for no pod":   {func(_ *inspect.Objects, c *resourcev1.ResourceClaim) { c.Status.ReservedFor = nil }, false},
		"reserved for a bridge": {func(_ *inspect.Objects, c *resourcev1.ResourceClaim) { c.Status.ReservedFor[0].Resource = "bridges" }, false},
		"being deleted": {func(_ *inspect.Objects, c *resourcev1.ResourceClaim) {
			c.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			o := busyFarm(1, 8)
			for _, pod := range o.Pods[1:] {
				pod.OwnerReferences = nil
			}
			named(o.Pods[0], "node-0000-0-gpus")
			tt.change(o, o.Claims[0])
			more := explaintest.Farm(2)
			o.Nodes, o.Slices = append(o.Nodes, more.Nodes[1]), append(o.Slices, more.Slices[1])
			o.Templates = append(o.Templates, explaintest.Template("old", 1, `device.attributes["gpu.example.com"].model == "v100"`))
			m := makeRoomFor(t, o, explaintest.Worker("target", "old"))
			if moved := m.Verdict == explain.Feasible; moved != tt.moved {
				t.Errorf("%s: %s %v", m.Verdict, m.Message, m.Fixed)
			}
		})
	}
}

// TestCheapestMove: of several pods that could go, the least important goes, then the youngest, then that
// with the fewest devices.
func TestCheapestMove(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(pods []*corev1.Pod)
		want   string
	}{
		"priority": {func(pods []*corev1.Pod) {
			for i, pod := range pods {
				pod.Spec.Priority = ptr.To(int32(10 - i%7))
				pod.CreationTimestamp = metav1.Unix(int64(1000-i), 0)
			}
		}, "node-0000-6"},
		"age": {func(pods []*corev1.Pod) {
			for i, pod := range pods {
				pod.CreationTimestamp = metav1.Unix(int64(1000+i%5), 0)
			}
		}, "node-0000-4"},
	} {
		t.Run(name, func(t *testing.T) {
			o := busyFarm(1, 8)
			tt.change(o.Pods)
			more := explaintest.Farm(2)
			o.Nodes, o.Slices = append(o.Nodes, more.Nodes[1]), append(o.Slices, more.Slices[1])
			o.Templates = append(o.Templates, explaintest.Template("old", 1, `device.attributes["gpu.example.com"].model == "v100"`))
			m := makeRoomFor(t, o, explaintest.Worker("target", "old"))
			if len(m.Moves) != 1 || m.Moves[0].Pod.Name != tt.want {
				t.Errorf("%+v is moved, want %s", m.Moves, tt.want)
			}
		})
	}
}
