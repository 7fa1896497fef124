package inquiry

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
)

// TestCompletionOnABusyMachine: what needs no server is not given up because the machine does something else.
func TestCompletionOnABusyMachine(t *testing.T) {
	for _, demo := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := &Completer{Reader: &sources.Reader{Demo: demo}, timeout: completionTimeout}
			ctx, cancel := c.within(t.Context())
			defer cancel()
			time.Sleep(2 * completionTimeout)
			if goesOn := ctx.Err() == nil; goesOn != demo {
				t.Errorf("demo: %t; goes on: %t", demo, goesOn)
			}
		})
	}
}
