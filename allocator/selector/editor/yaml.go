package editor

import (
	"strconv"
	"strings"
)

// YAML returns a selector as it is pasted into a request of a claim or into a device class.
func YAML(expression string) string {
	return "selectors:\n- cel:\n    expression: " + scalar(strings.TrimSpace(expression), "      ") + "\n"
}

// scalar writes a string in YAML. Text that can be read as it is stands in a block, what has characters
// that a block cannot hold stands in quotes.
func scalar(s, indent string) string {
	if strings.ContainsFunc(s, func(r rune) bool {
		return r != '\n' && (r < ' ' || r == 0x7f || r == 0xfeff || r == 0x85 || r == 0x2028 || r == 0x2029)
	}) {
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
