package requirement

import (
	"context"
	"slices"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Combination is edits that help only together, on a node.
type Combination struct {
	*whatif.Question
	On    *whatif.Sandbox
	Edits []whatif.Edit
	// Released are the claims that the edits release.
	Released []inspect.ClaimRef
	// Ended are the pods that the edits end.
	Ended []inspect.PodRef
}

// Part is one of the changes of a combination.
type Part struct {
	Kind    explain.FixKind
	Key     string // as in a change that makes it alone
	Message string
}

// helpsWith puts another edit in the place of one if all together still help.
func (c *Combination) helpsWith(ctx context.Context, i int, other whatif.Edit) bool {
	tried := slices.Clone(c.Edits)
	tried[i] = other
	if c.On.Try(ctx, tried) != whatif.Fits {
		return false
	}
	c.Edits = tried
	return true
}
