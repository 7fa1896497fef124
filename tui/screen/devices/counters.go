package devices

import (
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// setID names a counter set.
type setID struct {
	pool inspect.PoolID
	set  string
}

// counterSet is what several devices draw on.
type counterSet struct {
	id       setID
	counters []inspect.CounterStatus
}

func counterSets(stocks []*inspect.Stock) map[setID]*counterSet {
	sets := map[setID]*counterSet{}
	for _, stock := range stocks {
		for _, c := range stock.Pool.Counters {
			id := setID{stock.Pool.ID, c.Set}
			if sets[id] == nil {
				sets[id] = &counterSet{id: id}
			}
			sets[id].counters = append(sets[id].counters, c)
		}
	}
	return sets
}

func (c *counterSet) name() string {
	if c == nil {
		return ""
	}
	return c.id.pool.String() + "/" + c.id.set
}

// setHeading shows what is left of the counters above the devices that draw on them, and how much is taken of
// the scarcest.
func setHeading(group string, rows []*row) styled.Line {
	if group == "" {
		return heading("devices without counters", rows)
	}
	set := rows[0].set
	most, texts := 0.0, make([]string, len(set.counters))
	for i := range set.counters {
		c := &set.counters[i]
		most = max(most, c.Used())
		texts[i] = c.Counter + " " + c.Left.String() + "/" + c.Total.String()
	}
	line := styled.Line{{Text: styled.Cut(inspect.Sanitize(set.id.pool.Pool+"/"+set.id.set), widestGroup) + "  ", Role: styled.Strong}}
	line = append(line, widget.Bar(most, 8, styled.Used)...)
	return append(line, styled.Span{Text: "  left: " + inspect.Sanitize(strings.Join(texts, ", ")), Role: styled.Dim})
}
