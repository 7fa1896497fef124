package cli

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestCompletionOnABusyMachine: what needs no server is not given up because the machine does something else.
func TestCompletionOnABusyMachine(t *testing.T) {
	for _, demo := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := &completer{reader: &reader{demo: demo}, timeout: completionTimeout}
			ctx, cancel := c.within(t.Context())
			defer cancel()
			time.Sleep(2 * completionTimeout)
			if goesOn := ctx.Err() == nil; goesOn != demo {
				t.Errorf("demo: %t; goes on: %t", demo, goesOn)
			}
		})
	}
}
