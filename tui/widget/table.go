package widget

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/tui/theme"
)

// Column is a column of a Table. Its natural width is that of its widest text.
type Column struct {
	Title string
	// Short is the title if there is no room for Title. It may be empty.
	Short string
	// Min is how narrow the column may become. If it is 0, the column keeps its natural width.
	Min int
	// Max is how wide the column may become. If it is 0, there is no bound.
	Max int
	// Right aligns numbers.
	Right bool
	// Sized, if not nil, is how wide the column is, and how narrow it may become, where that depends on the
	// room that there is. Min does not matter then.
	Sized func() (natural, least int)
	// Rank says how dispensable the column is: where space is short, columns with the highest rank are
	// left out first. Columns of rank 0 stay.
	Rank int
	// Spare columns are shown only where all others have their natural width.
	Spare bool
	// ImpliedByHeading hides a column whose value the heading above the rows already shows.
	ImpliedByHeading bool
	// Hidden columns are not shown, whatever room there is.
	Hidden bool
}

// Row is a row of a table: cells, or a heading that goes across all columns.
type Row struct {
	Cells   []styled.Line
	Heading styled.Line
	// Briefs stand in place of Cells that would be cut. There may be fewer, and an empty one stands for none.
	Briefs []styled.Line
	// Mark stands before the row, in one column; the cursor takes its place.
	Mark string
	// Marked says that the row was chosen, beside the one at the cursor.
	Marked bool
}

// Rows are what a Table shows. Rows are asked for only when they are visible.
type Rows interface {
	Len() int
	Row(i int) Row
}

// measured is about how many rows are looked at to find natural widths, scatter a prime that varies the
// distance between them.
const (
	measured = 1000
	scatter  = 7919
)

// Table shows rows with a cursor. Its cost per frame depends on the size of the screen only.
type Table struct {
	Columns []Column
	// Sort is the column whose title is marked as the one that rows are sorted by, or -1 for none.
	Sort int
	Desc bool
	// Empty is shown instead of rows when there are none.
	Empty string

	rows    Rows
	natural []int
	cursor  int
	top     int
	height  int // how many rows were last drawn at most
	spans   []columnSpan
}

// columnSpan is where a column was last drawn.
type columnSpan struct{ column, from, to int }

// NewTable makes a table without rows.
func NewTable(columns []Column) *Table { return &Table{Columns: columns, Sort: -1, height: 1} }

// SetRows replaces the rows. Their natural widths come from Measure, and cursor is the row to point at.
func (t *Table) SetRows(rows Rows, natural []int, cursor int) {
	at := t.cursor - t.top // the cursor stays at its place on the screen
	t.rows, t.natural = rows, natural
	t.cursor = clamp(cursor, 0, t.Len()-1)
	t.top = t.cursor - at
	t.scroll()
}

// Measure returns the natural widths of columns for rows. Of many rows, some are looked at, spread evenly but
// not at equal distances: rows often repeat, such as a heading before every eight devices.
func Measure(columns []Column, rows Rows) []int {
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = styled.Width(c.Title) + 2 // room for the mark of the sort order
	}
	step := max(1, rows.Len()/measured)
	for i := 0; i < rows.Len(); i += step {
		at := min(i+i/step*scatter%step, rows.Len()-1)
		for j, cell := range rows.Row(at).Cells {
			widths[j] = max(widths[j], cell.Width())
		}
	}
	return widths
}

// Len returns the number of rows.
func (t *Table) Len() int {
	if t.rows == nil {
		return 0
	}
	return t.rows.Len()
}

// Cursor returns the row that is pointed at. It is -1 if there are no rows.
func (t *Table) Cursor() int {
	if t.Len() == 0 {
		return -1
	}
	return t.cursor
}

// MoveTo points at a row.
func (t *Table) MoveTo(row int) {
	t.cursor = clamp(row, 0, t.Len()-1)
	t.scroll()
}

// Move points at a row further down, or up.
func (t *Table) Move(rows int) { t.MoveTo(t.cursor + rows) }

// Visible reports whether a column was drawn the last time, or no column was.
func (t *Table) Visible(column int) bool {
	return len(t.spans) == 0 || slices.ContainsFunc(t.spans, func(s columnSpan) bool { return s.column == column })
}

// Page returns how many rows make a page.
func (t *Table) Page() int { return max(1, t.height-1) }

// WheelRows is how many lines the mouse wheel scrolls down, or up if it is negative.
func WheelRows(m tea.MouseWheelMsg) int {
	switch m.Button {
	case tea.MouseWheelUp:
		return -3
	case tea.MouseWheelDown:
		return 3
	}
	return 0
}

// Wheel scrolls without moving the cursor out of sight.
func (t *Table) Wheel(rows int) {
	t.top = clamp(t.top+rows, 0, max(0, t.Len()-t.height))
	t.cursor = clamp(t.cursor, t.top, min(t.top+t.height, t.Len())-1)
	t.cursor = max(0, t.cursor)
}

// Click points at what is at a place of the last drawing. It returns the column whose title was hit, or -1,
// and whether a row was.
func (t *Table) Click(x, y int) (title int, row bool) {
	if y == 0 {
		title, _ = t.ColumnAt(x)
		return title, false
	}
	at := t.top + y - 1
	if y < 0 || at >= t.Len() || y > t.height {
		return -1, false
	}
	t.cursor = at
	return -1, true
}

// scroll brings the cursor into sight.
func (t *Table) scroll() {
	t.top = clamp(t.top, t.cursor-t.height+1, t.cursor)
	t.top = clamp(t.top, 0, max(0, t.Len()-t.height))
	if t.top > 0 && t.top == t.cursor && t.height > 1 && t.rows.Row(t.top-1).Heading != nil {
		t.top-- // a heading stays with its first row
	}
}

// margin is the place of the cursor mark, gap what is between two columns.
const (
	margin = 2
	gap    = 2
)

// View draws titles and rows in at most height lines of exactly width columns.
func (t *Table) View(th *theme.Theme, width, height int) string {
	t.height = max(1, height-1)
	t.scroll()
	widths := t.layout(width, true)
	var b strings.Builder
	t.titles(&b, th, widths, width)
	if t.Len() == 0 && t.Empty != "" && height > 1 {
		for i, text := range styled.WrapText(t.Empty, max(20, width-4)) {
			if i < height-1 {
				b.WriteString("\n")
				painter{theme: th}.line(&b, styled.Text(styled.Dim, "  "+text), width, false)
			}
		}
	}
	for i := t.top; i < min(t.top+t.height, t.Len()) && height > 1; i++ {
		b.WriteString("\n")
		t.row(&b, th, i, widths, width, i == t.cursor)
	}
	return b.String()
}

// Plain returns all rows as text, without a cursor. Width 0 is any.
func (t *Table) Plain(th *theme.Theme, width int) string {
	if width == 0 {
		width = 1 << 20
	}
	widths := t.layout(width, false)
	line := func(row Row, width int) string {
		var b strings.Builder
		t.cells(&b, painter{theme: th}, row, widths, width)
		return strings.TrimRight(b.String(), " ")
	}
	titles := Row{}
	for _, c := range t.Columns {
		titles.Cells = append(titles.Cells, styled.Text(styled.Title, c.Title))
	}
	lines := []string{line(titles, 1<<20)}
	for i := range t.Len() {
		lines = append(lines, line(t.rows.Row(i), styled.ColumnsWidth(widths, gap)))
	}
	return strings.Join(lines, "\n")
}

func (t *Table) titles(b *strings.Builder, th *theme.Theme, widths []int, width int) {
	p := painter{theme: th}
	left := width - margin
	b.WriteString(styled.Blanks(min(margin, width)))
	t.spans = t.spans[:0]
	for i, c := range t.Columns {
		if widths[i] == 0 || left <= 0 {
			continue
		}
		title := c.Title
		if c.Short != "" && styled.Width(title) > widths[i] {
			title = c.Short
		}
		if i == t.Sort {
			title += sortMark(t.Desc)
		}
		w := min(widths[i], left)
		t.spans = append(t.spans, columnSpan{i, width - left, width - left + w + gap})
		p.line(b, styled.Text(styled.Title, title), w, c.Right)
		left -= w
		w = min(gap, left)
		b.WriteString(styled.Blanks(w))
		left -= w
	}
	b.WriteString(styled.Blanks(left))
}

func sortMark(desc bool) string {
	if desc {
		return " ▾"
	}
	return " ▴"
}

func (t *Table) row(b *strings.Builder, th *theme.Theme, i int, widths []int, width int, selected bool) {
	p := painter{theme: th, selected: selected}
	row := t.rows.Row(i)
	mark, role := row.Mark, styled.Dim
	if selected {
		mark, role = "▸", styled.Accent
	}
	chosen := " "
	if row.Marked {
		chosen = "●"
	}
	b.WriteString(p.paint(role, styled.Pad(mark, min(1, width))))
	b.WriteString(p.paint(styled.Accent, styled.Pad(chosen, clamp(width-1, 0, margin-1))))
	t.cells(b, p, row, widths, max(0, width-margin))
}

// cells draws a row in exactly width columns, or, if that is more than the cells take and nothing is
// painted behind them, as wide as they are.
func (t *Table) cells(b *strings.Builder, p painter, row Row, widths []int, width int) {
	if row.Heading != nil {
		p.line(b, row.Heading, width, false)
		return
	}
	left := width
	for i, cell := range row.Cells {
		if widths[i] == 0 || left <= 0 {
			continue
		}
		w := min(widths[i], left)
		if i < len(row.Briefs) && row.Briefs[i].Width() > 0 && cell.Width() > w {
			cell = row.Briefs[i]
		}
		p.line(b, cell, w, t.Columns[i].Right)
		left -= w
		w = min(gap, left)
		b.WriteString(p.paint(styled.Plain, styled.Blanks(w)))
		left -= w
	}
	if left < 1<<10 {
		b.WriteString(p.paint(styled.Plain, styled.Blanks(left)))
	}
}

// layout returns how wide each column is drawn, on a screen or as plain text. A column of width 0 is left
// out.
func (t *Table) layout(width int, screen bool) []int {
	widths := t.fit(width, screen, false)
	room := width - margin - styled.ColumnsWidth(widths, gap)
	for _, c := range t.Columns {
		if c.Spare && !c.Hidden && room > gap+c.Min {
			return t.fit(width, screen, true)
		}
	}
	return widths
}

// fit returns the widths with the spare columns or without.
func (t *Table) fit(width int, screen, spare bool) []int {
	columns := make([]styled.Column, len(t.Columns))
	for i, c := range t.Columns {
		if c.Hidden || c.Spare && !spare || c.ImpliedByHeading && screen {
			continue
		}
		columns[i].Natural, columns[i].Least = t.wanted(i)
		columns[i].Rank = c.Rank
	}
	fitting := styled.Fitting{Width: width - margin, Gap: gap, Strict: true, Evenly: true}
	// What is not there must take no gap.
	shown := slices.DeleteFunc(slices.Clone(columns), func(c styled.Column) bool { return c.Natural == 0 })
	widths := fitting.Columns(shown)
	for i := range columns {
		if columns[i].Natural == 0 {
			widths = slices.Insert(widths, i, 0)
		}
	}
	return widths
}

// wanted is how wide a column would be if there were room, and what it must have.
func (t *Table) wanted(column int) (natural, least int) {
	c := &t.Columns[column]
	if c.Sized != nil {
		return c.Sized()
	}
	if natural = styled.Width(c.Title) + 2; column < len(t.natural) {
		natural = t.natural[column]
	}
	if c.Max > 0 {
		natural = min(natural, c.Max)
	}
	if c.Min > 0 {
		return natural, min(natural, c.Min)
	}
	return natural, natural
}

// ColumnAt returns the column of the last drawing at a place, and how far into it that is. It is -1 if there
// is none.
func (t *Table) ColumnAt(x int) (column, offset int) {
	for _, s := range t.spans {
		if x >= s.from && x < s.to {
			return s.column, x - s.from
		}
	}
	return -1, 0
}

// Wide returns how many columns the table takes if nothing has to be left out or cut.
func (t *Table) Wide() int {
	total := margin
	for i, c := range t.Columns {
		if c.Hidden || c.ImpliedByHeading {
			continue
		}
		natural, _ := t.wanted(i)
		total += natural + gap
	}
	return total - gap
}

func clamp(n, low, high int) int { return max(low, min(n, high)) }
