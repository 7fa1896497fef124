package replay

import (
	"flag"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var soak = flag.Duration("soak", 20*time.Second, "how long BenchmarkSoak uses the terminal UI")

// BenchmarkSoak opens all views of the terminal UI in turn, and what Enter opens of their first rows, for as
// long as -soak says: live while objects change, and of a snapshot. 1,000 pods of the cluster of 5,000 nodes
// are stuck. The UI must not end. It measures the keys throughout, and how much memory the UI has after the
// first turn and at the end.
func BenchmarkSoak(b *testing.B) {
	b.Setenv(stuckVariable, "5")
	s, program := serve(b, 5000), plugin(b)
	file := filepath.Join(b.TempDir(), "cluster.snapshot")
	save := exec.Command(program, "snapshot", "--force", "-o", file)
	save.Env = against(b, s.url)
	if out, err := save.CombinedOutput(); err != nil {
		b.Fatalf("saving a snapshot: %v\n%s", err, out)
	}
	b.Run("from", func(b *testing.B) {
		for range b.N {
			measureSoak(b, start(b, s.url, program, "top", "claims", "--from", file))
		}
	})
	b.Run("live", func(b *testing.B) {
		for range b.N {
			s.tell(b, "storm", 100)
			measureSoak(b, start(b, s.url, program, "top", "claims"))
			s.tell(b, "stop", 0)
		}
	})
}

// editor is the view in which keys are text.
const editor = 6

// movable reports whether there is a row below the cursor of the table that press can tell from it.
func movable(lines []string) bool {
	at := selected(lines)
	if at < 0 || at+1 >= len(lines) {
		return false
	}
	left, _, _ := strings.Cut(lines[at+1], "│") // right of it is what is shown beside the table
	below := strings.Fields(left)
	return strings.HasPrefix(left, "  ") && len(below) > 1 && !strings.HasSuffix(pointed(lines), strings.Join(below[:2], " "))
}

func measureSoak(b *testing.B, screen *terminal) {
	b.Helper()
	screen.wait(b, "all claims", shows("20000 claims"))
	var views []time.Duration
	moves := map[int][]time.Duration{} // by view
	var first int64
	turns := 0
	for begun := time.Now(); turns < 2 || time.Since(begun) < *soak; turns++ {
		for view := 1; view <= 9; view++ {
			views = append(views, screen.open(b, view))
			time.Sleep(100 * time.Millisecond)
			if lines, _ := screen.lines(); view != editor && movable(lines) {
				for _, key := range []string{"j", "k"} {
					moves[view] = append(moves[view], screen.press(b, key))
					time.Sleep(30 * time.Millisecond)
				}
			}
			if view == editor {
				continue
			}
			screen.send(b, "\r")
			if screen.within(2*time.Second, inPage) { // a row that is a group unfolds instead
				screen.send(b, "\x1b[27u") // Escape, which no later key can be taken for a part of
				screen.wait(b, "the view again", func(lines []string) bool { return !inPage(lines) })
			}
		}
		if turns == 0 {
			first = screen.usage(b).resident
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(turns), "turns")
	for view, times := range moves {
		b.ReportMetric(p99(times), fmt.Sprintf("key-p99-ms-view-%d", view))
	}
	b.ReportMetric(p99(views), "view-p99-ms")
	b.ReportMetric(float64(first>>20), "first-MiB")
	b.ReportMetric(float64(screen.usage(b).resident>>20), "last-MiB")
}

// inPage reports whether a page is open above a view: its title stands in the line below those of the views.
func inPage(lines []string) bool { return strings.HasPrefix(strings.TrimSpace(lines[2]), "── ") }

// open presses the key of a view and returns how long it takes until the header names it.
func (t *terminal) open(tb testing.TB, view int) time.Duration {
	tb.Helper()
	begun := time.Now()
	t.send(tb, fmt.Sprint(view))
	return t.wait(tb, fmt.Sprint("view ", view), shows(fmt.Sprintf("[%d ", view))).Sub(begun)
}

func (t *terminal) send(tb testing.TB, keys string) {
	tb.Helper()
	if _, err := t.pty.WriteString(keys); err != nil {
		tb.Fatal(err)
	}
}
