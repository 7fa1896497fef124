package copies

import (
	"context"
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/fit"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/reading"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// Kinds are the kinds of objects whose copies can be counted.
var Kinds = []screen.Kind{screen.Claim, screen.Template}

// New makes the page for an object.
func New(ref screen.Ref) screen.Screen {
	return reading.New(reading.Config[*explain.Fit]{
		Ref: ref, More: "every node",
		Ask:   func(ctx context.Context, w *screen.World) (*explain.Fit, error) { return count(ctx, w, ref) },
		Lines: lines,
	})
}

func count(ctx context.Context, w *screen.World, ref screen.Ref) (*explain.Fit, error) {
	object, _, ok := screen.Find(w, ref)
	if !ok {
		return nil, fmt.Errorf("%s %s is gone", ref.Kind, ref)
	}
	switch o := object.(type) {
	case *resourcev1.ResourceClaim:
		return fit.Claim(ctx, w.Cluster(), o, question.Options{})
	case *resourcev1.ResourceClaimTemplate:
		return fit.Claim(ctx, w.Cluster(), inspect.ClaimFromTemplate(o, o.Name), question.Options{})
	}
	return nil, fmt.Errorf("copies of a %s cannot be counted", ref.Kind)
}

// lines shows the total, the nodes on which copies fit, and, taken together by what is in the way, those on
// which none does.
func lines(f *explain.Fit, o reading.Layout) []styled.Line {
	lines := []styled.Line{headline(f), nil}
	wide := widget.Widest(f.Nodes, func(n explain.NodeFit) string { return inspect.Sanitize(string(n.Node)) })
	wide = min(max(4, wide), o.Width/3)
	most := 1
	if len(f.Nodes) > 0 {
		most = max(1, f.Nodes[0].Copies)
	}
	var order []explain.Finding
	none := map[explain.Finding][]explain.NodeFit{}
	for _, n := range f.Nodes {
		if n.Copies > 0 || n.AtLeast || o.Verbose {
			lines = append(lines, nodeLine(n, wide, most, o.Width))
			continue
		}
		limit := n.Limit.Finding()
		if none[limit] == nil {
			order = append(order, limit)
		}
		none[limit] = append(none[limit], n)
	}
	if len(order) > 0 {
		if lines[len(lines)-1] != nil {
			lines = append(lines, nil)
		}
		lines = append(lines, styled.Text(styled.Strong, "None fits on"))
	}
	lines = append(lines, refusals(order, none, o.Width)...)
	for _, p := range f.Partial {
		lines = append(lines, nil, styled.Text(styled.Warn, inspect.Sanitize(p)))
	}
	return lines
}

// refusals are the nodes on which none fits, by what is in the way.
func refusals(order []explain.Finding, none map[explain.Finding][]explain.NodeFit, width int) []styled.Line {
	var lines []styled.Line
	who := words.Each(order, func(limit explain.Finding) string {
		name, more := inspect.Sanitize(string(none[limit][0].Node)), len(none[limit])-1
		if more == 0 {
			return name
		}
		return fmt.Sprintf("%s and %d more", name, more)
	})
	wide := min(widget.Widest(who, func(name string) string { return name }), width/3)
	for i, limit := range order {
		message := none[limit][0].Limit.Message
		label := styled.Span{Text: "  " + styled.Pad(who[i], wide) + "  ", Role: styled.Name}
		for _, text := range styled.WrapText(inspect.Sanitize(message), max(10, width-wide-4)) {
			lines = append(lines, styled.Line{label, {Text: text}})
			label.Text = styled.Pad("", wide+4)
		}
	}
	return lines
}

func headline(f *explain.Fit) styled.Line {
	name := inspect.Sanitize(f.Subject.Namespace + "/" + f.Subject.Name)
	number := fmt.Sprint(f.Total)
	if f.AtLeast {
		number = "at least " + number
	}
	role, mark := styled.Good, "✓ "
	if f.Total == 0 {
		role, mark = styled.Bad, "✗ "
	}
	what := " more copies of "
	if f.Total == 1 && !f.AtLeast {
		what = " more copy of "
	}
	return styled.Line{{Text: mark + number, Role: role}, {Text: what}, {Text: name, Role: styled.Name}, {Text: " fit now"}}
}

func nodeLine(n explain.NodeFit, wide, most, width int) styled.Line {
	count := fmt.Sprintf("%4d  ", n.Copies)
	if n.AtLeast {
		count = fmt.Sprintf("≥%3d  ", n.Copies)
	}
	line := styled.Line{{Text: "  " + styled.Pad(inspect.Sanitize(string(n.Node)), wide), Role: styled.Name}, {Text: count, Role: styled.Strong}}
	line = append(line, widget.Bar(float64(n.Copies)/float64(most), 10, styled.Good)...)
	if room := width - line.Width() - 8; room > 10 && n.Limit.Message != "" {
		line = append(line, styled.Span{Text: "  then: " + styled.Cut(inspect.Sanitize(n.Limit.Message), room), Role: styled.Dim})
	}
	return line
}
