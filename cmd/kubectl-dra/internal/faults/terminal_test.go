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
	begin time.Time
	done  chan struct{}

	mu     sync.Mutex
	data   bytes.Buffer
	first  time.Duration // until the program had drawn anything
	screen vt10x.Terminal
}

// open starts the program in a terminal.
func (p *process) open(tb testing.TB) *terminal {
	tb.Helper()
	t := &terminal{begin: time.Now(), done: make(chan struct{}), screen: vt10x.New(vt10x.WithSize(columns, rows))}
	var err error
	if t.File, err = pty.StartWithSize(p.Cmd, &pty.Winsize{Rows: rows, Cols: columns}); err != nil {
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

// onTerminal runs the program in a terminal and presses q after a time.
func (p *process) onTerminal(tb testing.TB, life time.Duration) *run {
	t := p.open(tb)
	defer func() { _ = t.Close() }() // nothing more is read
	before := t.state()
	r := &run{}
	var quit time.Time
	pressed := make(chan struct{})
	timer := time.AfterFunc(life, func() {
		defer close(pressed)
		r.screen, quit = t.text(), time.Now()
		t.press("q")
	})
	r.wait(p)
	r.took = time.Since(t.begin)
	if timer.Stop() { // it ended by itself
		r.screen = t.text()
	} else {
		<-pressed
		r.ending = time.Since(quit)
	}
	after := t.state()
	_ = t.SetReadDeadline(time.Now().Add(time.Second)) // a pseudo terminal need not say that it ended
	<-t.done
	r.stdout, r.first = t.data.Bytes(), t.first
	if r.first == 0 {
		r.first = r.took
	}
	r.restored = before != nil && after != nil && *before == *after &&
		bytes.Count(r.stdout, []byte("\x1b[?1049h")) == bytes.Count(r.stdout, []byte("\x1b[?1049l"))
	r.look(tb, p)
	return r
}
