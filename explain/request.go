package explain

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

var requestKind = kind{name: RequestRequired, importance: 0, list: listRequests}

// requestRequirement is a request as such. It is given up by not asking at all, which is nothing to propose: it counts
// only where giving up everything else does not help.
type requestRequirement struct {
	Requirement
	edit requestEdit
}

func listRequests(_ context.Context, s *site) []requirement {
	var out []requirement
	for c, claim := range s.q.claims {
		for i := range claim.Spec.Devices.Requests {
			name := claim.Spec.Devices.Requests[i].Name
			r := s.ofClaim(c, RequestRequired, fmt.Sprintf("%s.devices.requests[%d]", s.q.specPath(), i), "%s needs a device", name)
			r.Request, r.Here = name, missingClass(s.exam, c, i)
			out = append(out, requestRequirement{r, requestEdit{requestRef{c, i, -1}}})
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
		if len(devicesWithout(r, allocator.ClassSelectorRejected)) > 0 {
			return ""
		}
		if !slices.Contains(classes, r.Class.Name) {
			classes = append(classes, r.Class.Name)
		}
	}
	return "no device of class " + strings.Join(classes, " or ") + " reaches the node"
}

func (r requestRequirement) describe() *Requirement { return &r.Requirement }
func (r requestRequirement) relaxing() edit         { return r.edit }
func (r requestRequirement) effort(*question) int   { return outOfReach }
func (r requestRequirement) price(*question) int    { return costDrop }

func (r requestRequirement) propose(context.Context, *clusterSandbox, inspect.NodeName) ([]change, error) {
	return nil, nil
}

func (r requestRequirement) combine(context.Context, *combination, int) (part, error) {
	return part{}, nil
}
