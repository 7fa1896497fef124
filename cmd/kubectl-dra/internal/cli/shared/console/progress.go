package console

import (
	"cmp"
	"fmt"
	"io"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// progressDelay keeps short work from flickering.
const progressDelay = 500 * time.Millisecond

// Progress shows on a terminal, in one line that is erased at the end, what long work is at.
type Progress struct {
	mu    sync.Mutex
	w     io.Writer // if it is nil, nothing is shown
	timer *time.Timer
	text  string
	shown bool // the delay is over
	done  bool
}

// StartProgress begins to show progress if w is a terminal.
func StartProgress(w io.Writer) *Progress {
	p := &Progress{}
	if _, ok := TerminalWidth(w); !ok {
		return p
	}
	p.w = w
	p.timer = time.AfterFunc(progressDelay, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.shown = true
		p.draw()
	})
	return p
}

// Visible reports whether there is a terminal to show progress on.
func (p *Progress) Visible() bool { return p.w != nil }

// Show replaces the text.
func (p *Progress) Show(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text = text
	p.draw()
}

// Stop erases the line.
func (p *Progress) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text, p.done = "", true
	if p.w != nil {
		p.timer.Stop()
		if p.shown {
			_, _ = fmt.Fprint(p.w, "\r\x1b[K") // progress is not worth failing for
		}
	}
}

func (p *Progress) draw() {
	if p.w != nil && p.shown && !p.done {
		_, _ = fmt.Fprint(p.w, "\r\x1b[K"+inspect.Sanitize(p.text)) // as in stop
	}
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
