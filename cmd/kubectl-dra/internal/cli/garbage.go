package cli

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// The heap of a Go program grows to twice what is in use before the garbage collector runs. With the objects of the largest
// clusters that is a gigabyte of nothing, on machines that may not have it. So the larger the heap, the smaller the part
// that may be garbage. Reading such a cluster takes a little more processor time for it, and smaller ones take none.
const (
	// plentiful is how large the heap may become, in bytes, before garbage is collected sooner than usual.
	plentiful = 820 << 20
	// usualGarbage, busyGarbage and leastGarbage are how much garbage there may be, in percent of what is in use.
	usualGarbage, busyGarbage, leastGarbage = 100, 60, 20
	// beginning is how long the program reads what there is. After that a collection that comes busy after the one
	// before, because thousands of objects change every second, costs more than memory is worth.
	beginning, busy = 45 * time.Second, 3 * time.Second
)

// garbagePercent returns how much garbage there may be, in percent of what is in use, when so many bytes are, the program
// has run for a time, and the collection before was so long ago.
func garbagePercent(live uint64, running, before time.Duration) int {
	if live == 0 {
		return usualGarbage
	}
	room := (plentiful - min(live, plentiful)) * 100 / live
	least := uint64(leastGarbage)
	if running > beginning && before < busy {
		least = busyGarbage
	}
	return int(min(max(room, least), usualGarbage)) //nolint:gosec // a percentage
}

// boundGarbage sees to it from now on, unless the environment says how it is to be.
func boundGarbage() {
	if os.Getenv("GOGC") == "" {
		now := time.Now()
		afterCollection(usualGarbage, now, now)
	}
}

// afterCollection adjusts the garbage collector whenever it has run, by an object that it always collects.
func afterCollection(percent int, begun, before time.Time) {
	runtime.AddCleanup(&[64]byte{}, func(percent int) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		now := time.Now()
		next := garbagePercent(live[0].Value.Uint64(), now.Sub(begun), now.Sub(before))
		if next != percent {
			debug.SetGCPercent(next)
		}
		afterCollection(next, begun, now)
	}, percent)
}
