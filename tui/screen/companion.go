package screen

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Companion is an Answer about the object under a cursor. It goes where the cursor goes.
type Companion[T any] struct {
	Answer[T]
	about Ref
}

// linger is how long a cursor must stay on an object before it is asked about: who runs down a list does not
// want to wait for each.
const linger = 60 * time.Millisecond

// Follow asks about the object under the cursor, if that is another one than before.
func (c *Companion[T]) Follow(w *World, ref Ref, ask func(ctx context.Context, w *World, ref Ref) (T, error)) tea.Cmd {
	if ref == c.about {
		return nil
	}
	c.about = ref
	c.Forget()
	if ref.Kind == None {
		return nil
	}
	return c.Ask(w, func(ctx context.Context, w *World) (T, error) {
		select {
		case <-ctx.Done():
			var none T
			return none, ctx.Err()
		case <-time.After(linger):
		}
		return ask(ctx, w, ref)
	})
}
