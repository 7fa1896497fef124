package tui

import (
	"reflect"
	"sync"
	"time"
	"unsafe"

	tea "charm.land/bubbletea/v2"
)

// Bubble Tea looks 60 times a second whether there is a frame to draw. A key then waits for up to 17 milliseconds, and
// a screen on which nothing happens takes more of a processor than everything else that follows the cluster. So
// the program slows its ticker down while there is nothing to draw, and wakes it when there is.
const (
	// soon is how long a frame waits that is made after a rest, beat how long one waits that follows another.
	soon = 2 * time.Millisecond
	beat = time.Second / 120
	// alert is how long the ticker stays awake after the last frame.
	alert = 25 * time.Millisecond
	// rest is how often it looks while there is nothing to draw. It never stops: a terminal that was too slow to take the
	// last frame in time gets it then.
	rest = time.Second
)

// pacer wakes the ticker of a program and sends it to sleep. The zero value does nothing.
type pacer struct {
	program *tea.Program

	mu     sync.Mutex
	ticker *time.Ticker
	awake  bool
	last   time.Time // when the last frame was made
}

// tickerOf returns the ticker by which a program draws. Bubble Tea has no way to change its pace. The ticker is nil before the
// program runs, and if the field is not there: then Bubble Tea keeps its own pace.
func tickerOf(p *tea.Program) *time.Ticker {
	field := reflect.ValueOf(p).Elem().FieldByName("ticker")
	if !field.IsValid() || field.Type() != reflect.TypeFor[*time.Ticker]() {
		return nil
	}
	return *(**time.Ticker)(unsafe.Pointer(field.UnsafeAddr())) //nolint:gosec // of the type that was asked for
}

// wake says that there is a frame to draw. Only the goroutine that runs the program calls it.
func (p *pacer) wake() {
	if p.program == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ticker == nil {
		if p.ticker = tickerOf(p.program); p.ticker == nil {
			return
		}
	}
	p.last = time.Now()
	if p.awake {
		return
	}
	p.awake = true
	p.ticker.Reset(soon)
	time.AfterFunc(3*soon, func() {
		p.ticker.Reset(beat)
		p.watch()
	})
}

// watch sends the ticker to sleep when there was no frame for a while.
func (p *pacer) watch() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if left := alert - time.Since(p.last); left > 0 {
		time.AfterFunc(left, p.watch)
		return
	}
	p.awake = false
	p.ticker.Reset(rest)
}

// drawing is what is on the screen, and when it is looked at again if nothing happens but that time passes.
type drawing struct {
	view tea.View
	// resting says that the view need not be made again.
	resting bool
	// seconds counts those since the last look, and patience is how many there are until the next. It grows while looks show
	// no change: what tells an age in minutes changes rarely.
	seconds, patience int
}

// mostPatience is how many seconds late an age may be that has not changed for longer than that.
const mostPatience = 8

// message says that something came which may change the screen; the clock alone does so rarely.
func (d *drawing) message(msg tea.Msg) {
	if _, clock := msg.(ticked); clock {
		d.seconds++
		d.resting = d.seconds < d.patience
		return
	}
	d.resting, d.seconds, d.patience = false, 0, 1
}

// show takes a view that was made, and reports whether it is to be drawn. What looks the same is the same string, which saves
// comparing it.
func (d *drawing) show(v tea.View) (draw bool) {
	changed := v.Content != d.view.Content
	if !changed {
		v.Content = d.view.Content
	}
	clock := d.seconds > 0
	switch {
	case changed:
		d.patience = 1
	case clock:
		d.patience = min(2*d.patience, mostPatience)
	}
	d.view, d.seconds = v, 0
	return changed || !clock
}
