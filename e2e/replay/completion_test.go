package replay

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
)

// completions are command lines whose last word is completed against a cluster of New, and a word that is
// offered for each.
var completions = []struct{ name, line, offers string }{
	{"commands", "exp", "explain"},
	{"claims", "explain claim -n team-00 train-", "train-00000-0"},
	{"pods", "explain pod -n team-00 train-", "train-00000-0"},
	{"nodes", "plan drain node-", "node-00000"},
	{"namespaces", "get claims -n team-", "team-00"},
	{"drivers", "cel --driver gpu", driver},
	{"pools", "plan lose pool node-", "node-00000"},
	{"devices", "plan lose device " + driver + "/node-00000/gpu-", driver + "/node-00000/gpu-0"},
}

// TestCompletion asks for what TAB would offer, through kubectl.
func TestCompletion(t *testing.T) {
	s := serve(t, 50)
	kubectl, env := completing(t, against(t, s.url))
	for _, tt := range completions {
		cluster.Eventually(t, func(context.Context) error { // it offers nothing where a busy machine takes more than a second and a half
			out := complete(t, kubectl, env, tt.line)
			if !slices.ContainsFunc(strings.Split(out, "\n"), func(line string) bool {
				word, _, _ := strings.Cut(line, "\t")
				return word == tt.offers
			}) {
				return fmt.Errorf("%s: %q is not among\n%s", tt.line, tt.offers, out)
			}
			return nil
		})
	}
}

// completing returns kubectl, and the environment in which it has a plugin that completes.
func completing(tb testing.TB, env []string) (kubectl string, with []string) {
	tb.Helper()
	kubectl, product := cluster.Programs(tb)
	dir := tb.TempDir()
	for _, name := range []string{"kubectl-dra", "kubectl_complete-dra"} { // kubectl looks for the one before it asks the other
		if err := os.Symlink(product, filepath.Join(dir, name)); err != nil {
			tb.Fatal(err)
		}
	}
	return kubectl, append(slices.Clone(env), "PATH="+dir+":"+os.Getenv("PATH"), "COMPLETER="+filepath.Join(dir, "kubectl_complete-dra"))
}

// complete returns what is offered for the last word of a line.
func complete(tb testing.TB, kubectl string, env []string, line string) string {
	tb.Helper()
	cmd := exec.Command(kubectl, append([]string{"__complete", "dra"}, strings.Split(line, " ")...)...)
	cmd.Env = env
	out, err := cmd.Output()
	if err != nil {
		tb.Fatalf("%s: %v", line, err)
	}
	return string(out)
}

// BenchmarkCompletion measures what happens when TAB is pressed, against a server of 5,000 nodes with 40,000
// devices, 20,000 claims and as many pods, each time as processes of their own: kubectl, which asks the
// plugin, and the plugin alone. kubectl without a plugin completes the names of nodes for comparison.
func BenchmarkCompletion(b *testing.B) {
	s := serve(b, 5000)
	kubectl, env := completing(b, against(b, s.url))
	product := env[len(env)-1][len("COMPLETER="):]
	for _, tt := range completions {
		b.Run(tt.name, func(b *testing.B) {
			args := strings.Split(tt.line, " ")
			b.ReportMetric(0, "ns/op")
			wall, cpu := median(b, env, kubectl, append([]string{"__complete", "dra"}, args...))
			b.ReportMetric(wall, "through-kubectl-ms")
			b.ReportMetric(cpu, "cpu-ms")
			wall, _ = median(b, env, product, args)
			b.ReportMetric(wall, "alone-ms")
		})
	}
	b.Run("kubectl-get-nodes", func(b *testing.B) {
		b.ReportMetric(0, "ns/op")
		wall, cpu := median(b, env, kubectl, []string{"__complete", "get", "nodes", "node-"})
		b.ReportMetric(wall, "through-kubectl-ms")
		b.ReportMetric(cpu, "cpu-ms")
	})
}

// median is that of the milliseconds that some runs of a command take, and of their processor time with that
// of what they start.
func median(b *testing.B, env []string, program string, args []string) (wall, cpu float64) {
	b.Helper()
	const runs = 15
	var took, used []float64
	for range runs {
		cmd := exec.Command(program, args...)
		cmd.Env = env
		begun := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%s: %v\n%s", args, err, out)
		}
		took = append(took, float64(time.Since(begun).Microseconds())/1000)
		used = append(used, float64((cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()).Microseconds())/1000)
	}
	slices.Sort(took)
	slices.Sort(used)
	return took[runs/2], used[runs/2]
}
