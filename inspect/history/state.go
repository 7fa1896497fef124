package history

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/archive"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
)

const (
	// keptStates is how many moments are remembered, from which one goes on to later ones.
	keptStates = 8
	// freelyMade is how many bytes of objects may be made of changes, however few these are, for each byte
	// that may be read, and maxMade how many for each byte of the file beyond that. A change of ten bytes to
	// an object of a hundred kilobytes is nothing unusual, but not all changes are such.
	freelyMade, maxMade = 2, 1 << 12
)

// state is the cluster at a moment. It is not written once it was returned.
type state struct {
	moment   int
	base     int // the checkpoint that it was made from
	header   archive.Header
	objects  inspect.Objects
	snapshot *inspect.Snapshot
}

// pending is what is to become of the objects of a state.
type pending struct {
	log     *Log
	kind    map[inspect.Resource]inspect.Kind
	before  map[inspect.Resource][]metav1.Object
	changed map[inspect.Resource]map[key][]byte // nil for what is gone
	count   int                                 // of objects that changed
	live    int64                               // bytes that these have now
	made    int64                               // bytes that they had at any time, of which so many are allowed
	allowed int64
}

// Snapshot returns the cluster as it was at a moment, and from it on until the next. Snapshots of one log
// share what they have in common.
func (l *Log) Snapshot(ctx context.Context, moment int) (*inspect.Snapshot, error) {
	s, err := l.stateAt(ctx, moment)
	if err != nil {
		return nil, l.failed(ctx, err)
	}
	return s.snapshot, nil
}

func (l *Log) stateAt(ctx context.Context, moment int) (*state, error) {
	base := l.baseOf(moment)
	from := l.nearest(base, moment)
	if from != nil && from.moment == moment {
		return from, nil
	}
	var err error
	if from == nil {
		if from, err = l.readBase(ctx, base); err != nil {
			return nil, err
		}
	}
	next, err := l.advance(ctx, from, moment)
	if err != nil {
		return nil, err
	}
	l.keep(next)
	return next, nil
}

// baseOf is the checkpoint from which a moment is read: the last one in which it has not passed.
func (l *Log) baseOf(moment int) int {
	for b := l.blockOf(moment); ; b-- {
		if l.blocks[b].Kind == checkpoint {
			return b
		}
	}
}

// nearest is the last state before a moment, or of it, that was made from the same checkpoint. It is nil if
// there is none.
func (l *Log) nearest(base, moment int) (best *state) {
	for _, s := range l.states {
		if s.base == base && s.moment <= moment && (best == nil || s.moment > best.moment) {
			best = s
		}
	}
	return best
}

// keep remembers a state, and forgets the one that was looked at first. What was read of a checkpoint is kept
// longest.
func (l *Log) keep(s *state) {
	l.states = append(l.states, s)
	if len(l.states) > keptStates {
		l.states = slices.Delete(l.states, 1, 2)
	}
}

// readBase reads a checkpoint.
func (l *Log) readBase(ctx context.Context, b int) (*state, error) {
	content, err := l.content(b)
	if err != nil {
		return nil, err
	}
	header, result, err := archive.Read(ctx, bytes.NewReader(content), l.name, l.opts)
	if err != nil {
		return nil, err //nolint:wrapcheck // it says what is wrong
	}
	moment := l.first[b+1] - 1 // the last one that it shows
	s := &state{moment: moment, base: b, header: *header, objects: result.Objects}
	if err := s.build(l); err != nil {
		return nil, err
	}
	l.states = slices.DeleteFunc(l.states, func(o *state) bool { return o.base != b })
	l.states = append([]*state{s}, l.states...)
	return s, nil
}

// build makes the snapshot of a state.
func (s *state) build(l *Log) error {
	config, err := s.header.Config()
	if err != nil {
		return err //nolint:wrapcheck // it says what is wrong
	}
	if n := len(l.states); n > 0 {
		s.snapshot = l.states[n-1].snapshot.Next(s.objects, config)
		return nil
	}
	s.snapshot = inspect.New(s.objects, config)
	return nil
}

// advance makes the state of a later moment.
func (l *Log) advance(ctx context.Context, from *state, moment int) (*state, error) {
	next := &state{moment: moment, base: from.base, header: from.header, objects: from.objects}
	p := &pending{
		log: l, kind: map[inspect.Resource]inspect.Kind{}, before: map[inspect.Resource][]metav1.Object{},
		changed: map[inspect.Resource]map[key][]byte{}, allowed: freelyMade * cmp.Or(l.opts.MaxBytes, manifest.DefaultMaxBytes),
	}
	for b := from.base + 1; b < len(l.blocks) && l.first[b] <= moment; b++ {
		if l.blocks[b].Kind != changes || l.first[b+1] <= from.moment+1 {
			continue
		}
		moments, err := l.momentsOf(ctx, b)
		if err != nil {
			return nil, err
		}
		p.allowed += maxMade * l.blocks[b].Length
		for i := range moments {
			if n := l.first[b] + i; n <= from.moment || n > moment {
				continue
			}
			if err := p.take(ctx, &moments[i], from); err != nil {
				return nil, err
			}
			if about := moments[i].about; about != nil {
				next.header = *about
			}
			next.header.Time = at(moments[i].at)
		}
	}
	if err := p.settle(&next.objects); err != nil {
		return nil, err
	}
	if err := next.build(l); err != nil {
		return nil, err
	}
	return next, nil
}

// take notes what a moment changes.
func (p *pending) take(ctx context.Context, m *moment, from *state) error {
	if err := ctx.Err(); err != nil {
		return err //nolint:wrapcheck // of the caller
	}
	for i := range m.changes {
		c := &m.changes[i]
		if err := p.learn(c.resource, from); err != nil {
			return err
		}
		data, err := p.after(c)
		if err != nil {
			return fmt.Errorf("%s %s: %w", c.resource, inspect.SanitizeShort(c.name, 60), err)
		}
		if err := p.set(c, data); err != nil {
			return err
		}
	}
	return nil
}

// learn finds the objects of a kind.
func (p *pending) learn(r inspect.Resource, from *state) error {
	if _, known := p.kind[r]; known {
		return nil
	}
	kind := inspect.KindOf(r)
	if kind.Name == "" {
		return fmt.Errorf("it has objects of %q, which this program does not know", inspect.SanitizeShort(string(r), 60))
	}
	p.kind[r], p.before[r], p.changed[r] = kind, kind.Objects(&from.objects), map[key][]byte{}
	return nil
}

// after is an object after a change, encoded. It is nil if it is gone.
func (p *pending) after(c *change) ([]byte, error) {
	if c.op == deleted {
		return nil, nil
	}
	if c.op == put {
		return c.data, nil
	}
	old, known := p.changed[c.resource][c.key]
	if !known {
		at, found := find(p.before[c.resource], c.key)
		if !found {
			return nil, errDelta
		}
		var err error
		if old, err = archive.Encode(p.before[c.resource][at]); err != nil {
			return nil, err //nolint:wrapcheck // it says what is wrong
		}
	}
	if len(old) != c.old || old == nil {
		return nil, errDelta
	}
	length, err := deltaLength(old, c.data)
	if err == nil {
		err = p.log.opts.Objects(p.log.name, p.count, length) // before there is memory for it
	}
	if err != nil {
		return nil, err //nolint:wrapcheck // it says what is wrong
	}
	return applyDelta(old, c.data, length)
}

// set notes what an object is after a change.
func (p *pending) set(c *change, data []byte) error {
	old, known := p.changed[c.resource][c.key]
	if !known {
		p.count++
	}
	p.changed[c.resource][c.key] = data
	p.live += int64(len(data) - len(old))
	most := cmp.Or(p.log.opts.MaxBytes, manifest.DefaultMaxBytes)
	if p.made += int64(len(data)); p.made > p.allowed || p.live > most {
		return fmt.Errorf("more than %d bytes of objects changed; --max-input allows more", min(most, p.allowed))
	}
	return p.log.opts.Objects(p.log.name, p.count, len(data)) //nolint:wrapcheck // it says what is wrong
}

// find looks for an object in a list that is sorted by namespace and name.
func find(sorted []metav1.Object, k key) (int, bool) {
	return slices.BinarySearchFunc(sorted, k, func(o metav1.Object, k key) int {
		return cmp.Or(strings.Compare(o.GetNamespace(), k.namespace), strings.Compare(o.GetName(), k.name))
	})
}

// settle puts what changed into objects.
func (p *pending) settle(to *inspect.Objects) error {
	for r, changed := range p.changed {
		kind := p.kind[r]
		merged, rest := make([]metav1.Object, 0, len(p.before[r])+len(changed)), p.before[r]
		for _, k := range slices.SortedFunc(maps.Keys(changed), compareKeys) {
			at, found := find(rest, k)
			merged = append(merged, rest[:at]...)
			if found {
				at++
			}
			rest = rest[at:]
			if data := changed[k]; data != nil {
				o, err := archive.Decode(kind, data, p.log.name, p.log.opts)
				if err != nil {
					return fmt.Errorf("%s %s: %w", r, inspect.SanitizeShort(k.name, 60), err)
				}
				if keyOf(kind, o) != k {
					return fmt.Errorf("%s %s: %w", r, inspect.SanitizeShort(k.name, 60), errDelta)
				}
				merged = append(merged, o)
			}
		}
		inspect.SetObjects(to, kind, append(merged, rest...))
	}
	return nil
}

func compareKeys(a, b key) int {
	return cmp.Or(strings.Compare(a.namespace, b.namespace), strings.Compare(a.name, b.name))
}

// unpack returns the moments of a block.
func (l *Log) unpack(ctx context.Context, b int) ([]moment, error) {
	h := &l.blocks[b].header
	if err := l.opts.Objects(l.name, int(h.Changes), 0); err != nil {
		return nil, err //nolint:wrapcheck // it says what is wrong
	}
	content, err := l.content(b)
	if err != nil {
		return nil, err
	}
	data, err := manifest.NewUnpacker(l.opts).Gunzip(ctx, l.name, bytes.NewReader(content))
	if err != nil {
		return nil, err //nolint:wrapcheck // it says what is wrong
	}
	return decodeMoments(h, data)
}
