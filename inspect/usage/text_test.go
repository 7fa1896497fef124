package usage_test

import (
	"fmt"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/inspect/usage"
)

// text is a row on one line.
func text(r *usage.Row) string {
	name := strings.Trim(strings.Join([]string{r.Kind, r.Name}, "/"), "/")
	if r.Model != "" {
		name += " " + r.Model
	}
	if name != "" {
		name = " " + name
	}
	return fmt.Sprintf("%s%s %d = %d + %d of %.2f + %d, joint %d, gone %d, idle %d, refused %d of %d",
		r.Namespace, name, r.Devices, r.Whole, r.Shared, r.Shares, r.Partitions, r.Joint, r.Gone, r.Idle, r.Refused, r.Wanted)
}
