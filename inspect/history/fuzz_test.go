package history_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/history"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
)

// FuzzOpen: whatever is in a file, a log is read without a panic, and what is read of it can be recorded
// again.
func FuzzOpen(f *testing.F) {
	few := func(o *inspect.Objects) { // a small log is fuzzed sooner
		*o = inspect.Objects{Claims: o.Claims[:3], Pods: o.Pods[:2], Slices: o.Slices[:1], Nodes: o.Nodes[:2]}
	}
	rec := recordFrom(f, first(f).With(few), 1, 12, 4, 7, history.Bounds{})
	f.Add(rec.data)
	f.Add(rec.data[:len(rec.data)/2])
	f.Add([]byte("KDRL"))
	for _, b := range rec.blocks[1:] {
		f.Add(append(bytes.Clone(rec.blocks[0].Data), b.Data...))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := history.Open(bytes.NewReader(history.Resealed(data)), int64(len(data)), "log", manifest.Options{MaxBytes: 1 << 20})
		if err != nil {
			return
		}
		if from, to := l.Span(); to.Before(from) {
			t.Errorf("it covers %s to %s", from, to)
		}
		for i := range min(l.Moments(), 50) {
			s, err := l.Snapshot(ctx, i)
			if err != nil {
				continue
			}
			if err := history.NewRecorder(history.Bounds{}, time.Time{}).Take(s); err != nil {
				t.Errorf("moment %d cannot be recorded again: %v", i, err)
			}
		}
	})
}
