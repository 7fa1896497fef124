package selector

import (
	"context"

	resourcev1 "k8s.io/api/resource/v1"
)

// Batch asks a Program about many devices, one after the other, and remembers only what it says of those that
// differ in what the expression reads: where that is little, neither time nor memory grows with the devices.
// It is used by one goroutine only.
type Batch struct {
	program *Program
	known   map[string]match
	buf     []byte
}

// Batch begins a Batch.
func (p *Program) Batch() *Batch { return &Batch{program: p, known: map[string]match{}} }

// Match is Program.Match.
func (b *Batch) Match(ctx context.Context, driver string, device *resourcev1.Device) (bool, error) {
	b.buf = b.program.Projection(b.buf[:0], driver, device, Convertible(device))
	if m, ok := b.known[string(b.buf)]; ok && len(b.buf) > 0 {
		return m.ok, m.err
	}
	ok, err := b.program.Match(ctx, driver, device)
	if ctx.Err() == nil && len(b.buf) > 0 && !keptDevices.Exceeded(len(b.known), 0) {
		b.known[string(b.buf)] = match{ok, err}
	}
	return ok, err
}
