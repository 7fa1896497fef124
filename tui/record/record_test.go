package record_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/record"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/screentest"
)

// edit changes a copy of the object of a name in a list.
func edit[T interface {
	metav1.Object
	DeepCopy() T
}](list *[]T, name string, change func(T)) {
	*list = slices.Clone(*list)
	for i, o := range *list {
		if o.GetName() == name {
			o = o.DeepCopy()
			change(o)
			(*list)[i] = o
			return
		}
	}
	panic("there is no " + name)
}

// drop removes the objects whose names begin with something.
func drop[T metav1.Object](list *[]T, prefix string) {
	*list = slices.DeleteFunc(slices.Clone(*list), func(o T) bool { return strings.HasPrefix(o.GetName(), prefix) })
}

// taintAll adds a rule that taints the GPUs of a pool.
func taintAll(o *inspect.Objects) {
	rule := &resourcev1.DeviceTaintRule{ObjectMeta: metav1.ObjectMeta{Name: "drain"}}
	rule.Spec.DeviceSelector = &resourcev1.DeviceTaintSelector{Driver: ptr.To("gpu.example.com"), Pool: ptr.To("gpu-b-03")}
	rule.Spec.Taint = resourcev1.DeviceTaint{Key: "x", Effect: resourcev1.DeviceTaintEffectNoSchedule}
	o.TaintRules = append(slices.Clone(o.TaintRules), rule)
}

// changes are what may happen to the demo cluster, and what is to be told of it: the kind, the object, the
// text, and by whom. What is only told on the page of an object is not listed.
var changes = []struct {
	name   string
	change func(o *inspect.Objects)
	want   []string
}{
	{"nothing", func(*inspect.Objects) {}, nil},
	{
		"released", func(o *inspect.Objects) {
			edit(&o.Claims, "pretrain-0", func(c *resourcev1.ResourceClaim) { c.Status = resourcev1.ResourceClaimStatus{} })
		},
		[]string{"released ResourceClaim ml/pretrain-0: reserved → pending [pod pretrain-0]"},
	},
	{
		"idle", func(o *inspect.Objects) {
			edit(&o.Claims, "pretrain-0", func(c *resourcev1.ResourceClaim) { c.Status.ReservedFor = nil })
		},
		[]string{"idle ResourceClaim ml/pretrain-0: reserved → allocated []"},
	},
	{
		"deleted", func(o *inspect.Objects) { drop(&o.Claims, "finetune-lora") },
		[]string{"deleted ResourceClaim ml/finetune-lora: deleted, gave back 2 devices [pod finetune-lora]"},
	},
	{
		"refused", func(o *inspect.Objects) {
			edit(&o.Pods, "train-1", func(p *corev1.Pod) {
				p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: "0/12 nodes\nare available"}}
			})
		},
		[]string{"refused Pod ml/train-1: 0/12 nodes are available [scheduler]"},
	},
	{
		"placed", func(o *inspect.Objects) {
			edit(&o.Pods, "train-0", func(p *corev1.Pod) { p.Spec.NodeName, p.Status.Conditions = "gpu-b-03", nil })
		},
		[]string{"placed Pod ml/train-0: got a node, after it was refused [scheduler]"},
	},
	{
		"evicted", func(o *inspect.Objects) {
			edit(&o.Pods, "pretrain-0", func(p *corev1.Pod) {
				p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "DeletionByDeviceTaintManager", Message: "Device Taint manager: deleting due to NoExecute taint"})
			})
		},
		[]string{"evicted Pod ml/pretrain-0: Device Taint manager: deleting due to NoExecute taint [DeletionByDeviceTaintManager]"},
	},
	{
		"unhealthy", func(o *inspect.Objects) {
			edit(&o.Pods, "pretrain-0", func(p *corev1.Pod) {
				p.Status.ContainerStatuses = []corev1.ContainerStatus{{AllocatedResourcesStatus: []corev1.ResourceStatus{{Name: "claim:gpus", Resources: []corev1.ResourceHealth{
					{ResourceID: "gpu.example.com/gpu-a-01/gpu-3", Health: corev1.ResourceHealthStatusUnhealthy, Message: ptr.To("ECC")},
					{ResourceID: "odd", Health: corev1.ResourceHealthStatusUnhealthy},
				}}}}}
			})
		},
		[]string{"unhealthy Device gpu.example.com/gpu-a-01/gpu-3: unhealthy: ECC [pod pretrain-0]", "unhealthy Pod ml/pretrain-0: odd is unhealthy [kubelet]"},
	},
	{
		"tainted by the driver", func(o *inspect.Objects) {
			edit(&o.Slices, "gpu-a-02-gpu.example.com-a9479", func(s *resourcev1.ResourceSlice) {
				s.Spec.Devices[0].Taints = []resourcev1.DeviceTaint{{Key: "sick", Value: "ecc", Effect: resourcev1.DeviceTaintEffectNoExecute}}
			})
		},
		[]string{"tainted Device gpu.example.com/gpu-a-02/gpu-0: tainted sick=ecc:NoExecute [driver gpu.example.com]"},
	},
	{"tainted by a rule", taintAll, []string{"tainted DeviceTaintRule drain: taints 8 devices: x:NoSchedule [rule drain]"}},
	{
		"rule gone", func(o *inspect.Objects) { o.TaintRules = nil },
		[]string{"untainted DeviceTaintRule firmware-gpu-a-04: no longer taints 8 devices: example.com/maintenance=firmware:NoSchedule [rule firmware-gpu-a-04]"},
	},
	{
		"pool incomplete", func(o *inspect.Objects) {
			edit(&o.Slices, "gpu-a-02-gpu.example.com-a9479", func(s *resourcev1.ResourceSlice) { s.Spec.Pool.ResourceSliceCount = 2 })
		},
		[]string{"pool broken Pool gpu.example.com/gpu-a-02: PoolIncomplete: generation 1 has 1 of 2 slices [driver gpu.example.com]"},
	},
	{
		"driver gone", func(o *inspect.Objects) { drop(&o.Slices, "gpu-a-02-gpu.example.com-a9479") },
		[]string{"driver gone Driver gpu.example.com: publishes nothing on gpu-a-02 any more: 8 devices less [driver gpu.example.com]"},
	},
	{
		"device gone", func(o *inspect.Objects) {
			edit(&o.Slices, "gpu-a-02-gpu.example.com-a9479", func(s *resourcev1.ResourceSlice) { s.Spec.Devices = s.Spec.Devices[1:] })
		},
		[]string{"device Device gpu.example.com/gpu-a-02/gpu-0: no longer published []"},
	},
	{"node gone", func(o *inspect.Objects) { drop(&o.Nodes, "cpu-01") }, []string{"node gone Node cpu-01: gone []"}},
	{
		"node not ready", func(o *inspect.Objects) {
			edit(&o.Nodes, "cpu-01", func(n *corev1.Node) {
				n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Reason: "NodeStatusUnknown", Message: "Kubelet stopped posting node status."}}
			})
		},
		[]string{"node not ready Node cpu-01: Kubelet stopped posting node status. [NodeStatusUnknown]"},
	},
}

// opposites are the kinds of what is told when the same happens backwards.
var opposites = map[string]string{
	"released": "allocated", "idle": "reserved", "deleted": "allocated", "refused": "", "placed": "refused", "evicted": "", "unhealthy": "healthy healthy", "tainted by the driver": "untainted",
	"tainted by a rule": "untainted", "rule gone": "tainted", "pool incomplete": "pool complete", "driver gone": "driver came", "device gone": "device", "node gone": "node came", "node not ready": "node ready",
}

func TestCompare(t *testing.T) {
	before := screentest.Demo(t)
	for _, test := range changes {
		t.Run(test.name, func(t *testing.T) {
			after := before.Next(2, before.Snapshot.With(test.change))
			after.Now = before.Now.Add(time.Minute)
			var got, back []string
			for _, e := range record.Compare(before, after) {
				if !e.Minor {
					got = append(got, fmt.Sprintf("%s %s %s: %s [%s]", e.Kind, e.Ref.Kind, e.Ref, e.Text, e.By))
				}
				if !e.Time.Equal(after.Now) || !e.Seen {
					t.Errorf("%+v is told to be at another time", e)
				}
			}
			slices.Sort(got)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("what is told (-want +got):\n%s", diff)
			}
			for _, e := range record.Compare(after, before) {
				if !e.Minor {
					back = append(back, string(e.Kind))
				}
			}
			if got := strings.Join(back, " "); got != opposites[test.name] {
				t.Errorf("backwards it tells %q, want %q", got, opposites[test.name])
			}
		})
	}
}

// TestReading: objects that are being read for the first time have not just come.
func TestReading(t *testing.T) {
	before := screentest.Demo(t)
	half := before.Snapshot.With(func(o *inspect.Objects) {
		drop(&o.Claims, "p")
		drop(&o.Slices, "gpu-b")
		drop(&o.Pods, "p")
		drop(&o.Nodes, "gpu")
	})
	reading := map[inspect.Resource]inspect.Health{}
	for _, r := range []inspect.Resource{inspect.Claims, inspect.Slices, inspect.Pods, inspect.Nodes} {
		reading[r] = inspect.Health{State: inspect.Syncing}
	}
	if news := record.Compare(before.Next(2, half.WithHealth(reading)), before); len(news) > 0 {
		t.Errorf("%d events, such as %+v", len(news), news[0])
	}
}

// TestCost: what is told of one claim costs as much in a large cluster as in a small one.
func TestCost(t *testing.T) {
	cost := func(times int) float64 {
		objects := *screentest.Demo(t).Snapshot.Objects()
		for n := range times {
			for _, c := range objects.Claims[:40] {
				c = c.DeepCopy()
				c.Name = fmt.Sprintf("%s-%d", c.Name, n)
				c.Status = resourcev1.ResourceClaimStatus{}
				objects.Claims = append(objects.Claims, c)
			}
			for _, s := range objects.Slices[:8] {
				s = s.DeepCopy()
				s.Name, s.Spec.Pool.Name = fmt.Sprintf("%s-%d", s.Name, n), fmt.Sprintf("%s-%d", s.Spec.Pool.Name, n)
				objects.Slices = append(objects.Slices, s)
			}
		}
		before := screentest.World(t, objects)
		after := before.Next(2, before.Snapshot.With(changes[1].change))
		before.Inventory()
		after.Inventory()
		return testing.AllocsPerRun(10, func() { record.Compare(before, after) })
	}
	if few, many := cost(1), cost(50); many > few+5 {
		t.Errorf("%v allocations, and in a larger cluster %v", few, many)
	}
}
