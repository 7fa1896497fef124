package screen

import (
	"fmt"
	"math"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// FreeOfDriver is how many devices of a driver of how many are free, or which part of their scarcest counter
// is.
func FreeOfDriver(d *inspect.DriverStatus) string {
	scarcest := d.Scarcest()
	if scarcest == nil {
		return fmt.Sprintf("%d/%d", d.Devices.Free, d.Devices.Total)
	}
	text := fmt.Sprintf("%.0f%%", math.Floor(100*(1-scarcest.Used())))
	if d.Whole.Total > 0 {
		text = fmt.Sprintf("%d/%d+", d.Whole.Free, d.Whole.Total) + text
	}
	return text
}
