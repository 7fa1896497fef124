package history

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/archive"
)

// Bounds are how much a log may keep. A bound that is 0 is none.
type Bounds struct {
	// Size is how many bytes the log has at most.
	Size int64
	// Age is how far back it goes at least, once it has been recorded for so long: what is older goes, as a
	// whole stretch between checkpoints.
	Age time.Duration
}

const (
	// checkpointRatio is how many times as long as a checkpoint the changes after it may become before there
	// is another one: whoever wants a moment reads up to both.
	checkpointRatio = 4
	// smallestStretch is how long they may become at least, in bytes.
	smallestStretch = 1 << 20
	// leastCheckpoints is how many checkpoints a log of a bounded size has room for at least. Below that it
	// would keep next to nothing.
	leastCheckpoints = 3
	// stretches is in how many parts the age of a log is divided by checkpoints, so that it can be dropped
	// part by part.
	stretches = 6
	// packs is about how many times as long moments are before they are packed.
	packs = 4
	// largestBlock is how much is in a block of changes, before it is packed, until there is another one.
	largestBlock = 1 << 20
)

// Recorder makes the blocks of a log of snapshots.
type Recorder struct {
	bounds Bounds

	last  *inspect.Snapshot
	about []byte // what is known of the cluster besides its objects, as JSON
	// behind are the objects that changed in nothing that a log has, as it has them.
	behind map[key][]byte
	// base is the length of the last checkpoint, since that of the changes after it, in bytes, and began when
	// it was.
	base, since, began int64

	open    header // of the block that is being filled
	moments []byte
	to      int64 // until when all is recorded
	done    []Block
}

// NewRecorder returns a Recorder of a log that ends there, or is empty if that is the zero time. Since then
// nothing was recorded.
func NewRecorder(bounds Bounds, end time.Time) *Recorder {
	r := &Recorder{bounds: bounds}
	if !end.IsZero() {
		r.to = end.UnixNano()
	}
	return r
}

// Take records a snapshot, which is later than those before it. Errors are of objects that cannot be encoded,
// and of bounds in which the cluster does not fit.
func (r *Recorder) Take(s *inspect.Snapshot) error {
	now := max(s.Time().UnixNano(), r.to)
	if r.last == nil {
		if err := r.checkpoint(s, now); err != nil {
			return err
		}
		r.done[len(r.done)-1].mark(afterGap)
		return nil
	}
	m := moment{at: now}
	about, err := r.aboutOf(s)
	if err != nil {
		return err
	}
	if !bytes.Equal(about, r.about) {
		h := archive.HeaderOf(s)
		m.about, r.about = &h, about
	}
	if m.changes, err = r.changesTo(s); err != nil {
		return err
	}
	r.last = s
	if m.about != nil || len(m.changes) > 0 {
		err = r.add(&m)
	}
	if err == nil && r.due(now) {
		err = r.checkpoint(s, now)
	}
	return err
}

// mark sets a flag of a block.
func (b *Block) mark(flag uint8) {
	b.Flags |= flag
	b.Data = b.encode(b.Data[headerSize:])
}

// aboutOf is what is known of a cluster besides its objects, without the time.
func (r *Recorder) aboutOf(s *inspect.Snapshot) ([]byte, error) {
	h := archive.HeaderOf(s)
	h.Time = time.Time{}
	data, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("encoding what is known of the cluster: %w", err)
	}
	return data, nil
}

// add puts a moment into the block that is being filled.
func (r *Recorder) add(m *moment) error {
	if r.open.Moments == 0 {
		r.open = header{Kind: changes, From: max(r.to, 0)}
		r.to = r.open.From
	}
	var err error
	if r.moments, err = m.append(r.moments, r.to); err != nil {
		return err
	}
	r.to = m.at
	r.open.Moments++
	r.open.Changes += uint32(len(m.changes)) //nolint:gosec // a cluster does not have so many objects
	if len(r.moments) >= largestBlock {
		return r.close(m.at)
	}
	return nil
}

// close ends the block that is being filled. Nothing happened after its last moment until then.
func (r *Recorder) close(to int64) error {
	content, err := packed(r.moments)
	if err != nil {
		return err
	}
	r.open.To = to
	r.append(r.open, content)
	r.since += headerSize + int64(len(content))
	r.to, r.moments, r.open = to, r.moments[:0], header{}
	return nil
}

func (r *Recorder) append(h header, content []byte) {
	h.Length = int64(len(content))
	r.done = append(r.done, Block{h, h.encode(content)})
}

func packed(data []byte) ([]byte, error) {
	var b bytes.Buffer
	zw, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("packing: %w", err)
	}
	_, err = zw.Write(data)
	if err = errors.Join(err, zw.Close()); err != nil {
		return nil, fmt.Errorf("packing: %w", err)
	}
	return b.Bytes(), nil
}

// due reports whether there has to be a checkpoint.
func (r *Recorder) due(now int64) bool {
	stretch := max(checkpointRatio*r.base, smallestStretch)
	if r.bounds.Size > 0 {
		stretch = min(stretch, r.bounds.Size/2-r.base)
	}
	old := r.bounds.Age > 0 && now-r.began >= int64(r.bounds.Age)/stretches
	return old || r.since+int64(len(r.moments))/packs >= stretch
}

// checkpoint writes down the whole cluster.
func (r *Recorder) checkpoint(s *inspect.Snapshot, now int64) error {
	if r.open.Moments > 0 {
		if err := r.close(now); err != nil {
			return err
		}
	}
	var content bytes.Buffer
	if _, err := archive.Write(&content, s, archive.Options{Packed: true}); err != nil {
		return fmt.Errorf("saving the whole cluster: %w", err)
	}
	length := headerSize + int64(content.Len())
	if r.bounds.Size > 0 && leastCheckpoints*length > r.bounds.Size {
		return fmt.Errorf("the cluster alone takes %d bytes, and a log of %d bytes has no room for what changes: allow at least %d", length, r.bounds.Size, leastCheckpoints*length)
	}
	about, err := r.aboutOf(s)
	if err != nil {
		return err
	}
	r.append(header{Kind: checkpoint, From: now, To: now}, content.Bytes())
	r.last, r.about, r.behind = s, about, map[key][]byte{}
	r.base, r.since, r.began, r.to = length, 0, now, now
	return nil
}

// Break says that what happens from the last Flush until the next snapshot is not seen.
func (r *Recorder) Break() { r.last = nil }

// Flush returns the blocks that are to be appended to the log, in this order. until is the time up to which
// nothing happened since the last snapshot.
func (r *Recorder) Flush(until time.Time) ([]Block, error) {
	to := max(until.UnixNano(), r.to)
	if r.open.Moments > 0 || r.last != nil && to > r.to {
		if r.open.Moments == 0 {
			r.open = header{Kind: changes, From: r.to}
		}
		if err := r.close(to); err != nil {
			return nil, err
		}
	}
	out := r.done
	r.done = nil
	return out, nil
}

// Surplus says how many blocks of a log are to be dropped, the oldest, for it to keep within bounds. What is
// left begins with a checkpoint.
func (r *Recorder) Surplus(blocks []Block, now time.Time) int {
	size, drop := sizeOf(blocks), 0
	for i := 1; i < len(blocks); i++ {
		if !blocks[i].Checkpoint() {
			continue
		}
		tooLong := r.bounds.Size > 0 && size > r.bounds.Size
		tooOld := r.bounds.Age > 0 && at(blocks[i].From).Before(now.Add(-r.bounds.Age))
		if tooLong || tooOld {
			size -= sizeOf(blocks[drop:i])
			drop = i
		}
	}
	return drop
}

func sizeOf(blocks []Block) (size int64) {
	for i := range blocks {
		size += blocks[i].Bytes()
	}
	return size
}

// changesTo says what became of objects since the last snapshot, by kind and name.
func (r *Recorder) changesTo(after *inspect.Snapshot) ([]change, error) {
	var out []change
	for _, k := range inspect.Kinds() {
		found, err := r.changesOfKind(k, recorded(r.last, k), recorded(after, k))
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// recorded are the objects of a kind that a log has of a snapshot: of several with one name the first.
func recorded(s *inspect.Snapshot, k inspect.Kind) []metav1.Object {
	if k.Resource == inspect.Nodes && s.NodesAssumed() {
		return nil
	}
	return slices.CompactFunc(k.Objects(s.Objects()), func(a, b metav1.Object) bool { return byName(a, b) == 0 })
}

func byName(a, b metav1.Object) int {
	return cmp.Or(strings.Compare(a.GetNamespace(), b.GetNamespace()), strings.Compare(a.GetName(), b.GetName()))
}

func (r *Recorder) changesOfKind(k inspect.Kind, before, after []metav1.Object) (out []change, err error) {
	err = pairs(before, after, func(old, updated metav1.Object) error {
		c, changed, err := r.changeOf(k, old, updated)
		if err == nil && changed {
			out = append(out, c)
		}
		return err
	})
	return out, err
}

// changeOf says what became of an object. It is nil before it was made, and after it was deleted. changed is
// false if nothing became of it that a log has.
func (r *Recorder) changeOf(k inspect.Kind, old, updated metav1.Object) (c change, changed bool, err error) {
	if updated == nil {
		c = change{key: keyOf(k, old), op: deleted}
		delete(r.behind, c.key)
		return c, true, nil
	}
	c = change{key: keyOf(k, updated), op: put}
	reduced := archive.Reduced(k, updated)
	if c.data, err = archive.Encode(reduced); err != nil || old == nil {
		return c, true, err
	}
	reducedOld := archive.Reduced(k, old)
	before, known := r.behind[c.key]
	if !known {
		if before, err = archive.Encode(reducedOld); err != nil {
			return c, false, err
		}
	}
	same, err := sameButForBeats(reducedOld, reduced)
	if same || err != nil {
		r.behind[c.key] = before
		return c, false, err
	}
	delete(r.behind, c.key)
	if delta := makeDelta(before, c.data); len(delta) < len(c.data) {
		c.op, c.data, c.old = patched, delta, len(before)
	}
	return c, true, nil
}

func keyOf(k inspect.Kind, o metav1.Object) key {
	namespace := ""
	if k.Namespaced {
		namespace = o.GetNamespace()
	}
	return key{k.Resource, namespace, o.GetName()}
}

// sameButForBeats reports whether two versions of an object differ in nothing but the number of the version
// and when it was last heard of a node. It writes to them.
func sameButForBeats(a, b metav1.Object) (bool, error) {
	for _, o := range []metav1.Object{a, b} {
		o.SetResourceVersion("")
		if node, ok := o.(*corev1.Node); ok {
			for i := range node.Status.Conditions {
				node.Status.Conditions[i].LastHeartbeatTime = metav1.Time{}
			}
		}
	}
	x, err := archive.Encode(a)
	if err != nil {
		return false, err //nolint:wrapcheck // it names the object
	}
	y, err := archive.Encode(b)
	return bytes.Equal(x, y), err //nolint:wrapcheck // as above
}
