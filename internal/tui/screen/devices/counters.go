package devices

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/tui/widget"
	"github.com/kubectl-dra/kubectl-dra/styled"
)

// setID names a counter set.
type setID struct {
	pool inspect.PoolID
	set  string
}

// counterSet is what several devices draw on, and how much of it devices that are held have taken.
type counterSet struct {
	id          setID
	total, used map[string]resource.Quantity
}

// counterSets are those of the newest generation of each pool.
func counterSets(s *inspect.Snapshot, devices []inspect.DeviceStatus) map[setID]*counterSet {
	sets := map[setID]*counterSet{}
	for _, slice := range inspect.NewestSlices(s.Slices()) {
		pool := inspect.PoolOf(slice)
		for i := range slice.Spec.SharedCounters {
			c := &slice.Spec.SharedCounters[i]
			set := &counterSet{id: setID{pool, c.Name}, total: map[string]resource.Quantity{}, used: map[string]resource.Quantity{}}
			for name, counter := range c.Counters {
				set.total[name] = counter.Value
			}
			sets[set.id] = set
		}
	}
	for i := range devices {
		take(sets, &devices[i])
	}
	return sets
}

// take adds what a device has taken, which it does as soon as a claim holds it or a share of it.
func take(sets map[setID]*counterSet, d *inspect.DeviceStatus) {
	if !slices.ContainsFunc(d.Holders, func(h inspect.Holder) bool { return !h.Admin() }) {
		return
	}
	for id, amount := range inspect.Consumption(d.Device) {
		if set := sets[setID{d.ID.PoolID(), id.Set}]; set != nil {
			used := set.used[id.Counter]
			used.Add(amount)
			set.used[id.Counter] = used
		}
	}
}

func (c *counterSet) name() string {
	if c == nil {
		return ""
	}
	return c.id.pool.String() + "/" + c.id.set
}

// setHeading shows what is left of the counters above the devices that draw on them.
func setHeading(group string, rows []*row) styled.Line {
	if group == "" {
		return heading("devices without counters", rows)
	}
	set := rows[0].set
	line := styled.Line{{Text: inspect.Sanitize(group), Role: styled.Strong}}
	for _, name := range slices.Sorted(maps.Keys(set.total)) {
		total, used := set.total[name], set.used[name]
		line = append(line, styled.Span{Text: "  " + inspect.Sanitize(name) + " ", Role: styled.Dim})
		line = append(line, widget.Bar(used.AsApproximateFloat64()/max(1e-9, total.AsApproximateFloat64()), 8, styled.Used)...)
		line = append(line, styled.Span{Text: fmt.Sprintf(" %s/%s", used.String(), total.String())})
	}
	return line
}
