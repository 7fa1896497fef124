package sources

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/tui"
)

const (
	// waitingPause is the time between two looks at what a command waits for.
	waitingPause = 500 * time.Millisecond
	// waitingRemark is how long a command waits before it says so where no progress can be shown.
	waitingRemark = 10 * time.Second
)

// TellWaiting shows what the first snapshot of a source waits for, until the function that it returns is
// called, which may be done more than once.
func TellWaiting(ctx context.Context, streams *console.Streams, from tui.Source) (arrived func()) {
	waiter, ok := from.(tui.Waiter)
	if !ok {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	shown := console.StartProgress(ctx, streams.ErrOut)
	done := make(chan struct{})
	go func() {
		defer close(done)
		showWaiting(ctx, streams, waiter, shown)
	}()
	return sync.OnceFunc(func() {
		cancel()
		<-done
		shown.Stop()
	})
}

func showWaiting(ctx context.Context, streams *console.Streams, waiter tui.Waiter, shown *console.Progress) {
	ticker := time.NewTicker(waitingPause)
	defer ticker.Stop()
	for said := false; ; {
		server, since, what := waiter.Waiting()
		text := waitingText(server, since, what)
		shown.Show(text)
		if !shown.Visible() && !said && time.Since(since) >= waitingRemark {
			said = true
			streams.Note("still %s", text)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// waitingText says in one line for whom and what a command waits.
func waitingText(server string, since time.Time, what []string) string {
	const most = 3
	more := ""
	if len(what) > most {
		more = fmt.Sprintf(" and %d more", len(what)-most)
		what = what[:most]
	}
	return fmt.Sprintf("waiting for %s since %s: %s%s", server, since.Local().Format("15:04:05"), strings.Join(what, ", "), more)
}
