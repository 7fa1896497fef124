package question_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/dynamic-resource-allocation/resourceclaim"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/schedulerconfig"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// moment is the time of the snapshots of TestRefusedBeforeDevices.
var moment = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// held gives a claim the device of n0, allocated some minutes ago.
func held(c *resourcev1.ResourceClaim, minutes int) *resourcev1.DeviceRequestAllocationResult {
	at := metav1.NewTime(moment.Add(-time.Duration(minutes) * time.Minute))
	c.Status.Allocation = &resourcev1.AllocationResult{AllocationTimestamp: &at}
	c.Status.Allocation.Devices.Results = []resourcev1.DeviceRequestAllocationResult{{Request: "gpu", Driver: explaintest.Driver, Pool: "n0", Device: "d00"}}
	return &c.Status.Allocation.Devices.Results[0]
}

// reports makes the driver report a condition of the device of a claim.
func reports(c *resourcev1.ResourceClaim, condition string) {
	c.Status.Devices = []resourcev1.AllocatedDeviceStatus{{Driver: explaintest.Driver, Pool: "n0", Device: "d00",
		Conditions: []metav1.Condition{{Type: condition, Status: metav1.ConditionTrue}}}}
}

// consumers are so many pods for which a claim is reserved, named p-0 and so on.
func consumers(n int) []resourcev1.ResourceClaimConsumerReference {
	var out []resourcev1.ResourceClaimConsumerReference
	for i := range n {
		name := explaintest.NodeName(i)
		out = append(out, resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: name, UID: types.UID(name)})
	}
	return out
}

// TestRefusedBeforeDevices: the pod uses a claim for one of two devices, and there is nothing else in the
// way.
func TestRefusedBeforeDevices(t *testing.T) {
	tests := []struct {
		name   string
		change func(p *corev1.Pod, c *resourcev1.ResourceClaim)
		says   string // of a no; "" is a yes
	}{
		{"nothing", func(*corev1.Pod, *resourcev1.ResourceClaim) {}, ""},
		{"being deleted", func(_ *corev1.Pod, c *resourcev1.ResourceClaim) {
			c.DeletionTimestamp = ptr.To(metav1.NewTime(moment))
		}, `cannot be scheduled: resourceclaim "claim" is being deleted`},
		{"allocated and being deleted", func(_ *corev1.Pod, c *resourcev1.ResourceClaim) {
			held(c, 1)
			c.DeletionTimestamp = ptr.To(metav1.NewTime(moment))
		}, `cannot be scheduled: resourceclaim "claim" is being deleted`},
		{"being deleted, but the pod is bound", func(p *corev1.Pod, c *resourcev1.ResourceClaim) {
			held(c, 1)
			c.DeletionTimestamp = ptr.To(metav1.NewTime(moment))
			p.Spec.NodeName = "n0"
		}, ""},
		{"allocated", func(_ *corev1.Pod, c *resourcev1.ResourceClaim) { held(c, 1) }, ""},
		{"allocated at no known time", func(_ *corev1.Pod, c *resourcev1.ResourceClaim) {
			held(c, 1)
			c.Status.Allocation.AllocationTimestamp = nil
		}, "without a time of allocation"},
		{"allocated at no known time, but reserved already", func(p *corev1.Pod, c *resourcev1.ResourceClaim) {
			held(c, 1)
			c.Status.Allocation.AllocationTimestamp = nil
			c.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: p.Name, UID: p.UID}}
		}, ""},
		{"255 consumers", func(_ *corev1.Pod, c *resourcev1.ResourceClaim) {
			held(c, 1)
			c.Status.ReservedFor = consumers(255)
		}, ""},
		{"256 consumers", func(_ *corev1.Pod, c *resourcev1.ResourceClaim) {
			held(c, 1)
			c.Status.ReservedFor = consumers(256)
		}, "is reserved for 256 consumers already"},
		{"256 consumers, one of them an older pod of the same name", func(p *corev1.Pod, c *resourcev1.ResourceClaim) {
			held(c, 1)
			c.Status.ReservedFor = append(consumers(255), resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: p.Name, UID: "older"})
		}, "is reserved for 256 consumers already"},
		{"goes without operations on nodes", func(_ *corev1.Pod, c *resourcev1.ResourceClaim) {
			held(c, 1).SkipNodeOperations = []resourcev1.SkipNodeOperation{resourcev1.SkipNodeOperationNodePrepareResources}
		}, "device gpu.example.com/n0/d00 of the allocated claim claim goes without operations on the node, and the node does not declare the feature DRAOptionalNodeOperations"},
		{"waits for a condition", func(_ *corev1.Pod, c *resourcev1.ResourceClaim) { held(c, 9).BindingConditions = []string{"ready"} }, ""},
		{"waited too long for a condition", func(_ *corev1.Pod, c *resourcev1.ResourceClaim) { held(c, 11).BindingConditions = []string{"ready"} },
			"the devices of the allocated claim claim have not met their binding conditions within 10 minutes"},
		{"met its condition late", func(_ *corev1.Pod, c *resourcev1.ResourceClaim) {
			held(c, 11).BindingConditions = []string{"ready"}
			reports(c, "ready")
		}, ""},
		{"failed", func(_ *corev1.Pod, c *resourcev1.ResourceClaim) {
			r := held(c, 1)
			r.BindingConditions, r.BindingFailureConditions = []string{"ready"}, []string{"failed"}
			reports(c, "failed")
		}, "device gpu.example.com/n0/d00 of the allocated claim claim reports the binding failure failed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := explaintest.NodesWithDevices(2)
			claim, pod := gpus("claim", 1), podOf("pod", 0, "claim")
			pod.UID = "pod-uid"
			tt.change(pod, claim)
			o.Claims, o.Pods = []*resourcev1.ResourceClaim{claim}, []*corev1.Pod{pod}
			e, err := question.PodObject(t.Context(), clusterOfServer(o, inspect.DefaultFeatures(inspect.NewestMinor)), pod, question.Options{})
			if err != nil {
				t.Fatal(err)
			}
			text := e.Message
			for _, g := range e.Groups {
				text += "\n" + g.Reasons[0].Message
			}
			if yes := e.Verdict == explain.Allocatable || e.Verdict == explain.Allocated; yes != (tt.says == "") || !strings.Contains(text, tt.says) {
				t.Errorf("%s: %s\nwant %q", e.Verdict, text, tt.says)
			}
		})
	}
}

// clusterOfServer is a cluster that was read from a server.
func clusterOfServer(o inspect.Objects, f inspect.Features) *scheduler.Cluster {
	return scheduler.NewCluster(inspect.New(o, inspect.Config{Time: moment, ServerVersion: "1.37.1", Features: f}), scheduler.Options{})
}

// TestFailedBindingIsCleared: the scheduler clears the allocation itself if nothing else uses the claim.
func TestFailedBindingIsCleared(t *testing.T) {
	o := explaintest.NodesWithDevices(2)
	claim, pod := gpus("claim", 1), podOf("pod", 0, "claim")
	held(claim, 11).BindingConditions = []string{"ready"}
	o.Claims, o.Pods = []*resourcev1.ResourceClaim{claim}, []*corev1.Pod{pod}
	e, err := question.PodObject(t.Context(), clusterOfServer(o, inspect.DefaultFeatures(inspect.NewestMinor)), pod, question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Fixes) == 0 || !strings.Contains(e.Fixes[0].Message, "as kube-scheduler does itself") {
		t.Errorf("fixes %+v: want that the scheduler releases the claim itself", e.Fixes)
	}
}

// TestGeneratedForAnotherPod compares what is said of generated claims with Kubernetes' own check of their
// owners.
func TestGeneratedForAnotherPod(t *testing.T) {
	owner := func(kind, version, name, uid string, controls bool) []metav1.OwnerReference {
		return []metav1.OwnerReference{{APIVersion: version, Kind: kind, Name: name, UID: types.UID(uid), Controller: &controls}}
	}
	tests := map[string][]metav1.OwnerReference{
		"the pod":                  owner("Pod", "v1", "pod", "pod-uid", true),
		"an older pod":             owner("Pod", "v1", "pod", "older", true),
		"another pod":              owner("Pod", "v1", "other", "other", true),
		"nobody":                   nil,
		"no controller":            owner("Pod", "v1", "pod", "pod-uid", false),
		"the group of the pod":     owner("PodGroup", "scheduling.k8s.io/v1beta1", "group", "group-uid", true),
		"another group":            owner("PodGroup", "scheduling.k8s.io/v1beta1", "other", "other", true),
		"a group of another API":   owner("PodGroup", "example.com/v1", "group", "group-uid", true),
		"something else of a name": owner("Job", "scheduling.k8s.io/v1beta1", "group", "group-uid", true),
	}
	for name, owners := range tests {
		for _, groups := range []bool{false, true} {
			o := explaintest.NodesWithDevices(2)
			claim, pod := gpus("pod-r-abcde", 1), podOf("pod", 0)
			claim.OwnerReferences, pod.UID = owners, "pod-uid"
			pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "r", ResourceClaimTemplateName: ptr.To("template")}}
			pod.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: ptr.To("group")}
			pod.Status.ResourceClaimStatuses = []corev1.PodResourceClaimStatus{{Name: "r", ResourceClaimName: &claim.Name}}
			o.Claims, o.Pods = []*resourcev1.ResourceClaim{claim}, []*corev1.Pod{pod}
			features := inspect.DefaultFeatures(inspect.NewestMinor).With(map[inspect.Gate]bool{inspect.GateWorkloadResourceClaims: groups})
			e, err := question.PodObject(t.Context(), clusterOfServer(o, features), pod, question.Options{})
			if err != nil {
				t.Fatal(err)
			}
			want := resourceclaim.IsForPod(pod, claim, groups)
			if yes := e.Verdict == explain.Allocatable; yes != (want == nil) {
				t.Errorf("%s, claims of groups %v: %s, Kubernetes says %v", name, groups, e.Message, want)
			}
			if want != nil && !strings.Contains(e.Message, "was not made for this pod but for ") {
				t.Errorf("%s: the answer is %q", name, e.Message)
			}
		}
	}
}

// TestClaimThatIsGoing: nothing is said of devices for a claim that is being deleted.
func TestClaimThatIsGoing(t *testing.T) {
	o := explaintest.NodesWithDevices(2)
	claim := gpus("claim", 1)
	claim.DeletionTimestamp = ptr.To(metav1.NewTime(moment))
	o.Claims = []*resourcev1.ResourceClaim{claim}
	e, err := question.ClaimObject(t.Context(), explaintest.NewCluster(o), claim, question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if e.Verdict != explain.Unsatisfiable || e.Message != "ml/claim cannot be allocated: it is being deleted" || e.Allocation != nil {
		t.Errorf("%s %q, allocation %v", e.Verdict, e.Message, e.Allocation)
	}
}

// TestRequestOfNoKind: the scheduler calls such a pod unschedulable, before its allocator would fail on it.
func TestRequestOfNoKind(t *testing.T) {
	claim := gpus("claim", 1)
	claim.Spec.Devices.Requests[0].Exactly = nil
	e, err := question.ClaimObject(t.Context(), explaintest.NewCluster(explaintest.NodesWithDevices(2)), claim, question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if e.Verdict != explain.Unsatisfiable || !strings.HasSuffix(e.Message, "neither exactly nor firstAvailable is set") {
		t.Errorf("%s %q", e.Verdict, e.Message)
	}
}

// TestBindingTimeout: a configuration of kube-scheduler says how long devices may take to get ready.
func TestBindingTimeout(t *testing.T) {
	for timeout, want := range map[string]string{
		"30m": "", "90s": "have not met their binding conditions within 1m30s", "5m": "have not met their binding conditions within 5 minutes",
	} {
		features := inspect.DefaultFeatures(inspect.NewestMinor)
		config, err := schedulerconfig.Read([]byte("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"+
			"profiles: [{pluginConfig: [{name: DynamicResources, args: {bindingTimeout: "+timeout+"}}]}]"),
			func(gate string) bool { return features.Enabled(inspect.Gate(gate)) })
		if err != nil {
			t.Fatal(err)
		}
		o := explaintest.NodesWithDevices(1)
		claim, pod := gpus("claim", 1), podOf("pod", 0, "claim")
		held(claim, 11).BindingConditions = []string{"ready"}
		claim.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: "other", UID: "other"}}
		o.Claims, o.Pods = []*resourcev1.ResourceClaim{claim}, []*corev1.Pod{pod}
		s := inspect.New(o, inspect.Config{Time: moment, ServerVersion: "1.37.1", Features: features, Scheduler: config})
		e, err := question.PodObject(t.Context(), scheduler.NewCluster(s, scheduler.Options{}), pod, question.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if no := e.Verdict == explain.Unsatisfiable; no != (want != "") || no && !strings.Contains(e.Groups[0].Reasons[0].Message, want) {
			t.Errorf("%s: %s, %+v", timeout, e.Message, e.Groups)
		}
	}
}
