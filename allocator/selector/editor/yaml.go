package editor

import (
	"strconv"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// YAML returns a selector as it is pasted into a request of a claim or into a device class.
func YAML(expression string) string {
	return "selectors:\n- cel:\n    expression: " + scalar(strings.TrimSpace(expression), "      ") + "\n"
}

// scalar writes a string in YAML. Text that can be read as it is stands in a block, what has characters
// that a block cannot hold stands in quotes.
func scalar(s, indent string) string {
	var guard inspect.Guard
	if strings.ContainsFunc(s, func(r rune) bool { return guard.Unsafe(r) && r != '\n' }) {
		return strconv.QuoteToASCII(s)
	}
	var b strings.Builder
	b.WriteString("|-")
	for line := range strings.SplitSeq(s, "\n") {
		b.WriteByte('\n')
		if line != "" {
			b.WriteString(indent + line)
		}
	}
	return b.String()
}
