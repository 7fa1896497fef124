package triage

// LimitFreed bounds how many a change frees until the rest is no longer counted.
func LimitFreed(o Options, n int) Options {
	o.maxFreed = n
	return o
}
