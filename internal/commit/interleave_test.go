package commit

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/commit/requests"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
)

// stage lets processes act on a world one request at a time, in an order that a test chooses.
type stage struct {
	w      *world
	actors []*actor
	back   chan struct{}
	// choose picks one of n actors that can go on. The first of them is the one that acted last, if it can.
	choose func(n int) int
	// lapse, if not nil, reports whether time passes although somebody could act: processes may be slow.
	lapse func() bool
	last  *actor
}

// actor is a process on a stage.
type actor struct {
	stage        *stage
	turn         chan struct{}
	wake         time.Time
	over, killed bool
	killAt, acts int // after how many requests it dies; 0: never
	err          error
	refused      bool
	steps        map[Step]int
}

func newStage(w *world) *stage { return &stage{w: w, back: make(chan struct{})} }

// enter adds an actor.
func (s *stage) enter(killAt int, do func(a *actor, p *process)) *actor {
	a := &actor{stage: s, turn: make(chan struct{}), killAt: killAt, steps: map[Step]int{}}
	s.actors = append(s.actors, a)
	p := &process{w: s.w, before: func(string) error { a.pause(0); return nil }, after: func(string) error { return a.live() }}
	p.sleep = func(ctx context.Context, d time.Duration) error { a.pause(d); return ctx.Err() }
	p.blind = len(s.actors)%2 == 0
	go func() {
		defer func() { a.over = true; s.back <- struct{}{} }()
		<-a.turn
		do(a, p)
	}()
	return a
}

// pause waits for the next turn, and until time has passed.
func (a *actor) pause(d time.Duration) {
	a.wake = a.stage.w.now.Add(d)
	a.stage.back <- struct{}{}
	<-a.turn
}

// live ends the process if its time has come.
func (a *actor) live() error {
	a.acts++
	if a.acts == a.killAt {
		a.killed = true
		runtime.Goexit()
	}
	return nil
}

// play lets the actors act until all are over.
func (s *stage) play(t *testing.T) {
	t.Helper()
	for turns := 0; ; turns++ {
		if turns == 20_000 {
			t.Fatal("it does not end")
		}
		var ready []*actor
		var next *actor
		for _, a := range s.actors {
			switch {
			case a.over:
			case !a.wake.After(s.w.now):
				ready = append(ready, a)
			case next == nil || a.wake.Before(next.wake):
				next = a
			}
		}
		if next != nil && (len(ready) == 0 || s.lapse != nil && s.lapse()) {
			s.w.now = next.wake
			continue
		}
		if len(ready) == 0 {
			return
		}
		if i := slices.Index(ready, s.last); i > 0 {
			ready[0], ready[i] = ready[i], ready[0]
		}
		s.last = ready[s.choose(len(ready))]
		s.last.turn <- struct{}{}
		<-s.back
	}
}

// allocates is an actor that allocates claims.
func allocates(number string, names ...string) func(*actor, *process) {
	return func(a *actor, p *process) {
		c := p.committer(number)
		c.Observe = func(e Event) { a.steps[e.Step]++ }
		d, _, err := c.Allocate(context.Background(), wanting(names...))
		a.err, a.refused = err, err == nil && len(d.Refusal) > 0
	}
}

// schedules is an actor that behaves as kube-scheduler does for pods with a claim each: it decides for all
// of them on what it saw, which may be old when it writes; it puts the finalizer before the status, reserves
// in the same write, and when the claim was changed it reads it again but keeps to its decision.
func schedules(names ...string) func(*actor, *process) {
	ctx := context.Background()
	return func(_ *actor, p *process) {
		view, err := p.Claims(ctx)
		if err != nil {
			return
		}
		free := freeDevices(p.w, view)
		for i, name := range names[:min(len(names), len(free))] {
			if bind(ctx, p, name, free[i]) != nil {
				return // the pod is tried again later
			}
		}
	}
}

// freeDevices returns the devices that no claim of a view holds.
func freeDevices(w *world, view []*resourcev1.ResourceClaim) []string {
	held := map[string]bool{}
	for _, claim := range view {
		if claim.Status.Allocation != nil {
			for _, r := range claim.Status.Allocation.Devices.Results {
				held[r.Device] = true
			}
		}
	}
	var free []string
	for _, d := range w.objects.Slices[0].Spec.Devices {
		if !held[d.Name] {
			free = append(free, d.Name)
		}
	}
	return free
}

func bind(ctx context.Context, p *process, name, device string) error {
	for range 10 {
		claim, err := p.Claim(ctx, ref(name))
		if err != nil || claim.Status.Allocation != nil {
			return errors.Join(err, errors.New("allocated elsewhere"))
		}
		if !slices.Contains(claim.Finalizers, resourcev1.Finalizer) {
			claim.Finalizers = append(claim.Finalizers, resourcev1.Finalizer)
			if claim, err = p.UpdateMeta(ctx, claim); errors.Is(err, requests.ErrConflict) {
				continue
			}
		}
		if err != nil {
			return err
		}
		claim.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{
			Results: []resourcev1.DeviceRequestAllocationResult{{Request: "r", Driver: "d", Pool: "p", Device: device}},
		}}
		claim.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: name, UID: "u"}}
		if _, err = p.UpdateStatus(ctx, claim); !errors.Is(err, requests.ErrConflict) {
			return err
		}
	}
	return errors.New("the claim keeps changing")
}

// TestFewSwitches goes through all orders of two runs that change from one run to the other a few times
// where they need not. Both want the only device there is.
func TestFewSwitches(t *testing.T) {
	switches := effort.Of(6, 5)
	var path, options []int
	orders := 0
	for {
		w := newWorld(1, "a", "b")
		s := newStage(w)
		depth := 0
		options = options[:0]
		s.choose = func(n int) int {
			if depth == len(path) {
				path = append(path, 0)
			}
			options = append(options, n)
			depth++
			return path[depth-1]
		}
		a, b := s.enter(0, allocates("1", "a")), s.enter(0, allocates("2", "b"))
		s.play(t)
		orders++
		if w.doubled > 0 || len(w.disorder()) > 0 || a.err != nil || b.err != nil || a.refused == b.refused {
			t.Fatalf("order %v: doubled %d, disorder %v, errors %v and %v, refused %v and %v", path, w.doubled, w.disorder(), a.err, b.err, a.refused, b.refused)
		}
		if path = nextPath(path[:depth], options, switches); path == nil {
			break
		}
	}
	if orders < 1000 {
		t.Errorf("only %d orders", orders)
	}
	t.Logf("%d orders", orders)
}

// nextPath is the next sequence of choices in lexicographic order with at most limit choices other than 0;
// nil when there is none.
func nextPath(path, options []int, limit int) []int {
	for i := len(path) - 1; i >= 0; i-- {
		used := 0
		for _, choice := range path[:i] {
			used += min(choice, 1)
		}
		if path[i]+1 < options[i] && used < limit {
			return append(slices.Clone(path[:i]), path[i]+1)
		}
	}
	return nil
}

// TestRandomOrders lets runs of ours, some of which are killed, act in random order, with and without a
// scheduler. Ours alone never hold a device twice, however slow each of them is. With a scheduler, which
// writes what it decided within the time that runs watch, nothing is left of it in the end.
func TestRandomOrders(t *testing.T) {
	total := struct{ doubled, takenBack, revoked, waiting, killed, retries, left int }{}
	for seed := range uint64(effort.Of(3000, 80)) {
		rng := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // orders are to be found again
		scheduler := seed%3 == 0
		w := newWorld(2+rng.IntN(3), "a", "b", "c", "e", "s0", "s1")
		s := newStage(w)
		s.choose = rng.IntN
		if !scheduler {
			s.lapse = func() bool { return rng.IntN(20) == 0 }
		}
		numbers := rng.Perm(3)
		for i, names := range [][]string{{"a"}, {"b"}, {"c", "e"}} {
			killAt := 0
			if rng.IntN(3) == 0 {
				killAt = 1 + rng.IntN(14)
			}
			s.enter(killAt, allocates(fmt.Sprint(numbers[i]), names...))
		}
		if scheduler {
			s.enter(0, schedules("s0", "s1"))
		}
		s.play(t)
		for _, a := range s.actors {
			if a.killed {
				total.killed++
			} else if a.err != nil && !scheduler {
				t.Errorf("seed %d: %v", seed, a.err)
			}
			total.takenBack += a.steps[TakenBack]
			total.revoked += a.steps[Revoked]
			total.waiting += a.steps[Waiting]
			total.retries += a.steps[Retrying]
			total.left += a.steps[FinishedLeft] + a.steps[UndoneLeft]
		}
		if w.doubled > 0 && !scheduler {
			t.Errorf("seed %d: a device was taken twice", seed)
		}
		total.doubled += w.doubled
		if _, err := (&process{w: w}).committer("5").Deallocate(t.Context(), []inspect.ClaimRef{ref("a")}); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		for _, problem := range w.disorder() {
			t.Errorf("seed %d: %s", seed, problem)
		}
	}
	if total.doubled == 0 || total.takenBack == 0 || total.revoked == 0 || total.killed == 0 {
		t.Errorf("the orders are too tame: %+v", total)
	}
	t.Logf("%+v", total)
}

// TestEverybodyIsServed: when there are devices for all, all get one, in any order.
func TestEverybodyIsServed(t *testing.T) {
	for seed := range uint64(effort.Of(500, 50)) {
		rng := rand.New(rand.NewPCG(seed, 2)) //nolint:gosec // as above
		w := newWorld(4, "a", "b", "c", "e")
		s := newStage(w)
		s.choose = rng.IntN
		for i, name := range []string{"a", "b", "c", "e"} {
			s.enter(0, allocates(fmt.Sprint(i), name))
		}
		s.play(t)
		if w.doubled > 0 || len(w.disorder()) > 0 || w.allocated() != "a b c e" {
			t.Fatalf("seed %d: doubled %d, disorder %v, allocated %q", seed, w.doubled, w.disorder(), w.allocated())
		}
	}
}

// TestSameClaim: runs that want one claim do not disturb each other; one allocates it, the others find it so.
func TestSameClaim(t *testing.T) {
	for seed := range uint64(effort.Of(500, 50)) {
		rng := rand.New(rand.NewPCG(seed, 3)) //nolint:gosec // as above
		w := newWorld(1, "a")
		s := newStage(w)
		s.choose = rng.IntN
		for i := range 3 {
			s.enter(0, allocates(fmt.Sprint(i), "a"))
		}
		s.play(t)
		for _, a := range s.actors {
			if a.err != nil || a.refused {
				t.Fatalf("seed %d: refused %v: %v", seed, a.refused, a.err)
			}
		}
		if w.doubled > 0 || len(w.disorder()) > 0 || w.allocated() != "a" {
			t.Fatalf("seed %d: doubled %d, disorder %v, allocated %q", seed, w.doubled, w.disorder(), w.allocated())
		}
	}
}
