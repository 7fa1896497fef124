package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"sort"
	"time"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
)

// Log is a log that is read. It is not safe for several goroutines at once.
type Log struct {
	in     io.ReaderAt
	name   string // what it is called in errors
	opts   manifest.Options
	blocks []Block // without their data
	starts []int64 // where each block begins, and the last one ends
	first  []int   // the index of the first moment of each block; the last is how many there are
	// Damaged says why the log ends before the file does. It is nil if nothing is missing but what was being
	// written when the recording was broken off.
	Damaged error

	block   int // whose moments are known
	moments []moment
	states  []*state // those that were looked at last
}

// maxBlocks is how many blocks a log may have. A year of them is less.
const maxBlocks = 8 << 20

// ErrNoLog is the error about a file that is no log.
var ErrNoLog = errors.New("it is no log of kubectl dra record")

// Open reads the headers of a log of so many bytes. name is what it is called in errors; opts has the limits
// within which blocks will be unpacked, and no other say. What was not written to its end is left out.
func Open(in io.ReaderAt, size int64, name string, opts manifest.Options) (*Log, error) {
	l := &Log{in: in, name: name, opts: opts, block: -1}
	if err := l.scan(size); err != nil {
		return nil, fmt.Errorf("reading log %s: %w", name, err)
	}
	return l, nil
}

func (l *Log) scan(size int64) error {
	offset, to := int64(0), int64(0)
	for size-offset >= headerSize && len(l.blocks) < maxBlocks {
		h, ok, err := l.headerAt(offset)
		if err != nil {
			return err
		}
		if h == (header{}) {
			break // a disk may have the length of a file before it has what is in it
		}
		if !ok || h.From < to || !h.known() {
			l.Damaged = fmt.Errorf("what follows byte %d is damaged and was left out", offset)
			break
		}
		if h.Length > size-offset-headerSize {
			break
		}
		to = h.To
		l.append(h, offset)
		offset += headerSize + h.Length
	}
	if err := l.dropBroken(); err != nil {
		return err
	}
	if len(l.blocks) == 0 {
		if begun, err := l.begun(size); err != nil {
			return err
		} else if !begun {
			return ErrNoLog
		}
		return fmt.Errorf("%w: nothing was recorded in it yet", io.ErrUnexpectedEOF)
	}
	if !l.blocks[0].Checkpoint() {
		return errors.New("it does not begin with a checkpoint")
	}
	return nil
}

// begun reports whether a file without a whole block is what is left of the first one: the beginning of its
// header, or nothing but zeros, because a disk may have the length of a file before it has what is in it.
func (l *Log) begun(size int64) (bool, error) {
	if l.Damaged != nil {
		return false, nil
	}
	start := make([]byte, min(size, int64(len(magic))))
	if _, err := l.in.ReadAt(start, 0); err != nil && !errors.Is(err, io.EOF) {
		return false, err //nolint:wrapcheck // of the file
	}
	if bytes.HasPrefix(magic[:], start) {
		return true, nil
	}
	data := make([]byte, 1<<16)
	for offset := int64(0); offset < size; {
		n, err := l.in.ReadAt(data[:min(size-offset, int64(len(data)))], offset)
		if n == 0 && err != nil {
			return false, err //nolint:wrapcheck // of the file
		}
		if slices.ContainsFunc(data[:n], func(b byte) bool { return b != 0 }) {
			return false, nil
		}
		offset += int64(n)
	}
	return true, nil
}

func (h *header) known() bool {
	return h.Version == version && (h.Kind == checkpoint && h.Moments == 0 || h.Kind == changes)
}

func (l *Log) headerAt(offset int64) (h header, ok bool, err error) {
	data := make([]byte, headerSize)
	if _, err := l.in.ReadAt(data, offset); err != nil {
		return h, false, err //nolint:wrapcheck // of the file
	}
	if h, ok = decodeHeader(data); !ok && slices.ContainsFunc(data, func(b byte) bool { return b != 0 }) {
		h.Magic = magic // not that of nothing
	}
	if ok && h.Version > version {
		return h, false, fmt.Errorf("it is of version %d, and this program reads %d: use the version of kubectl-dra that recorded it", h.Version, version)
	}
	return h, ok, nil
}

func (l *Log) append(h header, offset int64) {
	if len(l.blocks) == 0 {
		l.first, l.starts = []int{0}, []int64{offset}
	}
	n := int(h.Moments)
	if h.Kind == checkpoint && (len(l.blocks) == 0 || h.Flags&afterGap != 0) {
		n = 1 // what happened before is not known
	}
	l.blocks = append(l.blocks, Block{header: h})
	l.first = append(l.first, l.first[len(l.first)-1]+n)
	l.starts = append(l.starts, offset+headerSize+h.Length)
}

// dropBroken drops the last block if it is not what was written: a disk may have the length of a file before
// it has all of it.
func (l *Log) dropBroken() error {
	n := len(l.blocks)
	if n == 0 {
		return nil
	}
	_, err := l.content(n - 1)
	if errors.Is(err, errSum) {
		l.blocks, l.first, l.starts = l.blocks[:n-1], l.first[:n], l.starts[:n]
		return nil
	}
	return err
}

var errSum = errors.New("a block is damaged")

// content is what is in a block, packed.
func (l *Log) content(b int) ([]byte, error) {
	h := &l.blocks[b].header
	data := make([]byte, h.Length) // the file has so many bytes
	if _, err := l.in.ReadAt(data, l.starts[b]+headerSize); err != nil && !errors.Is(err, io.EOF) {
		return nil, err //nolint:wrapcheck // of the file
	}
	if crc32.ChecksumIEEE(data) != h.Content {
		return nil, fmt.Errorf("%w: that of %s", errSum, at(h.From).Format(time.RFC3339))
	}
	return data, nil
}

// Size is how many bytes of the file are the log: what follows was not written to its end.
func (l *Log) Size() int64 { return l.starts[len(l.starts)-1] }

// Blocks returns the blocks of the log without their data, in order.
func (l *Log) Blocks() []Block { return slices.Clone(l.blocks) }

// Span is the time that the log covers. All that happened in it is recorded, but for [Log.Gaps].
func (l *Log) Span() (from, to time.Time) {
	return at(l.blocks[0].From), at(l.blocks[len(l.blocks)-1].To)
}

// Gap is a time of which nothing is recorded.
type Gap struct{ From, To time.Time }

// Gaps returns the times within the span in which nothing was recorded, in order.
func (l *Log) Gaps() []Gap {
	var out []Gap
	for i := 1; i < len(l.blocks); i++ {
		if b := &l.blocks[i]; b.Kind == checkpoint && b.Flags&afterGap != 0 {
			out = append(out, Gap{at(l.blocks[i-1].To), at(b.From)})
		}
	}
	return out
}

// Moments is how many moments the log has, at least one. They are numbered from 0, in the order of time.
func (l *Log) Moments() int { return l.first[len(l.first)-1] }

// blockOf is the block that has a moment.
func (l *Log) blockOf(moment int) int {
	return sort.Search(len(l.blocks), func(b int) bool { return l.first[b+1] > moment })
}

// Find returns the moment that was the state of the cluster at a time: the last one that is not later. ok is
// false if the log begins later.
func (l *Log) Find(ctx context.Context, t time.Time) (moment int, ok bool, err error) {
	when := t.UnixNano()
	b := sort.Search(len(l.blocks), func(b int) bool { return l.blocks[b].From > when }) - 1
	if b < 0 {
		return 0, false, nil
	}
	n := 0
	if l.blocks[b].Kind == changes {
		moments, err := l.momentsOf(ctx, b)
		if err != nil {
			return 0, false, l.failed(ctx, err)
		}
		n = sort.Search(len(moments), func(i int) bool { return moments[i].at > when })
	} else if l.first[b+1] > l.first[b] {
		n = 1
	}
	return l.first[b] + n - 1, true, nil
}

// Time is when a moment began.
func (l *Log) Time(ctx context.Context, moment int) (time.Time, error) {
	b := l.blockOf(moment)
	if l.blocks[b].Kind == checkpoint {
		return at(l.blocks[b].From), nil
	}
	moments, err := l.momentsOf(ctx, b)
	if err != nil {
		return time.Time{}, l.failed(ctx, err)
	}
	return at(moments[moment-l.first[b]].at), nil
}

// failed is the error of reading a log, or that of ctx.
func (l *Log) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx) //nolint:wrapcheck // of the caller
	}
	return fmt.Errorf("reading log %s: %w", l.name, err)
}

// momentsOf returns the moments of a block of changes.
func (l *Log) momentsOf(ctx context.Context, b int) ([]moment, error) {
	if l.block == b {
		return l.moments, nil
	}
	moments, err := l.unpack(ctx, b)
	if err != nil {
		return nil, err
	}
	l.block, l.moments = b, moments
	return moments, nil
}

// Step goes so many moments further on, or back if by is negative, and counts those that matter: in which
// something changed besides pods and volumes that were there before and after. Before the first and behind
// the last there are no more.
func (l *Log) Step(ctx context.Context, from, by int) (int, error) {
	direction := 1
	if by < 0 {
		direction, by = -1, -by
	}
	at := from
	for next := from + direction; by > 0 && next >= 0 && next < l.Moments(); next += direction {
		if at = next; next == 0 || next == l.Moments()-1 {
			continue
		}
		matters, err := l.matters(ctx, next)
		if err != nil {
			return from, l.failed(ctx, err)
		}
		if matters {
			by--
		}
	}
	return at, nil
}

func (l *Log) matters(ctx context.Context, n int) (bool, error) {
	b := l.blockOf(n)
	if l.blocks[b].Kind == checkpoint {
		return true, nil
	}
	moments, err := l.momentsOf(ctx, b)
	if err != nil {
		return false, err
	}
	m := &moments[n-l.first[b]]
	return m.about != nil || slices.ContainsFunc(m.changes, func(c change) bool {
		switch c.resource {
		case inspect.Pods, inspect.VolumeClaims, inspect.Volumes, inspect.VolumeAttachments, inspect.StorageCapacities:
			return c.op != patched
		}
		return true
	}), nil
}
