package fix

import (
	"context"
	"fmt"

	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
)

// noHelp tries what is tempting and says what of it does not help.
func (s *search) noHelp(ctx context.Context) ([]string, error) {
	held := false
	for _, n := range s.Near {
		b := s.Q.SandboxOf(n.Name)
		if b == nil {
			return nil, nil
		}
		held = held || len(b.Holders) > 0
		o, err := b.Try(ctx, whatif.ReleaseEdits(b.Holders))
		if err != nil || o == whatif.Fits || o == whatif.Undecided {
			return nil, err // it would help, or that is not known
		}
	}
	if len(s.Near) == 0 {
		return nil, nil
	}
	kinds := "nodes of these kinds"
	looks := 0 // of nodes; those that look alike do not count twice
	for i := range s.Q.Answers {
		looks += words.Btoi(s.Q.Answers[i].Unsuitable == nil)
	}
	if looks == 1 {
		kinds = "nodes of this kind"
	}
	if len(s.Near) < looks {
		kinds = fmt.Sprintf("nodes like the %d that come nearest", len(s.Near))
	}
	if !held {
		return []string{"Adding " + kinds + " does not help"}, nil
	}
	releasing := "Releasing claims"
	if s.releases {
		releasing += " alone" // a fix releases some and changes more
	}
	return []string{releasing + " or adding " + kinds + " does not help"}, nil
}
