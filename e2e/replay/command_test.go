package replay

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

var sizes = flag.String("sizes", "5000,25000", "the numbers of nodes of BenchmarkCommand")

// BenchmarkCommand measures commands as built, each a process of its own, against the same servers as
// BenchmarkTop, and with --from on the snapshot that one of them saves.
func BenchmarkCommand(b *testing.B) {
	for size := range strings.SplitSeq(*sizes, ",") {
		nodes, err := strconv.Atoi(size)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprint("nodes=", nodes), func(b *testing.B) {
			s, program := serve(b, nodes), plugin(b)
			env := against(b, s.url)
			file := filepath.Join(b.TempDir(), "cluster.snapshot")
			from := " --max-input 4Gi --from " + file // for the largest: the limits are those of ordinary files
			const stuck = " train-00000-3 -n team-00"
			for _, command := range []struct{ name, line string }{
				{"explain-claim", "explain claim" + stuck},
				{"explain-pod", "explain pod" + stuck},
				{"check", "check"},
				{"snapshot", "snapshot --force -o " + file},
				{"explain-claim-from-snapshot", "explain claim" + stuck + from},
				{"explain-pod-from-snapshot", "explain pod" + stuck + from},
				{"explain-from-snapshot", "explain -A" + from},
				{"check-from-snapshot", "check" + from},
				{"plan-pending-from-snapshot", "plan pending -A" + from},
				{"plan-drain-from-snapshot", "plan drain node-00010" + from},
				{"plan-lose-from-snapshot", "plan lose node --any 1" + from},
			} {
				b.Run(command.name, func(b *testing.B) {
					for range b.N {
						measureCommand(b, program, env, strings.Fields(command.line))
					}
				})
			}
		})
	}
}

func measureCommand(b *testing.B, program string, env, args []string) {
	b.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env, cmd.Stderr = env, os.Stderr
	begun := time.Now()
	out, err := cmd.Output()
	took := time.Since(begun)
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != unsatisfied && args[0] != "plan") {
		b.Fatalf("%s: %v", args, err)
	}
	if args[0] == "plan" && len(out) == 0 { // it may have to leave something open, with the code of a failure
		b.Fatalf("%s says nothing: %v", args, err)
	}
	if args[0] == "explain" && args[1] != "-A" && !strings.Contains(string(out), "needs 9 devices of class gpu") {
		b.Fatalf("%s says:\n%s", args, out)
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		b.Skip("what the plugin uses cannot be read here")
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(took.Seconds()*1000, "wall-ms")
	b.ReportMetric((cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()).Seconds()*1000, "cpu-ms")
	b.ReportMetric(float64(usage.Maxrss>>10), "peak-MiB")
}

// unsatisfied is the exit code of an explanation that says no.
const unsatisfied = 3
