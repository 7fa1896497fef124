package explain

import (
	"fmt"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// requestRef addresses a request of the question, or one of its subrequests.
type requestRef struct {
	claim, request int
	sub            int // -1 for the request itself
}

func compareRequestRefs(a, b requestRef) int {
	return slices.Compare([]int{a.claim, a.request, a.sub}, []int{b.claim, b.request, b.sub})
}

// selectorRef addresses a selector of a request, or of its class.
type selectorRef struct {
	at    requestRef
	index int
}

// fields are those that a request and a subrequest have in common.
type fields struct {
	class       *string
	mode        *resourcev1.DeviceAllocationMode
	count       *int64
	selectors   *[]resourcev1.DeviceSelector
	tolerations *[]resourcev1.DeviceToleration
	capacity    **resourcev1.CapacityRequirements
}

func fieldsOf(claims []*resourcev1.ResourceClaim, at requestRef) fields {
	request := &claims[at.claim].Spec.Devices.Requests[at.request]
	if at.sub < 0 {
		e := request.Exactly
		return fields{&e.DeviceClassName, &e.AllocationMode, &e.Count, &e.Selectors, &e.Tolerations, &e.Capacity}
	}
	s := &request.FirstAvailable[at.sub]
	return fields{&s.DeviceClassName, &s.AllocationMode, &s.Count, &s.Selectors, &s.Tolerations, &s.Capacity}
}

// requestRefs lists the requests and subrequests of the question.
func (q *question) requestRefs() []requestRef {
	var out []requestRef
	for c, claim := range q.claims {
		for r := range claim.Spec.Devices.Requests {
			request := &claim.Spec.Devices.Requests[r]
			if request.Exactly != nil {
				out = append(out, requestRef{c, r, -1})
			}
			for s := range request.FirstAvailable {
				out = append(out, requestRef{c, r, s})
			}
		}
	}
	return out
}

// requestNamed finds a request or subrequest of the question.
func (q *question) requestNamed(claim inspect.ClaimRef, name string) (requestRef, bool) {
	main, sub, _ := strings.Cut(name, "/")
	for _, at := range q.requestRefs() {
		c := q.claims[at.claim]
		r := &c.Spec.Devices.Requests[at.request]
		if c.Namespace != claim.Namespace || c.Name != claim.Name || r.Name != main {
			continue
		}
		if at.sub < 0 && sub == "" || at.sub >= 0 && r.FirstAvailable[at.sub].Name == sub {
			return at, true
		}
	}
	return requestRef{}, false
}

// requestName is the request as results name it: "request" or "request/subrequest".
func (q *question) requestName(at requestRef) string {
	request := &q.claims[at.claim].Spec.Devices.Requests[at.request]
	if at.sub >= 0 {
		return request.Name + "/" + request.FirstAvailable[at.sub].Name
	}
	return request.Name
}

// refOf addresses the request that was examined.
func refOf(r *allocator.ExaminedRequest) requestRef {
	at := requestRef{r.Claim, r.Request, -1}
	if r.Prioritized {
		at.sub = r.Sub
	}
	return at
}

// path returns the field of a request, as the subject spells it.
func (q *question) path(at requestRef) string {
	path := fmt.Sprintf("%s.devices.requests[%d]", q.specPath(), at.request)
	if at.sub >= 0 {
		return fmt.Sprintf("%s.firstAvailable[%d]", path, at.sub)
	}
	return path + ".exactly"
}

// specPath is where the subject has the spec of a claim.
func (q *question) specPath() string {
	if q.subject.Kind == "ResourceClaimTemplate" {
		return "spec.spec"
	}
	return "spec"
}

// selectorsOf are those of a request, or of a class.
func (q *question) selectorsOf(at requestRef, class string) []resourcev1.DeviceSelector {
	if class == "" {
		return *fieldsOf(q.claims, at).selectors
	}
	if c, found := q.cluster.Snapshot().Class(class); found {
		return c.Spec.Selectors
	}
	return nil
}
