package markdown

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Document is a Markdown document that is being written, block by block. The zero value is an empty one. What
// is empty is not written.
type Document struct {
	b      strings.Builder
	indent string
}

// String returns the document.
func (d *Document) String() string { return d.b.String() }

// block writes lines, with an empty line before them if they are not the first.
func (d *Document) block(lines ...string) {
	if d.b.Len() > 0 {
		d.b.WriteByte('\n')
	}
	d.lines(lines...)
}

func (d *Document) lines(lines ...string) {
	for _, line := range lines {
		d.b.WriteString(strings.TrimRight(d.indent+line, " ") + "\n")
	}
}

// How much of an answer is shown.
const (
	// MaxRows is how many rows a table or a list has.
	MaxRows = 40
	// MaxNames is how many names a row has.
	MaxNames = 6
)

// Headline writes the heading of an answer. Its level is below that of the headings of a document into which
// it is pasted.
func (d *Document) Headline(texts ...Inline) {
	if text := Join(texts...); !text.Empty() {
		d.block("### " + text.source)
	}
}

// Title writes the title of a part of the answer, and more behind it.
func (d *Document) Title(title string, more ...Inline) {
	d.Paragraph(append([]Inline{Strong(Text(title))}, more...)...)
}

// Paragraph writes a paragraph.
func (d *Document) Paragraph(texts ...Inline) {
	if text := Join(texts...); !text.Empty() {
		d.block(text.source)
	}
}

// Bullets writes a list.
func (d *Document) Bullets(items ...Inline) {
	var lines []string
	for _, item := range items {
		if !item.Empty() {
			lines = append(lines, "- "+item.source)
		}
	}
	if len(lines) > 0 {
		d.block(lines...)
	}
}

// List writes a list below a title, if there is something in it. The title may be empty.
func (d *Document) List(title string, items []Inline) {
	if len(items) == 0 {
		return
	}
	if title != "" {
		d.Title(title)
	}
	d.Bullets(items[:min(len(items), MaxRows)]...)
	if rest := len(items) - MaxRows; rest > 0 {
		d.lines("- " + AndMore(rest).source)
	}
}

// AndMore says that there are more than are shown.
func AndMore(n int) Inline { return Text(fmt.Sprintf("and %d more", n)) }

// Numbered writes an item of a numbered list, and the blocks that inside writes below it, if that is not nil.
// The next item is that with the next number, if no other block comes before it.
func (d *Document) Numbered(number int, text Inline, inside func()) {
	marker := fmt.Sprintf("%d. ", number)
	d.block(marker + text.source)
	if inside == nil {
		return
	}
	before := d.indent
	d.indent += strings.Repeat(" ", len(marker))
	inside()
	d.indent = before
}

// Commands writes commands for a shell, each on a line, in a block of code.
func (d *Document) Commands(commands ...string) {
	if len(commands) == 0 {
		return
	}
	lines := make([]string, len(commands))
	longest := 2
	for i, c := range commands {
		lines[i] = inspect.Sanitize(c)
		longest = max(longest, longestRun(lines[i], '`'))
	}
	fence := strings.Repeat("`", longest+1)
	d.block(slices.Concat([]string{fence + "sh"}, lines, []string{fence})...)
}

// maxCell is the width up to which the columns of a table are aligned.
const maxCell = 60

// Table writes a table below a title, if it has rows. The title may be empty. Every row has as many cells as
// there are columns.
func (d *Document) Table(title string, columns []string, rows [][]Inline) {
	if len(rows) == 0 {
		return
	}
	if title != "" {
		d.Title(title)
	}
	d.table(columns, rows[:min(len(rows), MaxRows)])
	if rest := len(rows) - MaxRows; rest > 0 {
		d.Paragraph(AndMore(rest))
	}
}

func (d *Document) table(titles []string, rows [][]Inline) {
	header := make([]string, len(titles))
	for i, title := range titles {
		header[i] = Text(title).source
	}
	cells := [][]string{header}
	for _, row := range rows {
		line := make([]string, len(titles))
		for i := range row {
			line[i] = cell(row[i])
		}
		cells = append(cells, line)
	}
	widths := make([]int, len(titles))
	for _, line := range cells {
		for i, text := range line {
			widths[i] = max(widths[i], 3, min(styled.Width(text), maxCell))
		}
	}
	rule := make([]string, len(titles))
	for i, width := range widths {
		rule[i] = strings.Repeat("-", width)
	}
	lines := []string{tableLine(cells[0], widths), tableLine(rule, widths)}
	for _, line := range cells[1:] {
		lines = append(lines, tableLine(line, widths))
	}
	d.block(lines...)
}

func tableLine(cells []string, widths []int) string {
	var b strings.Builder
	for i, text := range cells {
		b.WriteString("| " + text + styled.Blanks(widths[i]-styled.Width(text)) + " ")
	}
	return b.String() + "|"
}

// cell makes bars part of a cell. A bar behind a backslash, which parsers read in different ways, becomes a
// broken bar.
func cell(t Inline) string {
	return strings.ReplaceAll(strings.ReplaceAll(t.source, `\|`, `\¦`), "|", `\|`)
}
