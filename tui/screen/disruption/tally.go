package disruption

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// tally is how much of a cluster there is, and is taken.
type tally struct {
	// nodes are all, inService those that are ready and not cordoned.
	nodes, inService int
	// allocated are the claims that have devices, waiting the pods that wait for kube-scheduler.
	allocated, waiting int
	drivers            []inspect.DriverStatus
}

func everyPod(*corev1.Pod) bool { return true }

// tallyOf counts a snapshot.
func tallyOf(s *inspect.Snapshot, i *inspect.Inventory, waiting int) tally {
	t := tally{waiting: waiting, drivers: i.Drivers}
	for _, node := range s.Nodes() {
		if node.Name == string(inspect.PseudoNode) {
			continue
		}
		t.nodes++
		if inService(node) {
			t.inService++
		}
	}
	for _, claim := range s.Objects().Claims {
		if claim.Status.Allocation != nil {
			t.allocated++
		}
	}
	return t
}

// inService reports whether a node takes pods: it does not say that it is not ready, and is not cordoned.
func inService(node *corev1.Node) bool {
	return !node.Spec.Unschedulable && !slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue
	})
}

// row is something that is counted: now, if the cluster is left alone, and then.
type row struct{ label, now, alone, then string }

// rows are nodes, claims and pods, and what is free of the devices of those drivers of which that changes.
func rows(a *answer) []row {
	all := func(label string, count func(*tally) string) row {
		return row{label, count(&a.now), count(&a.alone), count(&a.then)}
	}
	out := []row{
		all("nodes in service", func(t *tally) string { return fmt.Sprintf("%d/%d", t.inService, t.nodes) }),
		all("claims allocated", func(t *tally) string { return fmt.Sprint(t.allocated) }),
		all("pods waiting", func(t *tally) string { return fmt.Sprint(t.waiting) }),
	}
	for i := range a.now.drivers {
		name := a.now.drivers[i].Driver
		r := all(inspect.Sanitize(name)+" free", func(t *tally) string { return t.freeOf(name) })
		if r.now != r.alone || r.alone != r.then {
			out = append(out, r)
		}
	}
	return out
}

// freeOf is how much is free of the devices of a driver.
func (t *tally) freeOf(driver string) string {
	for i := range t.drivers {
		if t.drivers[i].Driver == driver {
			return screen.FreeOfDriver(&t.drivers[i])
		}
	}
	return "0/0"
}

// compared lays out what there is now and then, side by side. Between them stands what there would be if the
// cluster were left alone, if that is something else than now.
func compared(a *answer, width int) []styled.Line {
	all := slices.Insert(rows(a), 0, row{"", "now", "left alone", "then"})
	calm := !slices.ContainsFunc(all[1:], func(r row) bool { return r.now != r.alone })
	var label, now, alone, then int
	for _, r := range all {
		label, now, then = max(label, styled.Width(r.label)), max(now, styled.Width(r.now)), max(then, styled.Width(r.then))
		if alone = max(alone, styled.Width(r.alone)+2); calm {
			alone = 0
		}
	}
	label = max(1, min(label, width-now-alone-then-6))
	var lines []styled.Line
	for i, r := range all {
		line := styled.Line{{Text: styled.Pad(r.label, label) + "  "}, {Text: fmt.Sprintf("%*s", now, r.now), Role: styled.Plain}}
		if !calm {
			line = append(line, styled.Span{Text: fmt.Sprintf("%*s", alone, r.alone), Role: styled.Plain})
		}
		role, arrow := styled.Dim, "    "
		if r.alone != r.then && i > 0 {
			role, arrow = styled.Supposed, "  → "
		}
		line = append(line, styled.Span{Text: arrow, Role: styled.Dim}, styled.Span{Text: fmt.Sprintf("%*s", then, r.then), Role: role})
		if i == 0 {
			line = styled.Text(styled.Dim, line.String())
		}
		lines = append(lines, line)
	}
	return lines
}
