package cli

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/internal/progress"
)

// TestInterruptedInTheCourse: what is known when a command is interrupted is printed if it says what it
// lacks, whichever exit code it would have in the end.
func TestInterruptedInTheCourse(t *testing.T) {
	for _, test := range []struct{ args, during, want string }{
		{"explain --demo", "placing pods 1", ""},
		{"explain --demo", "explaining kinds of pods and claims 1", "kinds of pods and claims were not looked into"},
		{"explain --demo -o json", "trying changes on all that waits 1", `"interrupted: of `},
		{"explain --demo -o markdown", "trying changes on all that waits 1", "interrupted: of "},
		{"plan pending --demo", "placing pods 15", "had no turn, and what is said of the others is not known for certain"},
		{"plan pending --demo -o json", "looking for a way to place all 0", `"interrupted: whether all can be placed `},
		{"plan nodes pending --demo", "adding kinds of nodes 1", ""},
		{"check --demo", "placing pods 1", ""},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		ctx = progress.With(ctx, func(doing string, done, _ int) {
			if fmt.Sprint(doing, " ", done) == test.during {
				cancel()
			}
		})
		var out, errOut bytes.Buffer
		p := newProgram(genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}, time.Now)
		root := p.root()
		root.SetArgs(strings.Fields(test.args))
		code := console.Report(&errOut, execute(ctx, root.ExecuteContext, func() time.Duration { return time.Minute }))
		got := strings.Join(strings.Fields(out.String()), " ")
		if code != 130 || errOut.String() != "error: interrupted\n" || (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s, interrupted during %s: exit code %d, stderr %q, and\n%s", test.args, test.during, code, errOut.String(), out.String())
		}
	}
}
