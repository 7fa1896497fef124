package allocator

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// What the random problems reach. A comparison of problems that never get to a check proves nothing
// about it, so the test prints how often each thing occurred and fails when one is too rare.

type coverage struct {
	sync.Mutex
	counts map[string]int
}

func newCoverage() *coverage { return &coverage{counts: map[string]int{}} }

func (c *coverage) merge(other *coverage) {
	c.Lock()
	defer c.Unlock()
	for key, n := range other.counts {
		c.counts[key] += n
	}
}

func (c *coverage) sawIf(condition bool, key string) {
	if condition {
		c.counts[key]++
	}
}

// codesSeen is an Observer that collects codes.
type codesSeen map[Code]bool

func (s codesSeen) Reject(r Rejection) { s[r.Code] = true }

// exemptCodes are given by explanations, not by the search, or only by the rules of older releases.
var exemptCodes = []Code{NoDevices, NotEnoughDevices, AllDevicesRequired, SearchLimit, SchedulerCrash}

// problem counts what one problem reached.
func (c *coverage) problem(q *question, got comparison, codes codesSeen) {
	kind := "problem/unsatisfiable"
	for i := range got.ours {
		a := &got.ours[i]
		c.sawIf(true, "outcome/"+string(a.outcome))
		c.sawIf(true, "variant/"+a.variant)
		var abort *AbortError
		switch {
		case errors.As(a.err, &abort):
			kind = "problem/aborting"
			codes[abort.Code] = true
			c.sawIf(true, "abort/"+string(abort.Code))
		case a.outcome == gotDevices:
			if kind == "problem/unsatisfiable" {
				kind = "problem/satisfiable"
			}
			c.answer(q, a)
		}
	}
	c.sawIf(true, kind)
	c.counts["nodes/left out, search too long"] += got.left
	c.counts["nodes/left out, the scheduler panics"] += got.panics
	c.counts["nodes/pruned"] += got.pruned
	for code := range codes {
		c.counts["code/"+string(code)]++
	}
	for _, gate := range switches {
		c.sawIf(q.features.Enabled(gate), "gate/"+string(gate)+" on")
		c.sawIf(!q.features.Enabled(gate), "gate/"+string(gate)+" off")
	}
}

// answer counts what a found allocation contains.
func (c *coverage) answer(q *question, a *answer) {
	c.sawIf(len(q.pending) > 1, "answer/several claims")
	c.sawIf(len(q.pending) > 1 && q.pending[0] == q.pending[1], "answer/the same claim twice")
	c.sawIf(a.steps > leastSteps(q, a), "answer/after backtracking")
	for i := range a.allocations {
		allocation := &a.allocations[i]
		claim := q.pending[i]
		c.sawIf(len(claim.Spec.Devices.Requests) == 0, "answer/claim without requests")
		c.sawIf(len(allocation.Devices.Results) > 16, "answer/more than 16 devices")
		c.constraints(q, claim, allocation)
		c.configs(claim, allocation)
		switch selector := allocation.NodeSelector; {
		case selector == nil:
			c.sawIf(true, "answer/for all nodes")
		case len(selector.NodeSelectorTerms[0].MatchExpressions) > 0:
			c.sawIf(true, "answer/for nodes by labels")
		default:
			c.sawIf(true, "answer/for one node")
		}
		for j := range allocation.Devices.Results {
			c.result(q, claim, &allocation.Devices.Results[j])
		}
	}
}

// leastSteps is how many steps a search makes that never goes back.
func leastSteps(q *question, a *answer) int64 {
	steps := 1 + len(q.pending)
	for i, claim := range q.pending {
		for r := range claim.Spec.Devices.Requests {
			steps++
			if len(claim.Spec.Devices.Requests[r].FirstAvailable) > 0 {
				steps++
			}
		}
		steps += len(a.allocations[i].Devices.Results)
	}
	return int64(steps)
}

func (c *coverage) constraints(q *question, claim *resourcev1.ResourceClaim, allocation *resourcev1.AllocationResult) {
	if len(allocation.Devices.Results) < 2 {
		return
	}
	lists := q.features.Enabled(inspect.GateListTypeAttributes)
	for _, constraint := range claim.Spec.Devices.Constraints {
		c.sawIf(constraint.MatchAttribute != nil, "answer/match over several devices")
		c.sawIf(constraint.MatchAttribute != nil && lists, "answer/match over sets of values")
		c.sawIf(constraint.DistinctAttribute != nil, "answer/distinct over several devices")
		c.sawIf(constraint.DistinctAttribute != nil && lists, "answer/distinct over sets of values")
	}
}

func (c *coverage) configs(claim *resourcev1.ResourceClaim, allocation *resourcev1.AllocationResult) {
	for _, config := range allocation.Devices.Config {
		c.sawIf(true, "answer/config "+string(config.Source))
		c.sawIf(len(config.Requests) == 0, "answer/config for every request")
		c.sawIf(len(config.Requests) > 0, "answer/config for some requests")
		c.sawIf(len(config.Requests) > 1, "answer/config for several requests")
	}
	ofClaim := 0
	for _, config := range allocation.Devices.Config {
		if config.Source == resourcev1.AllocationConfigSourceClaim {
			ofClaim++
		}
	}
	c.sawIf(ofClaim < len(claim.Spec.Devices.Config), "answer/config left out")
}

func (c *coverage) result(q *question, claim *resourcev1.ResourceClaim, r *resourcev1.DeviceRequestAllocationResult) {
	device, slice := q.published(r)
	request, capacity := requestOf(claim, r.Request)
	c.sawIf(r.AdminAccess != nil, "answer/admin access")
	c.sawIf(len(r.Tolerations) > 0, "answer/tolerations")
	c.sawIf(len(r.BindingConditions) > 0, "answer/binding conditions")
	c.sawIf(len(r.SkipNodeOperations) > 0, "answer/node operations skipped")
	c.sawIf(len(r.SkipNodeOperations) == 0 && len(slice.Spec.SkipNodeOperations) > 0, "answer/node operations not mentioned by incubating")
	c.sawIf(strings.HasSuffix(r.Request, "/s0"), "answer/first subrequest")
	c.sawIf(strings.HasSuffix(r.Request, "/s1"), "answer/second subrequest")
	c.sawIf(strings.HasSuffix(r.Request, "/s2"), "answer/third subrequest")
	c.sawIf(request == resourcev1.DeviceAllocationModeAll, "answer/all devices")
	c.sawIf(isTrue(device.BindsToNode), "answer/bound to the node")
	c.sawIf(isTrue(slice.Spec.PerDeviceNodeSelection), "answer/node selection per device")
	c.sawIf(len(device.ConsumesCounters) > 0, "answer/counters consumed")
	c.sawIf(len(device.Taints) > 0, "answer/tainted device")
	for _, use := range device.ConsumesCounters {
		c.sawIf(len(use.CompatibilityGroups) > 0, "answer/compatibility groups")
	}
	for name, amount := range r.ConsumedCapacity {
		wanted, asked := capacity[name]
		policy := device.Capacity[name].RequestPolicy
		c.sawIf(asked && amount.Cmp(wanted) > 0, "answer/consumption rounded up")
		c.sawIf(asked && policy != nil && len(policy.ValidValues) > 0, "answer/consumption by valid values")
		c.sawIf(asked && policy != nil && policy.ValidRange != nil, "answer/consumption by range")
		c.sawIf(asked && policy == nil, "answer/consumption without policy")
		c.sawIf(!asked && policy != nil && policy.Default != nil, "answer/consumption by default")
		c.sawIf(!asked && (policy == nil || policy.Default == nil), "answer/consumption of the whole")
		c.sawIf(amount.MilliValue()%1000 != 0, "answer/consumption of a fraction")
	}
}

// published finds the device of a result.
func (q *question) published(r *resourcev1.DeviceRequestAllocationResult) (*resourcev1.Device, *resourcev1.ResourceSlice) {
	for _, slice := range q.objects.Slices {
		if slice.Spec.Driver != r.Driver || slice.Spec.Pool.Name != r.Pool {
			continue
		}
		for i := range slice.Spec.Devices {
			if slice.Spec.Devices[i].Name == r.Device {
				return &slice.Spec.Devices[i], slice
			}
		}
	}
	return &resourcev1.Device{}, &resourcev1.ResourceSlice{}
}

// requestOf finds the allocation mode and the wanted capacities behind the name of a request in a result.
func requestOf(claim *resourcev1.ResourceClaim, name string) (resourcev1.DeviceAllocationMode, map[resourcev1.QualifiedName]resource.Quantity) {
	main, sub, _ := strings.Cut(name, "/")
	for i := range claim.Spec.Devices.Requests {
		request := &claim.Spec.Devices.Requests[i]
		if request.Name != main {
			continue
		}
		if request.Exactly != nil {
			return request.Exactly.AllocationMode, requestsOf(request.Exactly.Capacity)
		}
		for j := range request.FirstAvailable {
			if request.FirstAvailable[j].Name == sub {
				return request.FirstAvailable[j].AllocationMode, requestsOf(request.FirstAvailable[j].Capacity)
			}
		}
	}
	return "", nil
}

func requestsOf(c *resourcev1.CapacityRequirements) map[resourcev1.QualifiedName]resource.Quantity {
	if c == nil {
		return nil
	}
	return c.Requests
}

// atLeast are the things that the problems must reach, besides codes, gates and outcomes.
var atLeast = []string{
	"answer/several claims", "answer/the same claim twice", "answer/after backtracking", "answer/claim without requests",
	"answer/more than 16 devices", "answer/match over several devices", "answer/match over sets of values",
	"answer/distinct over several devices", "answer/distinct over sets of values", "answer/config FromClass",
	"answer/config FromClaim", "answer/config for every request", "answer/config for some requests",
	"answer/config for several requests", "answer/config left out", "answer/for all nodes", "answer/for nodes by labels",
	"answer/for one node", "answer/admin access", "answer/tolerations", "answer/binding conditions",
	"answer/node operations skipped", "answer/node operations not mentioned by incubating", "answer/first subrequest",
	"answer/second subrequest", "answer/third subrequest", "answer/all devices", "answer/bound to the node",
	"answer/node selection per device", "answer/counters consumed", "answer/tainted device", "answer/compatibility groups",
	"answer/consumption rounded up", "answer/consumption by valid values", "answer/consumption by range",
	"answer/consumption without policy", "answer/consumption by default", "answer/consumption of the whole",
	"answer/consumption of a fraction",
	"nodes/pruned", "outcome/devices", "outcome/nothing", "outcome/invalid pools", "outcome/abort", "variant/incubating", "variant/experimental",
}

// check prints the coverage and fails the test when something is missing or out of proportion.
func (c *coverage) check(t *testing.T, n int) {
	t.Helper()
	c.Lock()
	defer c.Unlock()
	var table strings.Builder
	for _, key := range slices.Sorted(maps.Keys(c.counts)) {
		fmt.Fprintf(&table, "%8d %s\n", c.counts[key], key)
	}
	t.Logf("%d problems:\n%s", n, table.String())

	want := slices.Clone(atLeast)
	for _, code := range deviceCodes() {
		switch exempt := slices.Contains(exemptCodes, code); {
		case !exempt:
			want = append(want, "code/"+string(code))
		case c.counts["code/"+string(code)] > 0:
			t.Errorf("code %s is exempt, but the search gives it", code)
		}
	}
	least := max(1, n/3_000)
	for _, key := range want {
		if c.counts[key] < least {
			t.Errorf("%s: %d times, want at least %d", key, c.counts[key], least)
		}
	}
	c.checkShares(t, n)
}

func (c *coverage) checkShares(t *testing.T, n int) {
	t.Helper()
	share := func(key string, least, most int) {
		if percent := c.counts[key] * 100 / n; percent < least || percent > most {
			t.Errorf("%s: %d%% of the problems, want %d%% to %d%%", key, percent, least, most)
		}
	}
	share("problem/satisfiable", 20, 50)
	share("problem/unsatisfiable", 20, 55)
	share("problem/aborting", 15, 40)
	share("nodes/left out, search too long", 0, 2)
	share("nodes/left out, the scheduler panics", 0, 0)
	for _, gate := range switches {
		share("gate/"+string(gate)+" on", 10, 95)
		share("gate/"+string(gate)+" off", 5, 90)
	}
}
