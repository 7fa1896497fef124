package filters

import "strings"

// prepareSchedulingGates is the plugin SchedulingGates: a pod with gates is not even put into the scheduler's queue.
func prepareSchedulingGates(p *Prepared) (check, Outcome) {
	var names []string
	for i := range p.Pod.Spec.SchedulingGates {
		names = append(names, p.Pod.Spec.SchedulingGates[i].Name)
	}
	if len(names) == 0 {
		return nil, Outcome{}
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
