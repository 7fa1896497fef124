package plan

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestPlaceUnread: where not all pods, or not all claims, could be read, or more is asked for than is known,
// no pod is placed for certain. Who fits nowhere stays refused; who has no room behind others does not.
func TestPlaceUnread(t *testing.T) {
	secret := []string{"the controller of VirtualMachine v makes its pods"}
	for _, test := range []struct {
		name    string
		unread  []inspect.Resource
		unseen  []string
		pods    []*corev1.Pod
		want    string
		remark  string
		verdict explain.JointVerdict
	}{
		{"nobody is known", []inspect.Resource{inspect.Pods}, nil, nil, "", "more may wait", ""},
		{"who fits", []inspect.Resource{inspect.Pods}, nil, explaintest.Workers(1, "w", "one"), "w-0000→node-0000/1", "more may wait", explain.JointUnknown},
		{"who fits, without claims", []inspect.Resource{inspect.Claims}, nil, explaintest.Workers(1, "w", "one"), "w-0000→node-0000/1", "claims", explain.JointUnknown},
		{"who fits nowhere", []inspect.Resource{inspect.Pods}, nil, explaintest.Workers(1, "w", "nine"), "w-0000 waits Unsatisfiable NotEnoughDevices", "more may wait", explain.Infeasible},
		{"who comes too late", []inspect.Resource{inspect.Pods}, nil, append(explaintest.Workers(1, "w", "eight"), explaintest.Worker("x", "one")), "w-0000→node-0000/1, x waits Unknown DeviceInUse", "more may wait", explain.JointUnknown},
		{"one too many", []inspect.Resource{inspect.Pods}, nil, explaintest.Workers(2, "w", "eight"), "w-0000→node-0000/1, w-0001 waits Unsatisfiable DeviceInUse", "more may wait", explain.Infeasible},
		{"whose pod is not known", nil, secret, explaintest.Workers(1, "w", "one"), "w-0000→node-0000/1", secret[0], explain.JointUnknown},
		{"whose pod is not known and fits nowhere", nil, secret, explaintest.Workers(1, "w", "nine"), "w-0000 waits Unsatisfiable NotEnoughDevices", secret[0], explain.Infeasible},
		{"who comes after such a pod", nil, secret, append(explaintest.Workers(1, "w", "eight"), explaintest.Worker("x", "one")), "w-0000→node-0000/1, x waits Unknown DeviceInUse", secret[0], explain.Infeasible},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := explaintest.SmallFarm(1)
			o.Templates = append(o.Templates, explaintest.Template("nine", 9, ""))
			p, err := Place(t.Context(), explaintest.Unreadable(o, test.unread...), test.pods, Options{Unseen: test.unseen})
			if err != nil {
				t.Fatal(err)
			}
			if got := explaintest.Ends(&p.Replay); got != test.want || p.Replay.Certain {
				t.Errorf("%s (certain %t), want %s", got, p.Replay.Certain, test.want)
			}
			if !strings.Contains(strings.Join(p.Replay.Remarks, "; "), test.remark) {
				t.Errorf("remarks: %v", p.Replay.Remarks)
			}
			if test.verdict != "" && p.Joint.Verdict != test.verdict {
				t.Errorf("together %s: %s", p.Joint.Verdict, p.Joint.Message)
			}
		})
	}
}

// full is a node with room for one more GPU, whose CPUs are taken by a pod of no importance.
func full() *inspect.Objects {
	o := explaintest.SmallFarm(1)
	running := explaintest.Worker("running", "one")
	running.Spec.NodeName, running.Spec.ResourceClaims, running.Spec.Priority = "node-0000", nil, ptr.To(int32(0))
	running.Spec.Containers[0].Resources.Claims = nil
	running.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("60")
	o.Pods = append(o.Pods, running)
	return o
}

// important is a pod that matters more than others, and takes so many CPUs.
func important(name, template, cpus string) *corev1.Pod {
	pod := explaintest.Worker(name, template)
	pod.Spec.Priority = ptr.To(int32(100))
	pod.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse(cpus)
	return pod
}

// TestPlacePreempting: others are ended for the important pod, which finds its GPUs at its turn and no CPU.
// Nobody keeps the GPUs for it until they are gone. So what becomes of another pod that wants these, and
// comes later, is certain only if kube-scheduler has not tried either before: it waits after each attempt,
// the longer the more there were.
func TestPlacePreempting(t *testing.T) {
	never := func(pod *corev1.Pod) *corev1.Pod {
		pod.Spec.PreemptionPolicy = ptr.To(corev1.PreemptNever)
		return pod
	}
	tried := func(pod *corev1.Pod) *corev1.Pod {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
		return pod
	}
	for _, test := range []struct {
		name    string
		pods    []*corev1.Pod
		others  []*corev1.Pod
		want    string
		certain bool
	}{
		{"its turn counts", []*corev1.Pod{important("vip", "eight", "8"), explaintest.Worker("later", "eight")}, nil, "vip→node-0000/1, later waits Unsatisfiable DeviceInUse", true},
		{"tried before", []*corev1.Pod{important("vip", "eight", "8"), tried(explaintest.Worker("later", "eight"))}, nil, "vip→node-0000/1, later waits Unknown DeviceInUse", false},
		{"it may not", []*corev1.Pod{never(important("vip", "eight", "8")), explaintest.Worker("later", "eight")}, nil, "later→node-0000/1, vip waits Unsatisfiable InsufficientResources", true},
		{"it lacks devices", []*corev1.Pod{important("vip", "nine", "8"), explaintest.Worker("later", "eight")}, nil, "later→node-0000/1, vip waits Unsatisfiable InsufficientResources", true},
		{"its like have the devices", []*corev1.Pod{important("vip", "eight", "1"), important("vip-2", "eight", "1")}, nil, "vip→node-0000/1, vip-2 waits Unsatisfiable DeviceInUse", true},
		{"of those that were not asked about", []*corev1.Pod{explaintest.Worker("later", "eight")}, []*corev1.Pod{important("vip", "eight", "8")}, "later waits Unsatisfiable DeviceInUse", true},
		{"of those, who may not", []*corev1.Pod{explaintest.Worker("later", "eight")}, []*corev1.Pod{never(important("vip", "eight", "8"))}, "later→node-0000/1", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := full()
			o.Templates = append(o.Templates, explaintest.Template("nine", 9, ""))
			o.Pods = append(o.Pods, test.others...)
			p, err := Place(t.Context(), explaintest.NewCluster(*o), test.pods, Options{Others: test.others})
			if err != nil {
				t.Fatal(err)
			}
			if got := explaintest.Ends(&p.Replay); got != test.want || p.Replay.Certain != test.certain {
				t.Errorf("%s, certain %t (%v); want %s", got, p.Replay.Certain, p.Replay.Remarks, test.want)
			}
			if !test.certain && (len(p.Replay.Preempted) != 1 || !strings.Contains(strings.Join(p.Replay.Remarks, ";"), "once others have ended")) {
				t.Errorf("ended %v, remarks: %v", p.Replay.Preempted, p.Replay.Remarks)
			}
		})
	}
}

// TestClaimsThatAreGone: no claim goes before its pods. So where pods run whose claims are not there, others
// may be missing too.
func TestClaimsThatAreGone(t *testing.T) {
	for _, gone := range []bool{false, true} {
		o := explaintest.BusyFarm()
		o.Pods = o.Pods[:4] // none of which waits
		if gone {
			o.Claims = o.Claims[1:]
		}
		c := explaintest.NewCluster(*o)
		p, err := Place(t.Context(), c, explaintest.Workers(1, "w", "four"), Options{})
		if err != nil || p.Replay.Certain == gone {
			t.Errorf("gone %t: certain %t, %v, %v", gone, p.Replay.Certain, p.Replay.Remarks, err)
		}
	}
}
