package sources

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/inspect/quantity"
)

// What the files of --from and -f may make the program take of memory, beyond what it has anyway. The
// decoders need many times the size of what they read: up to two hundred times for lists of empty containers.
// No rule about the text tells those from an honest file, so the memory itself is watched.
const (
	// fileMemory is what may be taken for each MiB of the files as they are on disk, one at least, in bytes.
	fileMemory int64 = 360 << 20
	// memoryMultiple is what may be taken for each byte that the files unpack to, beyond fileMemory, however
	// large they are. A large list in flow-style YAML needs most of it.
	memoryMultiple = 32
	// memoryInterval is how often it is looked at how much is taken.
	memoryInterval = 5 * time.Millisecond
	// screenGrace is how long the terminal UI may take to give the terminal back.
	screenGrace = 200 * time.Millisecond
)

// Memory keeps what reading files makes the program take within bounds. It is watched only while they are
// read: what the answer to a question takes is not for files to answer for.
type Memory struct {
	maxInput         int64 // --max-input, in bytes; 0 if it is not given
	packed, unpacked atomic.Int64
	OnScreen         atomic.Bool // the terminal must be given back

	mutex       sync.Mutex
	running     bool   // runBounded runs
	watching    *watch // nil while nothing is watched
	exceeded    chan error
	wasExceeded atomic.Bool // there was something in exceeded
}

// watch is a goroutine that watches.
type watch struct {
	end   chan struct{} // closed to end it
	ended chan struct{} // closed when it has ended
}

var errOverMemory = errors.New("what was read takes too much memory")

// meter counts what was read; it has the form of manifest.Options.Meter.
func (m *Memory) meter(packed, unpacked int64) {
	m.packed.Add(packed)
	m.unpacked.Add(unpacked)
}

// allowed is how much the files may take that were read so far, in bytes.
func (m *Memory) allowed() int64 {
	if m.maxInput > 0 {
		return fileMemory + memoryMultiple*m.maxInput
	}
	bySize := max(m.packed.Load(), 1<<20) * (fileMemory >> 20)
	return min(bySize, fileMemory+memoryMultiple*m.unpacked.Load())
}

// RunBounded runs a command and gives up on it as soon as the files that it reads take too much: whatever is
// then under way, such as a parser, does not listen to a context.
func (m *Memory) RunBounded(ctx context.Context, run func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m.mutex.Lock()
	m.running, m.exceeded = true, make(chan error, 1)
	m.mutex.Unlock()
	defer m.stop()
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	select {
	case err := <-done:
		return err
	case err := <-m.exceeded:
		cancel()
		if m.OnScreen.Load() {
			select {
			case <-done: //nolint:errcheck // it was cancelled; why is what counts
			case <-time.After(screenGrace):
			}
		}
		return err
	}
}

// watch begins to watch the memory, unless it is watched already or nobody would be told. The function that
// it returns ends the watch.
func (m *Memory) watch() (end func()) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.running && m.watching == nil {
		w := &watch{end: make(chan struct{}), ended: make(chan struct{})}
		m.watching = w
		atFirst := memoryInUse()
		go func() {
			defer close(w.ended)
			m.observe(w.end, m.exceeded, atFirst)
		}()
	}
	return func() { _ = m.Unwatch() } // if it was too much, bound knows
}

// Unwatch ends the watch, after which the program is not ended any more for what it takes. The error says
// that it is being ended already.
func (m *Memory) Unwatch() error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.watching != nil {
		close(m.watching.end)
		<-m.watching.ended
		m.watching = nil
	}
	if m.wasExceeded.Load() {
		return errOverMemory
	}
	return nil
}

func (m *Memory) stop() {
	_ = m.Unwatch() // nobody asks any more
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.running = false
}

// observe looks at the memory until ended is closed, and tells exceeded when there is more than was in use at
// first and is allowed. It makes the garbage collector work harder before it comes to that.
func (m *Memory) observe(ended <-chan struct{}, exceeded chan<- error, atFirst int64) {
	if os.Getenv("GOMEMLIMIT") == "" {
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	}
	ticker := time.NewTicker(memoryInterval)
	defer ticker.Stop()
	var limit int64
	for {
		allowed := m.allowed()
		if allowed > limit && os.Getenv("GOMEMLIMIT") == "" {
			limit = allowed
			debug.SetMemoryLimit(atFirst + min(allowed, math.MaxInt64/8)/8*7)
		}
		if memoryInUse() > atFirst+allowed {
			m.wasExceeded.Store(true)
			exceeded <- fmt.Errorf("what was read takes more than %s of memory, which is all that %s of files may take; --max-input allows more",
				BytesText(allowed), BytesText(m.packed.Load()))
			return
		}
		select {
		case <-ended:
			return
		case <-ticker.C:
		}
	}
}

// memoryInUse is what the Go runtime has taken of the system and not given back, in bytes.
func memoryInUse() int64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return int64(samples[0].Value.Uint64() - samples[1].Value.Uint64()) //nolint:gosec // no machine has 2^63 bytes
}

// BytesText writes a number of bytes as --max-input takes it, rounded to three digits or so.
func BytesText(n int64) string {
	for unit := int64(1 << 40); unit > 1; unit >>= 10 {
		if n >= 10*unit {
			n = n / unit * unit
			break
		}
	}
	return resource.NewQuantity(n, resource.BinarySI).String()
}

// ParseMaxInput returns the bytes of --max-input, 0 when it is not given.
func ParseMaxInput(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	size, err := quantity.Parse(text)
	if err != nil {
		return 0, console.Usagef("--max-input is %q: %w", text, err)
	}
	if bytes := size.Value(); bytes >= 1 && bytes <= maxMaxInput {
		return bytes, nil
	}
	return 0, console.Usagef("--max-input is %q; it can be from 1 to %s", text, BytesText(maxMaxInput))
}

// maxMaxInput is more than any machine has, in bytes, and small enough to reckon with.
const maxMaxInput int64 = 1 << 50
