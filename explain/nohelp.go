package explain

import (
	"context"
	"fmt"
)

// noHelp tries what is tempting and says what of it does not help.
func (s *search) noHelp(ctx context.Context) ([]string, error) {
	held := false
	for _, n := range s.near {
		b := s.q.sandboxOf(n.name)
		if b == nil {
			return nil, nil
		}
		held = held || len(b.holders) > 0
		o, err := b.try(ctx, releaseEdits(b.holders))
		if err != nil || o == fits || o == undecided {
			return nil, err // it would help, or that is not known
		}
	}
	if len(s.near) == 0 {
		return nil, nil
	}
	kinds := "nodes of these kinds"
	looks := 0 // of nodes; those that look alike do not count twice
	for i := range s.q.answers {
		looks += btoi(s.q.answers[i].unsuitable == nil)
	}
	if looks == 1 {
		kinds = "nodes of this kind"
	}
	if len(s.near) < looks {
		kinds = fmt.Sprintf("nodes like the %d that come nearest", len(s.near))
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
