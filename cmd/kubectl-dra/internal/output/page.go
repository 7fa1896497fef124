package output

import (
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Page takes sections of labelled text, each line safe and not too long.
type Page struct {
	strings.Builder

	width int
}

// PrintPage prints what is written on a page with lines of so many columns.
func PrintPage(w io.Writer, width int, write func(*Page)) error {
	p := NewPage(width)
	write(p)
	_, err := io.WriteString(w, p.String())
	return err
}

// NewPage returns a page of text in lines of so many columns.
func NewPage(width int) *Page { return &Page{width: width} }

// labelWidth is the width of the labels with the gap behind them.
const labelWidth = 12

// Paragraph writes text in lines that fit, the first after first, the others after rest.
func (p *Page) Paragraph(first, rest, text string) {
	line := styled.Text(styled.Plain, strings.Join(strings.Fields(inspect.Sanitize(text)), " "))
	for _, wrapped := range styled.Wrap(line, styled.Wrapping{Width: p.width, First: first, Rest: rest}) {
		p.WriteString(strings.TrimRight(wrapped.String(), " ") + "\n")
	}
}

// Field writes text behind a label.
func (p *Page) Field(label, format string, args ...any) {
	p.Paragraph(styled.Pad(label, labelWidth), styled.Blanks(labelWidth), fmt.Sprintf(format, args...))
}

// Rows writes a small table below a section; all columns but the last are as wide as needed.
func (p *Page) Rows(rows [][]string) {
	widths := map[int]int{}
	for _, row := range rows {
		for i, cell := range row {
			row[i] = inspect.Sanitize(cell)
			widths[i] = max(widths[i], styled.Width(row[i]))
		}
	}
	for _, row := range rows {
		lead := styled.Blanks(2)
		for i, cell := range row[:len(row)-1] {
			lead += styled.Pad(cell, widths[i]) + "  "
		}
		if last := row[len(row)-1]; last != "" {
			p.Paragraph(lead, styled.Blanks(styled.Width(lead)), last)
		} else {
			p.WriteString(strings.TrimRight(lead, " ") + "\n")
		}
	}
}

// Line writes a line, safe and whatever its width.
func (p *Page) Line(text string) { p.WriteString(inspect.Sanitize(text) + "\n") }

// Table writes a table. A width of 0 is any.
func (p *Page) Table(columns []Column, rows [][]string, width int) {
	_ = WriteTable(p, columns, rows, TableOptions{Width: width}) // a page takes everything
}

// Remarks writes remarks below an answer, a line each.
func (p *Page) Remarks(remarks []string) {
	for i, remark := range remarks {
		if i == 0 {
			p.WriteString("\n")
		}
		p.Line(remark)
	}
}
