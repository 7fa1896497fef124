package tui

import (
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"
)

// foregroundVariable makes this test a process whose threads get less priority for good.
const foregroundVariable = "KUBECTL_DRA_TEST_FOREGROUND"

// TestForeground: once something is drawn, the goroutines that take keys and draw keep their threads and their priority, and all other
// threads have less, those that begin later too.
func TestForeground(t *testing.T) {
	if os.Getenv(foregroundVariable) == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestForeground$")
		cmd.Env = append(os.Environ(), foregroundVariable+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	terminal, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	usual, err := niceness(threadID())
	if err != nil {
		t.Skip(err)
	}
	f := &foreground{}
	output := &terminalOutput{File: terminal, foreground: f}
	waiting := locked(func() {}) // a thread that is there before
	keys, drawing := locked(f.take), locked(func() { _, _ = output.Write(nil) })
	for end := time.Now().Add(time.Minute); niceOf(t, waiting) == usual && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	later := locked(func() { _, _ = output.Write(nil) }) // which the program draws with after it was suspended
	for name, thread := range map[string]int{"that takes keys": keys, "that draws": drawing} {
		if got := niceOf(t, thread); got != usual {
			t.Errorf("the thread %s is %d, and was %d", name, got, usual)
		}
	}
	for name, thread := range map[string]int{"that was there": waiting, "that came later": later} {
		if got := niceOf(t, thread); got != usual+background {
			t.Errorf("a thread %s is %d, want %d", name, got, usual+background)
		}
	}
}

// locked does something in a goroutine that keeps its thread, which it returns. It never ends.
func locked(do func()) (thread int) {
	threads := make(chan int)
	go func() {
		runtime.LockOSThread()
		do()
		threads <- threadID()
		select {}
	}()
	return <-threads
}

func niceOf(t *testing.T, thread int) int {
	t.Helper()
	nice, err := niceness(thread)
	if err != nil {
		t.Fatal(err)
	}
	return nice
}
