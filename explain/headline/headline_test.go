package headline_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestDemo compares the headlines of the demo cluster with what people should read first.
func TestDemo(t *testing.T) {
	cluster := explaintest.DemoCluster(t)
	for _, tt := range []struct{ claim, sentence, brief string }{
		{"ml/train-0", "needs 5 devices of class gpu.example.com with the same numa; no node has more than 4 free together", "at most 4 free with the same numa on a node, 5 needed"},
		{"ml/pretrain-2", "needs 8 devices of class gpu-80gb.example.com; no node has more than 6 free", "at most 6 free on a node, 8 needed"},
		{
			"ml/llama-405b-eval", "needs a device of class gpu.example.com with memory >= 96Gi; devices of the class have 40Gi, 80Gi",
			"no device of the class has memory >= 96Gi: they have 40Gi, 80Gi",
		},
		{
			"ml/driver-canary", "needs a device of class gpu.example.com with driverVersion > 585.0.0; all are tainted with example.com/maintenance=firmware:NoSchedule",
			"tainted with example.com/maintenance=firmware:NoSchedule: all of class gpu.example.com with driverVersion > 585.0.0",
		},
		{
			"infer/whisper-large", "needs a device of class mig.example.com with profile == 3g.40gb; all are in use or blocked by partitions in use",
			"in use or blocked by partitions in use: all of class mig.example.com with profile == 3g.40gb",
		},
		{"net/cdn-egress-2", "needs 40G of bandwidth on a device of class edge-nic.example.com; no more than 35G can be had", "at most 35G of bandwidth on a device, 40G needed"},
		{
			"dev/video-transcode-1", "needs a device of class fpga.example.com with model == U250; all are in use by dev/video-transcode-0 and net/packet-capture",
			"in use by dev/video-transcode-0 and net/packet-capture: all of class fpga.example.com with model == U250",
		},
		{
			"dev/transcode-8k", "needs a device of class fpga.example.com with model == VU19P; the only such devices are in pool fpga.example.com/shelf-2, which is ignored until its driver has published all slices of it",
			"pool fpga.example.com/shelf-2 is ignored until its driver has published all slices of it",
		},
		{
			"ml/sweep-2", "makes the scheduler give up with an error: the selector of request gpu reads the attribute nvlinkGeneration, which device gpu.example.com/gpu-a-02/gpu-2 does not have (2 of 12 nodes would fit otherwise)",
			"the scheduler gives up: the selector of request gpu reads the attribute nvlinkGeneration, which device gpu.example.com/gpu-a-02/gpu-2 does not have",
		},
		{"ml/train-1", "can be allocated on 2 of 12 nodes", ""},
	} {
		t.Run(tt.claim, func(t *testing.T) {
			namespace, name, _ := strings.Cut(tt.claim, "/")
			e, err := question.Claim(context.Background(), cluster, inspect.ClaimRef{Namespace: namespace, Name: name}, question.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if e.Predicate != tt.sentence {
				t.Errorf("sentence\n%s\nwant\n%s", e.Predicate, tt.sentence)
			}
			if e.Brief != tt.brief {
				t.Errorf("brief\n%s\nwant\n%s", e.Brief, tt.brief)
			}
		})
	}
}

// ask explains a claim for GPUs in a cluster of the given objects.
func ask(t *testing.T, o inspect.Objects, claim *resourcev1.ResourceClaim) *explain.Explanation {
	t.Helper()
	e, err := question.ClaimObject(context.Background(), explaintest.NewCluster(o), claim, question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestMostIsExact checks that the number of devices which no node exceeds is the largest that the allocator
// gives, on clusters where a constraint makes it smaller than what is left.
func TestMostIsExact(t *testing.T) {
	same := resourcev1.FullyQualifiedName("gpu.example.com/numa")
	for _, lists := range [][]string{{"0 0 0 1"}, {"0 1", "0 0 1 1"}, {"0 1 2", "0 1 2 3"}, {"0 0 1 1 2", "0 0 0", "0 1"}} {
		t.Run(strings.Join(lists, "|"), func(t *testing.T) {
			o := nodesWithNUMA(lists...)
			claim := explaintest.GPUClaim(4, "any", resourcev1.DeviceConstraint{MatchAttribute: &same})
			e := ask(t, o, claim)
			most := 0
			for n := int64(1); n < 4; n++ {
				claim.Spec.Devices.Requests[0].Exactly.Count = n
				if fitsAnywhere(t, o, claim) {
					most = int(n)
				}
			}
			if want := fmt.Sprintf("at most %d with the same numa on a node, 4 needed", most); e.Brief != want {
				t.Errorf("%q, want %q", e.Brief, want)
			}
		})
	}
}

// nodesWithNUMA has a node for each list of numbers, with a device for each number that is its NUMA node.
func nodesWithNUMA(lists ...string) inspect.Objects {
	var numbers []int
	for _, list := range lists {
		numbers = append(numbers, len(strings.Fields(list)))
	}
	o := explaintest.NodesWithDevices(numbers...)
	for n, list := range lists {
		for d, numa := range strings.Fields(list) {
			o.Slices[n].Spec.Devices[d].Attributes = map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"numa": {StringValue: &numa}}
		}
	}
	return o
}

func fitsAnywhere(t *testing.T, o inspect.Objects, claim *resourcev1.ResourceClaim) bool {
	t.Helper()
	c := explaintest.NewCluster(o)
	for _, node := range o.Nodes {
		r, err := c.Allocate(context.Background(), node, []*resourcev1.ResourceClaim{claim}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Outcome == allocator.Allocated {
			return true
		}
	}
	return false
}

// TestSentences checks what is said where one request is to blame, and that nothing is where the nodes refuse
// for different reasons.
func TestSentences(t *testing.T) {
	for _, tt := range []struct {
		name  string
		brief string
		nodes []int
		claim func(c *resourcev1.ResourceClaim)
		other func(o *inspect.Objects)
	}{
		{"one node", "at most 2 on a node, 3 needed", []int{2}, func(c *resourcev1.ResourceClaim) { exactly(c).Count = 3 }, nil},
		{"fits", "", []int{2}, func(*resourcev1.ResourceClaim) {}, nil},
		{
			"no devices", "no driver publishes devices of class any on node n0 (is it running?)", []int{2}, func(*resourcev1.ResourceClaim) {},
			func(o *inspect.Objects) { o.Slices = nil },
		},
		{
			"class without devices", "no driver publishes devices of class any (is it running?)", []int{2, 2}, func(*resourcev1.ResourceClaim) {},
			func(o *inspect.Objects) {
				o.Classes[0].Spec.Selectors = explaintest.CELSelectors(`device.driver == "other"`)
			},
		},
		{
			"class that selects nothing", "no device passes the selectors of class any", []int{2, 2}, func(*resourcev1.ResourceClaim) {},
			func(o *inspect.Objects) {
				o.Classes[0].Spec.Selectors = explaintest.CELSelectors(`device.driver == "gpu.example.com" && 1 > 2`)
			},
		},
		{
			"different terms", "no device of the class passes the selectors of the request", []int{2}, func(c *resourcev1.ResourceClaim) {
				exactly(c).Selectors = explaintest.CELSelectors(`device.driver.startsWith("x") || false`)
			}, nil,
		},
		{
			"all of a node", "all devices of a node needed; on node n0 some are tainted", []int{2}, func(c *resourcev1.ResourceClaim) {
				exactly(c).AllocationMode, exactly(c).Count = resourcev1.DeviceAllocationModeAll, 0
			}, func(o *inspect.Objects) {
				o.Slices[0].Spec.Devices[0].Taints = []resourcev1.DeviceTaint{{Key: "a", Effect: resourcev1.DeviceTaintEffectNoSchedule}}
			},
		},
		{
			"tainted with two", "tainted: all of class any", []int{2}, func(*resourcev1.ResourceClaim) {}, func(o *inspect.Objects) {
				for i, key := range []string{"a", "b"} {
					o.Slices[0].Spec.Devices[i].Taints = []resourcev1.DeviceTaint{{Key: key, Effect: resourcev1.DeviceTaintEffectNoSchedule}}
				}
			},
		},
		{
			"an attribute that no device has", "none has the attribute gpu.example.com/rack of a constraint", []int{2}, func(c *resourcev1.ResourceClaim) {
				exactly(c).Count = 2
				c.Spec.Devices.Constraints = []resourcev1.DeviceConstraint{{MatchAttribute: new(resourcev1.FullyQualifiedName("gpu.example.com/rack"))}}
			}, nil,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := explaintest.NodesWithDevices(tt.nodes...)
			if tt.other != nil {
				tt.other(&o)
			}
			claim := explaintest.GPUClaim(1, "any")
			tt.claim(claim)
			e := ask(t, o, claim)
			if e.Brief != tt.brief {
				t.Errorf("%s\nbrief %q, want %q", e.Message, e.Brief, tt.brief)
			}
		})
	}
}

func exactly(c *resourcev1.ResourceClaim) *resourcev1.ExactDeviceRequest {
	return c.Spec.Devices.Requests[0].Exactly
}

// TestNodesThatThePodMayUse checks that a number is not said of nodes that a pod may not use.
func TestNodesThatThePodMayUse(t *testing.T) {
	o := explaintest.NodesWithDevices(2, 4)
	for i, node := range o.Nodes {
		node.Labels = map[string]string{"disk": []string{"ssd", "hdd"}[i]}
	}
	claim := explaintest.GPUClaim(3, "any")
	o.Claims = append(o.Claims, claim)
	pod := explaintest.NewPod(func(p *corev1.PodSpec) {
		p.NodeSelector = map[string]string{"disk": "ssd"}
		p.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpus", ResourceClaimName: &claim.Name}}
	})
	pod.Namespace = claim.Namespace
	e, err := question.PodObject(context.Background(), explaintest.NewCluster(o), pod, question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := "needs 3 devices of class any; no node that the pod may use has more than 2"; e.Predicate != want {
		t.Errorf("%q, want %q", e.Predicate, want)
	}
}
