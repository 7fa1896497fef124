package record

import (
	"cmp"
	"fmt"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// claim tells what has become of a claim.
func (c *comparison) claim(a, b *resourcev1.ResourceClaim) {
	c.touch(a, b)
	one := cmp.Or(b, a)
	e := screen.Event{
		Ref:  screen.Ref{Kind: screen.Claim, Namespace: one.Namespace, Name: one.Name},
		Node: inspect.AllocationNode(one.Status.Allocation), Driver: driverOf(one), By: consumers(one),
	}
	switch {
	case a == nil:
		e.Kind, e.Text = screen.ClaimCreated, "created"
		if b.Status.Allocation != nil {
			e.Kind, e.Text = screen.ClaimAllocated, "created, "+strings.ToLower(string(inspect.StateOf(b)))+onNode(b)
		}
	case b == nil:
		e.Kind, e.Text = screen.ClaimDeleted, "deleted"
		if held := a.Status.Allocation; held != nil {
			e.Text += ", gave back " + words.Count(len(held.Devices.Results), "device")
		}
	case a.UID != b.UID:
		e.Kind, e.Text = screen.ClaimDeleted, "deleted and created again"
	default:
		from, to := inspect.StateOf(a), inspect.StateOf(b)
		if from == to {
			return
		}
		e.Kind, e.Text = transition(a, to), strings.ToLower(string(from+" → "+to))
		if a.Status.Allocation == nil {
			e.Text += onNode(b)
		}
		if b.Status.Allocation == nil {
			e.Node, e.Driver, e.By = inspect.AllocationNode(a.Status.Allocation), driverOf(a), consumers(a)
		}
	}
	c.add(e)
}

// transition is the kind of what happens to a claim that comes into a state.
func transition(from *resourcev1.ResourceClaim, to inspect.ClaimState) screen.EventKind {
	switch to {
	case inspect.ClaimPending:
		return screen.ClaimReleased
	case inspect.ClaimDeleting:
		return screen.ClaimDeleting
	case inspect.ClaimAllocated:
		if from.Status.Allocation != nil {
			return screen.ClaimUnreserved
		}
	case inspect.ClaimReserved:
		if from.Status.Allocation != nil {
			return screen.ClaimReserved
		}
	}
	return screen.ClaimAllocated
}

// onNode says where a claim has its devices.
func onNode(claim *resourcev1.ResourceClaim) string {
	if node := inspect.AllocationNode(claim.Status.Allocation); node != "" {
		return " on " + string(node)
	}
	return ""
}

func driverOf(claim *resourcev1.ResourceClaim) string {
	if a := claim.Status.Allocation; a != nil && len(a.Devices.Results) > 0 {
		return a.Devices.Results[0].Driver
	}
	return ""
}

// consumers are those for whom a claim is reserved.
func consumers(claim *resourcev1.ResourceClaim) string {
	by := claim.Status.ReservedFor
	if len(by) == 0 {
		return ""
	}
	text := strings.TrimSuffix(by[0].Resource, "s") + " " + by[0].Name
	if len(by) > 1 {
		text += fmt.Sprintf(" and %d more", len(by)-1)
	}
	return text
}

// touch remembers the pools of the devices that a claim had or has: it may have got or given back some.
func (c *comparison) touch(a, b *resourcev1.ResourceClaim) {
	for _, claim := range []*resourcev1.ResourceClaim{a, b} {
		if claim == nil || claim.Status.Allocation == nil {
			continue
		}
		for i := range claim.Status.Allocation.Devices.Results {
			c.pools[inspect.DeviceOf(&claim.Status.Allocation.Devices.Results[i]).PoolID()] = true
		}
	}
}
