package flowcontrol

// Figures are the live figures of one level, from whatever could be read. Nil is not known.
type Figures struct {
	// Current is the limit that holds now, in seats.
	Current *int
	// Executing and Queued count requests, their seats ExecutingSeats and QueuedSeats. Most requests
	// take one seat; a write that many watch takes up to ten, a large list up to 100 (from Kubernetes 1.34 on, with
	// SizeBasedListCostEstimate; before, ten).
	Executing, ExecutingSeats *int
	Queued, QueuedSeats       *int
	// Rejected counts requests since the server started.
	Rejected *int
	// Quiescing says that the object of the level is gone and its last requests are being served.
	Quiescing bool
}

// Level returns the figures of a level. Metrics have more than the dump and go on counting when a level
// is made anew, so they come first.
func (r Reading) Level(name string) Figures {
	var f Figures
	if r.Dump != nil {
		if level, found := r.Dump.Levels[name]; found {
			f.Executing, f.Queued, f.Rejected = level.ExecutingRequests, level.WaitingRequests, level.RejectedRequests
			f.Quiescing = level.Quiescing != nil && *level.Quiescing
		}
	}
	if r.Metrics == nil {
		return f
	}
	load := r.Metrics.Levels[name]
	if load == nil {
		return f
	}
	// A count that has never been other than 0 has no metric.
	total, rejected := load.Total, load.Total.RejectedRequests()
	f.Current = load.Current
	f.Executing, f.ExecutingSeats = &total.ExecutingRequests, &total.ExecutingSeats
	f.Queued, f.QueuedSeats = &total.QueuedRequests, &total.QueuedSeats
	f.Rejected = &rejected
	return f
}
