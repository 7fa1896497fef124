package explain

import (
	"context"
	"slices"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// combination is edits that help only together, on a node.
type combination struct {
	*clusterSandbox
	on    *sandbox
	edits []edit
	// released are the claims that the edits release.
	released []inspect.ClaimRef
}

// part is one of the changes of a combination.
type part struct {
	kind    FixKind
	key     string // as in a change that makes it alone
	message string
}

// helpsWith puts another edit in the place of one if all together still help.
func (c *combination) helpsWith(ctx context.Context, i int, other edit) (bool, error) {
	tried := slices.Clone(c.edits)
	tried[i] = other
	o, err := c.on.try(ctx, tried)
	if err != nil || o != fits {
		return false, err
	}
	c.edits = tried
	return true, nil
}
