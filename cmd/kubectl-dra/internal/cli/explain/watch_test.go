package explain

import (
	"bytes"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/clitest"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/inquiry"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/schematest"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// watchExplain shows snapshots to explain claim c -n ml --watch.
func watchExplain(t *testing.T, format string, snapshots ...*inspect.Snapshot) (stdout, stderr string, err error) {
	t.Helper()
	var out, errOut bytes.Buffer
	o := &explainOptions{Options: &inquiry.Options{
		Options:   sources.Options{Streams: &console.Streams{IOStreams: genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}}, Format: output.Format{Name: format}},
		Namespace: "ml", Asked: []inquiry.Named{{Kind: inquiry.Claim, Name: "c"}},
	}}
	w := &verdictWatch{explainOptions: o, shown: map[explain.Subject]string{}}
	for _, s := range snapshots {
		if err := w.look(t.Context(), s); err != nil {
			return out.String(), errOut.String(), err
		}
	}
	return out.String(), errOut.String(), nil
}

// TestExplainWatch: a verdict is printed when it is another one, in JSON on a line of its own.
func TestExplainWatch(t *testing.T) {
	pending, elsewhere, allocated := clitest.WatchedClaim("c", ""), clitest.WatchedClaim("other", ""), clitest.WatchedClaim("c", "n1")
	snapshots := []*inspect.Snapshot{
		clitest.Watched(0, inspect.Synced, pending), clitest.Watched(1, inspect.Synced, pending, elsewhere), clitest.Watched(2, inspect.Synced, allocated),
		clitest.Watched(3, inspect.Synced, allocated), clitest.Watched(4, inspect.Synced), clitest.Watched(5, inspect.Synced), clitest.Watched(6, inspect.Synced, pending),
	}
	stdout, stderr, err := watchExplain(t, "json", snapshots...)
	if err != nil {
		t.Fatal(err)
	}
	var verdicts []string
	for line := range strings.Lines(stdout) {
		if n, err := schematest.Validate([]byte(line)); n != 1 || err != nil {
			t.Errorf("%q: %v", line, err)
		}
		_, rest, _ := strings.Cut(line, `"verdict":"`)
		verdict, _, _ := strings.Cut(rest, `"`)
		verdicts = append(verdicts, verdict)
	}
	if got := strings.Join(verdicts, " "); got != "Allocatable Allocated Allocatable" {
		t.Errorf("verdicts are %q", got)
	}
	if stderr != "claim ml/c is gone\n" {
		t.Errorf("stderr is %q", stderr)
	}
	stdout, _, err = watchExplain(t, "", snapshots...)
	if err != nil || strings.Count(stdout, "✓ ml/c") != 3 || strings.Count(stdout, "\n\n✓") != 2 {
		t.Errorf("%v: %s", err, stdout)
	}
	if _, _, err := watchExplain(t, "json", clitest.Watched(0, inspect.Synced)); err == nil || !strings.Contains(err.Error(), "not found") {
		t.Errorf("of what is not there: %v", err)
	}
}
