package explaintest

import (
	"fmt"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain"
)

// Ends tells what becomes of pods and for which reasons, in a line.
func Ends(r *explain.Replay) string {
	var out []string
	for _, p := range r.Placed {
		out = append(out, fmt.Sprintf("%s→%s/%d", p.Subject.Name, p.Node, p.AnyOf))
	}
	for _, p := range r.Pending {
		out = append(out, fmt.Sprintf("%s waits %s %s", p.Subject.Name, p.Verdict, p.Code))
	}
	return strings.Join(out, ", ")
}

// ReplayText tells what becomes of pods with the devices that each gets, in a line.
func ReplayText(r *explain.Replay) string {
	var out []string
	for _, p := range r.Placed {
		var devices []string
		for _, d := range p.Devices {
			devices = append(devices, d.ID.Device)
		}
		out = append(out, fmt.Sprintf("%s %s %v", p.Subject.Name, p.Node, devices))
	}
	for _, p := range r.Pending {
		out = append(out, p.Subject.Name+" waits")
	}
	return fmt.Sprint(out)
}
