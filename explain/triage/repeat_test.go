package triage

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/plan"
	"github.com/kubectl-dra/kubectl-dra/explain/replay"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// TestRepeat: a replay that repeats another one wherever nothing has changed does what one does that asks
// about every pod.
func TestRepeat(t *testing.T) {
	freed, displaced, asked, repeated := 0, 0, 0, 0
	for seed := range effort.Of(2_000, 150) {
		c := randomCluster(seed)
		if seed%3 > 0 { // of others little can be repeated
			c = ofNodesOnly(c)
		}
		pods, _ := plan.Waiting(c.Snapshot(), func(*corev1.Pod) bool { return true })
		before, _ := plan.Begin(c, pods, nil)
		if err := before.Run(t.Context(), pods); err != nil {
			t.Fatal(err)
		}
		changed, unlike := changedPods(c, seed%4, seed/4%3)
		var want, got string
		for _, repeat := range []bool{false, true} {
			now, again := plan.Begin(changed, podsIn(changed.Snapshot(), pods), nil)
			now.Choose = (&run{nodes: nodesOf(before)}).asBefore
			if repeat {
				now.Repeat(before, unlike)
				now.Left = func(context.Context, *scheduler.Cluster, *replay.Waiting) (*replay.Room, error) {
					asked++
					return nil, nil
				}
			}
			if err := now.Run(t.Context(), again); err != nil {
				t.Fatal(err)
			}
			if want, got = got, outcomesOf(now); !repeat {
				continue
			}
			repeated += len(now.Waiting)
			is, was := nodesOf(now), nodesOf(before)
			for _, pod := range pods {
				switch node, old := is[cycle.SubjectOf(pod)], was[cycle.SubjectOf(pod)]; {
				case old == "" && node != "":
					freed++
				case old != "" && node != old:
					displaced++
				}
			}
		}
		if got != want {
			t.Fatalf("seed %d: with what is repeated\n%swant\n%s", seed, got, want)
		}
	}
	t.Logf("%d pods are freed, %d lose their nodes, %d of %d that wait were asked about again", freed, displaced, asked, repeated)
	if freed < 20 || displaced < 20 || asked > repeated*9/10 {
		t.Error("that is too little")
	}
}

// TestRepeatedByHand: what is repeated, where one wrong step would show.
func TestRepeatedByHand(t *testing.T) {
	for _, test := range []struct {
		name    string
		devices []int // of nodes
		pods    []string
		change  string // the pod that asks for one device then
		gone    string // a pod that is not there then
		want    string
	}{
		{"what others lose is room for those that waited", []int{2}, []string{"a 9", "b 2", "c 1"}, "a", "", "a n0, c n0"},
		{"pods alike see what was repeated between them", []int{1, 1}, []string{"a 9", "b 1 n1", "c 9"}, "ac", "", "a n0, b n1"},
		{"pods that are gone leave room", []int{2}, []string{"a 9", "b 2", "c 1"}, "a", "b", "a n0, c n0"},
		{"where nothing changes, all is as it was", []int{1, 1}, []string{"b 1", "a 9", "c 2", "d 1 n0"}, "a", "", "b n0, a n1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			before, after := &inspect.Objects{}, &inspect.Objects{}
			var unlike []string
			for _, o := range []*inspect.Objects{before, after} {
				*o = explaintest.NodesWithDevices(test.devices...)
				for _, node := range o.Nodes {
					node.Labels = map[string]string{corev1.LabelHostname: node.Name}
				}
				for i, text := range test.pods {
					words := append(strings.Fields(text), "")
					n, _ := strconv.Atoi(words[1])
					switch {
					case o == after && words[0] == test.gone:
						continue
					case o == after && strings.Contains(test.change, words[0]):
						n = 1
						unlike = append(unlike, words[0])
					}
					queuePod(o, words[0], i, n, words[2])
				}
				o.Sort()
			}
			played := map[*inspect.Objects]*replay.Replay{}
			for _, o := range []*inspect.Objects{before, after} {
				c := explaintest.NewCluster(*o)
				r, pods := plan.Begin(c, c.Snapshot().Objects().Pods, nil)
				played[o] = r
				if o == after {
					r.Choose = (&run{nodes: nodesOf(played[before])}).asBefore
					r.Repeat(played[before], slices.DeleteFunc(slices.Clone(pods), func(pod *corev1.Pod) bool { return !slices.Contains(unlike, pod.Name) }))
				}
				if err := r.Run(t.Context(), pods); err != nil {
					t.Fatal(err)
				}
			}
			var got []string
			for _, p := range played[after].Placed {
				got = append(got, p.Subject.Name+" "+string(p.Node))
			}
			if strings.Join(got, ", ") != test.want {
				t.Errorf("placed %s, want %s", strings.Join(got, ", "), test.want)
			}
		})
	}
}

// queuePod adds the pod of a place in the queue that asks for devices, of a node or of any.
func queuePod(o *inspect.Objects, name string, place, devices int, node string) {
	pod := explaintest.NewPod(func(p *corev1.PodSpec) {
		p.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: &name}}
		if node != "" {
			p.NodeSelector = map[string]string{corev1.LabelHostname: node}
		}
	})
	pod.Name, pod.CreationTimestamp = name, metav1.Unix(int64(place), 0)
	claim := explaintest.GPUClaim(int64(devices), "any")
	claim.Namespace, claim.Name = pod.Namespace, name
	o.Claims, o.Pods = append(o.Claims, claim), append(o.Pods, pod)
}

// ofNodesOnly lets no pod that waits depend on where others are.
func ofNodesOnly(c *scheduler.Cluster) *scheduler.Cluster {
	return scheduler.NewCluster(c.Snapshot().With(func(o *inspect.Objects) {
		for i, pod := range o.Pods {
			if pod.Spec.NodeName == "" {
				pod = pod.DeepCopy()
				pod.Spec.Affinity, pod.Spec.TopologySpreadConstraints, pod.Spec.Volumes = nil, nil, nil
				o.Pods[i] = pod
			}
		}
	}), scheduler.Options{Library: explaintest.Expressions})
}

// changedPods lets the pods of a shape ask for nothing but a number of devices and some CPU.
func changedPods(c *scheduler.Cluster, shape, devices int) (*scheduler.Cluster, []*corev1.Pod) {
	var unlike []*corev1.Pod
	prefix := fmt.Sprintf("waits-%d-", shape)
	s := c.Snapshot().With(func(o *inspect.Objects) {
		for i, pod := range o.Pods {
			if strings.HasPrefix(pod.Name, prefix) {
				pod = pod.DeepCopy()
				pod.Spec = corev1.PodSpec{Priority: pod.Spec.Priority, ResourceClaims: pod.Spec.ResourceClaims, Containers: []corev1.Container{{
					Name: "main", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("1")}}}}}
				if devices == 0 {
					pod.Spec.ResourceClaims = nil
				}
				o.Pods[i], unlike = pod, append(unlike, pod)
			}
		}
		for i, claim := range o.Claims {
			if strings.HasPrefix(claim.Name, prefix) && devices > 0 {
				claim = claim.DeepCopy()
				claim.Spec.Devices.Requests[0].Exactly = &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu", Count: int64(devices)}
				o.Claims[i] = claim
			}
		}
	})
	return scheduler.NewCluster(s, scheduler.Options{Like: c}), unlike
}

func podsIn(s *inspect.Snapshot, pods []*corev1.Pod) []*corev1.Pod {
	var out []*corev1.Pod
	for _, pod := range pods {
		now, _ := s.Pod(inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name})
		out = append(out, now)
	}
	return out
}

func nodesOf(r *replay.Replay) map[explain.Subject]inspect.NodeName {
	out := map[explain.Subject]inspect.NodeName{}
	for i := range r.Placed {
		out[r.Placed[i].Subject] = r.Placed[i].Node
	}
	return out
}

// outcomesOf is what became of pods, in their order. Pods that are left waiting are told by their names: why,
// is asked by nobody.
func outcomesOf(r *replay.Replay) string {
	var b strings.Builder
	for i := range r.Placed {
		p := &r.Placed[i]
		fmt.Fprintln(&b, p.Subject.Name, p.Node, p.Devices)
	}
	for i := range r.Waiting {
		fmt.Fprintln(&b, r.Waiting[i].Pod.Name, "waits", r.Waiting[i].Verdict())
	}
	return b.String()
}
