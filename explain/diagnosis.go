package explain

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// probeSteps bounds the searches that only serve to describe a conflict better.
const probeSteps = 100_000

// diagnosis finds out why a node cannot have the claims.
type diagnosis struct {
	q       *question
	cluster *allocator.Cluster
	refs    []inspect.ClaimRef
	node    *corev1.Node

	// general are reasons that no request is to blame for.
	general []Reason
	funnels []Funnel
	// starved are the funnels of requests that have too few devices.
	starved []starved
	// joint are reasons why devices cannot be had together.
	joint []jointReason
	// apart is the request of joint that fits by itself; nil: none does.
	apart *apart
	// pools are pools that offer nothing.
	pools []Reason
	// noPools: nothing reaches the node at all.
	noPools bool
}

// starved is a request with too few devices, and its place among the funnels.
type starved struct {
	funnel int
	path   string
}

// diagnose looks at a node that said no.
func (q *question) diagnose(ctx context.Context, node *corev1.Node, a *answer) (*diagnosis, error) {
	d := &diagnosis{q: q, cluster: q.cluster, node: node}
	for _, c := range q.claims {
		d.refs = append(d.refs, inspect.RefOf(c))
	}
	switch {
	case a.unsuitable != nil:
		d.general = []Reason{*a.unsuitable}
		return d, nil
	case a.abort != nil:
		d.general = []Reason{abortReason(a.abort)}
		return d, nil
	}
	exam, err := q.cluster.Examine(ctx, node, q.claims)
	if err != nil {
		return nil, err
	}
	for i := range exam.Requests {
		d.funnels = append(d.funnels, d.funnel(ctx, &exam.Requests[i]))
	}
	if a.result.Outcome == allocator.Undecided {
		d.general = []Reason{{Code: allocator.SearchLimit, Key: key(a.result.Steps), Message: fmt.Sprintf("given up after %d steps without an answer", a.result.Steps)}}
		return d, nil
	}
	d.noPools = len(exam.Pools) == 0
	d.findStarved(exam)
	if len(d.starved) == 0 {
		if err := d.jointReasons(ctx, exam); err != nil {
			return nil, err
		}
	}
	d.poolReasons(exam)
	return d, nil
}

func abortReason(e *allocator.AbortError) Reason {
	r := Reason{
		Code: e.Code, Request: e.Request, Claim: e.Claim, Message: withoutHint(e), NamesRequest: e.Class == "",
		Key: key(e.Claim, e.Request, e.Class, e.Selector, withoutDevice(e.Err.Error(), e.Device)),
	}
	if e.Device != (inspect.DeviceID{}) {
		r.Devices, r.Total = []inspect.DeviceID{e.Device}, 1
	}
	return r
}

// withoutDevice leaves the name of the device out of an error of an expression, so that devices that fail alike are
// told as one.
func withoutDevice(text string, id inspect.DeviceID) string {
	return strings.ReplaceAll(firstLine(text), id.String(), "")
}

// withoutHint is the first line of an error, without the general advice that CEL appends to it: the fixes say what
// to write.
func withoutHint(e *allocator.AbortError) string {
	text, _, _ := strings.Cut(firstLine(e.Error()), ". consider using CEL optional chaining")
	return text
}

// findStarved finds requests for which there are too few devices even if each device is looked at by
// itself. A prioritized request only counts if that is so for all of its subrequests.
func (d *diagnosis) findStarved(exam *allocator.Examination) {
	for first := 0; first < len(exam.Requests); {
		last := first
		for last < len(exam.Requests) && exam.Requests[last].Claim == exam.Requests[first].Claim && exam.Requests[last].Request == exam.Requests[first].Request {
			last++
		}
		all := true
		for i := first; i < last; i++ {
			all = all && d.funnels[i].starves()
		}
		for i := first; i < last && all; i++ {
			d.starved = append(d.starved, starved{i, d.path(&exam.Requests[i])})
		}
		first = last
	}
}

// starves reports whether fewer devices are left than are needed.
func (f *Funnel) starves() bool {
	left := f.Steps[len(f.Steps)-1].Left
	return left < f.Needed || f.All && f.Needed == 0
}

// starvedReasons says why a request has too few devices: a summary, then the losses, those last that
// lie furthest from a usable device.
func (d *diagnosis) starvedReasons(f *Funnel, path string) []Reason {
	base := Reason{Request: f.Request, Claim: f.Claim, Path: path, Key: f.Request}
	last := f.Steps[len(f.Steps)-1]
	if f.Steps[0].Most == 0 {
		base.Code, base.Message = allocator.NoDevices, "no device reaches the node"
		if d.noPools {
			base.Message = "no resource pool reaches the node"
		}
		return []Reason{base}
	}
	var out []Reason
	switch {
	case f.All && f.Needed > 0:
		base.Code = allocator.AllDevicesRequired
		base.Message = fmt.Sprintf("all %s that match are required, %s can be had", count(f.Needed, "device"), span(last.Left, last.Most))
		base.Path += ".allocationMode"
		out = append(out, base)
	case !f.All && last.Most > 0:
		base.Code = allocator.NotEnoughDevices
		base.Message = fmt.Sprintf("%s needed, %s can be had", count(f.Needed, "device"), span(last.Left, last.Most))
		base.Path += ".count"
		out = append(out, base)
	}
	for _, step := range slices.Backward(f.Steps) {
		for _, other := range []bool{false, true} {
			for i := range step.Lost {
				loss := &step.Lost[i]
				if loss.OtherDriver && f.Steps[1].Most > 0 {
					continue // of no interest where there are devices of the class
				}
				if loss.OtherDriver == other {
					out = append(out, lossReason(f, path, loss))
				}
			}
		}
	}
	return out
}

func lossReason(f *Funnel, path string, loss *Loss) Reason {
	return Reason{
		Code: loss.Code, Key: key(f.Request, loss.Key), Request: f.Request, Claim: f.Claim, Path: path,
		Devices: loss.Devices, Total: loss.Total, Claims: loss.Claims, Message: loss.Message(),
	}
}

// poolReasons adds the pools that offer nothing because they are not in order: their devices may be
// what is missing.
func (d *diagnosis) poolReasons(exam *allocator.Examination) {
	for _, p := range exam.Pools {
		switch {
		case p.Incomplete:
			d.pools = append(d.pools, Reason{Code: allocator.PoolIncomplete, Pool: p.ID, Key: key(p.ID, p.SlicesSeen, p.SlicesWanted, p.Generation), Message: fmt.Sprintf(
				"pool %s offers nothing: %d of %d slices of generation %d are published", p.ID, p.SlicesSeen, p.SlicesWanted, p.Generation)})
		case p.Invalid != "":
			d.pools = append(d.pools, Reason{Code: allocator.PoolInvalid, Pool: p.ID, Key: key(p.ID, p.Invalid), Message: fmt.Sprintf("pool %s offers nothing: %s", p.ID, p.Invalid)})
		}
	}
}

// path returns the field of a request in its claim.
func (d *diagnosis) path(r *allocator.ExaminedRequest) string {
	if r.Prioritized {
		return fmt.Sprintf("spec.devices.requests[%d].firstAvailable[%d]", r.Request, r.Sub)
	}
	return fmt.Sprintf("spec.devices.requests[%d].exactly", r.Request)
}
