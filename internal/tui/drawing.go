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
// the program gets a ticker that ticks when there is something to draw.
const (
	// soon is how long a frame waits that the program does not say it has taken.
	soon = time.Millisecond
	// beat is the time between two frames that are drawn.
	beat = time.Second / 120
	// rest is how often the program looks while there is nothing to draw, for what it writes to the terminal besides frames.
	rest = time.Second
)

// pacer tells a program when to draw. The zero value does nothing.
//
// A tick is never lost: it waits until the program takes it, however slow the terminal is. Those of a time.Ticker are lost when its pace
// changes before they are taken.
type pacer struct {
	program *tea.Program
	send    func(tea.Msg) // to the program
	ticks   chan time.Time

	mu    sync.Mutex
	timer *time.Timer // for the next tick
	due   time.Time   // when that is; zero if it is only that of rest
	last  time.Time   // when the last frame was drawn
	// made says that a frame was made which the program may not have taken yet, and early that there was a tick since: it may have
	// drawn nothing.
	made, early bool
	asked       bool // for the next drawn
}

// drawn comes after a frame was made, when the program has taken it, if nothing else comes before.
type drawn struct{}

// giveTicker has a program draw whenever something comes from a channel, and returns false if it has no field for its ticker: Bubble
// Tea has no other way to change its pace, and keeps its own then. The program must not run yet.
func giveTicker(p *tea.Program, ticks <-chan time.Time) bool {
	field := reflect.ValueOf(p).Elem().FieldByName("ticker")
	if !field.IsValid() || field.Type() != reflect.TypeFor[*time.Ticker]() {
		return false
	}
	ticker := time.NewTicker(rest) // which Bubble Tea starts and stops: nobody listens to it
	ticker.C = ticks
	*(**time.Ticker)(unsafe.Pointer(field.UnsafeAddr())) = ticker //nolint:gosec // of the type that was asked for
	return true
}

// follow makes the pacer that of a program, which does not run yet.
func (p *pacer) follow(program *tea.Program) {
	p.program, p.send = program, program.Send
	ticks := make(chan time.Time, 1)
	if giveTicker(program, ticks) {
		p.ticks = ticks
	}
}

// wake says that a frame was made, which the program takes after that. Only the goroutine that runs the program calls it.
func (p *pacer) wake() {
	if p.ticks == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.made = true
	if !p.asked {
		p.asked = true
		go p.send(drawn{})
	}
	p.tickIn(soon)
}

// taken says that the program has taken what was made, which it has whenever it comes with a message.
func (p *pacer) taken(msg tea.Msg) {
	if p.ticks == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := msg.(drawn); ok {
		p.asked = false
	}
	if p.made {
		p.made = false
		if p.early || !p.due.IsZero() {
			p.early = false
			p.tickIn(0)
		}
	}
}

// tickIn lets the next tick come after a while, but not too soon after the one before, unless one comes sooner.
func (p *pacer) tickIn(wait time.Duration) {
	now := time.Now()
	due := now.Add(max(wait, beat-now.Sub(p.last)))
	if !p.due.IsZero() && !due.Before(p.due) {
		return
	}
	p.due = due
	switch wait = due.Sub(now); {
	case wait <= 0:
		p.draw(now)
	case p.timer == nil:
		p.timer = time.AfterFunc(wait, p.tick)
	default:
		p.timer.Reset(wait)
	}
}

// tick draws when it is time.
func (p *pacer) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := time.Now(); !p.due.After(now) { // it was put off otherwise
		p.draw(now)
	}
}

// draw has the program draw what it has taken.
func (p *pacer) draw(now time.Time) {
	switch {
	case p.made:
		p.early = true
	case !p.due.IsZero():
		p.last = now
	}
	p.due = time.Time{}
	if p.timer == nil {
		p.timer = time.AfterFunc(rest, p.tick)
	} else {
		p.timer.Reset(rest)
	}
	select {
	case p.ticks <- now:
	default: // the program has not taken the one before, and draws what is newest when it does
	}
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
