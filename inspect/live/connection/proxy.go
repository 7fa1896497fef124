package connection

import (
	"context"
	"errors"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// Later is a watch on which nothing happens until it asks to list again, after a time.
func Later(ctx context.Context, pause time.Duration) watch.Interface {
	as := func(e watch.Event) watch.Event { return e }
	return NewProxyWatch(ctx, watch.NewRaceFreeFake(), pause, as, func() {})
}

// ProxyWatch changes the events of another watch, and ends it after a time by asking to list again. (The
// filter of package watch leaves its goroutine behind when it is stopped while an event is under way.)
type ProxyWatch struct {
	inner  watch.Interface
	change func(watch.Event) watch.Event
	ended  func() // is called when the other watch ended by itself, or with an error
	out    chan watch.Event
	done   chan struct{}
	once   sync.Once
}

// Endless is longer than any watch lasts.
const Endless = 24 * time.Hour

// NewProxyWatch changes the events of inner, and asks to list again after the pause. ended is called when
// inner ended by itself, or with an error.
func NewProxyWatch(ctx context.Context, inner watch.Interface, pause time.Duration,
	change func(watch.Event) watch.Event, ended func()) *ProxyWatch {
	p := &ProxyWatch{inner: inner, change: change, ended: ended, out: make(chan watch.Event),
		done: make(chan struct{})}
	go p.run(ctx, pause)
	return p
}

func (p *ProxyWatch) run(ctx context.Context, pause time.Duration) {
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
			p.send(watch.Event{Type: watch.Error, Object: ListAgain(errListAgain)})
			return
		case <-ctx.Done():
			return
		case <-p.done:
			return
		}
	}
}

func (p *ProxyWatch) send(e watch.Event) bool {
	select {
	case p.out <- e:
		return true
	case <-p.done:
		return false
	}
}

// Stop implements watch.Interface.
func (p *ProxyWatch) Stop() {
	p.once.Do(func() { close(p.done) })
	p.inner.Stop()
}

// ResultChan implements watch.Interface.
func (p *ProxyWatch) ResultChan() <-chan watch.Event { return p.out }

// errListAgain makes a reflector list again.
var errListAgain = errors.New("it is time to list again")

// ListAgain makes a reflector list again.
func ListAgain(err error) *metav1.Status {
	status := apierrors.NewResourceExpired(err.Error()).Status()
	return &status
}
