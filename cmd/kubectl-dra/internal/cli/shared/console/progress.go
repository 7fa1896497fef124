package console

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"golang.org/x/term"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/progress"
)

// progressDelay keeps short work from flickering.
const progressDelay = 500 * time.Millisecond

// progressPause is the time between two looks at what there is to show.
const progressPause = 100 * time.Millisecond

// An estimate is shown of work that has taken leastEstimated, once leastSteps are done.
const (
	leastEstimated = 2 * time.Second
	leastSteps     = 3
)

// begun is about when the program began.
var begun = time.Now()

// Progress shows on a terminal, in one line that is erased at the end, what long work is at.
type Progress struct {
	mu    sync.Mutex
	w     io.Writer // if it is nil, nothing is shown
	timer *time.Timer
	done  bool
	drawn string
	// text is what was told last, since began; of its steps, if there are any, so many are taken.
	text      string
	began     time.Time
	taken, of int
}

// StartProgress begins to show progress if w is a terminal, until ctx ends or it is stopped.
func StartProgress(ctx context.Context, w io.Writer) *Progress {
	p := &Progress{}
	if _, ok := TerminalWidth(w); !ok {
		return p
	}
	p.w = w
	p.start(ctx)
	return p
}

func (p *Progress) start(ctx context.Context) {
	p.mu.Lock() // until the timer is set
	defer p.mu.Unlock()
	p.timer = time.AfterFunc(max(progressPause, progressDelay-time.Since(begun)), p.look)
	context.AfterFunc(ctx, p.Stop)
}

// Thinking shows on a terminal what work is at that tells of it by the context, until done is called. Before
// that nothing is to be printed.
func (s *Streams) Thinking(ctx context.Context) (working context.Context, done func()) {
	p := StartProgress(ctx, s.ErrOut)
	if !p.Visible() {
		return ctx, func() {}
	}
	p.Show("deciding")
	return progress.With(ctx, p.Report), p.Stop
}

// Visible reports whether there is a terminal to show progress on.
func (p *Progress) Visible() bool { return p.w != nil }

// Show replaces the text.
func (p *Progress) Show(text string) { p.Report(text, 0, 0) }

// Report replaces the text, and how many steps of it are taken.
func (p *Progress) Report(text string, taken, of int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case text != p.text || of != p.of || taken == 0:
		p.text, p.began, p.taken, p.of = text, time.Now(), taken, of
	default:
		p.taken = max(p.taken, taken)
	}
}

// Stop erases the line.
func (p *Progress) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.w != nil && !p.done {
		p.timer.Stop()
		p.text = ""
		p.draw()
	}
	p.done = true
}

// look draws now and then, for what is to be shown may change very often.
func (p *Progress) look() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.done {
		p.draw()
		p.timer.Reset(progressPause)
	}
}

func (p *Progress) draw() {
	line := []rune(inspect.Sanitize(p.line()))
	if width, ok := TerminalWidth(p.w); ok && len(line) >= width { // a line that wraps could not be erased
		line = line[:width-1]
	}
	if string(line) != p.drawn {
		p.drawn = string(line)
		_, _ = fmt.Fprint(p.w, "\r\x1b[K"+p.drawn) // progress is not worth failing for
	}
}

// line is "placing pods: 3120 of 10000, the rest in about 4s".
func (p *Progress) line() string {
	if p.of == 0 || p.text == "" {
		return p.text
	}
	line := fmt.Sprintf("%s: %d of %d", p.text, p.taken, p.of)
	took := time.Since(p.began)
	if p.taken < leastSteps || took < leastEstimated {
		return line
	}
	left := time.Duration(float64(took) / float64(p.taken) * float64(p.of-p.taken)).Round(time.Second)
	if left == 0 {
		return line
	}
	return fmt.Sprintf("%s, the rest in about %s", line, duration.HumanDuration(left))
}

// TerminalWidth returns the width of the terminal that w is, if it is one; 80 when the terminal does not
// know.
func TerminalWidth(w io.Writer) (int, bool) {
	f, ok := w.(interface{ Fd() uintptr })
	if !ok {
		return 0, false
	}
	width, _, err := term.GetSize(int(f.Fd()))
	return cmp.Or(width, 80), err == nil
}
