package documents

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
)

var update = flag.Bool("update", false, "write the pages of docs that are written from the program; read the differences before committing them")

// program is the environment variable that makes the test binary be the program, for commands that are ended
// by a signal.
const program = "KUBECTL_DRA_DOCUMENTS_PROGRAM"

// root is the directory of the repository.
var root string

// TestMain lets this binary be the program, so that no other one has to be linked.
func TestMain(m *testing.M) {
	if os.Getenv(program) != "" {
		streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
		os.Exit(cli.Main(os.Args[1:], streams, demo.Now))
	}
	var err error
	if root, err = filepath.Abs("../../../.."); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// written compares a page with what it has to be, or writes it.
func written(t *testing.T, path, want string) {
	t.Helper()
	full := filepath.Join(root, filepath.FromSlash(path))
	if *update {
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil { //nolint:gosec // documents are for all to read
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(want), 0o644); err != nil { //nolint:gosec // as above
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(full) //nolint:gosec // a page of the repository
	if err != nil || string(got) != want {
		t.Errorf("%s is not what the program says (%v): run make generate, and read the difference%s", path, err, firstDifference(string(got), want))
	}
}

// instant is a clock that stands still.
func instant(at time.Time) func() time.Time { return func() time.Time { return at } }
