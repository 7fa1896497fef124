package commit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/commit/requests"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
)

// forge writes an announcement on a claim as somebody does who may update nothing but annotations.
func forge(w *world, name, text string) {
	for range 3 {
		w.mu.Lock()
		claim := w.claims[ref(name)].DeepCopy()
		w.mu.Unlock()
		if claim.Annotations == nil {
			claim.Annotations = map[string]string{}
		}
		claim.Annotations[Annotation] = text
		if _, err := w.writeMeta(claim); err == nil {
			return
		}
	}
}

// forged is the text of an announcement of all devices of a world.
func forged(w *world, number string, n int) string {
	a := &Announcement{Run: number, Action: Allocating, By: fmt.Sprint("tenant ", n)}
	for _, d := range w.objects.Slices[0].Spec.Devices {
		a.Devices = append(a.Devices, AnnouncedDevice{Driver: "d", Pool: "p", Device: d.Name})
	}
	text, err := json.Marshal(a)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// TestForgedAnnouncements: whatever stands on the claim of somebody else, and however often it is written
// anew, a run gets its device in bounded time and with a bounded number of requests, and names whom it waited
// for.
func TestForgedAnnouncements(t *testing.T) {
	refreshes := []string{"never", "twice a second", "at every request", "before every update"}
	for _, number := range []string{"0", "", "zzz", strings.Repeat("!", 10_000)} {
		for _, refresh := range refreshes {
			for _, denied := range []bool{false, true} {
				for _, malformed := range []bool{false, true} {
					t.Run(fmt.Sprintf("%.5q refreshed %s, denied %v, malformed %v", number, refresh, denied, malformed), func(t *testing.T) {
						testForged(t, number, refresh, denied, malformed)
					})
				}
			}
		}
	}
}

func testForged(t *testing.T, number, refresh string, denied, malformed bool) {
	w := newWorld(2, "a", "t")
	begin, requests, written := w.now, 0, 0
	again := func() {
		written++
		text := forged(w, number, written)
		if malformed && written%2 == 0 {
			text = text[:len(text)/2]
		}
		forge(w, "t", text)
	}
	again()
	p := &process{w: w, denied: map[inspect.ClaimRef]bool{ref("t"): denied}}
	p.before = func(request string) error {
		requests++
		if refresh == "at every request" || refresh == "before every update" && request == "update" {
			again()
		}
		return nil
	}
	p.sleep = func(ctx context.Context, d time.Duration) error {
		for end := w.now.Add(d); w.now.Before(end); {
			w.now = w.now.Add(min(500*time.Millisecond, end.Sub(w.now)))
			if refresh == "twice a second" {
				again()
			}
		}
		return ctx.Err()
	}
	told := map[Step]int{}
	c := p.committer("5")
	c.Observe = func(e Event) { told[e.Step]++ }
	if _, _, err := c.Allocate(t.Context(), wanting("a")); err != nil {
		t.Error(err)
	}
	if w.allocated() != "a" || w.doubled > 0 || AnnouncementOn(w.claims[ref("a")]) != nil {
		t.Errorf("allocated %q, doubled %d; told %v", w.allocated(), w.doubled, told)
	}
	r := &run{Committer: c}
	if took := w.now.Sub(begin); took > r.maxWaiting()+2*r.patience()+2*time.Second || requests > 200 {
		t.Errorf("it took %v and %d requests; told %v", took, requests, told)
	}
	if told[Waiting] > 1 || told[Ignored] > 1 {
		t.Errorf("told again and again: %v", told)
	}
	if denied && told[Waiting]+told[Ignored]+told[Failed] == 0 && !malformed {
		t.Errorf("nobody was named: %v", told)
	}
}

// TestForgedOnOwnClaim: somebody who keeps changing the very claim cannot hold a run longer than its time.
func TestForgedOnOwnClaim(t *testing.T) {
	w := newWorld(1, "a")
	begin, n := w.now, 0
	p := &process{w: w, before: func(string) error { n++; forge(w, "a", forged(w, "0", n)); return nil }}
	c := p.committer("5")
	_, _, err := c.Allocate(t.Context(), wanting("a"))
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("given up after %d attempts", MaxAttempts)) {
		t.Error(err)
	}
	r := &run{Committer: c}
	if took := w.now.Sub(begin); took > r.maxTime() || n > 300 || w.allocated() != "" {
		t.Errorf("it took %v and %d requests; allocated %q", took, n, w.allocated())
	}
}

// TestTimeOfARun: a run whose every attempt fails ends when its time is over, also before the last attempt;
// how long the user thinks does not count.
func TestTimeOfARun(t *testing.T) {
	for _, asked := range []bool{false, true} {
		w := newWorld(1, "a")
		begin := w.now
		var thought time.Duration
		p := &process{w: w}
		p.before = func(request string) error {
			w.now = w.now.Add(3 * time.Second) // a slow server
			if request == "updateStatus" {
				w.version++
				w.claims[ref("a")].ResourceVersion = fmt.Sprint("touched ", w.version)
			}
			return nil
		}
		c := p.committer("5")
		if asked {
			c.Confirm = func(context.Context, *Decision) (bool, error) {
				w.now, thought = w.now.Add(time.Hour), thought+time.Hour
				return true, nil
			}
		}
		attempts := 1
		c.Observe = func(e Event) {
			if e.Step == Retrying {
				attempts++
			}
		}
		_, _, err := c.Allocate(t.Context(), wanting("a"))
		r := &run{Committer: c}
		if err == nil || !strings.Contains(err.Error(), "given up after "+r.maxTime().String()) || !errors.Is(err, requests.ErrConflict) {
			t.Errorf("asked %v: %v", asked, err)
		}
		took := w.now.Sub(begin) - thought
		if took < r.maxTime() || took > r.maxTime()+time.Minute || attempts >= MaxAttempts || attempts < 3 {
			t.Errorf("asked %v: %v and %d attempts", asked, took, attempts)
		}
		inOrder(t, w, "")
	}
}

// TestForgedPartOfARun: an announcement that claims to be of another run does not make that one's allocations
// incomplete.
func TestForgedPartOfARun(t *testing.T) {
	for _, number := range []string{"5", "6"} {
		w := newWorld(3, "a", "t", "z")
		killed := false
		killAt(w, 0, func(ctx context.Context, p *process) error {
			kill := p.before
			p.before, p.after = nil, func(request string) error {
				if request == "updateStatus" && !killed {
					killed = true
					return kill(request)
				}
				return nil
			}
			_, _, err := p.committer("5").Allocate(ctx, wanting("a"))
			return err
		})
		forge(w, "t", forged(w, number, 1))
		if _, err := (&process{w: w}).committer("9").Deallocate(t.Context(), []inspect.ClaimRef{ref("z")}); err != nil {
			t.Fatal(err)
		}
		inOrder(t, w, "a")
	}
}

// TestStrangersFewSwitches is TestFewSwitches for two runs that may not update the claim of each other.
func TestStrangersFewSwitches(t *testing.T) {
	switches := effort.Of(5, 4)
	var path, options []int
	orders, served, doubled := 0, 0, 0
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
		enter := func(number, name, other string) *actor {
			return s.enter(0, func(a *actor, p *process) {
				p.denied = map[inspect.ClaimRef]bool{ref(other): true}
				allocates(number, name)(a, p)
			})
		}
		a, b := enter("1", "a", "b"), enter("2", "b", "a")
		s.play(t)
		orders++
		doubled += w.doubled
		if len(w.disorder()) > 0 || a.err != nil || b.err != nil {
			t.Fatalf("order %v: disorder %v, errors %v and %v", path, w.disorder(), a.err, b.err)
		}
		if a.refused != b.refused {
			served++
		}
		if path = nextPath(path[:depth], options, switches); path == nil {
			break
		}
	}
	if served != orders || doubled > 0 {
		t.Errorf("%d of %d orders gave the device to one of the two; %d times both held it for a moment", served, orders, doubled)
	}
	t.Logf("%d orders", orders)
}

// tenant is an actor that keeps writing announcements, some of them in the name of honest runs, on its claim.
func tenant(rng *rand.Rand, name string, times int) func(*actor, *process) {
	numbers := []string{"0", "", "zzz", "1", "2"}
	return func(a *actor, p *process) {
		for i := range times {
			text := forged(p.w, numbers[rng.IntN(len(numbers))], i)
			if rng.IntN(5) == 0 {
				text = text[:rng.IntN(len(text))]
			}
			forge(p.w, name, text)
			a.pause(time.Duration(rng.IntN(3)) * 300 * time.Millisecond)
		}
	}
}

// strangers enters runs of which some are killed, some are slow, and none may update all claims.
func strangers(rng *rand.Rand, s *stage) {
	numbers := rng.Perm(3)
	groups := [][]string{{"a"}, {"b"}, {"c", "e"}}
	for i, names := range groups {
		killAt := 0
		if rng.IntN(4) == 0 {
			killAt = 1 + rng.IntN(14)
		}
		denied := map[inspect.ClaimRef]bool{ref("t"): rng.IntN(2) == 0}
		for _, other := range slices.Concat(groups...) {
			if !slices.Contains(names, other) && rng.IntN(2) == 0 {
				denied[ref(other)] = true
			}
		}
		slow := rng.IntN(2) == 0
		s.enter(killAt, func(a *actor, p *process) {
			p.denied = denied
			p.before = func(string) error {
				d := time.Duration(0)
				if slow && rng.IntN(6) == 0 {
					d = time.Duration(rng.IntN(20)) * time.Second
				}
				a.pause(d)
				return nil
			}
			allocates(fmt.Sprint(numbers[i]), names...)(a, p)
		})
	}
}

// TestStrangersInRandomOrders lets runs that may not update all claims of each other, some of which are
// killed, some of which wait arbitrarily long between requests, act beside somebody who forges announcements.
// When all is quiet, and one more run was made by somebody who may update everything, nothing is left of it,
// and no device has two holders; without a killed run that is so before.
func TestStrangersInRandomOrders(t *testing.T) {
	total := struct{ doubled, takenBack, revoked, waiting, ignored, killed, retries, left, gaveUp, unseen int }{}
	seeds := []uint64{12906, 14636, 28960, 33032, 36593} // an announcement was removed while its run took back
	for seed := range uint64(effort.Of(1500, 40)) {
		seeds = append(seeds, seed)
	}
	for _, seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 11)) //nolint:gosec // orders are to be found again
		w := newWorld(2+rng.IntN(3), "a", "b", "c", "e", "t")
		s := newStage(w)
		s.choose = rng.IntN
		s.lapse = func() bool { return rng.IntN(15) == 0 }
		strangers(rng, s)
		s.enter(0, tenant(rng, "t", rng.IntN(60)))
		s.play(t)
		ignored, killed := 0, 0
		for _, a := range s.actors {
			if a.killed {
				killed++
			} else if a.err != nil {
				total.gaveUp++
				if !strings.Contains(a.err.Error(), "given up after") && !strings.Contains(a.err.Error(), "took the allocation") {
					t.Errorf("seed %d: %v", seed, a.err)
				}
			}
			ignored += a.steps[Ignored]
			total.takenBack += a.steps[TakenBack]
			total.revoked += a.steps[Revoked]
			total.waiting += a.steps[Waiting]
			total.retries += a.steps[Retrying]
			total.left += a.steps[FinishedLeft] + a.steps[UndoneLeft]
		}
		total.killed += killed
		total.ignored += ignored
		total.doubled += w.doubled
		if w.doubled > 0 && ignored == 0 {
			t.Errorf("seed %d: a device was taken twice though no announcement was ignored", seed)
		}
		for _, claim := range w.list() {
			if n := w.holders(claim); n > 0 && killed == 0 {
				t.Errorf("seed %d: a device of %s has %d other holders", seed, claim.Name, n)
			} else if n > 0 {
				total.unseen++
			}
		}
		if _, err := (&process{w: w}).committer("5").Deallocate(t.Context(), []inspect.ClaimRef{ref("t")}); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		for _, problem := range w.disorder() {
			t.Errorf("seed %d: %s", seed, problem)
		}
	}
	if total.doubled == 0 || total.takenBack == 0 || total.ignored == 0 || total.killed == 0 || total.revoked == 0 {
		t.Errorf("the orders are too tame: %+v", total)
	}
	t.Logf("%+v", total)
}
