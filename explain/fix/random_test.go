package fix_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
)

// demand is a requirement of a small problem, and how it is relaxed.
type demand struct {
	key   string
	relax func(*smallProblem)
	// single is the kind of the fix that drops it. It is "" if no fix does.
	single explain.FixKind
}

// demands lists the requirements that decide about a node, by the definition in package conflict.
func (p *smallProblem) demands(node int) []demand {
	var out []demand
	for i := range p.requests {
		if len(p.requests[i].subs) == 0 {
			out = append(out, p.requestDemands(node, p.requests[i].name, func(p *smallProblem) *smallRequest { return &p.requests[i] })...)
		}
		for j := range p.requests[i].subs {
			name := p.requests[i].name + "/" + p.requests[i].subs[j].name
			out = append(out, p.requestDemands(node, name, func(p *smallProblem) *smallRequest { return &p.requests[i].subs[j] })...)
		}
	}
	for i := range p.constraints {
		out = append(out, demand{fmt.Sprint("Constraint ", i), func(p *smallProblem) { p.constraints[i].isDropped = true }, explain.DropConstraint})
	}
	if slices.ContainsFunc(p.nodes[node], func(d smallDevice) bool { return d.counters > 0 }) {
		out = append(out, demand{"Counters", func(p *smallProblem) { p.plenty = true }, ""})
	}
	for _, h := range p.holders {
		if h.node == node {
			out = append(out, demand{"HeldBy default/" + h.name, func(p *smallProblem) {
				p.holders = slices.DeleteFunc(p.holders, func(o smallHolder) bool { return o.name == h.name })
			}, explain.ReleaseClaim})
		}
	}
	return out
}

// requestDemands lists the requirements of one request.
func (p *smallProblem) requestDemands(node int, name string, at func(*smallProblem) *smallRequest) []demand {
	r := at(p)
	var out []demand
	if r.all || r.count > 1 {
		out = append(out, demand{"Count " + name, func(p *smallProblem) { at(p).all, at(p).count = false, 1 }, explain.ReduceCount})
	}
	for j := range r.selectors {
		for k, term := range r.selectors[j] {
			out = append(out, demand{fmt.Sprintf("Term %s %d %s", name, j, term), func(p *smallProblem) { at(p).selectors[j][k] = "" }, explain.RelaxSelector})
		}
	}
	if p.classTerm {
		out = append(out, demand{"ClassTerm " + name, func(p *smallProblem) { at(p).loose = true }, ""})
	}
	if r.bandwidth > 0 {
		out = append(out, demand{"Capacity " + name, func(p *smallProblem) {
			at(p).bandwidth = 0
			if slices.ContainsFunc(p.nodes[node], func(d smallDevice) bool { return d.shared }) {
				at(p).bandwidth = 1
			}
		}, explain.ReduceCapacity})
	}
	for _, key := range []string{"k1", "k2"} {
		tainted := slices.ContainsFunc(p.nodes[node], func(d smallDevice) bool { return d.taint == key })
		if tainted && !slices.Contains(r.tolerates, key) {
			out = append(out, demand{fmt.Sprintf("Taint %s %s:NoSchedule", name, key), func(p *smallProblem) {
				at(p).tolerates = append(at(p).tolerates, key)
			}, explain.TolerateTaint})
		}
	}
	return out
}

// indexIn finds the index of a selector or constraint in a path.
var indexIn = regexp.MustCompile(`(selectors|constraints)\[(\d+)\]`)

// keyOf names a requirement as demands does.
func keyOf(r *explain.Requirement) string {
	index := ""
	if m := indexIn.FindStringSubmatch(r.Path); m != nil {
		index = m[2]
	}
	switch r.Kind {
	case explain.TermRequired:
		return fmt.Sprintf("Term %s %s %s", r.Request, index, r.Term)
	case explain.ConstraintRequired:
		return "Constraint " + index
	case explain.TaintRequired:
		return fmt.Sprintf("Taint %s %s", r.Request, r.Taint)
	case explain.HeldRequired:
		return "HeldBy " + r.Holder.Claim.String()
	case explain.CountersRequired:
		return "Counters"
	}
	return string(r.Kind) + " " + r.Request
}

// fits reports whether the problem can be solved on a node.
func (p *smallProblem) fits(t *testing.T, node int) bool {
	t.Helper()
	return fitsOn(t, p.objects(), p.claim(), explaintest.NodeName(node))
}

// relaxed returns the problem with the chosen demands relaxed.
func (p *smallProblem) relaxed(demands []demand, choose func(key string) bool) *smallProblem {
	out := p.clone()
	for _, d := range demands {
		if choose(d.key) {
			d.relax(out)
		}
	}
	return out
}

// TestFixesOfRandomProblems compares conflicts and fixes with what trying everything gives.
func TestFixesOfRandomProblems(t *testing.T) {
	want := effort.Of(400, 80)
	if *explaintest.Thorough {
		want = 5000
	}
	tally := map[string]int{}
	for seed := uint64(1); tally["problems"] < want; seed++ {
		checkProblem(t, seed, tally)
	}
	t.Log(tally)
}

// TestFixesOfHardProblems does so for problems of the thorough run that were answered wrongly once.
func TestFixesOfHardProblems(t *testing.T) {
	for seed, why := range map[uint64]string{
		1528: "a term of a class was dropped for one request, so that another claim had to be released",
		3643: "the same, with alternatives",
		5224: "a count of 83290 was proposed for an alternative that is not the one which fits",
	} {
		t.Run(why, func(t *testing.T) {
			if tally := map[string]int{}; !checkProblem(t, seed, tally) {
				t.Error("it can be allocated")
			}
		})
	}
}

// checkProblem checks the explanation of a random problem, and reports whether the problem has no solution,
// so that there was something to check.
func checkProblem(t *testing.T, seed uint64, tally map[string]int) bool {
	t.Helper()
	p := randomProblem(rand.New(rand.NewPCG(seed, 3)))
	c := explaintest.NewCluster(p.objects())
	e, err := question.ClaimObject(context.Background(), c, p.claim(), question.Options{})
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	if e.Verdict != explain.Unsatisfiable {
		return false
	}
	tally["problems"]++
	p.checkConflict(t, seed, e, tally)
	for i := range e.Fixes {
		p.checkFix(t, seed, &e.Fixes[i])
		p.checkBlockers(t, seed, e, &e.Fixes[i], tally)
		tally["fix "+string(e.Fixes[i].Kind)]++
	}
	p.checkMissed(t, seed, e)
	p.checkNoHelp(t, seed, e, tally)
	if t.Failed() {
		data, _ := json.Marshal(p.claim().Spec)
		t.Fatalf("seed %d: %+v\n%s", seed, p, data)
	}
	return true
}

// checkConflict checks both conditions of a conflict, and what is said of its requirements.
func (p *smallProblem) checkConflict(t *testing.T, seed uint64, e *explain.Explanation, tally map[string]int) {
	t.Helper()
	if e.Conflict == nil {
		t.Errorf("seed %d: no conflict", seed)
		return
	}
	var node int
	if _, err := fmt.Sscanf(string(e.Conflict.Node), "n%d", &node); err != nil {
		t.Fatal(err)
	}
	demands := p.demands(node)
	core := map[string]bool{}
	whole := false
	for i := range e.Conflict.Requirements {
		r := &e.Conflict.Requirements[i]
		if r.Kind == explain.RequestRequired {
			whole = true
		}
		core[keyOf(r)] = true
	}
	if whole {
		tally["conflicts of whole requests"]++
		for i := range p.requests {
			demands = append(demands, demand{"Request " + p.requests[i].name, func(p *smallProblem) { p.requests[i].isDropped = true }, ""})
		}
	}
	background := map[string]bool{}
	for i := range e.Conflict.Background {
		background[keyOf(&e.Conflict.Background[i])] = true
	}
	demands = slices.DeleteFunc(demands, func(d demand) bool { return background[d.key] })
	tally["conflicts with a background"] += min(len(background), 1)
	if len(background) > 0 && !p.wantsAll() {
		t.Errorf("seed %d: background %v", seed, background)
	}
	for key := range core {
		if !slices.ContainsFunc(demands, func(d demand) bool { return d.key == key }) {
			t.Errorf("seed %d: %q is not a requirement", seed, key)
		}
	}
	if p.relaxed(demands, func(key string) bool { return !core[key] }).fits(t, node) {
		t.Errorf("seed %d: %v can hold together", seed, core)
	}
	sole := true
	for i := range e.Conflict.Requirements {
		r := &e.Conflict.Requirements[i]
		if !p.relaxed(demands, func(key string) bool { return !core[key] || key == keyOf(r) }).fits(t, node) {
			t.Errorf("seed %d: %v does without %q", seed, core, keyOf(r))
		}
		alone := p.relaxed(demands, func(key string) bool { return key == keyOf(r) }).fits(t, node)
		if alone != r.Alone {
			t.Errorf("seed %d: %q alone: %t, want %t", seed, keyOf(r), r.Alone, alone)
		}
		sole = sole && alone
	}
	if e.Conflict.Sole != sole || e.Conflict.Unproven {
		t.Errorf("seed %d: sole %t, want %t; unproven %t", seed, e.Conflict.Sole, sole, e.Conflict.Unproven)
	}
	tally["sole"] += map[bool]int{true: 1}[sole]
	for _, d := range demands { // what helps alone is in every conflict, unless "all" makes things worse
		if !core[d.key] && !p.wantsAll() && p.relaxed(demands, func(key string) bool { return key == d.key }).fits(t, node) {
			t.Errorf("seed %d: %q helps alone and is not in %v", seed, d.key, core)
		}
	}
	p.checkSmallest(t, demands, len(core), node, tally)
}

// wantsAll reports whether some request is for all devices, so that to relax a requirement may make matters
// worse.
func (p *smallProblem) wantsAll() bool {
	return slices.ContainsFunc(p.requests, func(r smallRequest) bool {
		return r.all || slices.ContainsFunc(r.subs, func(s smallRequest) bool { return s.all })
	})
}

// checkSmallest counts how often a smaller conflict exists.
func (p *smallProblem) checkSmallest(t *testing.T, demands []demand, size, node int, tally map[string]int) {
	t.Helper()
	if size < 2 || len(demands) > 10 || !*explaintest.Thorough {
		return
	}
	tally["checked for smaller"]++
	for bits := range 1 << len(demands) {
		n := 0
		core := map[string]bool{}
		for i := range demands {
			if bits&(1<<i) != 0 {
				n++
				core[demands[i].key] = true
			}
		}
		if n == size-1 && !p.relaxed(demands, func(key string) bool { return !core[key] }).fits(t, node) {
			tally["a smaller one exists"]++
			t.Logf("conflict of %d requirements, but %v cannot hold together either; all wanted: %t", size, core, p.wantsAll())
			return
		}
	}
}

// checkFix makes the change of a fix, and checks on how many nodes it helps.
func (p *smallProblem) checkFix(t *testing.T, seed uint64, f *explain.Fix) {
	t.Helper()
	switch f.Kind {
	case explain.AddDevices:
		return // nothing in it says what exactly is added; see TestAddDevices
	case explain.AddNode:
		if f.Nodes != 1 || f.Node != "" || !p.withCopyOf(t, f.Like).fits(t, len(p.nodes)) {
			t.Errorf("seed %d: one more node does not help: %+v", seed, f)
		}
		return
	case explain.UseNode, explain.CreateClass, explain.UseClaim, explain.EnableFeature:
		t.Errorf("seed %d: unexpected fix %+v", seed, f)
		return
	}
	at := slices.IndexFunc(f.Changes, func(c explain.ObjectChange) bool { return c.Kind == "ResourceClaim" })
	if at < 0 && len(f.Patch) > 0 || at >= 0 && !reflect.DeepEqual(f.Changes[at].Patch, f.Patch) {
		t.Errorf("seed %d: the change of the claim is not the patch: %+v", seed, f)
	}
	o, claim := p.changed(t, f)
	nodes := 0
	for n := range p.nodes {
		fits := fitsOn(t, o, claim, explaintest.NodeName(n))
		if fits {
			nodes++
		}
		if !fits && explaintest.NodeName(n) == string(f.Node) {
			t.Errorf("seed %d: fix does not help on %s: %+v", seed, f.Node, f)
		}
	}
	if nodes != f.Nodes {
		t.Errorf("seed %d: fix helps on %d nodes, not %d: %+v", seed, nodes, f.Nodes, f)
	}
}

// withCopyOf returns the problem with one more node, like one that there is, of which nothing is held.
func (p *smallProblem) withCopyOf(t *testing.T, like inspect.NodeName) *smallProblem {
	t.Helper()
	var node int
	if _, err := fmt.Sscanf(string(like), "n%d", &node); err != nil {
		t.Fatal(err)
	}
	out := p.clone()
	out.nodes = append(out.nodes, out.nodes[node])
	return out
}

// changed returns the problem with the change of a fix made.
func (p *smallProblem) changed(t *testing.T, f *explain.Fix) (inspect.Objects, *resourcev1.ResourceClaim) {
	t.Helper()
	o, claim := p.objects(), p.claim()
	if len(f.Patch) > 0 {
		claim = patched(t, claim, f.Patch)
	}
	for _, c := range f.Changes {
		if c.Kind == "DeviceClass" {
			at := slices.IndexFunc(o.Classes, func(class *resourcev1.DeviceClass) bool { return class.Name == c.Name })
			o.Classes[at] = patched(t, o.Classes[at], c.Patch)
		}
	}
	for _, h := range f.Claims {
		for _, c := range o.Claims {
			if c.Name == h.Claim.Name {
				c.Status = resourcev1.ResourceClaimStatus{}
			}
		}
	}
	return o, claim
}

// checkBlockers makes the change of a fix but for one of its other blockers, and checks that it does not
// help. Terms of selectors are left out, since several changes may be one operation of the patch.
func (p *smallProblem) checkBlockers(t *testing.T, seed uint64, e *explain.Explanation, f *explain.Fix, tally map[string]int) {
	t.Helper()
	for i := range f.OtherBlockers {
		r := &f.OtherBlockers[i]
		tally["blocker "+string(r.Kind)]++
		if slices.ContainsFunc(e.Conflict.Requirements, func(c explain.Requirement) bool { return keyOf(&c) == keyOf(r) }) {
			t.Errorf("seed %d: %q is part of the conflict", seed, keyOf(r))
		}
		rest := *f
		switch r.Kind {
		case explain.HeldRequired:
			rest.Claims = slices.DeleteFunc(slices.Clone(f.Claims), func(h explain.Holder) bool { return h.Claim == r.Holder.Claim })
		case explain.ConstraintRequired, explain.CountRequired:
			field := "/" + strings.NewReplacer(".", "/", "[", "/", "]", "", "/matchAttribute", "", "/distinctAttribute", "").Replace(r.Path)
			rest.Patch = slices.DeleteFunc(slices.Clone(f.Patch), func(op explain.PatchOperation) bool { return strings.HasPrefix(field, op.Path) })
		default:
			continue
		}
		if len(rest.Claims) == len(f.Claims) && len(rest.Patch) == len(f.Patch) {
			continue // a constraint whose index is another by then
		}
		o, claim := p.changed(t, &rest)
		if fitsOn(t, o, claim, string(e.Conflict.Node)) {
			t.Errorf("seed %d: the fix does without %q: %+v", seed, keyOf(r), f)
		}
	}
}

// checkMissed drops every single requirement, and checks that there is a fix of that kind if it helps.
func (p *smallProblem) checkMissed(t *testing.T, seed uint64, e *explain.Explanation) {
	t.Helper()
	if len(e.Fixes) >= 8 {
		return // the rest was left out
	}
	for node := range p.nodes {
		for _, d := range p.demands(node) {
			key := d.key
			if d.single == "" || !p.relaxed([]demand{d}, func(string) bool { return true }).fits(t, node) {
				continue
			}
			if !slices.ContainsFunc(e.Fixes, func(f explain.Fix) bool { return f.Kind == d.single && len(f.Also) == 0 }) {
				t.Errorf("seed %d: nothing like dropping %q, which helps on %s, in %+v", seed, key, explaintest.NodeName(node), e.Fixes)
			}
		}
	}
	p.checkIdle(t, seed, e)
	adds := slices.ContainsFunc(e.Fixes, func(f explain.Fix) bool { return f.Kind == explain.AddNode })
	for node := range p.nodes {
		if like := explaintest.NodeName(node); !adds && p.withCopyOf(t, inspect.NodeName(like)).fits(t, len(p.nodes)) {
			t.Errorf("seed %d: one more node like %s helps: %+v", seed, like, e.Fixes)
		}
	}
	for i := range p.requests {
		if r := &p.requests[i]; !r.all && len(r.subs) == 0 {
			p.checkHighest(t, seed, e, i)
		}
	}
}

// checkIdle makes sure that no claim in use is to be released first where one that nobody uses would do.
func (p *smallProblem) checkIdle(t *testing.T, seed uint64, e *explain.Explanation) {
	t.Helper()
	first := slices.IndexFunc(e.Fixes, func(f explain.Fix) bool { return f.Kind == explain.ReleaseClaim })
	for node := range p.nodes {
		for _, h := range p.holders {
			d := demand{relax: func(p *smallProblem) {
				p.holders = slices.DeleteFunc(p.holders, func(o smallHolder) bool { return o.name == h.name })
			}}
			if !h.idle || h.node != node || !p.relaxed([]demand{d}, func(string) bool { return true }).fits(t, node) {
				continue
			}
			if first < 0 || len(e.Fixes[first].Claims) != 1 || e.Fixes[first].Claims[0].State != inspect.ClaimAllocated {
				t.Errorf("seed %d: nobody uses %s, which could be released first: %+v", seed, h.name, e.Fixes)
			}
		}
	}
}

// checkHighest finds the highest count that helps, and checks that the fix has it.
func (p *smallProblem) checkHighest(t *testing.T, seed uint64, e *explain.Explanation, request int) {
	t.Helper()
	best := 0
	for n := 1; n < p.requests[request].count; n++ {
		q := p.clone()
		q.requests[request].count = n
		for node := range p.nodes {
			if q.fits(t, node) {
				best = n
			}
		}
	}
	if best == 0 {
		return
	}
	path := fmt.Sprintf("/spec/devices/requests/%d/exactly/count", request)
	if !slices.ContainsFunc(e.Fixes, func(f explain.Fix) bool {
		return f.Kind == explain.ReduceCount && f.Patch[0].Path == path && f.Patch[0].Value == int64(best)
	}) {
		t.Errorf("seed %d: a count of %d helps: %+v", seed, best, e.Fixes)
	}
}

// checkNoHelp checks that what is said not to help does not.
func (p *smallProblem) checkNoHelp(t *testing.T, seed uint64, e *explain.Explanation, tally map[string]int) {
	t.Helper()
	free := p.clone()
	free.holders = nil
	helps := slices.ContainsFunc([]int{0, 1, 2}[:len(p.nodes)], func(n int) bool { return free.fits(t, n) })
	if helps == (len(e.NoHelp) > 0) {
		t.Errorf("seed %d: releasing everything helps: %t, but %q", seed, helps, e.NoHelp)
	}
	tally["no help"] += len(e.NoHelp)
}
