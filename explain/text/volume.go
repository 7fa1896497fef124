package text

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/text/layout"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// maxVolumeRows is the number of rows that are shown of each answer without Verbose.
const maxVolumeRows = 6

// volumeRow is what is the same on some nodes.
type volumeRow struct {
	*explain.VolumeNode
	nodes []inspect.NodeName
	why   string
}

// volume shows node by node what decides about a volume claim.
func (p *page) volume() {
	v := p.e.Volume
	if len(v.Nodes) == 0 {
		return
	}
	rows := p.volumeRows(v)
	shown, rest := p.shownRows(rows)
	table := &volumeTable{}
	for i := range shown {
		table.measure(&shown[i])
	}
	p.Heading("Nodes", layout.Span(styled.Dim, "  "+aboutVolume(v)))
	if table.sizes() {
		p.Add("    ", "    ", styled.Span{Text: table.row("node", "largest", "lacks") + table.decidedBy, Role: styled.Dim})
	}
	for i := range shown {
		p.volumeRow(table, &shown[i])
	}
	if rest > 0 {
		p.Add("    ", "", styled.Span{Text: fmt.Sprintf("and %s%s", words.Count(rest, "more node"), p.Hint("shows all")), Role: styled.Dim})
	}
}

// aboutVolume says what the claim asks for.
func aboutVolume(v *explain.Volume) string {
	var parts []string
	if v.Wanted != nil {
		parts = append(parts, v.Wanted.String())
	}
	switch {
	case v.Class != "" && v.Provisioner != "":
		parts = append(parts, "class "+v.Class+", provisioner "+v.Provisioner)
	case v.Class != "":
		parts = append(parts, "class "+v.Class)
	}
	return strings.Join(parts, " of ")
}

// volumeRows puts nodes together about which the same is to be said: first those that fit, the most room
// first, then those of which the answer is not known, then the others, those that lack least first.
func (p *page) volumeRows(v *explain.Volume) []volumeRow {
	var rows []volumeRow
	at := map[string]int{}
	for i := range v.Nodes {
		row := volumeRow{VolumeNode: &v.Nodes[i], why: whyVolume(&v.Nodes[i])}
		key := strings.Join([]string{string(row.Answer), sizeText(row.Offered), sizeText(row.Missing), row.why}, "\x00")
		for _, t := range row.Together {
			key += "\x00" + t.Words()
		}
		k, known := at[key]
		if !known {
			k = len(rows)
			at[key], rows = k, append(rows, row)
		}
		rows[k].nodes = append(rows[k].nodes, v.Nodes[i].Node)
	}
	slices.SortStableFunc(rows, func(a, b volumeRow) int {
		order := cmp.Compare(answerOrder(a.Answer), answerOrder(b.Answer))
		if a.Answer == explain.VolumeFits {
			return cmp.Or(order, compareSizes(b.Offered, a.Offered))
		}
		return cmp.Or(order, compareSizes(a.Missing, b.Missing))
	})
	return rows
}

func answerOrder(a explain.VolumeAnswer) int {
	return slices.Index([]explain.VolumeAnswer{explain.VolumeFits, explain.VolumeUnknown, explain.VolumeRefused}, a)
}

// compareSizes compares sizes of which one that is not known is the largest.
func compareSizes(a, b *resource.Quantity) int {
	if a == nil || b == nil {
		return cmp.Compare(words.Btoi(a == nil), words.Btoi(b == nil))
	}
	return a.Cmp(*b)
}

// whyVolume says what decides: that in itself, if it says all that there is to say, or else what is in the
// way.
func whyVolume(n *explain.VolumeNode) string {
	if n.Missing != nil && len(n.Reasons) == 1 || len(n.Reasons) == 0 {
		return n.Message
	}
	all := words.Each(n.Reasons, func(r explain.VolumeReason) string { return r.Message })
	return strings.Join(all, "; ")
}

// shownRows are the rows to be shown, and the number of nodes that are left out.
func (p *page) shownRows(rows []volumeRow) (shown []volumeRow, rest int) {
	count := map[explain.VolumeAnswer]int{}
	for _, row := range rows {
		if count[row.Answer]++; count[row.Answer] <= maxVolumeRows || p.Verbose {
			shown = append(shown, row)
		} else {
			rest += len(row.nodes)
		}
	}
	return shown, rest
}

func sizeText(q *resource.Quantity) string {
	if q == nil {
		return ""
	}
	return q.String()
}

// volumeTable has the widths of the columns.
type volumeTable struct {
	node, offered, missing int
	// decidedBy is the title of the last column.
	decidedBy string
}

func (t *volumeTable) measure(row *volumeRow) {
	t.node = max(t.node, styled.Width(rowName(row)))
	t.offered = max(t.offered, len(sizeText(row.Offered)))
	t.missing = max(t.missing, len(sizeText(row.Missing)))
	if t.decidedBy == "" {
		t.decidedBy = "decided by"
	}
	if row.By.Kind == "CSIStorageCapacity" {
		t.decidedBy = "decided by CSIStorageCapacity"
	}
}

// rowName is the node, or how many there are.
func rowName(row *volumeRow) string {
	if len(row.nodes) == 1 {
		return inspect.Sanitize(string(row.nodes[0]))
	}
	return nodes(len(row.nodes))
}

// sizes reports whether there are columns of sizes.
func (t *volumeTable) sizes() bool { return t.offered+t.missing > 0 }

// row is a row without its last column.
func (t *volumeTable) row(node, offered, missing string) string {
	out := styled.Pad(node, max(t.node, len("node")))
	if t.sizes() {
		out += "  " + leftPad(offered, max(t.offered, len("largest")))
	}
	if t.missing > 0 {
		out += "  " + leftPad(missing, max(t.missing, len("lacks")))
	}
	return out + "  "
}

func leftPad(text string, width int) string {
	return strings.Repeat(" ", max(0, width-styled.Width(text))) + text
}

func (p *page) volumeRow(t *volumeTable, row *volumeRow) {
	sign := map[explain.VolumeAnswer]styled.Span{explain.VolumeFits: layout.Good, explain.VolumeRefused: layout.Bad, explain.VolumeUnknown: layout.Open}[row.Answer]
	offered := sizeText(row.Offered)
	if offered == "" && row.Missing != nil {
		offered = "-"
	}
	text := t.row(rowName(row), offered, sizeText(row.Missing))
	hang := strings.Repeat(" ", min(styled.Width(text)+4, p.Width/2))
	spans := []styled.Span{sign, {Text: text}, layout.Span(styled.Plain, row.why)}
	if len(row.nodes) > 1 {
		spans = append(spans, layout.Span(styled.Dim, ": "+p.nodeNames(row.nodes)))
	}
	p.Add("  ", hang, spans...)
	for i := range row.Together {
		p.Add("      ", "      ", layout.Span(styled.Warn, row.Together[i].Words()))
	}
}
