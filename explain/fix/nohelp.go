package fix

import (
	"context"
	"fmt"

	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
)

// noHelp tries to release all claims of a node, and to add nodes, and says what of it does not help. It
// returns nothing if that would help, or if it is not known.
func (s *search) noHelp(ctx context.Context) []string {
	claims := false // some node has claims to release
	nodes := s.addsNode
	for _, n := range s.Q.Near {
		b := s.Q.SandboxOf(n.Name)
		if b == nil {
			return nil
		}
		claims = claims || len(b.Releasable()) > 0
		o := b.Try(ctx, whatif.ReleaseEdits(b.Releasable()))
		if o == whatif.Fits || o == whatif.Undecided {
			return nil
		}
		if len(b.Releasable()) < len(b.Holders) && !nodes { // another node has nothing that is held by supposition
			nodes = b.Try(ctx, whatif.ReleaseEdits(b.Holders)) != whatif.Refused
		}
	}
	if len(s.Q.Near) == 0 || nodes && !claims {
		return nil
	}
	kinds := "more nodes like the existing ones"
	different := 0 // the number of nodes that differ for the question
	for i := range s.Q.Answers {
		different += words.Btoi(len(s.Q.Answers[i].Unsuitable) == 0)
	}
	if len(s.Q.Near) < different {
		kinds = fmt.Sprintf("more nodes like the %d closest ones", len(s.Q.Near))
	}
	if !claims {
		return []string{"Adding " + kinds + " does not help"}
	}
	alone := ""
	if s.releases {
		alone = " alone" // a fix releases some and changes more
	}
	if nodes {
		return []string{"Releasing claims" + alone + " does not help"}
	}
	return []string{"Neither releasing claims" + alone + " nor adding " + kinds + " helps"}
}
