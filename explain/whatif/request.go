package whatif

import (
	"fmt"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// RequestRef addresses a request of the question, or one of its subrequests.
type RequestRef struct {
	Claim, Request int
	Sub            int // -1 for the request itself
}

func compareRequestRefs(a, b RequestRef) int {
	return slices.Compare([]int{a.Claim, a.Request, a.Sub}, []int{b.Claim, b.Request, b.Sub})
}

// SelectorRef addresses a selector of a request, or of its class.
type SelectorRef struct {
	At    RequestRef
	Index int
}

// RequestFields are those that a request and a subrequest have in common.
type RequestFields struct {
	Class       *string
	Mode        *resourcev1.DeviceAllocationMode
	Count       *int64
	Selectors   *[]resourcev1.DeviceSelector
	Tolerations *[]resourcev1.DeviceToleration
	Capacity    **resourcev1.CapacityRequirements
	Derived     *[]resourcev1.DeviceDerivedAttribute
}

// FieldsOf returns the fields of a request. To write through them writes to the claim.
func FieldsOf(claims []*resourcev1.ResourceClaim, at RequestRef) RequestFields {
	request := &claims[at.Claim].Spec.Devices.Requests[at.Request]
	if at.Sub < 0 {
		e := request.Exactly
		return RequestFields{&e.DeviceClassName, &e.AllocationMode, &e.Count, &e.Selectors, &e.Tolerations, &e.Capacity, &e.DerivedAttributes}
	}
	s := &request.FirstAvailable[at.Sub]
	return RequestFields{&s.DeviceClassName, &s.AllocationMode, &s.Count, &s.Selectors, &s.Tolerations, &s.Capacity, &s.DerivedAttributes}
}

// RequestRefs lists the requests and subrequests of the question.
func (q *Question) RequestRefs() []RequestRef {
	var out []RequestRef
	for c, claim := range q.Claims {
		for r := range claim.Spec.Devices.Requests {
			request := &claim.Spec.Devices.Requests[r]
			if request.Exactly != nil {
				out = append(out, RequestRef{c, r, -1})
			}
			for s := range request.FirstAvailable {
				out = append(out, RequestRef{c, r, s})
			}
		}
	}
	return out
}

// RequestNamed finds a request or subrequest of the question.
func (q *Question) RequestNamed(claim inspect.ClaimRef, name string) (RequestRef, bool) {
	main, sub, _ := strings.Cut(name, "/")
	for _, at := range q.RequestRefs() {
		c := q.Claims[at.Claim]
		r := &c.Spec.Devices.Requests[at.Request]
		if c.Namespace != claim.Namespace || c.Name != claim.Name || r.Name != main {
			continue
		}
		if at.Sub < 0 && sub == "" || at.Sub >= 0 && r.FirstAvailable[at.Sub].Name == sub {
			return at, true
		}
	}
	return RequestRef{}, false
}

// RequestName is the request as results name it: "request" or "request/subrequest".
func (q *Question) RequestName(at RequestRef) string {
	request := &q.Claims[at.Claim].Spec.Devices.Requests[at.Request]
	if at.Sub >= 0 {
		return request.Name + "/" + request.FirstAvailable[at.Sub].Name
	}
	return request.Name
}

// RefOf addresses the request that was examined.
func RefOf(r *allocator.ExaminedRequest) RequestRef {
	at := RequestRef{r.Claim, r.Request, -1}
	if r.Prioritized {
		at.Sub = r.Sub
	}
	return at
}

// Path returns the field of a request, as the subject spells it.
func (q *Question) Path(at RequestRef) string {
	path := fmt.Sprintf("%s.devices.requests[%d]", q.SpecPath(), at.Request)
	if at.Sub >= 0 {
		return fmt.Sprintf("%s.firstAvailable[%d]", path, at.Sub)
	}
	return path + ".exactly"
}

// SpecPath is where the subject has the spec of a claim.
func (q *Question) SpecPath() string {
	if q.Subject.Kind == "ResourceClaimTemplate" {
		return "spec.spec"
	}
	return "spec"
}

// SelectorsOf are those of a request, or of a class.
func (q *Question) SelectorsOf(at RequestRef, class string) []resourcev1.DeviceSelector {
	if class == "" {
		return *FieldsOf(q.Claims, at).Selectors
	}
	if c, found := q.Cluster.Snapshot().Class(class); found {
		return c.Spec.Selectors
	}
	return nil
}
