package devices

import (
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// counters are those of the set that a device draws on, if it does.
func (r *row) counters() (all []*inspect.CounterStatus) {
	of := r.status.Device.ConsumesCounters
	for i := range r.pool.Counters {
		if c := &r.pool.Counters[i]; len(of) > 0 && c.Set == of[0].CounterSet {
			all = append(all, c)
		}
	}
	return all
}

// set names that set. It is empty if there is none.
func (r *row) set() string {
	if len(r.counters()) == 0 {
		return ""
	}
	return r.pool.ID.String() + "/" + r.status.Device.ConsumesCounters[0].CounterSet
}

// setHeading shows what is left of the counters above the devices that draw on them, and how much is taken of
// the scarcest.
func setHeading(group string, rows []*row) styled.Line {
	if group == "" {
		return heading("devices without counters", rows)
	}
	r := rows[0]
	counters := r.counters()
	most, texts := 0.0, make([]string, len(counters))
	for i, c := range counters {
		most = max(most, c.Used())
		texts[i] = c.Counter + " " + c.Left.String() + "/" + c.Total.String()
	}
	line := styled.Line{{Text: styled.Cut(inspect.Sanitize(r.pool.ID.Pool+"/"+r.status.Device.ConsumesCounters[0].CounterSet), widestGroup) + "  ", Role: styled.Strong}}
	line = append(line, widget.Bar(most, 8, styled.Used)...)
	return append(line, styled.Span{Text: "  left: " + inspect.Sanitize(strings.Join(texts, ", ")), Role: styled.Dim})
}
