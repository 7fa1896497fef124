package cli

import (
	"bytes"
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/clitest"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/history"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/internal/fakeserver"
)

// TestRecordCluster: what happens in a cluster while it is recorded is in the log when recording is
// interrupted, and nothing is that a snapshot would not have.
func TestRecordCluster(t *testing.T) {
	var steps string
	for _, pause := range []time.Duration{2 * time.Second, 10 * time.Second, 30 * time.Second} { // the first is longer than a change waits to be seen
		// On a machine that is busy with other things, two changes may be seen as one, or the last may not be
		// seen yet.
		if steps = recordedSteps(t, pause); steps == " one two" || steps == " two" {
			return
		}
		t.Logf("with %v after each change the log has the steps %q", pause, steps)
	}
	t.Errorf("the log has the steps %q", steps)
}

// recordedSteps changes a label of a claim twice while a cluster is recorded, each time with a pause, and
// returns what the log has of it.
func recordedSteps(t *testing.T, pause time.Duration) string {
	t.Helper()
	objects, err := demo.Objects()
	if err != nil {
		t.Fatal(err)
	}
	const secret = "hunter2-in-an-annotation" //nolint:gosec // of nobody
	for _, c := range objects.Claims {
		c.Annotations = map[string]string{"password": secret}
	}
	cluster, err := fakeserver.New(objects)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(cluster)
	defer server.Close()
	path := filepath.Join(t.TempDir(), "cluster.log")
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	errOut, ended := &clitest.Buffer{}, make(chan error, 1)
	p := newProgram(genericiooptions.IOStreams{In: strings.NewReader(""), Out: &clitest.Buffer{}, ErrOut: errOut}, time.Now)
	root := p.root()
	root.SetArgs([]string{"record", "-o", path, "--server", server.URL})
	go func() { ended <- root.ExecuteContext(ctx) }()
	for !strings.Contains(errOut.String(), "recording to") {
		select {
		case err := <-ended:
			t.Fatalf("it ended: %v, %s", err, errOut)
		case <-time.After(10 * time.Millisecond):
		}
	}
	for _, label := range []string{"one", "two"} {
		cluster.ChangeClaim("ml", "train-0", func(c *resourcev1.ResourceClaim) { c.Labels = map[string]string{"step": label} })
		time.Sleep(pause)
	}
	interrupt()
	if err := <-ended; err == nil {
		t.Error("an interrupted command says nothing of it")
	}
	data, err := os.ReadFile(path) //nolint:gosec // of this test
	if err != nil {
		t.Fatal(err)
	}
	log, err := history.Open(bytes.NewReader(data), int64(len(data)), "log", manifest.Options{})
	if err != nil {
		t.Fatalf("%v, after %s", err, errOut)
	}
	var steps []string
	for i := range log.Moments() {
		s, err := log.Snapshot(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		claim, ok := s.Claim(inspect.ClaimRef{Namespace: "ml", Name: "train-0"})
		if !ok || len(s.Objects().Claims) != len(objects.Claims) {
			t.Fatalf("moment %d has %d claims", i, len(s.Objects().Claims))
		}
		if claim.Annotations["password"] != "" {
			t.Errorf("the log has %v", claim.Annotations)
		}
		if n := len(steps); n == 0 || steps[n-1] != claim.Labels["step"] {
			steps = append(steps, claim.Labels["step"])
		}
	}
	return strings.Join(steps, " ")
}
