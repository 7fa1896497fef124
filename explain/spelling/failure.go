package spelling

import (
	"context"
	"fmt"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// maxHas is the number of names of fields that are listed.
const maxHas = 8

// FailureOf describes what makes the scheduler give up. It returns nil unless that is a term of a selector
// that fails for a device.
func FailureOf(ctx context.Context, q *whatif.Question, abort *allocator.AbortError) *explain.Failure {
	failed, ok := FailedSelectorOf(q, abort)
	if !ok {
		return nil
	}
	for _, term := range q.Cluster.Selectors().Terms(ctx, failed.Expression, abort.Device.Driver, failed.Device) {
		if term.Err == nil {
			continue
		}
		f := &explain.Failure{Device: abort.Device, Hangs: abort.Hangs(), Requirement: failedTerm(q, abort, failed.At, term.Expression)}
		for _, r := range term.Reads {
			if r.Value == "" {
				f.Lacks = append(f.Lacks, r.Expression)
			}
		}
		if len(f.Lacks) > 0 {
			describeFailure(f, failed.Device)
		}
		return f
	}
	return nil
}

// FailedSelector is a selector that fails for a device.
type FailedSelector struct {
	At         whatif.RequestRef // the request that has it, or that names the class that has it
	Device     *resourcev1.Device
	Expression string
}

// FailedSelectorOf returns the selector that makes the scheduler abort. The result is false if it is none, or
// if the device is not published.
func FailedSelectorOf(q *whatif.Question, abort *allocator.AbortError) (FailedSelector, bool) {
	at, ok := q.RequestNamed(abort.Claim, abort.Request)
	device := deviceOf(q.Cluster.Snapshot(), abort.Device)
	if !ok || device == nil || abort.Selector < 0 {
		return FailedSelector{}, false
	}
	selectors := q.SelectorsOf(at, abort.Class)
	if abort.Selector >= len(selectors) || selectors[abort.Selector].CEL == nil {
		return FailedSelector{}, false
	}
	return FailedSelector{at, device, selectors[abort.Selector].CEL.Expression}, true
}

// deviceOf returns a device as it is published, or nil if it is not.
func deviceOf(s *inspect.Snapshot, id inspect.DeviceID) *resourcev1.Device {
	for _, device := range s.Described(id) {
		return device
	}
	return nil
}

// failedTerm is a term that fails, as a requirement.
func failedTerm(q *whatif.Question, abort *allocator.AbortError, at whatif.RequestRef, term string) explain.Requirement {
	r := explain.Requirement{
		Kind: explain.TermRequired, Claim: abort.Claim, Request: abort.Request, Term: term,
		Path: fmt.Sprintf("%s.selectors[%d].cel.expression", q.Path(at), abort.Selector),
	}
	who := abort.Request
	if abort.Class != "" {
		r.Kind, who = explain.ClassTermRequired, "class "+abort.Class
		r.Path = fmt.Sprintf("deviceclass/%s spec.selectors[%d].cel.expression", abort.Class, abort.Selector)
	}
	r.Message = who + " wants " + q.Cluster.Selectors().Brief(term)
	return r
}

// describeFailure says what the device has instead of the first field that it lacks.
func describeFailure(f *explain.Failure, device *resourcev1.Device) {
	wanted, ok := selector.ParseField(f.Lacks[0])
	if !ok {
		return
	}
	fields := fieldsOfDevice(device, f.Device.Driver)
	var has []string
	for _, have := range fields {
		if have.Kind == wanted.Kind && have.Domain == wanted.Domain {
			f.Has = append(f.Has, have.Name)
			has = append(has, strings.TrimSpace(have.Name+" "+briefValue(have, device, f.Device.Driver)))
		}
	}
	similar, ok := mostSimilar(wanted, fields)
	if ok {
		f.Near = similar.Expression()
	}
	f.Actual = fmt.Sprintf("%s has no %s", f.Device.Device, wanted.Name)
	if len(f.Has) > 0 {
		f.Actual += ", but " + words.Shorten(has, maxHas)
	} else {
		kinds := map[string]string{"attributes": "attributes", "capacity": "capacities"}
		f.Actual += ", nor other " + kinds[wanted.Kind] + " of " + wanted.Domain
	}
	if ok {
		f.Actual += fmt.Sprintf("; did you mean %s?", nameNextTo(similar, wanted))
	}
}
