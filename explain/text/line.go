package text

import (
	"io"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
)

// sgr are the "select graphic rendition" parameters for each role on a terminal.
var sgr = map[styled.Role]string{
	styled.Strong: "1", styled.Good: "32", styled.Bad: "31", styled.Warn: "33", styled.Dim: "2", styled.Name: "36",
}

// Write writes the lines, with colours if wanted.
func Write(w io.Writer, lines []styled.Line, color bool) error {
	var b strings.Builder
	for _, line := range lines {
		for _, s := range line {
			if code, ok := sgr[s.Role]; ok && color && s.Text != "" {
				b.WriteString("\x1b[" + code + "m" + s.Text + "\x1b[0m")
				continue
			}
			b.WriteString(s.Text)
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}
