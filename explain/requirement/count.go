package requirement

import (
	"cmp"
	"context"
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

var countKind = Kind{name: explain.CountRequired, Importance: 1, list: listCounts}

// countRequirement is a number of devices above one, or all devices. It is given up by asking for one.
type countRequirement struct{ relaxable[whatif.CountEdit] }

func listCounts(_ context.Context, s *site) []Relaxable {
	var out []Relaxable
	for i := range s.exam.Requests {
		r := &s.exam.Requests[i]
		field, what := ".count", fmt.Sprintf("needs %d devices", r.Needed)
		switch {
		case r.All && r.Needed > 1:
			field, what = ".allocationMode", fmt.Sprintf("wants all %d devices that match", r.Needed)
		case r.All:
			field, what = ".allocationMode", "wants all devices that match"
		case r.Needed <= 1:
			continue
		}
		needs := s.about(r, explain.CountRequired, s.Q.Path(whatif.RefOf(r))+field, "%s %s", r.Name, what)
		edit := whatif.CountEdit{At: whatif.RefOf(r), Count: 1}
		out = append(out, countRequirement{relaxable[whatif.CountEdit]{with(needs, fitting(r)), edit, 2, costCount}})
	}
	return out
}

// fitting says how many devices pass every check that looks at one device.
func fitting(r *allocator.ExaminedRequest) string {
	fit := 0
	for i := range r.Devices {
		fit += words.Btoi(len(r.Devices[i].Failures) == 0)
	}
	switch fit {
	case 0:
		if n := len(DevicesWithout(r, allocator.ClassSelectorRejected)); n > 1 {
			return fmt.Sprintf("none of %d here fits", n)
		}
		return "none here fits"
	case 1:
		return "1 here fits"
	}
	return fmt.Sprintf("%d here fit", fit)
}

// Propose finds the highest count that fits on any node. Asking for fewer devices never fits worse: the
// devices of a solution without one of them are a solution for one less.
func (r countRequirement) Propose(ctx context.Context, q *whatif.Question, node inspect.NodeName) []Change {
	best := r.raised(ctx, q, func(next whatif.CountEdit) bool {
		at := q.FirstFit(ctx, []whatif.Edit{next})
		node = cmp.Or(at, node)
		return at != ""
	})
	out := []Change{r.change(q, best, node)}
	if quick, at := quickCount(ctx, q, best, node); quick.Count > 0 {
		out = append(out, r.change(q, quick, at))
	}
	return out
}

// raised raises the count from the one that fits, as long as the next fits too.
func (r countRequirement) raised(ctx context.Context, q *whatif.Question, fits func(whatif.CountEdit) bool) whatif.CountEdit {
	best := r.edit
	for most := mostDevices(ctx, q, r.edit.At); best.Count < most; best.Count++ {
		if !fits(whatif.CountEdit{At: best.At, Count: best.Count + 1}) {
			break
		}
	}
	return best
}

// change proposes another count.
func (r countRequirement) change(q *whatif.Question, e whatif.CountEdit, node inspect.NodeName) Change {
	f := whatif.FieldsOf(q.Claims, e.At)
	wanted, cost := "all", costAll
	if *f.Mode == resourcev1.DeviceAllocationModeExactCount {
		wanted, cost = fmt.Sprint(*f.Count), costCount
	}
	return Change{
		Kind: explain.ReduceCount, Edits: []whatif.Edit{e}, Node: node, Cost: cost, Key: fmt.Sprint(e),
		Message: fmt.Sprintf("ask for %s instead of %s%s", words.Count(int(e.Count), "device"), wanted, ForRequest(q, &r.Requirement)),
	}
}

// Probe tries other counts where one device makes the scheduler give up: the less a request takes, the sooner
// a selector of another may come to a device on which it fails.
func (r countRequirement) Probe(ctx context.Context, q *whatif.Question) []Change {
	aborts := false
	for _, b := range q.NearSandboxes() {
		aborts = b.Try(ctx, []whatif.Edit{r.edit}) == whatif.Aborted || aborts
	}
	if !aborts {
		return nil
	}
	most := mostDevices(ctx, q, r.edit.At)
	for n := min(most, resourcev1.AllocationResultsMaxSize); n > r.edit.Count; n-- {
		e := whatif.CountEdit{At: r.edit.At, Count: n}
		if node := q.FirstFit(ctx, []whatif.Edit{e}); node != "" {
			return []Change{r.change(q, e, node)}
		}
	}
	return nil
}

// quickCount returns the highest count below one that fits for which the scheduler's search ends in time for
// sure, if that is not so of the one that fits. Its count is 0 if there is nothing to return.
func quickCount(ctx context.Context, q *whatif.Question, best whatif.CountEdit, node inspect.NodeName) (whatif.CountEdit, inspect.NodeName) {
	for e := best; e.Count > 0; e.Count-- {
		at := node
		if e != best {
			at = q.FirstFit(ctx, []whatif.Edit{e})
		}
		if at == "" {
			continue
		}
		if q.Risk(ctx, []whatif.Edit{e}, at) == explain.NoTimeout {
			if e == best {
				break
			}
			return e, at
		}
	}
	return whatif.CountEdit{}, ""
}

// mostDevices is the highest count to try instead of the count, or of all: one less, or as many as all are on
// any of the near nodes. Where another alternative is what fits, no count would be too high.
func mostDevices(ctx context.Context, q *whatif.Question, at whatif.RequestRef) int64 {
	if f := whatif.FieldsOf(q.Claims, at); *f.Mode == resourcev1.DeviceAllocationModeExactCount {
		return *f.Count - 1
	}
	most := 1
	for _, r := range q.Examined(ctx) {
		if whatif.RefOf(r) == at {
			most = max(most, r.Needed)
		}
	}
	return int64(min(most, resourcev1.AllocationResultsMaxSize))
}

// Combine raises the count as long as the edits together help.
func (r countRequirement) Combine(ctx context.Context, c *Combination, i int) Part {
	best := r.raised(ctx, c.Question, func(next whatif.CountEdit) bool { return c.helpsWith(ctx, i, next) })
	return Part{
		explain.ReduceCount, fmt.Sprint(best), fmt.Sprintf("ask for %s%s", words.Count(int(best.Count), "device"), ForRequest(c.Question, &r.Requirement)),
	}
}
