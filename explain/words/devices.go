package words

import (
	"fmt"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// FreeOf says how many devices of how many are free, and what else is to be known of the others that are not used, as
// "4 of 20 free, 1 at once, 11 blocked".
func FreeOf(c inspect.DeviceCount) string {
	text := fmt.Sprintf("%d of %d free", c.Free, c.Total)
	if c.AtOnce < c.Free {
		text += fmt.Sprintf(", %d at once", c.AtOnce)
	}
	if c.Blocked > 0 {
		text += fmt.Sprintf(", %d blocked", c.Blocked)
	}
	return text
}

// Fits says which devices still fit into a pool, as "2 × 1g.10gb or 1 × 2g.20gb"; "nothing" if none does.
func Fits(kinds []inspect.KindFit) string {
	var parts []string
	for _, k := range kinds {
		if k.Fits > 0 {
			parts = append(parts, fmt.Sprintf("%d × %s", k.Fits, k.Kind))
		}
	}
	if parts == nil {
		return "nothing"
	}
	return strings.Join(parts, " or ")
}

// Left says what is left of a counter, as "10Gi of 80Gi".
func Left(c *inspect.CounterStatus) string {
	return c.Left.String() + " of " + c.Total.String()
}
