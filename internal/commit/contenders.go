package commit

import (
	"context"
	"errors"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// maxContenders bounds how many pending claims are asked about.
const maxContenders = 100

// A Contender is a claim without an allocation that could take a device that a decision is about to take.
type Contender struct {
	Claim   inspect.ClaimRef
	Pods    []inspect.PodRef // that use it and wait for it
	Devices []inspect.DeviceID
}

// Contenders returns the claims, sorted, that wait for devices and could take some of those of the decision,
// each looked at by itself. complete is false when there were too many to look at all of them.
func (d *Decision) Contenders(ctx context.Context, cluster *allocator.Cluster) (contenders []Contender, complete bool, err error) {
	node, ok := d.Snapshot.Node(d.Node)
	if !ok {
		return nil, true, nil
	}
	wanted := map[inspect.DeviceID]bool{}
	for _, allocation := range d.Allocations {
		for i := range allocation.Devices.Results {
			wanted[inspect.DeviceOf(&allocation.Devices.Results[i])] = true
		}
	}
	asked := 0
	for _, claim := range d.Snapshot.Objects().Claims {
		if claim.Status.Allocation != nil || claim.DeletionTimestamp != nil || d.Allocations[inspect.RefOf(claim)] != nil {
			continue
		}
		if asked == maxContenders {
			return contenders, false, nil
		}
		asked++
		examined, err := cluster.Examine(ctx, node, []*resourcev1.ResourceClaim{claim})
		if errors.As(err, new(*allocator.AbortError)) {
			continue // the scheduler does not allocate this one
		}
		if err != nil {
			return nil, false, err
		}
		if devices := usableOf(examined, wanted); len(devices) > 0 {
			contenders = append(contenders, Contender{Claim: inspect.RefOf(claim), Pods: d.Snapshot.PodsOf(inspect.RefOf(claim)), Devices: devices})
		}
	}
	return contenders, true, nil
}

// usableOf returns those of the wanted devices that pass all checks of some request, sorted.
func usableOf(e *allocator.Examination, wanted map[inspect.DeviceID]bool) []inspect.DeviceID {
	var out []inspect.DeviceID
	for _, request := range e.Requests {
		for _, device := range request.Devices {
			if len(device.Failures) == 0 && wanted[device.ID] && !slices.Contains(out, device.ID) {
				out = append(out, device.ID)
			}
		}
	}
	slices.SortFunc(out, inspect.DeviceID.Compare)
	return out
}
