package commit

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

func TestAllocateAndDeallocate(t *testing.T) {
	w := newWorld(2, "a", "b", "c")
	p := &process{w: w}
	d, claims, err := p.committer("1").Allocate(t.Context(), wanting("b", "a"))
	if err != nil || len(claims) != 2 || claims[0].Name != "b" || claims[1].Name != "a" || d.Node != "n" {
		t.Fatalf("claims %v, decision %v: %v", claims, d, err)
	}
	for _, claim := range claims {
		if claim.Status.Allocation == nil || claim.Status.Allocation.AllocationTimestamp == nil || len(claim.Spec.Devices.Requests) == 0 || AnnouncementOn(claim) != nil {
			t.Errorf("returned is %v", claim)
		}
	}
	inOrder(t, w, "a b")
	if d, _, err := p.committer("2").Allocate(t.Context(), wanting("c")); err != nil || len(d.Refusal) == 0 {
		t.Errorf("c was allocated though no device is left: %v", err)
	}
	if _, err := p.committer("3").Deallocate(t.Context(), []inspect.ClaimRef{ref("b"), ref("c")}); err != nil {
		t.Fatal(err)
	}
	inOrder(t, w, "a")
}

func TestReserve(t *testing.T) {
	w := newWorld(1, "a")
	w.pods[inspect.PodRef{Namespace: "ns", Name: "pod"}] = "pod-uid"
	reserving := func(uid string) Decider {
		return func(ctx context.Context, s *inspect.Snapshot) (*Decision, error) {
			d, err := wanting("a")(ctx, s)
			if err != nil {
				return nil, err
			}
			pod := &corev1.Pod{}
			pod.Name, pod.UID = "pod", "pod-uid"
			if uid != "" {
				pod.UID = "another"
			}
			return d, d.AddConsumers(func(*resourcev1.ResourceClaim) (*corev1.Pod, error) { return pod, nil })
		}
	}
	p := &process{w: w}
	if _, _, err := p.committer("1").Allocate(t.Context(), reserving("another")); err == nil {
		t.Error("reserved for a pod that was replaced")
	}
	inOrder(t, w, "a")
	for range 2 {
		_, claims, err := p.committer("2").Allocate(t.Context(), reserving(""))
		if err != nil || len(claims[0].Status.ReservedFor) != 1 {
			t.Fatalf("want one consumer: %v, %v", claims, err)
		}
	}
	inOrder(t, w, "a")
	reserved := (*ReservedError)(nil)
	if _, err := p.committer("3").Deallocate(t.Context(), []inspect.ClaimRef{ref("a")}); !errors.As(err, &reserved) {
		t.Errorf("deallocated a reserved claim: %v", err)
	}
	inOrder(t, w, "a")

	full := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: "full"}}
	for i := range resourcev1.ResourceClaimReservedForMaxSize {
		full.Status.ReservedFor = append(full.Status.ReservedFor, resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: fmt.Sprint(i)})
	}
	d := &Decision{Claims: []*resourcev1.ResourceClaim{full}}
	if err := d.AddConsumers(func(*resourcev1.ResourceClaim) (*corev1.Pod, error) {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "u"}}, nil
	}); err == nil {
		t.Error("a claim took one consumer more than the API server permits")
	}
}

// act is something that a process does; it is run against a fresh world by the tests of crashes.
type act struct {
	name  string
	world func() *world
	do    func(ctx context.Context, p *process) error
	// done is what is allocated when all goes well, undone when nothing was to be done.
	done, undone string
}

func allocated(w *world, names ...string) *world {
	p := &process{w: w}
	for i, name := range names {
		if _, _, err := p.committer(fmt.Sprint(i)).Allocate(context.Background(), wanting(name)); err != nil {
			panic(err)
		}
	}
	return w
}

var acts = []act{{
	name:  "allocate one",
	world: func() *world { return newWorld(2, "a", "z") },
	do: func(ctx context.Context, p *process) error {
		_, _, err := p.committer("5").Allocate(ctx, wanting("a"))
		return err
	},
	done: "a",
}, {
	name:  "allocate three",
	world: func() *world { return newWorld(4, "a", "b", "c", "z") },
	do: func(ctx context.Context, p *process) error {
		_, _, err := p.committer("5").Allocate(ctx, wanting("a", "b", "c"))
		return err
	},
	done: "a b c",
}, {
	name:  "deallocate two",
	world: func() *world { return allocated(newWorld(3, "a", "b", "z"), "a", "b") },
	do: func(ctx context.Context, p *process) error {
		_, err := p.committer("5").Deallocate(ctx, []inspect.ClaimRef{ref("a"), ref("b")})
		return err
	},
	done: "", undone: "a b",
}}

// nexts are runs that have to put in order what a dead run left.
var nexts = map[string]func(ctx context.Context, p *process) error{
	"allocate another": func(ctx context.Context, p *process) error {
		_, _, err := p.committer("9").Allocate(ctx, wanting("z"))
		if err == nil {
			_, err = p.committer("91").Deallocate(ctx, []inspect.ClaimRef{ref("z")})
		}
		return err
	},
	"allocate another, first in order": func(ctx context.Context, p *process) error {
		_, _, err := p.committer("1").Allocate(ctx, wanting("z"))
		if err == nil {
			_, err = p.committer("11").Deallocate(ctx, []inspect.ClaimRef{ref("z")})
		}
		return err
	},
	"deallocate another": func(ctx context.Context, p *process) error {
		_, err := p.committer("9").Deallocate(ctx, []inspect.ClaimRef{ref("z")})
		return err
	},
}

// TestKilledAnywhere kills a run before and after each of its requests. Whatever runs next has to leave the
// world in order, with all of the claims or none done (one by one for deallocate).
func TestKilledAnywhere(t *testing.T) {
	kills := 0
	for _, a := range acts {
		for name, next := range nexts {
			for n := 0; ; n++ {
				w := a.world()
				if !killAt(w, n, a.do) {
					break
				}
				kills++
				if err := next(t.Context(), &process{w: w}); err != nil {
					t.Errorf("%s, killed at %d, then %s: %v", a.name, n, name, err)
				}
				for _, problem := range w.disorder() {
					t.Errorf("%s, killed at %d, then %s: %s", a.name, n, name, problem)
				}
				if got := w.allocated(); got != a.done && got != a.undone && a.name != "deallocate two" {
					t.Errorf("%s, killed at %d, then %s: allocated %q", a.name, n, name, got)
				}
			}
		}
	}
	if kills < 100 {
		t.Errorf("only %d kills: the injector does not work", kills)
	}
	t.Logf("%d kills", kills)
}

// killAt runs an act that dies at point n: before (even) or after (odd) a request. It reports whether the act
// was so long.
func killAt(w *world, n int, do func(context.Context, *process) error) bool {
	points, killed := 0, false
	die := func(string) error {
		if points == n {
			killed = true
			runtime.Goexit()
		}
		points++
		return nil
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = do(context.Background(), &process{w: w, before: die, after: die}) // it dies, or is over
	}()
	<-over
	return killed
}

// TestSameClaimAfterKill: who asks for the same claim again gets it, without leftovers.
func TestSameClaimAfterKill(t *testing.T) {
	for _, number := range []string{"1", "9"} {
		for n := 0; ; n++ {
			w := newWorld(1, "a", "z")
			if !killAt(w, n, acts[0].do) {
				break
			}
			if _, _, err := (&process{w: w}).committer(number).Allocate(t.Context(), wanting("a")); err != nil {
				t.Errorf("killed at %d, run %s: %v", n, number, err)
			}
			inOrder(t, w, "a")
		}
	}
}

// TestErrorAnywhere makes each request fail, before or after it took effect. The run itself has to leave
// the world in order: done or undone.
func TestErrorAnywhere(t *testing.T) {
	broken := errors.New("broken")
	for _, a := range acts {
		for n := 0; ; n++ {
			w := a.world()
			points, failed := 0, false
			fail := func(string) error {
				points++
				if points-1 == n {
					failed = true
					return broken
				}
				return nil
			}
			err := a.do(t.Context(), &process{w: w, before: fail, after: fail})
			if !failed {
				break
			}
			problems := w.disorder()
			if len(problems) > 0 && err == nil {
				t.Errorf("%s, failed at %d: no error, but %v", a.name, n, problems)
			}
			if len(problems) > 0 { // as when the server cannot be reached to clear up
				_ = nexts["deallocate another"](t.Context(), &process{w: w}) // judged by the world
				problems = w.disorder()
			}
			for _, problem := range problems {
				t.Errorf("%s, failed at %d: %s", a.name, n, problem)
			}
			if got := w.allocated(); got != a.done && got != a.undone && a.name != "deallocate two" {
				t.Errorf("%s, failed at %d: allocated %q", a.name, n, got)
			}
		}
	}
}

// TestInterruptedAnywhere ends the context at each request. The run clears up by itself.
func TestInterruptedAnywhere(t *testing.T) {
	for _, a := range acts {
		for n := 0; ; n++ {
			w := a.world()
			ctx, cancel := context.WithCancel(t.Context())
			points := 0
			stop := func(string) error {
				if points == n {
					cancel()
				}
				points++
				return nil
			}
			err := a.do(ctx, &process{w: w, before: stop, after: stop})
			cancel()
			if points <= n {
				break
			}
			for _, problem := range w.disorder() {
				t.Errorf("%s, interrupted at %d: %s", a.name, n, problem)
			}
			if got := w.allocated(); got != a.done && got != a.undone && a.name != "deallocate two" {
				t.Errorf("%s, interrupted at %d: allocated %q", a.name, n, got)
			}
			if err == nil && w.allocated() != a.done {
				t.Errorf("%s, interrupted at %d: not done, and no error", a.name, n)
			}
		}
	}
}

// TestKeptWhenReserved: an allocation that a pod relies on is not taken back, and both holders are named.
func TestKeptWhenReserved(t *testing.T) {
	w := newWorld(1, "a", "b")
	p := &process{w: w}
	p.sleep = func(context.Context, time.Duration) error { // a pod takes a, and b gets the same device
		w.mu.Lock()
		defer w.mu.Unlock()
		a, b := w.claims[ref("a")], w.claims[ref("b")]
		w.now = w.now.Add(time.Second)
		a.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: "x", UID: "y"}}
		b.Status.Allocation = a.Status.Allocation.DeepCopy()
		return nil
	}
	var steps []Step
	c := p.committer("1")
	c.Observe = func(e Event) { steps = append(steps, e.Step) }
	_, _, err := c.Allocate(t.Context(), wanting("a"))
	if err == nil || w.allocated() != "a b" {
		t.Errorf("allocated %q: %v", w.allocated(), err)
	}
	want := []Step{Announced, Allocated, Settling, Conflicted, Fenced, Kept}
	if fmt.Sprint(steps) != fmt.Sprint(want) {
		t.Errorf("steps %v, want %v", steps, want)
	}
	t.Log(err)
}
