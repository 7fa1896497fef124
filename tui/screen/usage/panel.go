package usage

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/usage"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// mostClaims bounds how many claims a panel lists: no screen has room for more.
const mostClaims = 60

// panel tells of a row what it holds, and which claims do, those that need a look first.
func (r *row) panel(w *screen.World, width int) []styled.Line {
	lines := []styled.Line{r.holdsLine()}
	for i := range r.quotas {
		q := &r.quotas[i]
		text := fmt.Sprintf("%s of %s %s of flavor %s used, %s more to be had", q.Used, q.Nominal, q.Resource, q.Flavor, q.Available)
		lines = append(lines, styled.Line{{Text: "  quota  ", Role: styled.Dim}, {Text: inspect.Sanitize(text)}})
	}
	claims := r.Claims[:min(len(r.Claims), mostClaims)]
	wide := min(widget.Widest(claims, func(c usage.Claim) string { return inspect.Sanitize(r.nameOf(&c)) }), width/3)
	for i := range claims {
		lines = append(lines, r.claimLine(w, &claims[i], wide))
	}
	return lines
}

// holdsLine says how the devices are held.
func (r *row) holdsLine() styled.Line {
	line := styled.Line{{Text: "  holds  ", Role: styled.Dim}}
	line = append(line, styled.Span{Text: cmp.Or(r.kinds(), "nothing")})
	if r.Joint > 0 {
		line = append(line, styled.Span{Text: fmt.Sprintf("; %d of it others hold too", r.Joint), Role: styled.Shared})
	}
	taken := make([]string, len(r.Counters))
	for i := range r.Counters {
		taken[i] = inspect.Sanitize(r.Counters[i].Counter) + " " + r.Counters[i].Taken.String()
	}
	if len(taken) > 0 {
		line = append(line, styled.Span{Text: "; of counters " + strings.Join(taken, ", "), Role: styled.Dim})
	}
	return line
}

// nameOf is a claim as the panel names it: without its namespace where all claims are in one.
func (r *row) nameOf(c *usage.Claim) string {
	if r.Namespace != "" {
		return c.Ref.Name
	}
	return c.Ref.String()
}

// claimLine tells of a claim what it does with its devices, and since when.
func (r *row) claimLine(w *screen.World, c *usage.Claim, wide int) styled.Line {
	name := inspect.Sanitize(r.nameOf(c))
	label, role := strings.ToLower(string(c.State)), styled.Dim
	switch c.State {
	case usage.Refused:
		role = styled.Bad
	case usage.Idle:
		role = styled.Warn
	case usage.Held, usage.Waiting:
	}
	link := screen.LinkTo(claimRef(c), styled.Cut(name, wide))
	return styled.Line{
		{Text: "  " + styled.Pad(label, len("refused")+1), Role: role}, link, {Text: styled.Blanks(max(0, wide-styled.Width(link.Text)))},
		{Text: "  " + r.doing(w, c)},
	}
}

// doing says what a claim holds or waits for.
func (r *row) doing(w *screen.World, c *usage.Claim) string {
	pod := "pod " + inspect.Sanitize(c.Pod.Name)
	if c.Pod.Name == c.Ref.Name {
		pod = "its pod"
	}
	switch c.State {
	case usage.Idle:
		text := words.Count(c.Devices, "device") + forText(idleFor(w, c))
		if c.Pod.Name != "" {
			return text + ": " + pod + " has ended"
		}
		return text + ": no pod has it reserved"
	case usage.Refused:
		text := "wants " + words.Count(c.Wanted, "device") + forText(w.Age(c.Since), false)
		if c.Pod.Name == c.Ref.Name {
			return text
		}
		return text + ": " + pod
	case usage.Waiting:
		return "wants " + words.Count(c.Wanted, "device")
	case usage.Held:
	}
	text := words.Count(c.Devices, "device")
	if n := adminAccess(w.Snapshot, c.Ref); n > 0 {
		access := words.Count(n, "device") + " with admin access, which keeps nobody from using them"
		if c.Devices == 0 {
			return access
		}
		text += " and " + access
	}
	return text
}

// adminAccess counts the devices to which a claim has admin access. It does not hold them.
func adminAccess(s *inspect.Snapshot, ref inspect.ClaimRef) (n int) {
	claim, ok := s.Claim(ref)
	if !ok || claim.Status.Allocation == nil {
		return 0
	}
	for i := range claim.Status.Allocation.Devices.Results {
		if r := &claim.Status.Allocation.Devices.Results[i]; r.AdminAccess != nil && *r.AdminAccess {
			n++
		}
	}
	return n
}
