package nodes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler/extended"
	"github.com/kubectl-dra/kubectl-dra/tui/listing"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// offer is what a device plugin has on a node. There are no cells, for some offer a thousand of something.
type offer struct {
	resource string
	total    int64
	sick     int64
	free     int64 // -1 if it could not be read
}

// addPlugins adds to the rows, which are those of the nodes with these indices, what device plugins have
// there.
func addPlugins(w *screen.World, rows []row, index map[inspect.NodeName]int) {
	for _, o := range extended.Plugins(w.Cluster()).Offers {
		p := offer{resource: string(o.Resource), total: o.Plugin.Capacity, free: -1}
		p.sick = max(0, o.Plugin.Capacity-o.Plugin.Allocatable)
		switch {
		case o.Plugin.Allocatable == 0: // DRA may have some, which are in the picture
			p.free = 0
		case o.Free != nil:
			p.free = *o.Free
		}
		at := index[o.Node]
		rows[at].plugins = append(rows[at].plugins, p)
	}
}

// offerOf returns what device plugins have of a resource, or nil.
func (r *row) offerOf(resource string) *offer {
	i := slices.IndexFunc(r.plugins, func(o offer) bool { return o.resource == resource })
	if i < 0 {
		return nil
	}
	return &r.plugins[i]
}

// numbers are how many of how many are free, and how many of all are unhealthy.
func (o *offer) numbers() string {
	free := "?"
	if o.free >= 0 {
		free = fmt.Sprint(o.free)
	}
	text := fmt.Sprintf("%s/%d", free, o.total)
	if o.sick > 0 {
		text += fmt.Sprintf(" (%d unhealthy)", o.sick)
	}
	return text
}

func (o *offer) cell() styled.Line {
	if o == nil {
		return nil
	}
	role := styled.Good
	if o.free <= 0 {
		role = styled.Dim
	}
	count, sick, _ := strings.Cut(o.numbers(), " ")
	line := styled.Text(role, count)
	if sick != "" {
		line = append(line, styled.Span{Text: " " + sick, Role: styled.Warn})
	}
	return line
}

// freeCount is how many are free. It is -1 if that is not known or there are none at all.
func (o *offer) freeCount() int64 {
	if o == nil {
		return -1
	}
	return o.free
}

// pluginRank is that of the columns of device plugins: they are the first to go where space is short.
const pluginRank = 10

// resources returns what device plugins have on nodes, that of which there is most first.
func resources(rows []row) []string {
	total := map[string]int64{}
	var names []string
	for i := range rows {
		for _, o := range rows[i].plugins {
			if _, known := total[o.resource]; !known {
				names = append(names, o.resource)
			}
			total[o.resource] += o.total
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(total[b], total[a]), strings.Compare(a, b)) })
	return names
}

// pluginColumns makes a column for each resource.
func pluginColumns(resources []string) []listing.Column[row] {
	var columns []listing.Column[row]
	for i, name := range resources {
		columns = append(columns, listing.Column[row]{
			Column:  widget.Column{Title: strings.ToUpper(inspect.Sanitize(name)), Rank: pluginRank + i},
			Cell:    func(r *row) styled.Line { return r.offerOf(name).cell() },
			Compare: func(a, b *row) int { return cmp.Compare(a.offerOf(name).freeCount(), b.offerOf(name).freeCount()) },
			Amount:  func(r *row) (float64, bool) { n := r.offerOf(name).freeCount(); return float64(n), n >= 0 },
		})
	}
	return columns
}
