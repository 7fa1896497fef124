package storage

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/storage"
	"github.com/kubectl-dra/kubectl-dra/tui/listing"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// row is a storage capacity. Its texts are safe to show.
type row struct {
	ref            screen.Ref
	class, name    string
	total, largest *resource.Quantity // nil if the driver does not say
	share          float64            // of the largest total of the same class
	topology       string
	nodes          []string
	age            screen.Age
	err            string
	kind           classKind
}

// classKind is what is known of a StorageClass.
type classKind struct {
	missing     bool // there is no such class
	provisioner string
	binding     string
	// ignored says why the scheduler does not look at the capacities of the class. It is empty if it does.
	ignored string
}

// build makes the rows, those of a class together, the one with most room first.
func build(_ context.Context, w *screen.World) ([]row, error) {
	classes := classKinds(w.Snapshot)
	most := map[string]float64{}
	var rows []row
	for _, c := range storage.Capacities(w.Snapshot) {
		if !w.InNamespace(c.Object.Namespace) {
			continue
		}
		r := rowOf(w, &c, classes)
		most[r.class] = max(most[r.class], amount(r.total))
		rows = append(rows, r)
	}
	for i := range rows {
		if largest := most[rows[i].class]; largest > 0 {
			rows[i].share = amount(rows[i].total) / largest
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		return cmp.Or(strings.Compare(a.class, b.class), cmp.Compare(amount(b.total), amount(a.total)))
	})
	return rows, nil
}

func rowOf(w *screen.World, c *storage.Capacity, classes map[string]classKind) row {
	s := w.Snapshot
	kind, known := classes[c.Class]
	kind.missing = !known && s.Health(inspect.StorageClasses).Complete()
	r := row{
		ref:   screen.Ref{Kind: screen.StorageCapacity, Namespace: c.Object.Namespace, Name: c.Object.Name},
		class: inspect.Sanitize(c.Class), name: inspect.Sanitize(c.Object.Name), kind: kind,
		total: c.Total, largest: c.Largest, topology: topology(c.Object.NodeTopology),
		age: w.Age(c.Object.CreationTimestamp.Time),
	}
	for _, node := range c.Nodes {
		r.nodes = append(r.nodes, inspect.Sanitize(string(node)))
	}
	if c.Err != nil {
		r.err = inspect.Sanitize(c.Err.Error())
	}
	return r
}

// classKinds says of each StorageClass what a reader of capacities wants to know.
func classKinds(s *inspect.Snapshot) map[string]classKind {
	drivers := map[string]*storagev1.CSIDriver{}
	for _, d := range s.Objects().CSIDrivers {
		drivers[d.Name] = d
	}
	kinds := map[string]classKind{}
	for _, class := range s.Objects().StorageClasses {
		k := classKind{provisioner: inspect.Sanitize(class.Provisioner), binding: string(storagev1.VolumeBindingImmediate)}
		if class.VolumeBindingMode != nil {
			k.binding = inspect.Sanitize(string(*class.VolumeBindingMode))
		}
		if d := drivers[class.Provisioner]; d != nil && (d.Spec.StorageCapacity == nil || !*d.Spec.StorageCapacity) {
			k.ignored = "CSIDriver " + inspect.Sanitize(d.Name) + " does not set storageCapacity"
		}
		if k.binding == string(storagev1.VolumeBindingImmediate) {
			k.ignored = "volumes are bound immediately, before a node is chosen"
		}
		kinds[class.Name] = k
	}
	return kinds
}

// topology prints a node topology; that of one host is its name.
func topology(selector *metav1.LabelSelector) string {
	switch {
	case selector == nil:
		return "no node"
	case len(selector.MatchLabels)+len(selector.MatchExpressions) == 0:
		return "all nodes"
	}
	return inspect.Sanitize(metav1.FormatLabelSelector(selector))
}

func amount(q *resource.Quantity) float64 {
	if q == nil {
		return 0
	}
	return q.AsApproximateFloat64()
}

func quantity(q *resource.Quantity) styled.Line {
	if q == nil {
		return styled.Text(styled.Dim, "unknown")
	}
	return styled.Text(styled.Plain, q.String())
}

// barWidth is the width of the bar that compares a capacity with the others of its class.
const barWidth = 10

var columns = []listing.Column[row]{
	{Column: widget.Column{Title: "CLASS", Min: 8, Max: 32}, Cell: func(r *row) styled.Line { return styled.Text(styled.Name, r.class) }},
	{
		Column: widget.Column{Title: "CAPACITY", Right: true}, Cell: func(r *row) styled.Line { return quantity(r.total) },
		Compare: func(a, b *row) int { return cmp.Compare(amount(a.total), amount(b.total)) },
		Amount:  func(r *row) (float64, bool) { return amount(r.total), r.total != nil },
	},
	{
		Column: widget.Column{Title: "", Rank: 3}, Cell: func(r *row) styled.Line { return widget.Bar(r.share, barWidth, styled.Good) },
		Text: func(*row) string { return "" }, Compare: func(a, b *row) int { return cmp.Compare(a.share, b.share) },
	},
	{
		Column: widget.Column{Title: "LARGEST", Right: true}, Cell: func(r *row) styled.Line { return quantity(r.largest) },
		Compare: func(a, b *row) int { return cmp.Compare(amount(a.largest), amount(b.largest)) },
		Amount:  func(r *row) (float64, bool) { return amount(r.largest), r.largest != nil },
	},
	{
		Column: widget.Column{Title: "NODES", Min: 24, Max: 40, Rank: 1}, Cell: nodesCell,
		Text: func(r *row) string { return strings.Join(r.nodes, " ") },
	},
	{Column: widget.Column{Title: "TOPOLOGY", Max: 60, Rank: 4}, Cell: topologyCell},
	{Column: widget.Column{Title: "NAME", Max: 40, Rank: 5}, Cell: func(r *row) styled.Line { return styled.Text(styled.Dim, r.name) }},
	listing.AgeColumn("AGE", 2, func(r *row) screen.Age { return r.age }),
}

func nodesCell(r *row) styled.Line {
	switch n := len(r.nodes); n {
	case 0:
		return styled.Text(styled.Warn, "none")
	case 1:
		return styled.Text(styled.Plain, r.nodes[0])
	default:
		return styled.Line{{Text: fmt.Sprintf("%d", n), Role: styled.Plain}, {Text: "  " + strings.Join(r.nodes[:min(n, 8)], " "), Role: styled.Dim}}
	}
}

func topologyCell(r *row) styled.Line {
	if r.err != "" {
		return styled.Text(styled.Bad, r.err)
	}
	return styled.Text(styled.Dim, r.topology)
}

var groupings = []listing.Grouping[row]{
	{Name: "class", Of: func(r *row) string { return r.class }, Heading: classHeading},
	{Name: "topology", Of: func(r *row) string { return r.topology }},
}

// classHeading sums up what a class has left. Drivers may count the same storage in several classes, so
// nothing is summed up over classes.
func classHeading(class string, rows []*row) styled.Line {
	sum, unknown := 0.0, 0
	for _, r := range rows {
		if r.total == nil {
			unknown++
			continue
		}
		sum += amount(r.total)
	}
	text := fmt.Sprintf("  %s in %s", bytesText(sum), words.Count(len(rows), "segment"))
	if unknown > 0 {
		text += fmt.Sprintf(", %d unknown", unknown)
	}
	line := styled.Line{{Text: class, Role: styled.Strong}, {Text: text, Role: styled.Dim}}
	if rows[0].kind.missing {
		line = append(line, styled.Span{Text: "  no such StorageClass", Role: styled.Warn})
	}
	return line
}

// bytesText prints a sum of bytes with three digits that count, such as 28.8Ti.
func bytesText(n float64) string {
	units := []string{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}
	unit := 0
	if n == 0 {
		return "0"
	}
	for n >= 1000 && unit < len(units)-1 {
		n /= 1024
		unit++
	}
	return strconv.FormatFloat(n, 'f', max(0, 3-len(strconv.Itoa(int(n)))), 64) + units[unit]
}
