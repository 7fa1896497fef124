package commit

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
)

// memory is what a kube-scheduler knows. As in 1.37 it keeps the devices in use as a set: a claim that is
// allocated adds its devices, one that is cleared removes them, whoever else holds them.
type memory struct {
	w        *world
	inUse    map[inspect.DeviceID]bool
	inFlight map[inspect.DeviceID]bool // decided and not written
	// lag is how much later than claims it hears of DeviceTaintRules: they come by another watch.
	lag time.Duration
}

// remember gives the world a scheduler.
func remember(w *world, lag time.Duration) *memory {
	m := &memory{w: w, inUse: map[inspect.DeviceID]bool{}, inFlight: map[inspect.DeviceID]bool{}, lag: lag}
	w.wrote = func(was, is *resourcev1.ResourceClaim) {
		switch {
		case was.Status.Allocation == nil && is.Status.Allocation != nil:
			for _, id := range exclusive(is) {
				m.inUse[id] = true
			}
		case was.Status.Allocation != nil && is.Status.Allocation == nil:
			for _, id := range exclusive(was) {
				delete(m.inUse, id)
			}
		}
	}
	return m
}

// free returns the devices that the scheduler takes for free.
func (m *memory) free() []inspect.DeviceID {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	tainted := map[inspect.DeviceID]bool{}
	for _, rule := range m.w.objects.TaintRules {
		if id, ok := fencedBy(rule); ok && !m.w.now.Before(m.w.made[rule.Name].Add(m.lag)) {
			tainted[id] = true
		}
	}
	var out []inspect.DeviceID
	for _, d := range m.w.objects.Slices[0].Spec.Devices {
		id := inspect.DeviceID{Driver: "d", Pool: "p", Device: d.Name}
		if !m.inUse[id] && !m.inFlight[id] && !tainted[id] {
			out = append(out, id)
		}
	}
	return out
}

// schedules is an actor that tries again and again to allocate a claim for each pod, for a minute.
func (m *memory) schedules(names ...string) func(*actor, *process) {
	return func(a *actor, p *process) {
		for end := m.w.now.Add(time.Minute); len(names) > 0 && m.w.now.Before(end); {
			free := m.free()
			if len(free) == 0 {
				a.pause(100 * time.Millisecond)
				continue
			}
			m.inFlight[free[0]] = true
			a.pause(0)
			if bind(context.Background(), p, names[0], free[0].Device) == nil {
				names = names[1:]
			}
			delete(m.inFlight, free[0])
		}
	}
}

// fought is what became of many fights between runs and a scheduler that forgets.
type fought struct {
	// twice are devices that two claims hold in the end, and forgotten those that a claim holds and the
	// scheduler would give away.
	twice, forgotten                            int
	takenBack, fenced, unfenced, lifted, killed int
}

// fight has runs, some of which are killed, and a scheduler with more pods than devices act in random order.
// It looks at the world when all is quiet and one more run was made.
func fight(t *testing.T, seeds uint64, setUp func(*Committer)) (total fought) {
	t.Helper()
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 7)) //nolint:gosec // orders are to be found again
		w := newWorld(2+rng.IntN(3), "a", "b", "c", "e", "s0", "s1", "s2", "s3", "s4")
		m := remember(w, time.Duration(rng.IntN(1500))*time.Millisecond)
		s := newStage(w)
		s.choose = rng.IntN
		steps := map[Step]int{}
		run := func(p *process, number string) *Committer {
			c := p.committer(number)
			c.Observe = func(e Event) { steps[e.Step]++ }
			setUp(c)
			return c
		}
		for i, names := range [][]string{{"a"}, {"b"}, {"c", "e"}} {
			killAt := 0
			if rng.IntN(3) == 0 {
				killAt = 1 + rng.IntN(20)
			}
			s.enter(killAt, func(a *actor, p *process) {
				_, _, a.err = run(p, fmt.Sprint(i)).Allocate(context.Background(), wanting(names...))
			})
		}
		s.enter(0, m.schedules("s0", "s1", "s2", "s3", "s4"))
		s.play(t)
		if _, err := run(&process{w: w}, "5").Deallocate(t.Context(), []inspect.ClaimRef{ref("a")}); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		w.now = w.now.Add(time.Minute)
		for _, claim := range w.list() {
			total.twice += w.holders(claim)
			for _, id := range exclusive(claim) {
				if slices.Contains(m.free(), id) {
					total.forgotten++
				}
			}
		}
		leave(w)
		if _, _, err := run(&process{w: w}, "6").Allocate(t.Context(), wanting("a", "b")); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		for _, problem := range w.disorder() {
			t.Errorf("seed %d, after all pods left: %s", seed, problem)
		}
		for _, a := range s.actors {
			if a.killed {
				total.killed++
			}
		}
		total.takenBack += steps[TakenBack] + steps[UndoneLeft]
		total.fenced += steps[Fenced]
		total.unfenced += steps[Unfenced]
		total.lifted += steps[Lifted]
	}
	t.Logf("%+v", total)
	return total
}

// leave clears all claims.
func leave(w *world) {
	for _, claim := range w.list() {
		w.claims[inspect.RefOf(claim)].Status.Allocation, w.claims[inspect.RefOf(claim)].Status.ReservedFor = nil, nil
		unmark(w.claims[inspect.RefOf(claim)])
	}
}

// TestFencedDevicesAreNotGivenTwice: with fences nothing is given away twice, however late the scheduler
// hears of them, up to the time that a run waits. Without them it is; so the fight is one that needs them.
func TestFencedDevicesAreNotGivenTwice(t *testing.T) {
	with := fight(t, uint64(effort.Of(600, 150)), func(*Committer) {})
	if with.twice > 0 || with.forgotten > 0 || with.fenced == 0 || with.lifted == 0 || with.unfenced > 0 || with.killed == 0 {
		t.Errorf("with fences: %+v", with)
	}
	without := fight(t, uint64(effort.Of(300, 75)), func(c *Committer) { c.Rules, c.NoRules = nil, errors.New("no permission") })
	if without.twice == 0 || without.fenced > 0 || without.unfenced == 0 {
		t.Errorf("without fences: %+v", without)
	}
}

// TestFenceAtTheLastMoment: another claim gets the device between the last look and the clearing.
func TestFenceAtTheLastMoment(t *testing.T) {
	w := newWorld(1, "a", "b")
	m := remember(w, 0)
	ctx, cancel := context.WithCancel(t.Context())
	p := &process{w: w, sleep: func(ctx context.Context, _ time.Duration) error { cancel(); return ctx.Err() }}
	p.before = func(request string) error {
		if request == "updateStatus" && ctx.Err() != nil && w.allocated() == "a" {
			return bind(context.Background(), &process{w: w}, "b", "x0")
		}
		return nil
	}
	c := p.committer("1")
	var steps []Step
	c.Observe = func(e Event) { steps = append(steps, e.Step) }
	if _, _, err := c.Allocate(ctx, wanting("a")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	inOrder(t, w, "b")
	if free := m.free(); len(free) > 0 {
		t.Errorf("the scheduler would give %v away again, after %v", free, steps)
	}
}

// TestDeallocateOneOfTwoHolders: who clears the mess that a run had to leave makes no new one.
func TestDeallocateOneOfTwoHolders(t *testing.T) {
	deallocate := func(ctx context.Context, p *process) error {
		_, err := p.committer("1").Deallocate(ctx, []inspect.ClaimRef{ref("a")})
		return err
	}
	for n, killed := 0, true; killed; n++ {
		w := newWorld(1, "a", "b", "z")
		m := remember(w, 1500*time.Millisecond)
		for _, name := range []string{"a", "b"} {
			if err := bind(t.Context(), &process{w: w}, name, "x0"); err != nil {
				t.Fatal(err)
			}
			w.claims[ref(name)].Status.ReservedFor = nil
		}
		killed = killAt(w, n, deallocate)
		if free := m.free(); len(free) > 0 {
			t.Errorf("killed at %d: the scheduler would give %v away again", n, free)
		}
		for _, name := range []string{"z", "a", "b"} {
			if _, err := (&process{w: w}).committer("2").Deallocate(t.Context(), []inspect.ClaimRef{ref(name)}); err != nil {
				t.Fatal(err)
			}
		}
		inOrder(t, w, "")
	}
}

// TestNamesOfFences: runs that see the same make one rule; one of somebody else's making is let alone.
func TestNamesOfFences(t *testing.T) {
	w := newWorld(1, "a", "b")
	p := &process{w: w}
	e := endangered{device: inspect.DeviceID{Driver: "d", Pool: "p", Device: "x0"}, with: []inspect.ClaimRef{ref("b")}, uid: "uid-b"}
	for _, number := range []string{"1", "2"} {
		r, err := p.committer(number).newRun()
		if err != nil {
			t.Fatal(err)
		}
		if !r.fence(t.Context(), []endangered{e}) || r.fence(t.Context(), []endangered{e}) {
			t.Error("a rule is fresh once for every run")
		}
	}
	if len(w.objects.TaintRules) != 1 {
		t.Errorf("%d rules for one device and one claim", len(w.objects.TaintRules))
	}
	other := w.objects.TaintRules[0].DeepCopy()
	other.Name, other.UID, other.Labels = "other", "other", nil
	w.objects.TaintRules = append(w.objects.TaintRules, other)
	r, err := p.committer("3").newRun()
	if err != nil {
		t.Fatal(err)
	}
	r.liftLeft(t.Context())
	if len(w.objects.TaintRules) != 1 || w.objects.TaintRules[0].Name != "other" {
		t.Errorf("left are %v", w.objects.TaintRules)
	}
}
