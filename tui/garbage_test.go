package tui

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"testing"
	"time"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Little in memory lets more garbage lie about, a large cluster as much as usual, one of the largest less; while one is being read
// there may be more, up to the same size of the heap.
func TestGarbageFor(t *testing.T) {
	for _, test := range []struct {
		live            uint64 // MiB
		reading, follow int
	}{{0, 100, 400}, {4, 100, 400}, {64, 100, 400}, {128, 100, 200}, {380, 100, 67}, {500, 52, 51}, {600, 26, 26}, {700, 20, 20}, {4000, 20, 20}} {
		if got := garbageFor(test.live<<20, 50, true); got != test.reading {
			t.Errorf("with %d MiB in use, %d %% may be garbage while a cluster is being read, want %d", test.live, got, test.reading)
		}
		if got := garbageFor(test.live<<20, 50, false); got != test.follow {
			t.Errorf("with %d MiB in use, %d %% may be garbage, want %d", test.live, got, test.follow)
		}
	}
}

// What may be garbage follows what is in use, without anybody asking for it, and in the end it is as it was.
func TestGarbage(t *testing.T) {
	before := debug.SetGCPercent(77)
	defer debug.SetGCPercent(before)
	now := func() int {
		percent := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(percent)
		return int(percent[0].Value.Uint64()) //nolint:gosec // at most some hundreds
	}
	t.Setenv("GOGC", "")
	runtime.GC() // of what tests before have left
	var g garbage
	g.begin()
	s := demoSnapshot(t)
	g.look(s.WithHealth(map[inspect.Resource]inspect.Health{inspect.Pods: {State: inspect.Syncing}}))
	if got := now(); got != readingGarbage {
		t.Errorf("while pods are being read, %d %% may be garbage", got)
	}
	g.look(s)
	if got := now(); got <= readingGarbage || got > mostGarbage {
		t.Errorf("then %d %% may be garbage", got)
	}
	held := make([]byte, plentiful)
	runtime.GC()
	for end := time.Now().Add(time.Minute); now() != leastGarbage && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	if got := now(); got != leastGarbage {
		t.Errorf("with much in use, %d %% may be garbage", got)
	}
	runtime.KeepAlive(held)
	g.end()
	if got := now(); got != 77 {
		t.Errorf("in the end %d %% may be garbage", got)
	}
	t.Setenv("GOGC", "50")
	g = garbage{}
	g.begin()
	g.look(s)
	g.end()
	if got := now(); got != 77 {
		t.Errorf("against the will of the user, %d %% may be garbage", got)
	}
}

// Memory is given back when nothing has been worked out for a while and more was taken since the last time, and once where there is
// always something to work out; not before everything has been read.
func TestGiveBack(t *testing.T) {
	begin := time.Now()
	for name, test := range map[string]struct {
		work func(second int) burden
		want []int
	}{
		"at rest":     {func(int) burden { return burden{taken: 500 << 20} }, []int{3}},
		"small":       {func(int) burden { return burden{taken: 50 << 20} }, nil},
		"a long job":  {func(second int) burden { return burden{underWay: second <= 10, taken: 500 << 20} }, []int{13}},
		"short jobs":  {func(second int) burden { return burden{done: time.Duration(min(second, 10)), taken: 500 << 20} }, []int{13}},
		"always busy": {func(second int) burden { return burden{done: time.Duration(second), taken: uint64(500+second) << 20} }, []int{30}},
		"small, and as much garbage as there may be": {func(second int) burden { return burden{taken: uint64(240+second/50*150) << 20} }, []int{3}},
		"more is read": {func(second int) burden { return burden{taken: uint64(500+second/50*100) << 20} }, []int{3, 50}},
	} {
		g := garbage{usual: 50, read: begin, changed: begin}
		var given []int
		for second := range 100 {
			if g.giveBack(begin.Add(time.Duration(second)*time.Second), test.work(second)) != nil {
				given = append(given, second)
			}
		}
		if !slices.Equal(given, test.want) {
			t.Errorf("%s: given back after %v s, want %v", name, given, test.want)
		}
	}
	for name, g := range map[string]*garbage{"not yet read": {usual: 50}, "left to the user": {read: begin}} {
		if g.giveBack(begin.Add(time.Hour), burden{taken: 1 << 30}) != nil {
			t.Errorf("%s: memory is given back", name)
		}
	}
	if !burdenNow(time.Now()).underWay || burdenNow(time.Now().Add(-resting)).underWay {
		t.Error("while somebody presses keys, something is under way, and then no longer")
	}
	g := garbage{usual: 50, read: begin}
	g.giveBack(begin.Add(time.Hour), burden{taken: 1 << 40})()
	if g.left == 0 || g.left >= 1<<40 {
		t.Errorf("%d bytes are left", g.left)
	}
}
