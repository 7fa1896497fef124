package diagnose

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// diagnosis is why a node cannot have the claims. At most one of general, starved and interactions has
// entries.
type diagnosis struct {
	q       *whatif.Question
	cluster *scheduler.Cluster
	refs    []inspect.ClaimRef
	node    *corev1.Node

	// general are reasons that no request is to blame for.
	general []explain.Reason
	// unusable says that the pod cannot use the nodes whatever devices they have, for the general reasons.
	unusable bool
	// filtered is what the scheduler's other filters say of each of the nodes: for the same reasons.
	filtered []filters.Outcome
	funnels  []explain.Funnel
	// starved are the requests that have too few devices.
	starved []starvedRequest
	// interactions are reasons why devices cannot be had together.
	interactions []interaction
	// pools are reasons why pools offer nothing.
	pools []explain.Reason
	// noPools says that no pool reaches the node.
	noPools bool
	// err is the first error of a smaller question to the node. Nothing is known from then on.
	err error
}

// starvedRequest is a request with too few devices.
type starvedRequest struct {
	funnel int    // its index among the funnels
	path   string // its field in the claim
}

// diagnose makes the diagnosis of a node that gave the answer no.
func diagnose(ctx context.Context, q *whatif.Question, node *corev1.Node, a *whatif.Answer) (*diagnosis, error) {
	d := &diagnosis{q: q, cluster: q.Cluster, node: node}
	for _, c := range q.Claims {
		d.refs = append(d.refs, inspect.RefOf(c))
	}
	d.filtered = a.Filtered
	switch {
	case len(a.Unsuitable) > 0:
		d.general, d.unusable = a.Unsuitable, true
		return d, nil
	case len(a.Filtered) > 0 && slices.ContainsFunc(a.Filtered[0].Refusals, func(r filters.Refusal) bool { return explain.KeepsOut(&r) }):
		d.unusable = true
		return d, nil
	case a.Result == nil && a.Abort == nil, a.Result != nil && a.Result.Outcome == allocator.Allocated:
		return d, nil // devices are not what is missing
	case a.Abort != nil:
		d.general = []explain.Reason{AbortReason(a.Abort)}
		return d, nil
	}
	exam, err := q.Cluster.Examine(ctx, node, q.Claims)
	if err != nil {
		return nil, err
	}
	for i := range exam.Requests {
		d.funnels = append(d.funnels, d.funnel(ctx, &exam.Requests[i]))
	}
	if a.Result.Outcome == allocator.Undecided {
		d.general = []explain.Reason{{Code: allocator.SearchLimit, Key: words.Key(a.Result.Steps), Message: fmt.Sprintf("given up after %d steps without an answer", a.Result.Steps)}}
		return d, nil
	}
	if refused := a.Result.Refused; refused != nil {
		reason := AbortReason(refused)
		reason.Message, reason.NamesRequest = refused.Err.Error(), false
		d.general = []explain.Reason{reason}
		return d, nil
	}
	d.noPools = len(exam.Pools) == 0
	d.findStarved(exam)
	if len(d.starved) == 0 {
		d.findInteractions(ctx, exam)
	}
	d.poolReasons(exam)
	return d, d.err
}

// AbortReason is the reason that what makes the scheduler abort is for a node, with the device that it failed
// for.
func AbortReason(e *allocator.AbortError) explain.Reason {
	r := explain.Reason{
		Code: e.Code, Request: e.Request, Claim: e.Claim, Message: AbortMessage(e), NamesRequest: e.Class == "",
		Key: words.Key(e.Claim, e.Request, e.Class, e.Selector, withoutDevice(e.Err.Error(), e.Device)),
	}
	if e.Device != (inspect.DeviceID{}) {
		r.Found, r.Devices, r.Total = words.Key(e.Device), []inspect.DeviceID{e.Device}, 1
	}
	return r
}

// withoutDevice leaves the name of the device out of an error of an expression, so that devices that fail for
// the same reason make one group.
func withoutDevice(text string, id inspect.DeviceID) string {
	return strings.ReplaceAll(words.FirstLine(text), id.String(), "")
}

// AbortMessage is the first line of what makes the scheduler abort. It leaves out the general advice that CEL
// appends, since the fixes say what to write.
func AbortMessage(e *allocator.AbortError) string {
	text, _, _ := strings.Cut(words.FirstLine(e.Error()), ". consider using CEL optional chaining")
	return text
}

// findStarved finds the requests for which there are too few devices even if each device is examined by
// itself. A prioritized request counts only if that is so for all of its subrequests.
func (d *diagnosis) findStarved(exam *allocator.Examination) {
	for first := 0; first < len(exam.Requests); {
		last := first
		for last < len(exam.Requests) && exam.Requests[last].Claim == exam.Requests[first].Claim && exam.Requests[last].Request == exam.Requests[first].Request {
			last++
		}
		all := true
		for i := first; i < last; i++ {
			all = all && starves(&d.funnels[i])
		}
		for i := first; i < last && all; i++ {
			d.starved = append(d.starved, starvedRequest{i, d.path(&exam.Requests[i])})
		}
		first = last
	}
}

// starves reports whether fewer devices are left than are needed.
func starves(f *explain.Funnel) bool {
	left := f.Steps[len(f.Steps)-1].Left
	return left < f.Needed || f.All && f.Needed == 0
}

// starvedReasons says why a request has too few devices: first a summary, then the losses. Those come first
// whose devices passed most checks, and losses of other drivers last in each step.
func (d *diagnosis) starvedReasons(f *explain.Funnel, path string) []explain.Reason {
	base := explain.Reason{Request: f.Request, Claim: f.Claim, Path: path, Key: f.Request}
	last := f.Steps[len(f.Steps)-1]
	if f.Steps[0].Most == 0 {
		base.Code, base.Found, base.Message = allocator.NoDevices, "pools", "no device reaches the node"
		if d.noPools {
			base.Found, base.Message = "nothing", "no resource pool reaches the node"
		}
		return []explain.Reason{base}
	}
	var out []explain.Reason
	switch {
	case f.All && f.Needed > 0:
		base.Code, base.Found = allocator.AllDevicesRequired, words.Key(f.Needed, last.Left, last.Most)
		base.Message = fmt.Sprintf("all %s that match are required, %s can be had", words.Count(f.Needed, "device"), words.Span(last.Left, last.Most))
		base.Path += ".allocationMode"
		out = append(out, base)
	case !f.All && last.Most > 0:
		base.Code, base.Found = allocator.NotEnoughDevices, words.Key(f.Needed, last.Left, last.Most)
		base.Message = fmt.Sprintf("%s needed, %s can be had", words.Count(f.Needed, "device"), words.Span(last.Left, last.Most))
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

// lossReason makes a reason of a loss.
func lossReason(f *explain.Funnel, path string, loss *explain.Loss) explain.Reason {
	return explain.Reason{
		Code: loss.Code, Key: words.Key(f.Request, loss.Key), Found: loss.Found(), Request: f.Request, Claim: f.Claim, Path: path,
		Devices: loss.Devices, Total: loss.Total, Claims: loss.Claims, TaintRules: loss.TaintRules, Message: loss.Message(),
	}
}

// poolReasons adds the pools that offer nothing because they are incomplete or invalid. Their devices may be
// what is missing.
func (d *diagnosis) poolReasons(exam *allocator.Examination) {
	ignored := map[inspect.PoolID]bool{}
	for _, p := range d.cluster.Snapshot().IgnoredOn(d.node) {
		ignored[p.ID] = true
		d.pools = append(d.pools, explain.Reason{
			Code: allocator.FeatureDisabled, Pool: p.ID, Key: words.Key(p.ID, p.Gate),
			Message: fmt.Sprintf("slices of pool %s are ignored, since the feature gate %s is off", p.ID, p.Gate),
		})
	}
	for _, p := range exam.Pools {
		switch {
		case ignored[p.ID]: // which is why slices seem to be missing
		case p.Incomplete:
			d.pools = append(d.pools, explain.Reason{Code: allocator.PoolIncomplete, Pool: p.ID, Key: words.Key(p.ID, p.SlicesSeen, p.SlicesWanted, p.Generation), Message: fmt.Sprintf(
				"pool %s offers nothing: %d of %d slices of generation %d are published", p.ID, p.SlicesSeen, p.SlicesWanted, p.Generation)})
		case p.Invalid != "":
			d.pools = append(d.pools, explain.Reason{Code: allocator.PoolInvalid, Pool: p.ID, Key: words.Key(p.ID, p.Invalid), Message: fmt.Sprintf("pool %s offers nothing: %s", p.ID, p.Invalid)})
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
