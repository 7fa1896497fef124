package preemption

import (
	"fmt"
	"slices"
	"strings"

	corev1helpers "k8s.io/component-helpers/scheduling/corev1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
)

// maxNamed is the number of pods that a message names.
const maxNamed = 3

// message says what was found out, with the words of the scheduler where it has some.
func (d *decision) message() string {
	switch d.out.Outcome {
	case explain.PreemptionNever:
		return "will not preempt other pods for this one, since it has preemptionPolicy Never"
	case explain.PreemptionUnderway:
		return fmt.Sprintf("has preempted already, and waits for %s on %s to end", d.names(), d.out.Node)
	case explain.PreemptionPossible:
		if d.vain {
			return d.chosen() + "; the pod will not fit there either, since kube-scheduler counts wrongly what stays"
		}
		return d.chosen()
	case explain.PreemptionNotHelpful:
		return "will not preempt other pods for this one (\"Preemption is not helpful for scheduling\"): " + d.obstaclesInWords()
	case explain.PreemptionUnknown:
	}
	if noPriority(d.Pod) {
		return fmt.Sprintf("may preempt other pods for this one; the priority of its class %s is not known", d.Pod.Spec.PriorityClassName)
	}
	return "may preempt other pods for this one; that is not known: " + d.obstaclesInWords()
}

func (d *decision) names() string {
	var names []string
	for _, ref := range d.out.Victims {
		names = append(names, ref.String())
	}
	return words.Shorten(names, maxNamed)
}

// chosen says which pods would end.
func (d *decision) chosen() string {
	const makes = "makes room by preemption: it evicts "
	at, why := " on "+string(d.out.Node), " ("+d.priorities()+")"
	switch {
	case d.out.Budgets:
		return makes + d.names() + at + why + ", unless PodDisruptionBudgets that are not known make it prefer others"
	case !d.out.Determined && len(d.candidates) == 1 && d.obstacles[explain.NotKnown] == 0:
		return makes + "pods of lower priority" + at + ", for example " + d.names() + why
	case !d.out.Determined:
		least := ""
		if d.obstacles[explain.NotKnown] > 0 {
			least = "at least "
		}
		return makes + "pods of lower priority on one of " + least + words.Count(len(d.candidates), "node") + ", for example " + d.names() + at + why
	}
	return makes + d.names() + at + why
}

// priorities compares the priorities of the pods that would end with that of the pod.
func (d *decision) priorities() string {
	c := d.candidates[slices.IndexFunc(d.candidates, func(c candidate) bool { return c.node == d.out.Node })]
	highest, most := corev1helpers.PodPriority(c.victims[0]), ""
	if corev1helpers.PodPriority(c.victims[len(c.victims)-1]) != highest {
		most = "at most "
	}
	return fmt.Sprintf("priority %s%d, below this pod's %d", most, highest, corev1helpers.PodPriority(d.Pod))
}

// obstaclesInWords says why nodes do not come into question.
func (d *decision) obstaclesInWords() string {
	var parts []string
	for _, o := range d.out.Obstacles {
		text := map[explain.ObstacleKind]string{
			explain.DevicesMissing: "it never preempts to free devices",
			explain.NotByPods:      "removing other pods would not help",
			explain.NoVictims:      "no pod has a lower priority (\"No preemption victims found for incoming pod\")",
			explain.NotEnough:      "there is no room without all pods of lower priority either",
			explain.NotKnown:       "not everything is known",
		}[o.Kind]
		if len(d.out.Obstacles) > 1 {
			text = "on " + words.Count(o.Nodes, "node") + " " + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}
