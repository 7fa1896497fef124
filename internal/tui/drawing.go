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
	// soon is how long a frame waits, beat how long one waits that follows another within that time.
	soon = time.Millisecond
	beat = time.Second / 120
	// alert is how long the ticker stays awake after the last frame: a tick that comes while a slow terminal still takes the frame
	// before is lost when the pace changes.
	alert = 250 * time.Millisecond
	// rest is how often it looks while there is nothing to draw. It never stops: a terminal that was too slow to take the
	// last frame in time gets it then.
	rest = time.Second
)

// pacer wakes the ticker of a program and sends it to sleep. The zero value does nothing.
type pacer struct {
	program *tea.Program
	send    func(tea.Msg) // to the program

	mu     sync.Mutex
	ticker *time.Ticker
	awake  bool
	last   time.Time // when the last frame was made, or handed over
	ahead  time.Time // when the ticker was last made to draw soon
	// hurried says that it was made to for a frame that the program may not have taken yet.
	hurried bool
	// making is how many frames were made that the program may not have taken yet.
	making int
}

// drawn says that the program has taken a frame, which it draws at the next tick. It is sent when a frame is made, and comes when
// the program is done with it.
type drawn struct{}

// tickerOf returns the ticker by which a program draws. Bubble Tea has no way to change its pace. The ticker is nil before the
// program runs, and if the field is not there: then Bubble Tea keeps its own pace.
func tickerOf(p *tea.Program) *time.Ticker {
	field := reflect.ValueOf(p).Elem().FieldByName("ticker")
	if !field.IsValid() || field.Type() != reflect.TypeFor[*time.Ticker]() {
		return nil
	}
	return *(**time.Ticker)(unsafe.Pointer(field.UnsafeAddr())) //nolint:gosec // of the type that was asked for
}

// follow sets the program whose ticker it is.
func (p *pacer) follow(program *tea.Program) { p.program, p.send = program, program.Send }

// wake says that a frame was made, which the program takes after that. Only the goroutine that runs the program calls it.
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
	p.making++
	go p.send(drawn{})
	p.last = time.Now()
	if p.last.Sub(p.ahead) >= beat {
		p.hurry()
		p.hurried = true
	}
	if !p.awake {
		p.awake = true
		time.AfterFunc(alert, p.watch)
	}
}

// hurry lets the next tick come soon, and those after it at the usual pace.
func (p *pacer) hurry() {
	p.ahead = time.Now()
	p.ticker.Reset(soon)
	time.AfterFunc(soon*3/2, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.awake {
			p.ticker.Reset(beat)
		}
	})
}

// drawn says that the program has taken a frame. If that took so long that the tick for it has passed, there is another one.
func (p *pacer) drawn() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.making--
	p.last = time.Now()
	if p.hurried && p.last.Sub(p.ahead) >= soon {
		p.hurry()
	}
	p.hurried = false
}

// watch sends the ticker to sleep when there was no frame for a while. A frame that the program has not taken yet keeps it
// awake, however long that takes on a busy machine: it would be drawn a second late.
func (p *pacer) watch() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if left := alert - time.Since(p.last); left > 0 || p.making > 0 {
		time.AfterFunc(max(left, beat), p.watch)
		return
	}
	p.awake = false
	p.ticker.Reset(rest)
}

// drawing is what is on the screen, and when it is looked at again if nothing happens but that time passes.
type drawing struct {
	view tea.View
	made bool // there is a view
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
	switch msg.(type) {
	case ticked:
		d.seconds++
		d.resting = d.seconds < d.patience
		return
	case drawn:
		d.resting = true
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
	d.view, d.made, d.seconds = v, true, 0
	return changed || !clock
}
