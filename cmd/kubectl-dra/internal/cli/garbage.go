package cli

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// The heap of a Go program grows to twice what is in use before the garbage collector runs. With the objects of the largest
// clusters that is most of a gigabyte of nothing, on machines that may not have it. So the larger the heap of a command
// that reads once and answers, the smaller the part that may be garbage. That takes a little more processor time with such a
// cluster, and none with smaller ones. The terminal UI bounds its own (tui/garbage.go).
const (
	// plentiful is how large the heap may become, in bytes, before garbage is collected sooner than usual.
	plentiful = 760 << 20
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

var garbageOnce sync.Once //nolint:gochecknoglobals // there is one garbage collector

// boundGarbage sees to it from now on, unless the environment says how it is to be.
func boundGarbage() {
	if os.Getenv("GOGC") == "" {
		garbageOnce.Do(func() { afterCollection(usualGarbage) })
	}
}

// afterCollection adjusts the garbage collector whenever it has run, by an object that it always collects.
func afterCollection(percent int) {
	runtime.AddCleanup(&[64]byte{}, func(percent int) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		next := garbagePercent(live[0].Value.Uint64())
		if next != percent {
			debug.SetGCPercent(next)
		}
		afterCollection(next)
	}, percent)
}
