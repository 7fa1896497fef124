package cli

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

// progress shows on a terminal, in one line that is erased at the end, what long work is at.
type progress struct {
	mu    sync.Mutex
	w     io.Writer // if it is nil, nothing is shown
	timer *time.Timer
	text  string
	shown bool // the delay is over
	done  bool
}

// startProgress begins to show progress if w is a terminal.
func startProgress(w io.Writer) *progress {
	p := &progress{}
	if _, ok := terminalWidth(w); !ok {
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

// visible reports whether there is a terminal to show progress on.
func (p *progress) visible() bool { return p.w != nil }

// show replaces the text.
func (p *progress) show(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text = text
	p.draw()
}

// stop erases the line.
func (p *progress) stop() {
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

func (p *progress) draw() {
	if p.w != nil && p.shown && !p.done {
		_, _ = fmt.Fprint(p.w, "\r\x1b[K"+inspect.Sanitize(p.text)) // as in stop
	}
}

// terminalWidth returns the width of the terminal that w is, if it is one; 80 when the terminal does not
// know.
func terminalWidth(w io.Writer) (int, bool) {
	f, ok := w.(interface{ Fd() uintptr })
	if !ok {
		return 0, false
	}
	width, _, err := term.GetSize(int(f.Fd()))
	return cmp.Or(width, 80), err == nil
}
