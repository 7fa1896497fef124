package faults

import (
	"flag"
	"os"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli"
)

var (
	only   = flag.String("faults", "", "run the faults that match this regular expression, all of them, or some commands under each; without it a few")
	binary = flag.String("binary", "", "the program to try, instead of the one that is compiled into the test")
	update = flag.Bool("update", false, "with -faults=all, write docs/reliability.md anew; read the differences before committing it")
)

// program is the environment variable that makes the test binary be the program.
const program = "KUBECTL_DRA_FAULTS_PROGRAM"

// TestMain lets this binary be the program, so that no other one has to be linked.
func TestMain(m *testing.M) {
	if os.Getenv(program) != "" {
		streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
		os.Exit(cli.Main(os.Args[1:], streams, time.Now))
	}
	os.Exit(m.Run())
}
