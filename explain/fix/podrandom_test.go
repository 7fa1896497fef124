package fix_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
)

// TestFixesOfRandomPods compares conflicts and fixes of refused pods with what trying everything gives, with
// devices and all filters in one problem.
func TestFixesOfRandomPods(t *testing.T) {
	refused, tally := 0, map[string]int{}
	want := effort.Of(2000, 100)
	if *explaintest.Thorough {
		want = 20_000
	}
	for seed := 1; refused < want; seed++ {
		if checkPod(t, seed, tally) {
			refused++
		}
	}
	t.Log(tally)
	for key, least := range podCoverage {
		if least = least * want / 2000; tally[key] < least {
			t.Errorf("%s: %d, want at least %d", key, tally[key], least)
		}
	}
}

// podCoverage is how often each matter has to come up among 2,000 refused pods.
var podCoverage = map[string]int{
	"requirement Constraint": 8, "requirement Cordon": 10, "requirement Count": 100, "requirement DeclaredFeature": 10, "requirement HeldBy": 10,
	"requirement NodeAffinity": 50, "requirement NodeTaint": 25, "requirement PodAffinity": 150, "requirement Pods": 15, "requirement Port": 15,
	"requirement RepelledBy": 30, "requirement Request": 40, "requirement Resource": 400, "requirement Spread": 30, "requirement Taint": 8,
	"requirement Term": 20, "requirement Volume": 50, "several requirements": 30,
	"fix AddDevices": 60, "fix AddNode": 100, "fix DropConstraint": 80, "fix MovePod": 100, "fix ReduceCount": 150, "fix ReduceRequest": 80, "fix RelaxSelector": 60,
	"fix ReleaseClaim": 30, "fix TolerateTaint": 30, "fix UncordonNode": 10, "fix WaitFor": 5, "several changes": 200,
	"largest requests": 40, "largest requests of several changes": 60, "largest counts": 40, "fewest pods": 100, "parts of fixes left out": 600,
}

// TestFixesOfHardPods does so for pods that were answered wrongly once.
func TestFixesOfHardPods(t *testing.T) {
	for seed, why := range map[int]string{
		49:   "one more node like n1 has the pods of daemon sets, too",
		148:  "a pod that repels the pod was also taken for the room that it takes",
		166:  "to do without one volume is not to attach fewer than the node can",
		190:  "a volume that is refused twice",
		304:  "a port of a pod in the network of its node",
		421:  "a claim was blamed for the CPUs of its pod",
		552:  "one more node like n1 attaches no more volumes",
		759:  "the end of pods in the zone lets the spread be",
		1131: "of two containers, now the one and now the other was to ask for less",
		1236: "of the pods that take room, one has to stay: the pod wants to be with it",
		2292: "less CPU than is left once the claim is released, and its pod has ended",
		3646: "without the node selector, a spread constraint refuses the node",
		5533: "the same, with a node affinity",
		6933: "the node selector decides about a spread over nodes that match it",
	} {
		t.Run(why, func(t *testing.T) {
			if !checkPod(t, seed, map[string]int{}) {
				t.Error("it is not refused")
			}
		})
	}
}

// checkPod checks the explanation of a random pod, and reports whether it was refused.
func checkPod(t *testing.T, seed int, tally map[string]int) bool {
	t.Helper()
	p := podProblem{newProblemMaker(seed).problem()}
	e := explainedAsked(t, p)
	if fits := p.fitsSomewhere(t) != ""; fits != (e.Verdict == explain.Allocatable) {
		t.Errorf("seed %d: %s, but it fits: %t", seed, e.Verdict, fits)
	}
	if e.Verdict != explain.Unsatisfiable {
		return false
	}
	c := podChecks{t, seed, p, e, tally}
	if again := explainedAsked(t, p); !reflect.DeepEqual(again, e) {
		c.wrong("asked again, it is explained otherwise: %+v", again)
	}
	c.conflict()
	for i := range e.Fixes {
		c.fix(&e.Fixes[i])
		c.least(&e.Fixes[i])
	}
	c.missed()
	return true
}

func explainedAsked(t *testing.T, p podProblem) *explain.Explanation {
	t.Helper()
	e, err := question.Pod(context.Background(), explaintest.NewCluster(p.Objects), inspect.PodRef{Namespace: "default", Name: askedPod}, question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// podChecks compares what is said of one pod.
type podChecks struct {
	*testing.T
	seed    int
	problem podProblem
	e       *explain.Explanation
	tally   map[string]int
}

func (c *podChecks) wrong(format string, args ...any) {
	c.Helper()
	c.Errorf("seed %d: %s\n\t%s", c.seed, fmt.Sprintf(format, args...), c.e.Message)
}

// conflict checks that a conflict cannot hold together, that every part of it can, and what is said of its
// requirements.
func (c *podChecks) conflict() {
	if c.e.Conflict == nil {
		c.wrong("no conflict")
		return
	}
	node := string(c.e.Conflict.Node)
	all := c.problem.wants(c.T, node)
	var core []string
	for i := range c.e.Conflict.Requirements {
		r := &c.e.Conflict.Requirements[i]
		core = append(core, wantKey(r))
		c.tally["requirement "+string(r.Kind)]++
		if r.Kind == explain.SpreadRequired && r.Actual == "" {
			c.wrong("what a spread constraint has against %s is not said", node)
		}
	}
	if c.problem.spec() != nil && !c.problem.given(all, func(string) bool { return true }).fits(c.T, node) {
		all = c.problem.withRequests(all) // it has not got any such devices
	}
	for _, key := range core {
		if !slices.ContainsFunc(all, func(w want) bool { return w.key == key }) {
			c.wrong("%q is not wanted on %s", key, node)
		}
	}
	if len(core) > 1 {
		c.tally["several requirements"]++
	}
	for bits := range 1 << len(core) {
		var kept []string
		for i := range core {
			if bits&(1<<i) != 0 {
				kept = append(kept, core[i])
			}
		}
		fits := c.problem.given(all, func(key string) bool { return !slices.Contains(kept, key) }).fits(c.T, node)
		if whole := len(kept) == len(core); fits == whole {
			c.wrong("conflict %q on %s: with %q alone in force it fits: %t", core, node, kept, fits)
		}
	}
	sole := true
	for i := range c.e.Conflict.Requirements {
		r := &c.e.Conflict.Requirements[i]
		alone := c.problem.given(all, func(key string) bool { return key == core[i] }).fits(c.T, node)
		if alone != r.Alone {
			c.wrong("%q helps alone on %s: %t, want %t", core[i], node, r.Alone, alone)
		}
		sole = sole && alone
	}
	if c.e.Conflict.Sole != sole || c.e.Conflict.Unproven || len(c.e.Conflict.Background) > 0 {
		c.wrong("sole %t, want %t; %+v", c.e.Conflict.Sole, sole, c.e.Conflict)
	}
}

// fix carries a fix out, and asks again.
func (c *podChecks) fix(f *explain.Fix) {
	c.tally["fix "+string(f.Kind)]++
	c.tally["several changes"] += min(1, len(f.Also))
	after, node := c.problem.carriedOut(c.T, f)
	again := explainedAsked(c.T, after)
	switch {
	case f.Like != "":
		if again.Verdict != explain.Allocatable || !after.fits(c.T, node) || f.Nodes != 1 {
			c.wrong("with one more node like %s it is %s: %s", f.Like, again.Verdict, again.Message)
		}
	case again.Verdict != explain.Allocatable || again.Nodes.Allocatable != f.Nodes || !after.fits(c.T, string(f.Node)):
		data, _ := json.Marshal(f)
		c.wrong("after %s it is %s on %d nodes: %s", data, again.Verdict, again.Nodes.Allocatable, again.Message)
	}
}
