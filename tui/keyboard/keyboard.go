package keyboard

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Keyboard reads a terminal without holding a processor while nobody types. Bubble Tea waits for keys in a
// system call, in which the runtime leaves a goroutine its processor for up to 20 ms: where another goroutine
// has the second of two, what a key has set off waits for that long. It is no file to Bubble Tea but in that
// it has a descriptor, or it would be waited for all the same.
type Keyboard struct {
	terminal *os.File // what it was opened from
	file     *os.File // the same, which the runtime polls
	// stopped says that the Read under way, or the next one, is to end.
	stopped atomic.Bool
}

// Open opens what a file is once more, so that others who have it are not made to poll. It returns nil
// where there is nothing to be gained.
func Open(input io.Reader) *Keyboard {
	terminal, ok := input.(*os.File)
	if !ok {
		return nil
	}
	file, err := os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", terminal.Fd()), os.O_RDONLY, 0)
	if err != nil {
		return nil // there is no such directory, or it is the terminal of another user
	}
	if file.SetReadDeadline(time.Time{}) != nil { // a file, which is not polled
		_ = file.Close()
		return nil
	}
	return &Keyboard{terminal: terminal, file: file}
}

// Read implements io.Reader.
func (k *Keyboard) Read(b []byte) (int, error) {
	n, err := 0, os.ErrDeadlineExceeded
	if !k.stopped.Load() {
		n, err = k.file.Read(b)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		_ = k.file.SetReadDeadline(time.Time{})
		k.stopped.Store(false)
		return 0, io.EOF // to Bubble Tea no reason to end
	}
	return n, err //nolint:wrapcheck // a reader
}

// stop ends the Read under way, or else the next one.
func (k *Keyboard) stop() {
	k.stopped.Store(true)
	_ = k.file.SetReadDeadline(time.Unix(1, 0))
}

// Write implements io.Writer.
func (k *Keyboard) Write(b []byte) (int, error) { return k.terminal.Write(b) } //nolint:wrapcheck // a writer

// Close implements io.Closer. It ends a Read.
func (k *Keyboard) Close() error { return k.file.Close() } //nolint:wrapcheck // a closer

// Fd is the descriptor of the terminal that it was opened from: to be asked for its own, a file is made one
// that is not polled.
func (k *Keyboard) Fd() uintptr { return k.terminal.Fd() }

// Suspending has Bubble Tea give up reading before the program is suspended, for afterwards it begins anew.
func (k *Keyboard) Suspending(_ tea.Model, msg tea.Msg) tea.Msg {
	if _, ok := msg.(tea.SuspendMsg); ok {
		k.stop()
	}
	return msg
}
