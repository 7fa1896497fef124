package output

import (
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/markdown"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// pageWriter writes sections of labelled text, each line safe and not too long.
type pageWriter struct {
	strings.Builder

	width int
	// document takes what is written instead, if it is not nil.
	document *markdown.Document
}

// labelWidth is the width of the labels with the gap behind them.
const labelWidth = 12

// paragraph writes text in lines that fit, the first after first, the others after rest.
func (p *pageWriter) paragraph(first, rest, text string) {
	if p.document != nil {
		p.document.Paragraph(markdown.Text(first + text))
		return
	}
	line := styled.Text(styled.Plain, strings.Join(strings.Fields(inspect.Sanitize(text)), " "))
	for _, wrapped := range styled.Wrap(line, styled.Wrapping{Width: p.width, First: first, Rest: rest}) {
		p.WriteString(strings.TrimRight(wrapped.String(), " ") + "\n")
	}
}

func (p *pageWriter) field(label, format string, args ...any) {
	if p.document != nil {
		p.document.Paragraph(markdown.Join(markdown.Strong(markdown.Text(label)), markdown.Text(fmt.Sprintf(format, args...))))
		return
	}
	p.paragraph(styled.Pad(label, labelWidth), styled.Blanks(labelWidth), fmt.Sprintf(format, args...))
}

// rows writes a small table below a section; all columns but the last are as wide as needed.
func (p *pageWriter) rows(rows [][]string) {
	if p.document != nil {
		p.document.Bullets(each(rows, func(row []string) markdown.Inline {
			return markdown.Join(markdown.Code(row[0]), markdown.Text(strings.Join(row[1:], " ")))
		})...)
		return
	}
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
			p.paragraph(lead, styled.Blanks(styled.Width(lead)), last)
		} else {
			p.WriteString(strings.TrimRight(lead, " ") + "\n")
		}
	}
}

func printRemarks(w io.Writer, remarks []string) error {
	if len(remarks) == 0 {
		return nil
	}
	var b strings.Builder
	b.WriteString("\n")
	for _, remark := range remarks {
		b.WriteString(inspect.Sanitize(remark) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
