package faults

import (
	"bytes"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"
	"golang.org/x/term"
)

const columns, rows = 120, 32

// terminal is a pseudo terminal with the program in it.
type terminal struct {
	*os.File
	begin  time.Time
	before *term.State // how the terminal was
	done   chan struct{}

	mu     sync.Mutex
	data   bytes.Buffer
	first  time.Duration // until the program had drawn anything
	screen vt10x.Terminal
}

// open starts the program in a terminal.
func (p *process) open(tb testing.TB) *terminal {
	tb.Helper()
	return p.attach(tb, true)
}

// attach starts the program with a terminal as its stderr, or for all that it reads and writes.
func (p *process) attach(tb testing.TB, whole bool) *terminal {
	tb.Helper()
	size := &pty.Winsize{Rows: rows, Cols: columns}
	if !whole {
		size.Cols = 1000 // lines stay whole
	}
	t := &terminal{begin: time.Now(), done: make(chan struct{}), screen: vt10x.New(vt10x.WithSize(int(size.Cols), rows))}
	master, tty, err := pty.Open()
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = tty.Close() }() // the program has it
	if err := pty.Setsize(master, size); err != nil {
		tb.Fatal(err)
	}
	t.File, p.Stderr = master, tty
	if whole {
		p.Stdin, p.Stdout = tty, tty
		p.SysProcAttr = session()
	}
	t.before = t.state()
	if err := p.Start(); err != nil {
		tb.Fatal(err)
	}
	go t.read()
	return t
}

func (t *terminal) read() {
	defer close(t.done)
	buffer := make([]byte, 1<<16)
	for {
		n, err := t.Read(buffer)
		t.mu.Lock()
		t.data.Write(buffer[:n])
		_, _ = t.screen.Write(buffer[:n]) // it cannot fail
		if t.first == 0 && strings.TrimSpace(t.screen.String()) != "" {
			t.first = time.Since(t.begin)
		}
		t.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// text is what is to be seen.
func (t *terminal) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.screen.String()
}

func (t *terminal) press(keys string) { _, _ = t.WriteString(keys) } // the program may have ended

// state is how the terminal treats what is typed; nil when it cannot be read.
func (t *terminal) state() *term.State {
	raw, err := t.SyscallConn()
	if err != nil {
		return nil
	}
	var state *term.State
	_ = raw.Control(func(fd uintptr) { state, _ = term.GetState(int(fd)) }) //nolint:gosec // a file descriptor is small
	return state
}

// at is when the program had drawn anything.
func (t *terminal) at(otherwise time.Duration) time.Duration {
	if t.first == 0 {
		return otherwise
	}
	return t.first
}

// trimmed is the text of a screen without what is empty.
func trimmed(screen string) string {
	lines := strings.Split(screen, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// onTerminal runs the program in a terminal and presses q after a time.
func (p *process) onTerminal(tb testing.TB, life time.Duration) *run {
	t := p.open(tb)
	defer func() { _ = t.Close() }() // nothing more is read
	r := &run{}
	r.until(p, life, func() {
		r.screen = t.text()
		t.press("q")
	})
	r.took = time.Since(t.begin)
	after := t.state()
	<-t.done
	if r.exit != 0 || r.ending == 0 { // what is left is what it says
		r.screen = t.text()
	}
	r.drawn, r.first = t.data.Bytes(), t.at(r.took)
	r.restored = t.before != nil && after != nil && *t.before == *after &&
		bytes.Count(r.drawn, []byte("\x1b[?1049h")) == bytes.Count(r.drawn, []byte("\x1b[?1049l"))
	r.look(tb, p)
	return r
}
