package explain

import (
	"context"
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

var countKind = kind{name: CountRequired, importance: 1, list: listCounts}

// countRequirement is a number of devices above one, or all devices. It is given up by asking for one.
type countRequirement struct {
	Requirement
	edit countEdit
}

func listCounts(_ context.Context, s *site) []requirement {
	var out []requirement
	for i := range s.exam.Requests {
		r := &s.exam.Requests[i]
		path := s.q.path(refOf(r))
		switch {
		case r.All:
			what := "all devices that match"
			if r.Needed > 1 {
				what = fmt.Sprintf("all %d devices that match", r.Needed)
			}
			out = append(out, countRequirement{
				s.about(r, CountRequired, path+".allocationMode", "%s wants %s", r.Name, what).with(fitting(r)),
				countEdit{refOf(r), 1},
			})
		case r.Needed > 1:
			out = append(out, countRequirement{
				s.about(r, CountRequired, path+".count", "%s needs %d devices", r.Name, r.Needed).with(fitting(r)),
				countEdit{refOf(r), 1},
			})
		}
	}
	return out
}

// fitting says how many devices pass every check that looks at one device.
func fitting(r *allocator.ExaminedRequest) string {
	fit := 0
	for i := range r.Devices {
		fit += btoi(len(r.Devices[i].Failures) == 0)
	}
	switch fit {
	case 0:
		if n := len(devicesWithout(r, allocator.ClassSelectorRejected)); n > 1 {
			return fmt.Sprintf("none of %d here fits", n)
		}
		return "none here fits"
	case 1:
		return "1 here fits"
	}
	return fmt.Sprintf("%d here fit", fit)
}

func (r countRequirement) describe() *Requirement { return &r.Requirement }
func (r countRequirement) relaxing() edit         { return r.edit }
func (r countRequirement) effort(*question) int   { return 2 }
func (r countRequirement) price(*question) int    { return costCount }

// propose finds the highest count that fits on any node. Asking for fewer devices never fits worse: the devices of
// a solution without one of them are a solution for one less.
func (r countRequirement) propose(ctx context.Context, c *clusterSandbox, node inspect.NodeName) ([]change, error) {
	f := fieldsOf(c.q.claims, r.edit.at)
	wanted, cost := "all", costAll
	if *f.mode == resourcev1.DeviceAllocationModeExactCount {
		wanted, cost = fmt.Sprint(*f.count), costCount
	}
	most, err := mostDevices(ctx, c, r.edit.at)
	if err != nil {
		return nil, err
	}
	best := r.edit // a count of 1 fits
	for best.count < most {
		next := countEdit{best.at, best.count + 1}
		at, err := c.firstFit(ctx, []edit{next})
		if err != nil {
			return nil, err
		}
		if at == "" {
			break
		}
		best, node = next, at
	}
	return []change{{
		kind: ReduceCount, edits: []edit{best}, node: node, cost: cost, key: fmt.Sprint(best),
		message: fmt.Sprintf("ask for %s instead of %s%s", count(int(best.count), "device"), wanted, forRequest(c.q, &r.Requirement)),
	}}, nil
}

// mostDevices is the highest count to try instead of the count, or of all: one less, or as many as all are on any
// of the near nodes. Where another alternative is what fits, no count would be too high.
func mostDevices(ctx context.Context, c *clusterSandbox, at requestRef) (int64, error) {
	if f := fieldsOf(c.q.claims, at); *f.mode == resourcev1.DeviceAllocationModeExactCount {
		return *f.count - 1, nil
	}
	examined, err := c.examined(ctx)
	if err != nil {
		return 0, err
	}
	most := 1
	for _, r := range examined {
		if refOf(r) == at {
			most = max(most, r.Needed)
		}
	}
	return int64(min(most, resourcev1.AllocationResultsMaxSize)), nil
}

// combine raises the count as long as the edits together help.
func (r countRequirement) combine(ctx context.Context, c *combination, i int) (part, error) {
	most, err := mostDevices(ctx, c.clusterSandbox, r.edit.at)
	if err != nil {
		return part{}, err
	}
	best := r.edit
	for best.count < most {
		next := countEdit{best.at, best.count + 1}
		helps, err := c.helpsWith(ctx, i, next)
		if err != nil {
			return part{}, err
		}
		if !helps {
			break
		}
		best = next
	}
	return part{
		ReduceCount, fmt.Sprint(best), fmt.Sprintf("ask for %s%s", count(int(best.count), "device"), forRequest(c.q, &r.Requirement)),
	}, nil
}
