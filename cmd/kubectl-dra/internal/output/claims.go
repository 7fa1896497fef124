package output

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Claim is an item of a ClaimList.
type Claim struct {
	Listed
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// State is Pending, Allocated, Reserved or Deleting.
	State string `json:"state" enum:"inspect.ClaimState"`
	// Node is the node that the allocation is tied to; empty when there is none.
	Node string `json:"node"`
	// Devices are driver/pool/device, in the order of the allocation.
	Devices []string `json:"devices"`
	// AdminDevices are those of them that the claim only has admin access to, which takes nothing from
	// others.
	AdminDevices []string `json:"adminDevices,omitempty"`
	// Pods are namespace/name of the pods that use the claim.
	Pods []string `json:"pods"`
	// Reason says in one line why the claim cannot be allocated or what it waits for; empty when it waits
	// for nothing.
	Reason string `json:"reason"`
	Age    string `json:"age"`
	// Created is RFC 3339, or empty.
	Created string `json:"created,omitempty"`
}

// Claims lists the claims of a namespace, or all for "", sorted by namespace and name. Their reasons are
// left to the caller.
func Claims(s *inspect.Snapshot, namespace string) *List {
	list := NewList("ClaimList", "resourceclaim.resource.k8s.io", claimTable)
	for _, claim := range s.Objects().Claims {
		if namespace == "" || claim.Namespace == namespace {
			list.Items = append(list.Items, wireClaim(s, claim))
		}
	}
	return list
}

func wireClaim(s *inspect.Snapshot, claim *resourcev1.ResourceClaim) *Claim {
	c := &Claim{
		Namespace: claim.Namespace, Name: claim.Name, State: string(inspect.StateOf(claim)),
		Devices: []string{}, Pods: words.Each(s.PodsOf(inspect.RefOf(claim)), inspect.PodRef.String), Age: age(claim.CreationTimestamp, s.Time()), Created: Timestamp(claim.CreationTimestamp),
		Listed: Listed{Meta{Namespace: claim.Namespace, Name: claim.Name, Labels: claim.Labels, Created: claim.CreationTimestamp}},
	}
	if allocation := claim.Status.Allocation; allocation != nil {
		c.Node = string(inspect.AllocationNode(allocation))
		for i := range allocation.Devices.Results {
			r := &allocation.Devices.Results[i]
			c.Devices = append(c.Devices, inspect.DeviceOf(r).String())
			if ptr.Deref(r.AdminAccess, false) {
				c.AdminDevices = append(c.AdminDevices, inspect.DeviceOf(r).String())
			}
		}
	}
	return c
}

var claimTable = Table{
	Namespaced: true,
	Columns: []Column{
		{Header: "NAME", Spill: true}, {Header: "STATE"}, {Header: "NODE", Rank: 2}, {Header: "DEVICES", Cut: CutText, Rank: 4}, {Header: "PODS", Cut: CutList, Rank: 5},
		{Header: "AGE", Rank: 3}, {Header: "REASON", Cut: CutText, Least: 24, Rank: 1}, {Header: "DEVICE-NAMES", Wide: true},
	},
	Row: func(item Item) []string {
		c := item.(*Claim)
		return []string{c.Name, c.State, OrNone(c.Node), devicesByDriver(c.Devices, c.AdminDevices), podNames(c.Pods), c.Age, OrNone(c.Reason), OrNone(strings.Join(c.Devices, ","))}
	},
}

// devicesByDriver sums up device names, as "2 gpu.example.com". Those with admin access are summed up by
// themselves.
func devicesByDriver(devices, admin []string) string {
	count := map[string]int{}
	for _, d := range devices {
		driver, _, _ := strings.Cut(d, "/")
		count[driver]++
	}
	for _, d := range admin {
		driver, _, _ := strings.Cut(d, "/")
		count[driver]--
		count[driver+" (admin)"]++
	}
	maps.DeleteFunc(count, func(_ string, n int) bool { return n == 0 })
	return countsByDriver(count)
}

// countsByDriver prints how many devices there are of each driver.
func countsByDriver(count map[string]int) string {
	drivers := slices.Sorted(maps.Keys(count))
	for i, driver := range drivers {
		drivers[i] = strconv.Itoa(count[driver]) + " " + driver
	}
	return OrNone(strings.Join(drivers, ", "))
}

// podNames shortens namespace/name to name: a claim and its pods share a namespace.
func podNames(pods []string) string {
	names := make([]string, len(pods))
	for i, pod := range pods {
		_, names[i], _ = strings.Cut(pod, "/")
	}
	return OrNone(strings.Join(names, ","))
}
