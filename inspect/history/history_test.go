package history_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/archive"
	"github.com/kubectl-dra/kubectl-dra/inspect/history"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
)

var ctx = context.Background()

// first is the demo cluster as it is recorded first.
func first(t testing.TB) *inspect.Snapshot {
	t.Helper()
	objects, err := demo.Objects()
	if err != nil {
		t.Fatal(err)
	}
	return inspect.New(objects, inspect.Config{Revision: 1, Time: demo.Now(), Features: inspect.DefaultFeatures(inspect.NewestMinor), Health: demo.Health()})
}

// change makes a random change, and says whether a log has it.
func change(r *rand.Rand, o *inspect.Objects, n int) (recorded bool) {
	switch r.IntN(7) {
	case 0:
		i := r.IntN(len(o.Pods))
		o.Pods = slices.Clone(o.Pods)
		pod := o.Pods[i].DeepCopy()
		pod.Status.Message, pod.ResourceVersion = fmt.Sprintf("message %d \x1b[31m", n), fmt.Sprint(n)
		o.Pods[i] = pod
	case 1:
		i := r.IntN(len(o.Claims))
		o.Claims = slices.Delete(slices.Clone(o.Claims), i, i+1)
	case 2:
		claim := o.Claims[r.IntN(len(o.Claims))].DeepCopy()
		claim.Name, claim.UID = fmt.Sprintf("made-%d", n), ""
		o.Claims = append(slices.Clone(o.Claims), claim)
	case 3:
		i := r.IntN(len(o.Claims))
		o.Claims = slices.Clone(o.Claims)
		claim := o.Claims[i].DeepCopy()
		claim.Labels = map[string]string{"n": fmt.Sprint(n), "a": strings.Repeat("x", r.IntN(40))}
		o.Claims[i] = claim
	case 4:
		i := r.IntN(len(o.Slices))
		o.Slices = slices.Clone(o.Slices)
		slice := o.Slices[i].DeepCopy()
		if len(slice.Spec.Devices) == 0 {
			return false
		}
		device := &slice.Spec.Devices[r.IntN(len(slice.Spec.Devices))]
		device.Taints = []resourcev1.DeviceTaint{{Key: fmt.Sprintf("k%d", n), Effect: resourcev1.DeviceTaintEffectNoSchedule}}
		o.Slices[i] = slice
	case 5: // a heartbeat
		i := r.IntN(len(o.Nodes))
		o.Nodes = slices.Clone(o.Nodes)
		node := o.Nodes[i].DeepCopy()
		node.ResourceVersion = fmt.Sprint(n)
		for c := range node.Status.Conditions {
			node.Status.Conditions[c].LastHeartbeatTime = metav1.NewTime(demo.Now().Add(time.Duration(n) * time.Second))
		}
		o.Nodes[i] = node
		return false
	case 6:
		i := r.IntN(len(o.Nodes))
		o.Nodes = slices.Clone(o.Nodes)
		node := o.Nodes[i].DeepCopy()
		node.Spec.Unschedulable = !node.Spec.Unschedulable
		o.Nodes[i] = node
	}
	return true
}

// text is all that is kept of a snapshot but versions and heartbeats, and the time.
func text(t testing.TB, s *inspect.Snapshot) string {
	t.Helper()
	config := inspect.Config{Time: demo.Now(), Features: s.Features(), Health: map[inspect.Resource]inspect.Health{}, ServerVersion: s.ServerVersion()}
	for _, r := range inspect.Resources() {
		config.Health[r] = s.Health(r)
	}
	objects := *s.Objects()
	for _, k := range inspect.Kinds() {
		var plain []metav1.Object
		for _, o := range k.Objects(&objects) {
			o = archive.Reduced(k, o)
			o.SetResourceVersion("")
			if node, ok := o.(*corev1.Node); ok {
				for c := range node.Status.Conditions {
					node.Status.Conditions[c].LastHeartbeatTime = metav1.Time{}
				}
			}
			plain = append(plain, o)
		}
		inspect.SetObjects(&objects, k, plain)
	}
	var b bytes.Buffer
	if _, err := archive.Write(&b, inspect.New(objects, config), archive.Options{}); err != nil {
		t.Fatal(err)
	}
	data, err := manifest.Unpack(ctx, &b, "text", manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// recording is a log with the snapshots that it was made of.
type recording struct {
	data      []byte
	blocks    []history.Block
	snapshots []*inspect.Snapshot // those that are moments
}

// record records random changes. every is after how many there is a block, and restart after how many the
// recording is broken off.
func record(t testing.TB, seed uint64, steps, every, restart int, bounds history.Bounds) recording {
	t.Helper()
	return recordFrom(t, first(t), seed, steps, every, restart, bounds)
}

func recordFrom(t testing.TB, s *inspect.Snapshot, seed uint64, steps, every, restart int, bounds history.Bounds) recording {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // repeatable
	var out recording
	recorder := history.NewRecorder(bounds, time.Time{})
	flush := func(s *inspect.Snapshot) {
		blocks, err := recorder.Flush(s.Time())
		if err != nil {
			t.Fatal(err)
		}
		out.blocks = append(out.blocks, blocks...)
	}
	news := true
	for n := range steps {
		if restart > 0 && n%restart == restart-1 {
			flush(s)
			recorder, news = history.NewRecorder(bounds, s.Time()), true
		}
		if err := recorder.Take(s); err != nil {
			t.Fatal(err)
		}
		if news {
			out.snapshots = append(out.snapshots, s)
		}
		if n%every == 0 {
			flush(s)
		}
		objects := *s.Objects()
		news = change(r, &objects, n)
		f := s.Features()
		if r.IntN(20) == 0 {
			f.Source, news = fmt.Sprintf("step %d", n), true
		}
		config := inspect.Config{Revision: int64(n), Time: s.Time().Add(time.Second), Features: f, Health: demo.Health()}
		s = s.Next(objects, config)
	}
	flush(out.snapshots[len(out.snapshots)-1])
	out.blocks = out.blocks[recorder.Surplus(out.blocks, s.Time()):]
	for _, b := range out.blocks {
		out.data = append(out.data, b.Data...)
	}
	return out
}

func open(t testing.TB, data []byte) *history.Log {
	t.Helper()
	l, err := history.Open(bytes.NewReader(data), int64(len(data)), "log", manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestMoments: every moment of a log is what was recorded, in whatever order they are asked for.
func TestMoments(t *testing.T) {
	for seed := range uint64(4) {
		rec := record(t, seed, 150, 7+int(seed), 55*int(seed%2), history.Bounds{})
		l := open(t, rec.data)
		if l.Moments() != len(rec.snapshots) {
			t.Fatalf("seed %d: %d moments, want %d", seed, l.Moments(), len(rec.snapshots))
		}
		if gaps := len(l.Gaps()); gaps != 2*int(seed%2) {
			t.Errorf("seed %d: %d gaps", seed, gaps)
		}
		order := rand.New(rand.NewPCG(seed, 2)).Perm(len(rec.snapshots)) //nolint:gosec // repeatable
		for _, i := range order[:effort.Of(25, 7)] {
			want := rec.snapshots[i]
			got, err := l.Snapshot(ctx, i)
			if err != nil {
				t.Fatalf("seed %d, moment %d: %v", seed, i, err)
			}
			if !got.Time().Equal(want.Time()) {
				t.Errorf("seed %d, moment %d: it is of %s, want %s", seed, i, got.Time(), want.Time())
			}
			if a, b := text(t, got), text(t, want); a != b {
				t.Fatalf("seed %d, moment %d: got\n%s\nwant\n%s", seed, i, a, b)
			}
			if found, ok, err := l.Find(ctx, want.Time()); err != nil || !ok || found != i {
				t.Errorf("seed %d: the moment of %s is %d (%v, %v), want %d", seed, want.Time(), found, ok, err, i)
			}
			if when, err := l.Time(ctx, i); err != nil || !when.Equal(want.Time()) {
				t.Errorf("seed %d: moment %d is at %s, %v", seed, i, when, err)
			}
		}
		if _, ok, _ := l.Find(ctx, demo.Now().Add(-time.Second)); ok {
			t.Error("there is a moment before the first")
		}
	}
}

// TestTorn: wherever a log is cut off, what was written before is there, and nothing else.
func TestTorn(t *testing.T) {
	rec := record(t, 3, 40, 5, 0, history.Bounds{})
	ends := map[int]bool{}
	n := 0
	for _, b := range rec.blocks {
		n += len(b.Data)
		ends[n] = true
	}
	whole := len(rec.blocks[0].Data)
	last := 0
	for cut := whole; cut <= len(rec.data); cut += 1 + cut%3 {
		l, err := history.Open(bytes.NewReader(rec.data[:cut]), int64(cut), "log", manifest.Options{})
		if err != nil || l.Damaged != nil {
			t.Fatalf("cut at %d: %v, %v", cut, err, l.Damaged)
		}
		if l.Size() > int64(cut) || !ends[int(l.Size())] || l.Size() < int64(last) {
			t.Fatalf("cut at %d: the log has %d bytes", cut, l.Size())
		}
		last = int(l.Size())
		zeros := append(slices.Clone(rec.data[:cut]), make([]byte, 500)...)
		filled, err := history.Open(bytes.NewReader(zeros), int64(len(zeros)), "log", manifest.Options{})
		if err != nil || filled.Size() < l.Size() || !ends[int(filled.Size())] { // the last bytes of a block may be zeros
			t.Fatalf("cut at %d and filled with zeros: %v, %d bytes, want %d", cut, err, filled.Size(), l.Size())
		}
	}
	if _, err := history.Open(bytes.NewReader(rec.data[:whole-1]), int64(whole-1), "log", manifest.Options{}); err == nil || errors.Is(err, history.ErrNoLog) {
		t.Errorf("a log whose first block was not written: %v", err)
	}
	if _, err := history.Open(strings.NewReader(strings.Repeat("text", 100)), 400, "log", manifest.Options{}); !errors.Is(err, history.ErrNoLog) {
		t.Errorf("a text file: %v", err)
	}
}

// TestDamaged: a byte that has changed is never taken for what was recorded.
func TestDamaged(t *testing.T) {
	rec := record(t, 3, 40, 5, 0, history.Bounds{})
	want := map[int]string{}
	for i, s := range rec.snapshots {
		want[i] = text(t, s)
	}
	for at := len(rec.blocks[0].Data); at < len(rec.data); at += 311 {
		data := slices.Clone(rec.data)
		data[at] ^= 0x10
		l, err := history.Open(bytes.NewReader(data), int64(len(data)), "log", manifest.Options{})
		if err != nil {
			continue
		}
		for i := 0; i < l.Moments(); i += 1 + at%7 {
			if s, err := l.Snapshot(ctx, i); err == nil && text(t, s) != want[i] {
				t.Fatalf("with byte %d changed, moment %d is not what was recorded", at, i)
			}
		}
	}
}

// TestBounds: a log stays within its bounds, begins with a checkpoint, and has its end.
func TestBounds(t *testing.T) {
	plain := record(t, 5, 1500, 10, 0, history.Bounds{})
	base := int64(len(plain.blocks[0].Data))
	bounds := history.Bounds{Size: 4 * base}
	if int64(len(plain.data)) < bounds.Size {
		t.Fatalf("%d bytes are not enough to exceed %d", len(plain.data), bounds.Size)
	}
	rec := record(t, 5, 1500, 10, 0, bounds)
	if int64(len(rec.data)) > bounds.Size || int64(len(rec.data)) < bounds.Size/3 {
		t.Errorf("it has %d bytes, and may have %d", len(rec.data), bounds.Size)
	}
	l := open(t, rec.data)
	s, err := l.Snapshot(ctx, l.Moments()-1)
	if err != nil || text(t, s) != text(t, rec.snapshots[len(rec.snapshots)-1]) {
		t.Errorf("its end is not the end: %v", err)
	}
	rec = record(t, 5, 1500, 10, 0, history.Bounds{Age: 10 * time.Minute})
	from, to := open(t, rec.data).Span()
	if kept := to.Sub(from); kept < 9*time.Minute || kept > 13*time.Minute {
		t.Errorf("it keeps %s, and was to keep 10 minutes", kept)
	}
	if err := history.NewRecorder(history.Bounds{Size: base}, time.Time{}).Take(first(t)); err == nil {
		t.Error("a cluster is recorded that does not fit")
	}
}

// TestIdle: that nothing happens is recorded too.
func TestIdle(t *testing.T) {
	r := history.NewRecorder(history.Bounds{}, time.Time{})
	s := first(t)
	if err := r.Take(s); err != nil {
		t.Fatal(err)
	}
	var data []byte
	var last history.Block
	for i, later := range []time.Duration{0, 30 * time.Second, time.Minute, time.Minute, 3 * time.Minute} {
		blocks, err := r.Flush(s.Time().Add(later))
		if err != nil {
			t.Fatal(err)
		}
		if wanted := i != 3; (len(blocks) == 1) != wanted {
			t.Errorf("after %s there are %d blocks", later, len(blocks))
		}
		for _, b := range blocks {
			longer, ok := b.Prolonging(&last)
			if ok != (i >= 2) {
				t.Errorf("after %s: %t, in one block with the one before", later, ok)
			}
			if ok {
				b, data = longer, data[:int64(len(data))-last.Bytes()]
			}
			data, last = append(data, b.Data...), b
		}
	}
	l := open(t, data)
	if _, to := l.Span(); !to.Equal(s.Time().Add(3*time.Minute)) || l.Moments() != 1 {
		t.Errorf("it ends at %s, with %d moments", to, l.Moments())
	}
}

// TestBlown: a change of a few bytes cannot make an object that no memory has room for.
func TestBlown(t *testing.T) {
	s := first(t)
	r := history.NewRecorder(history.Bounds{}, time.Time{})
	if err := r.Take(s); err != nil {
		t.Fatal(err)
	}
	blocks, err := r.Flush(s.Time())
	if err != nil {
		t.Fatal(err)
	}
	blown, err := history.Blown(s, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	l := open(t, append(blocks[0].Data, blown.Data...))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = l.Snapshot(ctx, 1)
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "an object of more than") {
		t.Errorf("it is taken: %v", err)
	}
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 200<<20 {
		t.Errorf("%d bytes were taken", taken)
	}
}
