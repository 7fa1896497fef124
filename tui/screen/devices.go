package screen

import (
	"fmt"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/lifecycle"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TaintText is a taint of a device, with the DeviceTaintRules that set it; not sanitised.
func TaintText(s *inspect.Snapshot, id inspect.DeviceID, taint *resourcev1.DeviceTaint) string {
	return words.FormatTaint(taint) + explain.SetBy(explain.TaintRules(s, taint, id))
}

// Look is how a device in some state is drawn.
type Look struct {
	Mark, Name string
	Role       styled.Role
	State      inspect.DeviceState
}

// Looks are those of all states.
var Looks = []Look{
	{"■", "used", styled.Used, inspect.DeviceAllocated},
	{"◧", "shared", styled.Shared, inspect.DevicePartial},
	{"□", "free", styled.Good, inspect.DeviceFree},
	{"·", "blocked", styled.Dim, inspect.DeviceBlocked},
	{"▨", "tainted", styled.Warn, inspect.DeviceTainted},
	{"✗", "unreachable", styled.Bad, inspect.DeviceUnreachable},
}

// LookOf is that of a state.
func LookOf(state inspect.DeviceState) Look {
	return Looks[max(0, slices.IndexFunc(Looks, func(l Look) bool { return l.State == state }))]
}

// ShareUsed is how much of a capacity of a device is used, from 0 to 1, or -1 if the device has none of this
// name, or does not share it.
func ShareUsed(d *inspect.DeviceStatus, name resourcev1.QualifiedName) float64 {
	used, shared := d.Used[name]
	total, ok := d.Device.Capacity[name]
	if !ok || !shared {
		return -1
	}
	return used.AsApproximateFloat64() / max(1e-9, total.Value.AsApproximateFloat64())
}

// HeldFor says since when a claim holds what it has, as exactly as that is known, with a blank in front: "
// for 3d or longer".
func HeldFor(w *World, claim inspect.ClaimRef) string {
	at, known := lifecycle.HeldSince(w.Snapshot, claim)
	age := w.Age(at).String()
	switch known {
	case lifecycle.Exactly:
		return " for " + age
	case lifecycle.AtLeast:
		return " for " + age + " or longer"
	case lifecycle.AtMost:
		return " for " + age + " or less"
	}
	return ""
}

// TaintLine is a taint with the rules that put it there, as links. It is safe to show.
func TaintLine(w *World, id inspect.DeviceID, t *resourcev1.DeviceTaint) styled.Line {
	line := styled.Line{{Text: inspect.Sanitize(words.FormatTaint(t)), Role: styled.Warn}}
	rules := explain.TaintRules(w.AsItIs(), t, id) // suppositions about taints leave out rules
	if len(rules) == 0 {
		return append(line, styled.Span{Text: "  by its driver", Role: styled.Dim})
	}
	line = append(line, styled.Span{Text: "  by the rule "})
	for i, r := range rules {
		if i > 0 {
			line = append(line, styled.Span{Text: ", "})
		}
		line = append(line, LinkTo(Ref{Kind: TaintRule, Name: r.Name}, r.Name))
	}
	return line
}

// HealthLines are what pods and the driver say of a device while a claim holds it.
func HealthLines(s *inspect.Snapshot, claim inspect.ClaimRef, id inspect.DeviceID) []styled.Line {
	state := lifecycle.OfDevice(s, claim, id)
	var lines []styled.Line
	if state.Health != "" {
		role := styled.Good
		if state.Health != explain.Healthy {
			role = styled.Bad
		}
		line := styled.Line{{Text: "health: "}, {Text: strings.ToLower(inspect.Sanitize(string(state.Health))), Role: role}}
		if state.HealthSaid != "" {
			line = append(line, styled.Span{Text: "  " + inspect.Sanitize(words.OneLine(state.HealthSaid))})
		}
		lines = append(lines, line)
	}
	for i := range state.Conditions {
		lines = append(lines, condition(&state.Conditions[i]))
	}
	return lines
}

func condition(c *metav1.Condition) styled.Line {
	role := styled.Plain
	if c.Status != metav1.ConditionTrue {
		role = styled.Warn
	}
	text := fmt.Sprintf("%s is %s", c.Type, c.Status)
	for _, more := range []string{c.Reason, c.Message} {
		if more != "" {
			text += ": " + words.OneLine(more)
		}
	}
	return styled.Text(role, inspect.Sanitize(text))
}
