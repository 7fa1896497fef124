package tui

import (
	"os"
	"runtime"
	"sync"
)

// A key takes a few milliseconds of a processor until it shows, in goroutines that wake each other up. While the program follows a busy
// cluster or collects garbage, it has more threads that want to run than there are processors, and the operating system lets each run
// for a while: the key waits several times. So the two goroutines that do most of what a key takes keep their threads, and all
// other threads get less priority. That needs no permission, where more priority would.

// background is how much less priority that is, as nice counts it: beside a thread that takes keys one of the others gets a sixth of
// a processor that both want, and all of it when nobody presses any.
const background = 7

// foreground are the threads that take keys and draw. The zero value is ready.
type foreground struct {
	mu      sync.Mutex
	threads map[int]bool
	lowered bool
}

// take keeps the thread of the goroutine that calls it, for the life of that goroutine. Once the others have less priority it does
// nothing: their goroutines cannot get it back.
func (f *foreground) take() {
	runtime.LockOSThread()
	thread := threadID()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lowered || f.threads[thread] {
		runtime.UnlockOSThread()
		return
	}
	if f.threads == nil {
		f.threads = map[int]bool{}
	}
	f.threads[thread] = true
}

// lower gives less priority to all threads that were not taken, and so to those that they start.
func (f *foreground) lower() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lowered {
		return
	}
	f.lowered = true
	lowerOthers(f.threads)
}

// terminalOutput is a terminal that the foreground draws on. Bubble Tea draws in a goroutine of its own, which can only be told by what
// it writes.
type terminalOutput struct {
	*os.File
	foreground *foreground
	first      sync.Once
}

// Write implements io.Writer.
func (o *terminalOutput) Write(p []byte) (int, error) {
	o.first.Do(func() {
		o.foreground.take()
		go o.foreground.lower()
	})
	return o.File.Write(p) //nolint:wrapcheck // it stands in for the file
}
