package console

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// userinfo is what stands before the last @ of an address, also of one that cannot be parsed.
var userinfo = regexp.MustCompile(`(://)[^\s"'<>]*@`)

// maskUserinfo is a text in which addresses have no user and no password.
func maskUserinfo(text string) string { return userinfo.ReplaceAllString(text, "${1}…@") }

// logWriter makes the log of libraries, which has a lot from servers in it, safe to show.
type logWriter struct{ w io.Writer }

// Write implements io.Writer. Each call has whole entries.
func (l *logWriter) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		text := inspect.Sanitize(maskUserinfo(string(bytes.ReplaceAll(bytes.TrimRight(line, "\r\n"), []byte("\t"), []byte("    ")))))
		if _, err := fmt.Fprintln(l.w, text); err != nil {
			return 0, err //nolint:wrapcheck // a writer passes on what it meets
		}
	}
	return len(p), nil
}

// SafeLines is inspect.Sanitize for text of several lines.
func SafeLines(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i, line := range lines {
		lines[i] = inspect.Sanitize(strings.ReplaceAll(line, "\t", "    "))
	}
	return strings.Join(lines, "\n")
}
