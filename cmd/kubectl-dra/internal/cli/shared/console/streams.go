package console

import (
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/spf13/pflag"
	"golang.org/x/term"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Streams are what a command reads from and prints to, and how much it says there in which colours.
type Streams struct {
	genericiooptions.IOStreams
	Color     string   // --color: auto, always or never
	Verbosity int      // how often -v is given
	Quiet     bool     // --quiet: of an answer only its first line
	Columns   int      // of answers; 0 is what the terminal has
	Remarks   *Remarks // what was said already; if it is nil, everything is said
	soFar     *bool    // see SoFar
	pipe      int      // columns of COLUMNS; 0 without it
	ascii     bool     // the locale has no other signs
}

// ReadEnvironment takes the width of a pipe and the signs of the locale from the environment.
func (s *Streams) ReadEnvironment(getenv func(string) string) {
	s.ascii = onlyASCII(getenv)
	if width, err := strconv.Atoi(getenv("COLUMNS")); err == nil {
		s.pipe = max(width, 0)
	}
}

// AddFlags adds the flags that say how to print.
func (s *Streams) AddFlags(flags *pflag.FlagSet) {
	flags.CountVarP(&s.Verbosity, "verbose", "v", "print more details; -v=6 and above show requests to the server")
	flags.BoolVarP(&s.Quiet, "quiet", "q", false, "print only the first line of an answer")
	flags.StringVar(&s.Color, "color", "auto", "use colour: auto, always or never")
}

// Validate checks the flags.
func (s *Streams) Validate() error {
	switch {
	case !slices.Contains([]string{"auto", "always", "never"}, s.Color):
		return Usagef("--color is %q; it can be auto, always or never", s.Color)
	case s.Quiet && s.Verbosity > 0:
		return Usagef("--quiet and --verbose exclude each other")
	}
	return nil
}

// UseColor decides whether answers are coloured: never with NO_COLOR, with --color=never or when
// stdout is no terminal; --color=always overrules the last of these only.
func (s *Streams) UseColor() bool {
	if os.Getenv("NO_COLOR") != "" || s.Color == "never" {
		return false
	}
	_, terminal := TerminalWidth(s.Out)
	return s.Color == "always" || terminal && os.Getenv("TERM") != "dumb"
}

// Width is the number of columns for answers: that of the terminal or of COLUMNS, within reason, else 80.
func (s *Streams) Width() int {
	if s.Columns > 0 {
		return s.Columns
	}
	width, ok := s.width()
	if !ok {
		return 80
	}
	return min(max(width, 40), 160)
}

// TableWidth is the number of columns for tables: that of the terminal or of COLUMNS, but not less than 80,
// and 0, which is any, when stdout is no terminal and COLUMNS is not set: scripts copy what is in tables.
func (s *Streams) TableWidth() int {
	if s.Columns > 0 {
		return s.Columns
	}
	width, ok := s.width()
	if !ok {
		return 0
	}
	return max(80, width)
}

// width is that of the terminal. In a pipe, such as that of a pager, it is what COLUMNS says, if it is set.
func (s *Streams) width() (int, bool) {
	if width, ok := TerminalWidth(s.Out); ok {
		return width, true
	}
	return s.pipe, s.pipe > 0
}

// Interactive reports whether stdin and stdout are a terminal that can show a screen.
func (s *Streams) Interactive() bool {
	_, output := TerminalWidth(s.Out)
	in, ok := s.In.(interface{ Fd() uintptr })
	return output && ok && term.IsTerminal(int(in.Fd())) && os.Getenv("TERM") != "dumb"
}

// Note prints a remark to stderr, in one safe line.
func (s *Streams) Note(format string, args ...any) {
	text := inspect.Sanitize(maskUserinfo(fmt.Sprintf(format, args...)))
	if s.Remarks.repeated(text) {
		return
	}
	_, _ = fmt.Fprintln(s.forLocale(s.ErrOut), text) // remarks are not worth failing for
}

// NoteSome prints remarks, and of more than most how many are left out.
func (s *Streams) NoteSome(remarks []string, most int, leftOut string) {
	for i, remark := range remarks {
		if i == most {
			s.Note(leftOut, len(remarks)-most)
			return
		}
		s.Note("%s", remark)
	}
}

// NoteHealth says which of the resources could not be read completely, or do not exist on this server.
// What many servers do not have is nothing to mention.
func (s *Streams) NoteHealth(snapshot *inspect.Snapshot, resources []inspect.Resource) {
	for _, resource := range resources {
		switch h := snapshot.Health(resource); h.State {
		case inspect.Forbidden, inspect.Broken, inspect.Narrowed:
			s.Note("warning: %s", HealthText(resource, h))
		case inspect.NotServed:
			if !resource.Optional() {
				s.Note("warning: %s", HealthText(resource, h))
			}
		}
	}
}

// HealthText says in one line why a resource could not be read, or not completely.
func HealthText(resource inspect.Resource, h inspect.Health) string {
	if h.Message != "" {
		return h.Message
	}
	return fmt.Sprintf("%s could not be read: %s", resource, h.State)
}

// Remarks keeps a command that looks again and again from repeating itself: a remark is made when it was
// not true the time before.
type Remarks struct {
	before, now map[string]bool
}

// NextRound begins another look.
func (r *Remarks) NextRound() { r.before, r.now = r.now, map[string]bool{} }

// repeated reports whether the text was remarked in this look or the one before, and remembers it.
func (r *Remarks) repeated(text string) bool {
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
