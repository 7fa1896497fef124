package celtest

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/allocator/selector/bench"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// SelectorOptions say how a test is printed.
type SelectorOptions struct {
	// Width is the number of columns for text.
	Width int
	// TableWidth is the number of columns that the table should fit; 0 is any.
	TableWidth int
	// All shows every device in a row of its own.
	All bool
}

// PrintSelectorTest prints a test for people: what is wrong with the expression, how many devices match,
// and the devices grouped by what becomes of them and why.
func PrintSelectorTest(w io.Writer, s *SelectorTest, opts SelectorOptions) error {
	p := &selectorPrinter{output.NewPage(opts.Width), s, opts}
	p.header()
	p.findings()
	p.summary()
	p.terms()
	p.table()
	p.footer()
	_, err := io.WriteString(w, p.String())
	return err
}

type selectorPrinter struct {
	*output.Page
	test *SelectorTest
	opts SelectorOptions
}

func (p *selectorPrinter) line(format string, args ...any) { p.Line(fmt.Sprintf(format, args...)) }

func (p *selectorPrinter) header() {
	if s := p.test.Subject; s != nil {
		p.line("%s %s, %s", s.Kind, s.FullName(), p.test.Path)
	}
	for line := range strings.SplitSeq(strings.TrimRight(p.test.Expression, "\n"), "\n") {
		p.line("  %s", strings.ReplaceAll(line, "\t", "    "))
	}
	p.line("")
}

// findings writes what is wrong, each with a caret under the place.
func (p *selectorPrinter) findings() {
	for _, f := range p.test.Findings {
		p.Paragraph(string(f.Severity)+": ", "  ", f.Message)
		p.caret(f.Place)
		p.line("")
	}
}

// caret writes a line of the expression with a mark below the column. Of a line that is too long only the
// part around the mark is shown.
func (p *selectorPrinter) caret(at selector.Place) {
	if at.Line < 1 || at.Column < 1 {
		return
	}
	source := []rune(selector.Line(p.test.Expression, at.Line))
	var guard inspect.Guard
	for i, r := range source {
		if guard.Unsafe(r) {
			source[i] = ' '
		}
	}
	text := string(source)
	mark, all := styled.Width(string(source[:min(at.Column-1, len(source))])), styled.Width(text)
	if room := max(20, p.opts.Width-4); all > room {
		start := max(0, min(mark-room/3, all-room))
		text = window(text, start, start+room)
		mark -= start
	}
	p.WriteString("    " + strings.TrimRight(text, " ") + "\n")
	p.WriteString("    " + strings.Repeat(" ", mark) + "^\n")
}

// window returns what stands between two columns of a text, with a mark at each end where something is
// missing.
func window(text string, from, to int) string {
	left, right := "", ""
	start, end := from, to
	if from > 0 {
		left, start = output.CutMark, from+len(output.CutMark)
	}
	if to < styled.Width(text) {
		right, end = output.CutMark, to-len(output.CutMark)
	}
	return left + styled.Columns(text, start, end) + right
}

func (p *selectorPrinter) summary() {
	s := p.test
	switch {
	case !s.Valid:
		p.Paragraph("", "", "It does not compile, so it was not tested. A claim or class that uses it makes the scheduler give up with an error.")
	case s.Total == 0:
		p.Paragraph("", "", fmt.Sprintf("There are no devices%s to test it on.", inScope(s.Scope)))
	case s.Failed > 0:
		p.Paragraph("", "", fmt.Sprintf("It matches %s%s, and fails on %d.", ofTotal(s.Matched, s.Total), inScope(s.Scope), s.Failed))
	default:
		p.Paragraph("", "", fmt.Sprintf("It matches %s%s.", ofTotal(s.Matched, s.Total), inScope(s.Scope)))
	}
}

func ofTotal(n, total int) string {
	if total == 1 {
		return fmt.Sprintf("%d of 1 device", n)
	}
	return fmt.Sprintf("%d of %d devices", n, total)
}

func inScope(scope string) string {
	if scope == "" {
		return ""
	}
	return " " + scope
}

// terms numbers the terms for the table.
func (p *selectorPrinter) terms() {
	if len(p.test.Devices) == 0 || len(p.test.Devices[0].Terms) < 2 {
		return
	}
	p.line("")
	p.line("Terms, which must all be true:")
	for i, term := range p.test.Devices[0].Terms {
		p.line("  %d  %s", i+1, term.Expression)
	}
}

// deviceGroup are devices of a driver to which the same happens for the same reason.
type deviceGroup struct {
	result, driver string
	terms          []TestedTerm
	failure        string
	devices        []*TestedDevice
}

// groups puts devices together, those that match first and those that fail last.
func (s *SelectorTest) groups() []*deviceGroup {
	type key struct{ result, driver, values, failure string }
	grouped := words.Groups(s.Devices, func(d *TestedDevice) key {
		var values strings.Builder
		for _, term := range d.Terms {
			values.WriteString(term.Value[:1])
		}
		return key{d.Result, d.Driver, values.String(), bench.WithoutAdvice(d.Error)}
	})
	out := words.Each(grouped, func(g words.Group[key, *TestedDevice]) *deviceGroup {
		return &deviceGroup{result: g.Key.result, driver: g.Key.driver, terms: g.Of[0].Terms, failure: g.Key.failure, devices: g.Of}
	})
	order := []string{string(bench.Match), string(bench.Failed), string(bench.NoMatch)}
	slices.SortStableFunc(out, func(a, b *deviceGroup) int {
		return slices.Index(order, a.result) - slices.Index(order, b.result)
	})
	return out
}

// maxNames is how many names a row of a group shows.
const maxNames = 3

func (p *selectorPrinter) table() {
	if len(p.test.Devices) == 0 {
		return
	}
	count := len(p.test.Devices[0].Terms)
	columns := []output.Column{{Header: "RESULT"}}
	if p.opts.All {
		columns = append(columns, output.Column{Header: "DRIVER", Rank: 1}, output.Column{Header: "DEVICE"}, output.Column{Header: "NODE"})
	} else {
		columns = append(columns, output.Column{Header: "DEVICES"}, output.Column{Header: "DRIVER"}, output.Column{Header: "NODES"})
	}
	for i := range count {
		if count > 1 {
			columns = append(columns, output.Column{Header: strconv.Itoa(i + 1)})
		}
	}
	columns = append(columns, output.Column{Header: "BECAUSE", Cut: output.CutText})
	var rows [][]string
	for _, g := range p.test.groups() {
		if p.opts.All {
			for _, d := range g.devices {
				one := &deviceGroup{result: g.result, driver: g.driver, terms: d.Terms, failure: g.failure, devices: []*TestedDevice{d}}
				rows = append(rows, one.row([]string{d.Driver, d.Pool + "/" + d.Device, output.OrNone(d.Node)}))
			}
			continue
		}
		rows = append(rows, g.row([]string{strconv.Itoa(len(g.devices)), g.driver, g.nodes()}))
	}
	p.line("")
	p.Table(columns, rows, p.opts.TableWidth)
}

func (g *deviceGroup) row(cells []string) []string {
	row := append([]string{g.result}, cells...)
	if len(g.terms) > 1 {
		for _, term := range g.terms {
			row = append(row, term.Value)
		}
	}
	return append(row, g.because())
}

func (g *deviceGroup) nodes() string {
	names := words.Each(g.devices, func(d *TestedDevice) string { return d.Node })
	slices.Sort(names)
	names = slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" })
	return output.OrNone(words.Shorten(names, maxNames))
}

// because names the values that decided: of the terms that are false, those that fail, or all.
func (g *deviceGroup) because() string {
	decisive := map[string]string{string(bench.NoMatch): "false", string(bench.Failed): "error"}[g.result]
	var fields []string
	values := map[string][]string{}
	known := map[string]map[string]bool{}
	for _, d := range g.devices {
		for _, term := range d.Terms {
			if decisive != "" && term.Value != decisive {
				continue
			}
			for _, r := range term.Reads {
				if known[r.Expression] == nil {
					fields = append(fields, r.Expression)
					known[r.Expression] = map[string]bool{}
				}
				value := r.Value
				if value == "" {
					value = "not set"
				}
				if !known[r.Expression][value] {
					known[r.Expression][value] = true
					values[r.Expression] = append(values[r.Expression], value)
				}
			}
		}
	}
	var parts []string
	for _, field := range fields {
		slices.Sort(values[field])
		parts = append(parts, selector.ShortField(field)+" is "+shortValues(values[field]))
	}
	if g.failure != "" && (len(parts) == 0 || !strings.HasPrefix(g.failure, "no such key")) {
		parts = append([]string{g.failure}, parts...)
	}
	return output.OrNone(strings.Join(parts, ", "))
}

// maxValueLength is how many columns of a value a table shows.
const maxValueLength = 60

func shortValues(values []string) string {
	n := maxNames
	if len(values) == maxNames+1 {
		n++ // "1 other value" would be as long as the value
	}
	shown := slices.Clone(values[:min(n, len(values))])
	for i, v := range shown {
		shown[i] = styled.CutTo(v, maxValueLength, output.CutMark)
	}
	text := strings.Join(shown, " or ")
	if n := len(values) - len(shown); n > 0 {
		text += fmt.Sprintf(" or %d other values", n)
	}
	return text
}

// footer tells the cost and whether the API server accepts the expression.
func (p *selectorPrinter) footer() {
	s := p.test
	if !s.Valid {
		return
	}
	p.line("")
	text := fmt.Sprintf("Cost: at most %s of %s", thousands(s.Cost.Worst), thousands(s.Cost.Limit))
	if s.Cost.Device != "" {
		text += fmt.Sprintf("; here at most %s (%s)", thousands(s.Cost.Highest), s.Cost.Device)
	}
	p.Paragraph("", "  ", text+fmt.Sprintf(". Length: %s of %s bytes.", thousands(int64(s.Length.Bytes)), thousands(int64(s.Length.Limit))))
	if s.APIServer.Accepted {
		p.line("The API server accepts it in a new object.")
	} else {
		p.line("The API server does not accept it in a new object.")
	}
}

// thousands writes a number with commas.
func thousands(n int64) string {
	digits := strconv.FormatInt(n, 10)
	var b strings.Builder
	for i, r := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(r)
	}
	return b.String()
}
