package scenario

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
)

// Objects returns the node and the claims of a question, which Parse made sure exist.
func (s *Scenario) Objects(q *Question) (*corev1.Node, []*resourcev1.ResourceClaim) {
	node, _ := s.Snapshot.Node(q.Node)
	claims := make([]*resourcev1.ResourceClaim, len(q.Claims))
	for i, ref := range q.Claims {
		claims[i], _ = s.Snapshot.Claim(ref)
	}
	return node, claims
}

// Ask puts a question to our allocator. An error means that there is no answer: the context ended, or
// the search was given up.
func (s *Scenario) Ask(ctx context.Context, q *Question) (*Answer, error) {
	node, claims := s.Objects(q)
	seen := &recorder{claims: claims, known: map[Rejection]bool{}}
	result, err := allocator.NewCluster(s.Snapshot, allocator.Options{}).Allocate(ctx, node, claims, seen)
	answer := &Answer{Rejections: seen.list}
	var abort *allocator.AbortError
	switch {
	case errors.As(err, &abort):
		answer.Outcome, answer.Err = Abort, err
	case err != nil:
		return nil, err
	case result.Outcome == allocator.Allocated:
		answer.Outcome, answer.Allocations = Allocated, result.Allocations
	case result.Outcome != allocator.Unsatisfiable:
		return nil, errors.New("the search ended " + string(result.Outcome))
	case result.InvalidPools:
		answer.Outcome = InvalidPools
	default:
		answer.Outcome = Unsatisfiable
	}
	return answer, nil
}

// recorder keeps each different rejection once.
type recorder struct {
	claims []*resourcev1.ResourceClaim
	known  map[Rejection]bool
	list   []Rejection
}

// Reject implements allocator.Observer.
func (r *recorder) Reject(rejection allocator.Rejection) {
	claim := r.claims[rejection.Claim]
	request := &claim.Spec.Devices.Requests[rejection.Request]
	name := request.Name
	if len(request.FirstAvailable) > 0 {
		name += "/" + request.FirstAvailable[rejection.Sub].Name
	}
	one := Rejection{Claim: claim.Name, Request: name, Device: rejection.Device, Code: rejection.Code}
	if !r.known[one] {
		r.known[one] = true
		r.list = append(r.list, one)
	}
}

var _ allocator.Observer = (*recorder)(nil)

// Code returns the code of the AbortError behind an answer, or "".
func (a *Answer) Code() allocator.Code {
	var abort *allocator.AbortError
	if errors.As(a.Err, &abort) {
		return abort.Code
	}
	return ""
}
