package cli

import (
	"bytes"
	"context"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/history"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/internal/fakeserver"
)

// said is what a command says, while it runs.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// TestRecordCluster: what happens in a cluster while it is recorded is in the log when recording is interrupted, and nothing is
// that a snapshot would not have.
func TestRecordCluster(t *testing.T) {
	var steps string
	for _, pause := range []time.Duration{2 * time.Second, 10 * time.Second, 30 * time.Second} { // the first is longer than a change waits to be seen
		// On a machine that is busy with other things, two changes may be seen as one, or the last may not be seen yet.
		if steps = recordedSteps(t, pause); steps == " one two" || steps == " two" {
			return
		}
		t.Logf("with %v after each change the log has the steps %q", pause, steps)
	}
	t.Errorf("the log has the steps %q", steps)
}

// recordedSteps changes a label of a claim twice while a cluster is recorded, each time with a pause, and returns what the log has of it.
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
	errOut, ended := &said{}, make(chan error, 1)
	p := newProgram(genericiooptions.IOStreams{In: strings.NewReader(""), Out: &said{}, ErrOut: errOut}, time.Now)
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

// TestOneWriter: who finds that somebody else has written to the log writes no more.
func TestOneWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cluster.log")
	life, err := demo.NewLife(1, inspect.DefaultFeatures(inspect.NewestMinor))
	if err != nil {
		t.Fatal(err)
	}
	write := func(l *logFile) error {
		r := history.NewRecorder(history.Bounds{}, l.end)
		if err := r.Take(life.Step()); err != nil {
			t.Fatal(err)
		}
		blocks, err := r.Flush(life.Snapshot().Time())
		if err != nil {
			t.Fatal(err)
		}
		return l.add(blocks, func([]history.Block) int { return 0 })
	}
	mine, err := openLogFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := write(mine); err != nil {
		t.Fatal(err)
	}
	other, err := openLogFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := write(other); err != nil {
		t.Fatal(err)
	}
	if err := write(mine); !errors.Is(err, errOtherWriter) {
		t.Errorf("two write to one log: %v", err)
	}
	if err := errors.Join(mine.close(), other.close()); err != nil {
		t.Fatal(err)
	}
	again, err := openLogFile(path)
	if err != nil || len(again.blocks) != 2 {
		t.Fatalf("the log has not what was written first: %v", err)
	}
	if err := again.close(); err != nil {
		t.Fatal(err)
	}
}

// TestRecordKeepsOtherFiles: only what is left of a log is written over. The first block of a log begins with KDRL.
func TestRecordKeepsOtherFiles(t *testing.T) {
	const refused = "it exists and is no log of kubectl dra record: name another file"
	for name, test := range map[string]struct{ content, want string }{
		"a line":                {"precious text\n", refused},
		"a byte":                {"x", refused},
		"a byte like a log's":   {"K", ""},
		"the start of a log":    {"KDRL\x00\x01", ""},
		"empty":                 {"", ""},
		"zeros":                 {strings.Repeat("\x00", 100), ""},
		"something after zeros": {strings.Repeat("\x00", 1<<17) + "precious", refused},
		"a few zeros and text":  {"\x00\x00x", refused},
	} {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte(test.content), 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := openLogFile(path)
		if test.want == "" && err != nil || test.want != "" && (err == nil || err.Error() != test.want) {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
		if err == nil {
			_ = l.close()
			continue
		}
		if now, err := os.ReadFile(path); err != nil || string(now) != test.content {
			t.Errorf("%s: the file has %q, %v", name, now, err)
		}
	}
}

// TestRecordDanglingLink: no file is made where a symbolic link leads.
func TestRecordDanglingLink(t *testing.T) {
	folder := t.TempDir()
	link, target := filepath.Join(folder, "link"), filepath.Join(folder, "target")
	if err := os.Symlink(target, link); err != nil {
		t.Skip(err)
	}
	if _, err := openLogFile(link); err == nil || !strings.Contains(err.Error(), "is a symbolic link that leads to nothing") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Lstat(target); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the target was made: %v", err)
	}
}
