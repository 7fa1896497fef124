package live

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/watch"
)

// later is a watch on which nothing happens until it asks to list again, after a time.
func later(ctx context.Context, pause time.Duration) watch.Interface {
	as := func(e watch.Event) watch.Event { return e }
	return newProxyWatch(ctx, watch.NewRaceFreeFake(), pause, as, func() {})
}

// proxyWatch changes the events of another watch, and ends it after a time by asking to list again. (The
// filter of package watch leaves its goroutine behind when it is stopped while an event is under way.)
type proxyWatch struct {
	inner  watch.Interface
	change func(watch.Event) watch.Event
	ended  func() // is called when the other watch ended by itself, or with an error
	out    chan watch.Event
	done   chan struct{}
	once   sync.Once
}

// endless is longer than any watch lasts.
const endless = 24 * time.Hour

func newProxyWatch(ctx context.Context, inner watch.Interface, pause time.Duration,
	change func(watch.Event) watch.Event, ended func()) *proxyWatch {
	p := &proxyWatch{inner: inner, change: change, ended: ended, out: make(chan watch.Event),
		done: make(chan struct{})}
	go p.run(ctx, pause)
	return p
}

func (p *proxyWatch) run(ctx context.Context, pause time.Duration) {
	defer close(p.out)
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		select {
		case e, ok := <-p.inner.ResultChan():
			if ok {
				e = p.change(e)
			}
			if ctx.Err() == nil && (!ok || e.Type == watch.Error) {
				p.ended() // before the reflector goes on
			}
			if !ok || !p.send(e) {
				return
			}
		case <-timer.C:
			p.send(watch.Event{Type: watch.Error, Object: statusOf(errListAgain)})
			return
		case <-ctx.Done():
			return
		case <-p.done:
			return
		}
	}
}

func (p *proxyWatch) send(e watch.Event) bool {
	select {
	case p.out <- e:
		return true
	case <-p.done:
		return false
	}
}

// Stop implements watch.Interface.
func (p *proxyWatch) Stop() {
	p.once.Do(func() { close(p.done) })
	p.inner.Stop()
}

// ResultChan implements watch.Interface.
func (p *proxyWatch) ResultChan() <-chan watch.Event { return p.out }
