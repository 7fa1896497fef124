package requirement

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

var requestKind = Kind{name: explain.RequestRequired, Importance: 0, list: listRequests}

// requestRequirement is a request as such. It is given up by not asking at all, which is nothing to propose:
// it counts only where giving up everything else does not help.
type requestRequirement struct {
	explain.Requirement
	edit whatif.RequestEdit
}

func listRequests(_ context.Context, s *site) []Relaxable {
	var out []Relaxable
	for c, claim := range s.Q.Claims {
		for i := range claim.Spec.Devices.Requests {
			name := claim.Spec.Devices.Requests[i].Name
			r := s.ofClaim(c, explain.RequestRequired, fmt.Sprintf("%s.devices.requests[%d]", s.Q.SpecPath(), i), "%s needs a device", name)
			r.Request, r.Actual = name, missingClass(s.exam, c, i)
			out = append(out, requestRequirement{r, whatif.RequestEdit{At: whatif.RequestRef{Claim: c, Request: i, Sub: -1}}})
		}
	}
	return out
}

// missingClass says so when no device of the classes of a request reaches the node.
func missingClass(exam *allocator.Examination, claim, request int) string {
	var classes []string
	for i := range exam.Requests {
		r := &exam.Requests[i]
		if r.Claim != claim || r.Request != request {
			continue
		}
		if len(DevicesWithout(r, allocator.ClassSelectorRejected)) > 0 {
			return ""
		}
		if !slices.Contains(classes, r.Class.Name) {
			classes = append(classes, r.Class.Name)
		}
	}
	return "no device of class " + strings.Join(classes, " or ") + " reaches the node"
}

func (r requestRequirement) Describe() *explain.Requirement { return &r.Requirement }
func (r requestRequirement) Relaxing() whatif.Edit          { return r.edit }
func (r requestRequirement) Effort(*whatif.Question) int    { return OutOfReach }
func (r requestRequirement) Price(*whatif.Question) int     { return CostDrop }

func (r requestRequirement) Propose(context.Context, *whatif.ClusterSandbox, inspect.NodeName) ([]Change, error) {
	return nil, nil
}

func (r requestRequirement) Combine(context.Context, *Combination, int) (Part, error) {
	return Part{}, nil
}
