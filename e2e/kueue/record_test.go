package kueue

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/internal/randomqueue"
)

var (
	states = flag.Uint64("states", 100, "how many random states Kueue decides")
	out    = flag.String("out", os.DevNull, "where to write the answers")
)

// TestRecord writes what Kueue decides about each workload without quota of random states, a line each.
func TestRecord(t *testing.T) {
	file, err := os.Create(*out)
	if err != nil {
		t.Fatal(err)
	}
	to := bufio.NewWriter(file)
	written := 0
	for seed := range *states {
		objects, config := randomqueue.State(seed)
		answers := askKueue(t, objects, config)
		for _, w := range objects.KueueWorkloads {
			if a := answers[w.Name]; a != nil {
				fmt.Fprintf(to, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", seed, w.Namespace, w.Name, a.outcome, a.sets, a.victims, a.message(), line(a.refusal))
				written++
			}
		}
	}
	if err := to.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d decisions in %d states", written, *states)
	if written == 0 {
		t.Error("nothing was decided")
	}
}
