package live

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestHeadStart: the others wait until what is first has come, however many pages it has, and for so long
// after a page that nothing follows.
func TestHeadStart(t *testing.T) {
	free := func(t *testing.T, h *headStart) func() bool {
		done := make(chan struct{})
		go func() {
			defer close(done)
			if err := h.wait(t.Context(), inspect.Pods); err != nil {
				t.Error(err)
			}
		}()
		return func() bool {
			synctest.Wait()
			select {
			case <-done:
				return true
			default:
				return false
			}
		}
	}
	synctest.Test(t, func(t *testing.T) {
		h := newHeadStart([]inspect.Resource{inspect.Claims, inspect.Slices})
		pods := free(t, h)
		for range 3 {
			time.Sleep(longestLead - time.Second)
			if err := h.wait(t.Context(), inspect.Claims); err != nil || pods() {
				t.Fatal("pods do not wait for pages of claims", err)
			}
		}
		h.arrived(inspect.Claims)
		h.arrived(inspect.Claims)
		if pods() {
			t.Error("pods do not wait for slices")
		}
		h.arrived(inspect.Slices)
		if !pods() {
			t.Error("pods wait when all has come")
		}
	})
	synctest.Test(t, func(t *testing.T) {
		pods := free(t, newHeadStart([]inspect.Resource{inspect.Claims}))
		if time.Sleep(longestLead + time.Second); !pods() {
			t.Error("pods wait for ever")
		}
	})
	if newHeadStart(nil).wait(t.Context(), inspect.Pods) != nil {
		t.Error("pods wait for nothing")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := newHeadStart([]inspect.Resource{inspect.Claims}).wait(ended, inspect.Pods); !errors.Is(err, context.Canceled) {
		t.Errorf("waiting is not ended: %v", err)
	}
}
