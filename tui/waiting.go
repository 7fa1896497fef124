package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// body draws the screen that is visible, or, until there is a snapshot, what that waits for.
func (m *model) body(height int) string {
	waiter, ok := m.options.Source.(Waiter)
	if m.base != nil || !ok {
		return m.top().View(m.world, m.width, height)
	}
	server, since, what := waiter.Waiting()
	lines := []styled.Line{nil, m.waitingFor(server, since), nil}
	for _, w := range what {
		lines = append(lines, styled.Text(styled.Plain, "   ◌ "+inspect.Sanitize(w)))
	}
	if m.options.Remarks != nil {
		if remarks := m.options.Remarks(); len(remarks) > 0 {
			lines = append(lines, nil, styled.Text(styled.Dim, "  The credential plugin says:"))
			for _, r := range remarks {
				for _, part := range styled.WrapText(inspect.Sanitize(r), max(1, m.width-4)) {
					lines = append(lines, styled.Text(styled.Plain, "   "+part))
				}
			}
		}
	}
	// What is said last matters most, so what there is no room for is missing from the list above it.
	if over := min(len(lines)-height, len(what)); over > 0 {
		end := 3 + len(what)
		lines = slices.Delete(lines, end-over, end)
	}
	drawn := make([]string, len(lines))
	for i, line := range lines {
		drawn[i] = widget.Render(m.world.Theme, line, m.width)
	}
	return strings.Join(drawn, "\n")
}

// waitingFor is the line that says for whom, since when, and how to stop it.
func (m *model) waitingFor(server string, since time.Time) styled.Line {
	took := max(0, m.options.Clock().Sub(since)).Truncate(time.Second)
	return styled.Line{
		{Text: "  Waiting for ", Role: styled.Warn}, {Text: inspect.Sanitize(server), Role: styled.Strong},
		{Text: fmt.Sprintf(" since %s (%s); q quits", since.Local().Format("15:04:05"), took), Role: styled.Dim},
	}
}
