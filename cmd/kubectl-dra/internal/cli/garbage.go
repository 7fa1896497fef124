package cli

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// The heap of a Go program grows to twice what is in use before the garbage collector runs. With the objects of the largest
// clusters that is a gigabyte of nothing, on machines that may not have it. So the larger the heap, the smaller the part
// that may be garbage. Reading such a cluster takes a little more processor time for it, and smaller ones take none.
const (
	// plentiful is how large the heap may become, in bytes, before garbage is collected sooner than usual.
	plentiful = 820 << 20
	// usualGarbage and leastGarbage are how much garbage there may be, in percent of what is in use.
	usualGarbage, leastGarbage = 100, 20
)

// garbagePercent returns how much garbage there may be, in percent of what is in use, when so many bytes are.
func garbagePercent(live uint64) int {
	if live == 0 {
		return usualGarbage
	}
	room := (plentiful - min(live, plentiful)) * 100 / live
	return int(min(max(room, leastGarbage), usualGarbage)) //nolint:gosec // a percentage
}

// boundGarbage sees to it from now on, unless the environment says how it is to be.
func boundGarbage() {
	if os.Getenv("GOGC") == "" {
		afterCollection(usualGarbage)
	}
}

// afterCollection adjusts the garbage collector whenever it has run, by an object that it always collects.
func afterCollection(percent int) {
	runtime.AddCleanup(&[64]byte{}, func(before int) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		now := garbagePercent(live[0].Value.Uint64())
		if now != before {
			debug.SetGCPercent(now)
		}
		afterCollection(now)
	}, percent)
}
