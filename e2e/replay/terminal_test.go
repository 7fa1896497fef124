package replay

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"
)

// terminal is the plugin in a pseudo terminal, and what is on its screen.
type terminal struct {
	cmd  *exec.Cmd
	pty  *os.File
	done chan struct{}

	mu      sync.Mutex
	screen  vt10x.Terminal
	changed chan struct{} // closed and replaced whenever the screen changes
}

const columns, rows = 200, 50

// plugin builds the plugin.
func plugin(tb testing.TB) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "kubectl-dra")
	build := exec.Command("go", "build", "-o", path, "../../cmd/kubectl-dra")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		tb.Fatalf("building the plugin: %v\n%s", err, out)
	}
	return path
}

// against returns the environment of a plugin that is to ask a server.
func against(tb testing.TB, url string) []string {
	tb.Helper()
	dir := tb.TempDir()
	kubeconfig := filepath.Join(dir, "config")
	config := fmt.Sprintf("apiVersion: v1\nkind: Config\nclusters: [{name: replay, cluster: {server: %q}}]\ncontexts: [{name: replay, context: {cluster: replay}}]\ncurrent-context: replay\n", url)
	if err := os.WriteFile(kubeconfig, []byte(config), 0o600); err != nil {
		tb.Fatal(err)
	}
	return []string{"KUBECONFIG=" + kubeconfig, "TERM=xterm-256color", "HOME=" + dir, "PATH=" + os.Getenv("PATH")}
}

// start runs the plugin against a server until the test ends.
func start(tb testing.TB, url, program string, args ...string) *terminal {
	tb.Helper()
	cmd := exec.CommandContext(context.Background(), program, args...)
	cmd.Env = against(tb, url)
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: rows, Cols: columns})
	if err != nil {
		tb.Fatal(err)
	}
	t := &terminal{cmd: cmd, pty: f, done: make(chan struct{}), screen: vt10x.New(vt10x.WithSize(columns, rows)), changed: make(chan struct{})}
	go t.read()
	tb.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		_ = f.Close()
		<-t.done
	})
	return t
}

func (t *terminal) read() {
	defer close(t.done)
	buf := make([]byte, 1<<16)
	for {
		n, err := t.pty.Read(buf)
		if n > 0 {
			t.mu.Lock()
			_, _ = t.screen.Write(buf[:n])
			close(t.changed)
			t.changed = make(chan struct{})
			t.mu.Unlock()
		}
		if err != nil {
			return
		}
	}
}

// lines returns the text on the screen.
func (t *terminal) lines() ([]string, <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Split(t.screen.String(), "\n"), t.changed
}

// wait waits until the screen satisfies a condition and returns when it did.
func (t *terminal) wait(tb testing.TB, what string, ok func(lines []string) bool) time.Time {
	tb.Helper()
	if !t.within(2*time.Minute, ok) {
		lines, _ := t.lines()
		tb.Fatalf("%s does not appear, or the plugin has ended:\n%s", what, strings.Join(lines, "\n"))
	}
	return time.Now()
}

// within reports whether the screen comes to satisfy a condition, in some time and before the plugin ends.
func (t *terminal) within(limit time.Duration, ok func(lines []string) bool) bool {
	for timeout := time.After(limit); ; {
		lines, changed := t.lines()
		if ok(lines) {
			return true
		}
		select {
		case <-changed:
		case <-t.done:
			return false
		case <-timeout:
			return false
		}
	}
}

func shows(text string) func([]string) bool {
	return func(lines []string) bool { return strings.Contains(strings.Join(lines, "\n"), text) }
}

// selected returns the line with the cursor of the table, or -1.
func selected(lines []string) int {
	for i, line := range lines {
		if strings.HasPrefix(line, "▸") {
			return i
		}
	}
	return -1
}

// pointed returns the first two columns of the line with the cursor of the table. Unlike its place on the
// screen they change only when the cursor is moved, not when rows come and go around it.
func pointed(lines []string) string {
	at := selected(lines)
	if at < 0 {
		return ""
	}
	return strings.Join(strings.Fields(lines[at])[:3], " ")
}

// press sends a key and returns how long it takes until the cursor of the table has moved.
func (t *terminal) press(tb testing.TB, key string) time.Duration {
	tb.Helper()
	lines, _ := t.lines()
	before := pointed(lines)
	begin := time.Now()
	if _, err := t.pty.WriteString(key); err != nil {
		tb.Fatal(err)
	}
	end := t.wait(tb, "the cursor elsewhere", func(lines []string) bool { at := pointed(lines); return at != "" && at != before })
	return end.Sub(begin)
}

// usage is what the plugin has used so far.
type usage struct {
	cpu time.Duration
	// resident memory in bytes: now, and at its highest.
	resident, peak int64
}

func (t *terminal) usage(tb testing.TB) usage {
	tb.Helper()
	dir := fmt.Sprintf("/proc/%d/", t.cmd.Process.Pid)
	stat, err := os.ReadFile(dir + "stat")
	if err != nil {
		tb.Skipf("what the plugin uses cannot be read here: %v", err)
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	var u usage
	var user, system int64
	_, _ = fmt.Sscan(fields[11], &user)
	_, _ = fmt.Sscan(fields[12], &system)
	u.cpu = time.Duration(user+system) * 10 * time.Millisecond // USER_HZ is 100 on Linux
	status, err := os.ReadFile(dir + "status")
	if err != nil {
		tb.Fatal(err)
	}
	for _, line := range strings.Split(string(status), "\n") {
		var kib int64
		if _, err := fmt.Sscanf(line, "VmRSS: %d kB", &kib); err == nil {
			u.resident = kib << 10
		}
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &kib); err == nil {
			u.peak = kib << 10
		}
	}
	return u
}

// settle waits until the plugin has hardly worked for a while.
func (t *terminal) settle(tb testing.TB) {
	tb.Helper()
	const pause, little = 5 * time.Second, 100 * time.Millisecond
	last := t.usage(tb).cpu
	for range 12 {
		time.Sleep(pause)
		now := t.usage(tb).cpu
		if now-last < little {
			return
		}
		last = now
	}
	tb.Fatal("the plugin does not come to rest")
}
