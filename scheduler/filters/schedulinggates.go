package filters

import (
	"strings"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// prepareSchedulingGates is the plugin SchedulingGates: a pod with gates is not even put into the scheduler's
// queue, and neither is one that its controller does not make.
func prepareSchedulingGates(p *Prepared) (check, Outcome) {
	var names []string
	for i := range p.Pod.Spec.SchedulingGates {
		names = append(names, p.Pod.Spec.SchedulingGates[i].Name)
	}
	if len(names) == 0 {
		return nil, Outcome{}
	}
	if why := inspect.HeldBy(p.Pod); why != "" {
		return nil, refuse(Refusal{Plugin: SchedulingGates, Code: SchedulingGated, Unresolvable: true, Key: why, Message: why})
	}
	what := "gate"
	if len(names) > 1 {
		what = "gates"
	}
	return nil, refuse(Refusal{
		Plugin: SchedulingGates, Code: SchedulingGated, Unresolvable: true, Key: strings.Join(names, " "),
		Message: "the pod is held back by its scheduling " + what + " " + strings.Join(names, ", "),
	})
}
