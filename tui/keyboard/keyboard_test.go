package keyboard

import (
	"errors"
	"io"
	"os"
	"testing"
	"time"
)

// A keyboard reads what the file has that it was opened from. A Read that is stopped, under way or before it
// begins, ends without an error and loses nothing of what comes later; and nothing but Close ends another.
func TestKeyboard(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // only read
	defer w.Close() //nolint:errcheck // closed below
	k := Open(r)
	if k == nil {
		t.Skip("files cannot be opened once more here")
	}
	if _, named := any(k).(interface{ Name() string }); named {
		t.Error("it has a name: Bubble Tea waits for it in a system call")
	}
	type result struct {
		text string
		err  error
	}
	results := make(chan result)
	read := func() {
		b := make([]byte, 10)
		n, err := k.Read(b)
		results <- result{string(b[:n]), err}
	}
	want := func(what string, want result) {
		t.Helper()
		select {
		case got := <-results:
			if got.text != want.text || !errors.Is(got.err, want.err) {
				t.Errorf("%s: %v, want %v", what, got, want)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: it does not end", what)
		}
	}
	write := func(text string) {
		if _, err := w.WriteString(text); err != nil {
			t.Error(err)
		}
	}
	go read()
	write("j")
	want("a key", result{"j", nil})
	go read()
	time.Sleep(10 * time.Millisecond)
	k.stop()
	want("stopped under way", result{"", io.EOF})
	write("k")
	go read()
	want("the key after it", result{"k", nil})
	k.stop()
	write("l")
	go read()
	want("stopped before", result{"", io.EOF})
	go read()
	want("the key that was there", result{"l", nil})
	go read()
	time.Sleep(10 * time.Millisecond)
	if err := k.Close(); err != nil {
		t.Error(err)
	}
	want("closed", result{"", os.ErrClosed})
}

// What is no file, or none that can be polled, is read as it is.
func TestNoKeyboard(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // empty
	if Open(file) != nil || Open(nil) != nil {
		t.Error("it is polled")
	}
}
