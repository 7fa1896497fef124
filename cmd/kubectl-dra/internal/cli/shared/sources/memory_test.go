package sources

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/inspect/archive"
	"github.com/kubectl-dra/kubectl-dra/inspect/history"
)

func TestMemoryAllowed(t *testing.T) {
	const mebi = 1 << 20
	for name, test := range map[string]struct{ vouched, packed, unpacked, want int64 }{
		"nothing read":     {want: 360 * mebi},
		"small file":       {packed: 1000, unpacked: 1000, want: 360 * mebi},
		"bomb":             {packed: mebi, unpacked: 100 * mebi, want: 360 * mebi},
		"snapshot":         {packed: 4 * mebi, unpacked: 60 * mebi, want: 4 * 360 * mebi},
		"large file":       {packed: 100 * mebi, unpacked: 100 * mebi, want: (360 + 3200) * mebi},
		"vouched for":      {vouched: 1 << 30, packed: 1000, unpacked: 1000, want: 360*mebi + 32<<30},
		"the most of both": {vouched: maxMaxInput, packed: maxMaxInput, unpacked: maxMaxInput, want: 360*mebi + 32<<50},
	} {
		m := &Memory{maxInput: test.vouched}
		m.meter(test.packed, test.unpacked)
		if got := m.allowed(); got != test.want {
			t.Errorf("%s: %d bytes are allowed, want %d", name, got, test.want)
		}
	}
}

// TestMemoryBound: when too much is taken, a command that does not listen is left alone, and one that has the
// screen is waited for.
func TestMemoryBound(t *testing.T) {
	tooMuch := errors.New("too much")
	for name, onScreen := range map[string]bool{"deaf": false, "on the screen": true} {
		t.Run(name, func(t *testing.T) {
			m := &Memory{}
			m.OnScreen.Store(onScreen)
			restored, hold := false, make(chan struct{})
			defer close(hold)
			err := m.RunBounded(context.Background(), func(ctx context.Context) error {
				m.exceeded <- tooMuch
				if onScreen {
					<-ctx.Done()
					restored = true
					return ctx.Err()
				}
				<-hold
				return nil
			})
			if !errors.Is(err, tooMuch) || onScreen && !restored {
				t.Errorf("got %v; the screen was given back: %t", err, restored)
			}
		})
	}
}

// TestMemoryWatch: what is taken is seen while the command goes on. The program has as little allowed as
// there is: nothing but what one MiB of files may take.
func TestMemoryWatch(t *testing.T) {
	m := &Memory{}
	debug.FreeOSMemory() // what tests before have left would be in use at first, and then no longer
	err := m.RunBounded(context.Background(), func(ctx context.Context) error {
		m.watch()
		taken := make([][]byte, 0, 1000)
		for end := time.Now().Add(time.Minute); ctx.Err() == nil && time.Now().Before(end); {
			if len(taken) < cap(taken) {
				taken = append(taken, make([]byte, 1<<20))
			}
			if len(taken) > int(fileMemory>>20) {
				time.Sleep(time.Millisecond)
			}
		}
		runtime.KeepAlive(taken)
		if err := m.Unwatch(); !errors.Is(err, errOverMemory) {
			t.Errorf("the watch ends with %v", err)
		}
		return nil
	})
	const want = "what was read takes more than 360Mi of memory, which is all that 0 of files may take; --max-input allows more"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// archived is a snapshot of the demo cluster, as kubectl dra snapshot writes it.
func archived(t *testing.T) []byte {
	t.Helper()
	s, err := (&Reader{}).ReadDemo()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := archive.Write(&b, s, archive.Options{}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// logged is a log of the demo cluster, as kubectl dra record writes it.
func logged(t *testing.T) []byte {
	t.Helper()
	s, err := (&Reader{}).ReadDemo()
	if err != nil {
		t.Fatal(err)
	}
	recorder := history.NewRecorder(history.Bounds{}, time.Time{})
	if err := recorder.Take(s); err != nil {
		t.Fatal(err)
	}
	blocks, err := recorder.Flush(s.Time())
	if err != nil {
		t.Fatal(err)
	}
	var out []byte
	for i := range blocks {
		out = append(out, blocks[i].Data...)
	}
	return out
}

// TestMemoryGuardsReading: once files have been read, nothing watches what the answer takes, whatever they
// are.
func TestMemoryGuardsReading(t *testing.T) {
	dir := t.TempDir()
	paths := map[string]string{}
	for source, data := range map[string][]byte{
		"snapshot": archived(t), "log": logged(t), "manifest": []byte("{apiVersion: v1, kind: Node, metadata: {name: n1}}"),
	} {
		paths[source] = filepath.Join(dir, source+".yaml")
		if err := os.WriteFile(paths[source], data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for source, path := range paths {
		t.Run(source, func(t *testing.T) {
			m := &Memory{}
			err := m.RunBounded(t.Context(), func(ctx context.Context) error {
				s := &console.Streams{IOStreams: genericiooptions.NewTestIOStreamsDiscard(), Color: "never"}
				r := NewReader(s, &Connection{}, m, time.Now)
				r.From = []string{path}
				if _, err := r.Read(ctx, "", nil); err != nil {
					return err
				}
				if m.packed.Load() == 0 {
					t.Error("what was read was not counted")
				}
				if m.watching != nil {
					t.Error("the memory is still watched")
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestMemoryUnwatched: what is taken after the watch has ended is nobody's business.
func TestMemoryUnwatched(t *testing.T) {
	m := &Memory{}
	limit := debug.SetMemoryLimit(-1)
	err := m.RunBounded(context.Background(), func(context.Context) error {
		m.watch()
		if err := m.Unwatch(); err != nil {
			t.Errorf("the watch ends with %v", err)
		}
		taken := make([]byte, fileMemory+64<<20)
		time.Sleep(4 * memoryInterval)
		runtime.KeepAlive(taken)
		return nil
	})
	if err != nil {
		t.Errorf("got %v", err)
	}
	if now := debug.SetMemoryLimit(-1); now != limit {
		t.Errorf("the limit of the collector is %d, was %d", now, limit)
	}
}

func TestMaxInput(t *testing.T) {
	for text, want := range map[string]int64{"": 0, "1": 1, "512Mi": 512 << 20, "2G": 2e9, "1Pi": 1 << 50} {
		if got, err := ParseMaxInput(text); err != nil || got != want {
			t.Errorf("%q gives %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"0", "-1", "x", "2Pi", "1e-2000000000", "1e999", " "} {
		if got, err := ParseMaxInput(text); err == nil {
			t.Errorf("%q gives %d", text, got)
		}
	}
}

// FuzzMaxInput: what is taken for a size is one.
func FuzzMaxInput(f *testing.F) {
	for _, seed := range []string{"512Mi", "1e-2000000000", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if bytes, err := ParseMaxInput(text); err == nil && (bytes < 0 || bytes > maxMaxInput || bytes == 0 && text != "") {
			t.Errorf("--max-input %q is %d", text, bytes)
		}
	})
}
