package replay

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// TestTop: the screen shows what the server has, follows a storm of changes, and is right after it.
func TestTop(t *testing.T) {
	s := serve(t, 50)
	screen := start(t, s.url, plugin(t), "top", "claims")
	screen.wait(t, "200 claims", shows("200 claims"))
	screen.wait(t, "a cursor", func(lines []string) bool { return selected(lines) > 0 })
	screen.press(t, "j")
	s.tell(t, "storm", 2000)
	screen.press(t, "k")
	time.Sleep(time.Second)
	s.tell(t, "stop", 0)
	s.tell(t, "late", 0)
	screen.wait(t, "201 claims", shows("201 claims"))
}

// BenchmarkTop measures the terminal UI, as built and in a terminal of 200x50, against 5,000 nodes with
// 40,000 devices, 20,000 claims and 20,000 pods, and against 25,000 nodes with five times as many. The plugin
// and what plays the server share the machine. And on the demo cluster, which needs no server.
func BenchmarkTop(b *testing.B) {
	for _, nodes := range []int{5000, 25000} {
		b.Run(fmt.Sprint("nodes=", nodes), func(b *testing.B) {
			for range b.N {
				measure(b, nodes)
			}
		})
	}
	b.Run("demo", func(b *testing.B) {
		for range b.N {
			measureDemo(b)
		}
	})
}

// measureDemo measures the living demo, which does not need the server.
func measureDemo(b *testing.B) {
	b.Helper()
	const settled, watched = 5 * time.Second, 60 * time.Second
	screen := start(b, "http://127.0.0.1:1", plugin(b), "top", "--demo")
	screen.wait(b, "the demo", shows("[7 Causes]"))
	time.Sleep(settled)
	before := screen.usage(b)
	time.Sleep(watched)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(100*(screen.usage(b).cpu-before.cpu).Seconds()/watched.Seconds(), "idle-cpu-%")
}

func measure(b *testing.B, nodes int) {
	b.Helper()
	const settled = 5 * time.Second
	s := serve(b, nodes)
	program := plugin(b)
	begun := time.Now()
	screen := start(b, s.url, program, "top", "claims")
	// With all claims and their states, and while anything else is being read it says so.
	useful := screen.wait(b, "all claims", func(lines []string) bool {
		return shows(fmt.Sprint(nodes*perNode, " claims"))(lines) && selected(lines) > 0
	})
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(useful.Sub(begun).Seconds()*1000, "from-start-ms")
	b.ReportMetric(screen.usage(b).cpu.Seconds()*1000, "from-start-cpu-ms")
	whole := screen.wait(b, "everything", shows("● live"))
	b.ReportMetric(whole.Sub(begun).Seconds()*1000, "all-read-ms")
	b.ReportMetric(screen.usage(b).cpu.Seconds()*1000, "all-read-cpu-ms")

	screen.settle(b)
	before := screen.usage(b)
	b.ReportMetric(float64(before.resident>>20), "resident-MiB")
	b.ReportMetric(float64(before.peak>>20), "read-peak-MiB")
	time.Sleep(2 * settled)
	b.ReportMetric(100*(screen.usage(b).cpu-before.cpu).Seconds()/(2*settled).Seconds(), "idle-cpu-%")
	b.ReportMetric(p99(pressMany(b, screen)), "key-p99-ms")

	s.tell(b, "storm", 5000)
	time.Sleep(settled)
	b.ReportMetric(p99(pressMany(b, screen)), "busy-key-p99-ms")
	b.ReportMetric(s.tell(b, "stop", 0).rate, "changes/s")
	end := time.Now()
	s.tell(b, "late", 0)
	seen := screen.wait(b, "the claim made after the storm", shows(fmt.Sprint(nodes*perNode+1, " claims")))
	b.ReportMetric(seen.Sub(end).Seconds()*1000, "behind-ms")
	b.ReportMetric(float64(screen.usage(b).peak>>20), "peak-MiB")
}

// pressMany moves the cursor down and up again and returns how long each key took to show.
func pressMany(b *testing.B, screen *terminal) []time.Duration {
	b.Helper()
	var times []time.Duration
	for i := range 300 {
		key := "j"
		if i/20%2 == 1 {
			key = "k"
		}
		times = append(times, screen.press(b, key))
		time.Sleep(30 * time.Millisecond)
	}
	return times
}

func p99(times []time.Duration) float64 {
	slices.Sort(times)
	return times[len(times)*99/100].Seconds() * 1000
}
