package cli

import "os"

// useColor decides whether answers are coloured: never with NO_COLOR, with --color=never or when
// stdout is no terminal; --color=always overrules the last of these only.
func (s *source) useColor() bool {
	if os.Getenv("NO_COLOR") != "" || s.color == "never" {
		return false
	}
	_, terminal := terminalWidth(s.streams.Out)
	return s.color == "always" || terminal && os.Getenv("TERM") != "dumb"
}

// width is the number of columns for answers: that of the terminal, within reason, else 80.
func (s *source) width() int {
	width, ok := terminalWidth(s.streams.Out)
	if !ok {
		return 80
	}
	return min(max(width, 40), 160)
}

// tableWidth is the number of columns for tables: that of the terminal, but not less than 80, and 0,
// which is any, when stdout is no terminal: scripts copy what is in tables.
func (s *source) tableWidth() int {
	width, ok := terminalWidth(s.streams.Out)
	if !ok {
		return 0
	}
	return max(80, width)
}
