package tui

import tea "charm.land/bubbletea/v2"

// framesPerSecond is how often Bubble Tea looks whether there is a frame to draw: a key waits for it.
const framesPerSecond = 120

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
const mostPatience = 4

// message says that something came which may change the screen; the clock alone does so rarely.
func (d *drawing) message(msg tea.Msg) {
	switch msg.(type) {
	case ticked:
		d.seconds++
		d.resting = d.seconds < d.patience
		return
	}
	d.resting, d.seconds, d.patience = false, 0, 1
}

// show takes a view that was made. What looks the same is the same string, which saves comparing it.
func (d *drawing) show(v tea.View) {
	changed := v.Content != d.view.Content
	if !changed {
		v.Content = d.view.Content
	}
	switch {
	case changed:
		d.patience = 1
	case d.seconds > 0:
		d.patience = min(2*d.patience, mostPatience)
	}
	d.view, d.made, d.seconds = v, true, 0
}
