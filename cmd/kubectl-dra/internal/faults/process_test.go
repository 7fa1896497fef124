package faults

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-dra/kubectl-dra/internal/fakeserver"
)

// hung is when a process is killed that should have ended long ago.
const hung = 30 * time.Second

// secret is the token of the kubeconfig, which nothing may print.
const secret = "s3cr3t-t0k3n"

// before is what the file has in it that snapshot is told to overwrite.
const before = "the snapshot of yesterday"

// run is one run of the program.
type run struct {
	exit   int
	killed bool // it hung
	took   time.Duration
	// first is when it first wrote anything; took if it never did.
	first time.Duration
	// ending is how long it took to end after it was told to.
	ending         time.Duration
	cpu            time.Duration
	memory         int64 // the most that was resident, in bytes
	stdout, stderr []byte
	drawn          []byte // what was sent to a terminal
	screen         string // what is to be seen on the terminal at the end of its life
	// restored: the terminal is as it was.
	restored bool
	files    []string // in its directory, besides the kubeconfig
	saved    []byte   // the archive
}

// process is the program, ready to run in a directory of its own.
type process struct {
	*exec.Cmd
	dir string
}

// newProcess prepares a run against a server.
func newProcess(tb testing.TB, url string, args ...string) *process {
	tb.Helper()
	path := *binary
	if path == "" {
		var err error
		if path, err = os.Executable(); err != nil {
			tb.Fatal(err)
		}
	}
	dir := tb.TempDir()
	config := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],
"clusters":[{"name":"c","cluster":{"server":%q}}],"users":[{"name":"u","user":{"token":%q}}]}`, url, secret)
	for name, content := range map[string]string{"kubeconfig": config, archive: before} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	cmd := exec.CommandContext(context.Background(), path, append(args, "--request-timeout="+requestTimeout.String())...) //nolint:gosec // it is this test
	cmd.Dir = dir
	cmd.Env = []string{program + "=1", "KUBECONFIG=" + filepath.Join(dir, "kubeconfig"), "HOME=" + dir, "TMPDIR=" + dir, "TERM=xterm-256color", "PATH=" + os.Getenv("PATH")}
	return &process{cmd, dir}
}

// execute runs a command of the table against a server, on a machine with a load.
func execute(tb testing.TB, c command, url string, l load) *run {
	p := newProcess(tb, url, c.args...)
	if c.screen {
		return p.onTerminal(tb, life+l.slow)
	}
	if c.follows {
		return p.following(tb, life+l.slow)
	}
	return p.inPipes(tb)
}

// load is what else the machine does. The zero value is nothing.
type load struct {
	// slow is what the machine takes for a few beginnings of the program, which do nothing else.
	slow time.Duration
	// waits is for how long a process waits for a processor while it has one for a second, in seconds.
	waits float64
}

// currentLoad measures the load.
func currentLoad(tb testing.TB) load {
	tb.Helper()
	const beginnings = 5
	r := newProcess(tb, "http://127.0.0.1:1", "version", "--client").inPipes(tb)
	return load{beginnings * r.took, max(0, float64(r.took)/float64(max(r.cpu, time.Millisecond))-1)}
}

// inPipes runs it with its output in pipes.
func (p *process) inPipes(tb testing.TB) *run {
	begin := time.Now()
	out, errs := &watched{begin: begin}, &watched{begin: begin}
	p.Stdout, p.Stderr = out, errs
	if err := p.Start(); err != nil {
		tb.Fatal(err)
	}
	r := &run{}
	r.wait(p)
	r.took = time.Since(begin)
	r.stdout, r.stderr = out.data.Bytes(), errs.data.Bytes()
	r.first = min(out.at(r.took), errs.at(r.took))
	r.look(tb, p)
	return r
}

// following runs it as somebody does who sends what it prints to a file and looks at what it says meanwhile,
// and interrupts it after a time.
func (p *process) following(tb testing.TB, life time.Duration) *run {
	out := &watched{begin: time.Now()}
	p.Stdout = out
	t := p.attach(tb, false)
	defer func() { _ = t.Close() }() // nothing more is read
	r := &run{}
	var meanwhile string
	r.until(p, life, func() {
		meanwhile = t.text()
		_ = p.Process.Signal(os.Interrupt) // it may just have ended
	})
	<-t.done
	r.took = time.Since(t.begin)
	r.stdout, r.drawn = out.data.Bytes(), t.data.Bytes()
	r.stderr = []byte(trimmed(meanwhile) + "\n" + trimmed(t.text()) + "\n")
	r.first = min(out.at(r.took), t.at(r.took))
	r.look(tb, p)
	return r
}

// until waits for the end; after its life it is told to end.
func (r *run) until(p *process, life time.Duration, tell func()) {
	var told time.Time
	done := make(chan struct{})
	timer := time.AfterFunc(life, func() {
		defer close(done)
		told = time.Now()
		tell()
	})
	r.wait(p)
	if !timer.Stop() { // else it ended by itself
		<-done
		r.ending = time.Since(told)
	}
}

// wait waits for the end and kills what hangs.
func (r *run) wait(p *process) {
	var killed sync.Once
	timer := time.AfterFunc(hung, func() { killed.Do(func() { r.killed = true; _ = p.Process.Kill() }) }) // it may have ended
	ended, memory := make(chan struct{}), make(chan int64, 1)
	go func() { memory <- peak(p.Process.Pid, ended) }()
	err := p.Wait()
	timer.Stop()
	killed.Do(func() {})
	close(ended)
	r.memory = <-memory
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		r.stderr = append(r.stderr, err.Error()...)
	}
	r.exit = p.ProcessState.ExitCode()
	r.cpu = p.ProcessState.UserTime() + p.ProcessState.SystemTime()
}

// peak looks at a process until it has ended and returns the most memory that it had resident, in bytes. What
// the kernel reports in the end will not do: it counts what this test had when it began the process.
func peak(pid int, ended <-chan struct{}) int64 {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	var kib int64
	for {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if _, after, ok := bytes.Cut(data, []byte("VmHWM:")); err == nil && ok {
			_, _ = fmt.Sscanf(string(after), "%d", &kib) // else it stays as it was
		}
		select {
		case <-ticker.C:
		case <-ended:
			return kib << 10
		}
	}
}

// look looks at the files that a run leaves.
func (r *run) look(tb testing.TB, p *process) {
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		tb.Fatal(err)
	}
	for _, entry := range entries {
		if entry.Name() != "kubeconfig" {
			r.files = append(r.files, entry.Name())
		}
	}
	r.saved, _ = os.ReadFile(filepath.Join(p.dir, archive)) //nolint:gosec // a file of the test; none is seen in files
}

// watched is what a process writes, and when it began to.
type watched struct {
	mu    sync.Mutex
	begin time.Time
	first time.Duration
	data  bytes.Buffer
}

// Write implements io.Writer.
func (w *watched) Write(data []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.data.Len() == 0 {
		w.first = time.Since(w.begin)
	}
	return w.data.Write(data)
}

func (w *watched) at(otherwise time.Duration) time.Duration {
	if w.data.Len() == 0 {
		return otherwise
	}
	return w.first
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.data.String()
}

var _ io.Writer = (*watched)(nil)

// serve serves the demo cluster until it is stopped.
func serve(tb testing.TB) (s *fakeserver.Server, url string, stop func()) {
	tb.Helper()
	s, err := fakeserver.New(objects)
	if err != nil {
		tb.Fatal(err)
	}
	web := httptest.NewUnstartedServer(s)
	web.Config.ErrorLog = silence
	web.Start()
	return s, web.URL, func() {
		web.CloseClientConnections()
		web.Close()
	}
}
