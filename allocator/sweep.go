package allocator

import (
	"context"
	"errors"
	"runtime"
	"sync"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
)

// Kind is a set of nodes that look alike to a question and therefore get the same answer.
type Kind struct {
	// Nodes are indices into the nodes that were asked about, ascending.
	Nodes []int
	// Result is the answer for the first node; its devices are that node's. nil when Abort is set.
	Result *Result
	// Abort is why the scheduler would give up on the pod when it came to the first node.
	Abort *AbortError
}

// Sweep decides whether the claims can be allocated together, for every one of the nodes. Nodes that
// look alike are decided once, and all cores are used. The kinds are in the order of their first node.
// Of many different nodes, each gets a smaller share of steps than Allocate has for one.
// The error is that of the context.
func (c *Cluster) Sweep(ctx context.Context, nodes []*corev1.Node, claims []*resourcev1.ResourceClaim) ([]Kind, error) {
	kinds, err := c.kinds(ctx, nodes, claims)
	if err != nil {
		return nil, err
	}
	limited := c.WithStepLimit(min(c.stepLimit, max(leastSweepSteps, sweepSteps/max(1, int64(len(kinds))))))
	err = Parallel(len(kinds), func(i int) error {
		result, err := limited.Allocate(ctx, nodes[kinds[i].Nodes[0]], claims, nil)
		if errors.As(err, &kinds[i].Abort) {
			return nil
		}
		kinds[i].Result = result
		return err
	})
	return kinds, err
}

// A sweep makes about sweepSteps steps in all at most, so that hard questions about thousands of nodes
// end. It is divided evenly, not spent first come first served, so that the answers do not depend on
// timing; each kind of nodes gets at least leastSweepSteps.
const (
	sweepSteps      = 40_000_000
	leastSweepSteps = 50_000
)

// chunk is the number of nodes that a worker looks at before it asks for more.
const chunk = 64

// kinds sorts the nodes by what they look like.
func (c *Cluster) kinds(ctx context.Context, nodes []*corev1.Node, claims []*resourcev1.ResourceClaim) ([]Kind, error) {
	number := make([]int32, len(nodes)) // of the look of each node, in any order
	seen := map[string]int32{}
	var mu sync.Mutex
	first := newLook(c, claims)
	chunks := (len(nodes) + chunk - 1) / chunk
	err := Parallel(chunks, func(i int) error {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		l := first.clone()
		mine := map[string]int32{}
		for n := i * chunk; n < min((i+1)*chunk, len(nodes)); n++ {
			bytes, err := l.of(nodes[n])
			if err != nil {
				bytes = append(l.buf[:0], "error "+nodes[n].Name...) // decided by itself
			}
			known, ok := mine[string(bytes)]
			if !ok {
				mu.Lock()
				known, ok = seen[string(bytes)]
				if !ok {
					known = int32(len(seen))
					seen[string(bytes)] = known
				}
				mu.Unlock()
				mine[string(bytes)] = known
			}
			number[n] = known
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	at := make([]int, len(seen)) // number -> index of the kind + 1
	var kinds []Kind
	for n, k := range number {
		if at[k] == 0 {
			kinds = append(kinds, Kind{})
			at[k] = len(kinds)
		}
		kind := &kinds[at[k]-1]
		kind.Nodes = append(kind.Nodes, n)
	}
	return kinds, nil
}

// Parallel calls f for 0 to n-1 on all cores and returns the error of the lowest index. It returns when
// all calls have ended; after an error no new ones begin.
func Parallel(n int, f func(int) error) error {
	workers := min(runtime.GOMAXPROCS(0), n)
	if workers <= 1 {
		for i := range n {
			if err := f(i); err != nil {
				return err
			}
		}
		return nil
	}
	errs := make([]error, n)
	var mu sync.Mutex
	next, failed := 0, false
	take := func() int {
		mu.Lock()
		defer mu.Unlock()
		if failed || next >= n {
			return -1
		}
		next++
		return next - 1
	}
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := take(); i >= 0; i = take() {
				if errs[i] = f(i); errs[i] != nil {
					mu.Lock()
					failed = true
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
