package cli

import (
	"fmt"
	"os"
	"slices"

	"github.com/spf13/pflag"
	"golang.org/x/term"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// streams are what a command reads from and prints to, and how much it says there in which colours.
type streams struct {
	genericiooptions.IOStreams
	color     string   // --color: auto, always or never
	verbosity int      // how often -v is given
	remarks   *remarks // what was said already; if it is nil, everything is said
}

// addFlags adds the flags that say how to print.
func (s *streams) addFlags(flags *pflag.FlagSet) {
	flags.CountVarP(&s.verbosity, "verbose", "v", "print more details; -v=6 and above show requests to the server")
	flags.StringVar(&s.color, "color", "auto", "use colour: auto, always or never")
}

// validate checks the flags.
func (s *streams) validate() error {
	if !slices.Contains([]string{"auto", "always", "never"}, s.color) {
		return usagef("--color is %q; it can be auto, always or never", s.color)
	}
	return nil
}

// useColor decides whether answers are coloured: never with NO_COLOR, with --color=never or when
// stdout is no terminal; --color=always overrules the last of these only.
func (s *streams) useColor() bool {
	if os.Getenv("NO_COLOR") != "" || s.color == "never" {
		return false
	}
	_, terminal := terminalWidth(s.Out)
	return s.color == "always" || terminal && os.Getenv("TERM") != "dumb"
}

// width is the number of columns for answers: that of the terminal, within reason, else 80.
func (s *streams) width() int {
	width, ok := terminalWidth(s.Out)
	if !ok {
		return 80
	}
	return min(max(width, 40), 160)
}

// tableWidth is the number of columns for tables: that of the terminal, but not less than 80, and 0,
// which is any, when stdout is no terminal: scripts copy what is in tables.
func (s *streams) tableWidth() int {
	width, ok := terminalWidth(s.Out)
	if !ok {
		return 0
	}
	return max(80, width)
}

// interactive reports whether stdin and stdout are a terminal that can show a screen.
func (s *streams) interactive() bool {
	_, output := terminalWidth(s.Out)
	in, ok := s.In.(interface{ Fd() uintptr })
	return output && ok && term.IsTerminal(int(in.Fd())) && os.Getenv("TERM") != "dumb"
}

// note prints a remark to stderr, in one safe line.
func (s *streams) note(format string, args ...any) {
	text := inspect.Sanitize(maskUserinfo(fmt.Sprintf(format, args...)))
	if s.remarks.repeated(text) {
		return
	}
	_, _ = fmt.Fprintln(s.ErrOut, text) // remarks are not worth failing for
}

// noteHealth says which of the resources could not be read completely, or do not exist on this server.
// What many servers do not have is nothing to mention.
func (s *streams) noteHealth(snapshot *inspect.Snapshot, resources []inspect.Resource) {
	for _, resource := range resources {
		switch h := snapshot.Health(resource); h.State {
		case inspect.Forbidden, inspect.Broken, inspect.Narrowed:
			s.note("warning: %s", healthText(resource, h))
		case inspect.NotServed:
			if !resource.Optional() {
				s.note("warning: %s", healthText(resource, h))
			}
		}
	}
}

// healthText says in one line why a resource could not be read, or not completely.
func healthText(resource inspect.Resource, h inspect.Health) string {
	if h.Message != "" {
		return h.Message
	}
	return fmt.Sprintf("%s could not be read: %s", resource, h.State)
}

// remarks keeps a command that looks again and again from repeating itself: a remark is made when it was
// not true the time before.
type remarks struct {
	before, now map[string]bool
}

// nextRound begins another look.
func (r *remarks) nextRound() { r.before, r.now = r.now, map[string]bool{} }

// repeated reports whether the text was remarked in this look or the one before, and remembers it.
func (r *remarks) repeated(text string) bool {
	if r == nil {
		return false
	}
	known := r.before[text] || r.now[text]
	if r.now == nil {
		r.now = map[string]bool{}
	}
	r.now[text] = true
	return known
}
