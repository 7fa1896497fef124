package screen

import (
	"fmt"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// HealthText says how fresh and how complete the picture of a cluster is; origin is what it is from if it is
// not live.
func HealthText(s *inspect.Snapshot, origin string) styled.Line {
	if s == nil {
		return styled.Text(styled.Warn, "◌ connecting")
	}
	var bad, syncing, unserved []string
	for _, r := range shownResources {
		h := s.Health(r)
		switch h.State {
		case inspect.Syncing:
			syncing = append(syncing, string(r))
		case inspect.Broken:
			since := ""
			if !h.Since.IsZero() {
				since = " since " + h.Since.Local().Format("15:04:05")
			}
			return styled.Text(styled.Bad, fmt.Sprintf("✗ stale%s: %s", since, r))
		case inspect.Forbidden, inspect.Narrowed, inspect.Incomplete:
			bad = append(bad, string(r))
		case inspect.NotServed:
			if !r.Optional() {
				unserved = append(unserved, string(r))
			}
		}
	}
	for _, trouble := range []struct {
		role      styled.Role
		what      string
		resources []string
	}{{styled.Bad, "✗ not served: ", unserved}, {styled.Warn, "◌ reading ", syncing}, {styled.Warn, "◐ partial: ", bad}} {
		if n := len(trouble.resources); n > 1 {
			return styled.Text(trouble.role, fmt.Sprintf("%s%s and %d more", trouble.what, trouble.resources[0], n-1))
		} else if n == 1 {
			return styled.Text(trouble.role, trouble.what+trouble.resources[0])
		}
	}
	if origin != "" {
		return styled.Text(styled.Dim, "○ "+origin)
	}
	return styled.Text(styled.Good, "● live")
}

// shownResources are those whose health the header reports.
var shownResources = []inspect.Resource{
	inspect.Claims, inspect.Slices, inspect.Classes, inspect.TaintRules, inspect.Nodes, inspect.Pods, inspect.Templates,
}
