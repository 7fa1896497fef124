package requirement

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
)

var requestKind = Kind{name: explain.RequestRequired, Importance: 0, list: listRequests}

// listRequests lists the requests as such. They are given up by not asking at all, which is nothing to
// propose: they count only where giving up everything else does not help.
func listRequests(_ context.Context, s *site) []Relaxable {
	var out []Relaxable
	for c, claim := range s.Q.Claims {
		for i := range claim.Spec.Devices.Requests {
			name := claim.Spec.Devices.Requests[i].Name
			r := s.ofClaim(c, explain.RequestRequired, fmt.Sprintf("%s.devices.requests[%d]", s.Q.SpecPath(), i), "%s needs a device", name)
			r.Request, r.Actual = name, missingClass(s.exam, c, i)
			edit := whatif.RequestEdit{At: whatif.RequestRef{Claim: c, Request: i, Sub: -1}}
			out = append(out, relaxable[whatif.Edit]{r, edit, OutOfReach, CostDrop})
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
