package words

import (
	"fmt"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// FreeOf says how many devices of how many are free, and what else is to be known of the others that are not
// used, as "4 of 20 free, 1 at once, 11 blocked".
func FreeOf(c inspect.DeviceCount) string {
	text := fmt.Sprintf("%d of %d free", c.Free, c.Total)
	if c.AtOnce < c.Free {
		text += fmt.Sprintf(", %d at once", c.AtOnce)
	}
	if rest := Unusable(c); rest != "" {
		text += ", " + rest
	}
	return text
}

// Unusable says which devices nobody uses and nobody can get, and which are used though they are gone, as
// "11 blocked, 1 tainted"; "" if there are none.
func Unusable(c inspect.DeviceCount) string {
	var parts []string
	for _, part := range []struct {
		n    int
		word string
	}{{c.Blocked, "blocked"}, {c.Tainted, "tainted"}, {c.Unreachable, "unreachable"}, {c.Gone, "gone"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.word))
		}
	}
	return strings.Join(parts, ", ")
}

// GoneToo says how many devices are held besides, though no driver publishes them any more; "" if none is.
func GoneToo(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", and %d that no driver publishes any more", n)
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
