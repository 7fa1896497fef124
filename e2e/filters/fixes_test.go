package filters

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/remedy"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	sched "github.com/kubectl-dra/kubectl-dra/scheduler"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

var fixesTried = flag.Int("fixes", 0, "of how many refused pods TestFixes carries out the fixes")

// TestFixes carries out the fixes of random pods that are refused, by the commands that are printed, and asks
// kube-scheduler again: each has to help, on as many nodes as it says, and to end no pod for nothing. None is
// there twice, and none is more than another one below it.
func TestFixes(t *testing.T) {
	f := &fixTrial{kinds: map[string]int{}}
	want := cmp.Or(*fixesTried, 40)
	for i := uint64(0); f.refused < want; i++ {
		f.tryProblem(t, *seed, i)
	}
	t.Log(f.summary())
}

// TestFixesOfHardProblems does so for problems of which the fixes were wrong once.
func TestFixesOfHardProblems(t *testing.T) {
	for _, hard := range []struct {
		why           string
		seed, problem uint64
	}{
		{"a claim that the pod names twice was released twice", 37, 105},
		{"a volume claim that waits was tried without the extended resources of the pod", 37, 252},
		{"the scheduler cannot count the volumes of a node", 37, 415},
		{"a volume claim of the pod is made anew for any node", 37, 479},
		{"the scheduler gives up on a node that the pod cannot use", 1, 338},
		{"two kinds of devices are added to a pool that is not complete", 2, 98},
		{"the end of a pod frees another claim, which cannot be allocated again", 2, 441},
		{"a volume is kept for the claim that is replaced", 2, 463},
		{"without something the pod is made anew, with its claims", 2, 279},
		{"one claim is released for nothing", 4, 176},
		{"a term of a class of which other nodes have no request", 6, 442},
		{"the same, and another request has its number", 7, 85},
		{"of the pods that share a claim, some are enough", 6, 210},
		{"the same in a combination of changes", 6, 429},
		{"a combination for one kind of node ends a pod for which another has no need", 5, 201},
		{"what is made anew is allocated in the order of the pod's claims", 5, 202},
		{"another claim of the pod still says where it can be", 2, 373},
	} {
		t.Run(hard.why, func(t *testing.T) {
			f := &fixTrial{kinds: map[string]int{}}
			if f.tryProblem(t, hard.seed, hard.problem); f.refused == 0 {
				t.Error("no pod is refused")
			}
		})
	}
}

// tryProblem asks about a random problem.
func (f *fixTrial) tryProblem(t *testing.T, seed, number uint64) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, number))
	p := generateOf(r, fixAspects[number%uint64(len(fixAspects))])
	writeTemplates(p)
	reserve(p)
	if err := f.try(t, fmt.Sprint("problem ", number), p); err != nil {
		t.Fatalf("problem %d: %v", number, err)
	}
}

// fixAspects are the sorts of problems: those of all plugins, and those of what claims go through.
var fixAspects = [][]aspect{aspects, {claimLife, resources, taints, affinity}, {claimLife}, aspects}

// fixTrial counts what came of fixes.
type fixTrial struct {
	refused, without, fixes, carried int
	kinds                            map[string]int // of findings, and of fixes that nobody can carry out here
	shown                            int
}

func (f *fixTrial) summary() string {
	out := fmt.Sprintf("%d refused pods, %d of them without a fix; %d fixes, %d of them carried out", f.refused, f.without, f.fixes, f.carried)
	for _, kind := range sorted(f.kinds) {
		out += fmt.Sprintf("\n%6d %s", f.kinds[kind], kind)
	}
	return out
}

// writeTemplates writes templates for claims that have none, so that they can be made anew.
func writeTemplates(p *problem) {
	for _, claim := range p.objects.Claims {
		name := claim.Annotations[resourcev1.PodResourceClaimAnnotation]
		owner := metav1.GetControllerOf(claim)
		if name == "" || owner == nil {
			continue
		}
		for _, pod := range append(slices.Clone(p.objects.Pods), p.asked...) {
			for i := range pod.Spec.ResourceClaims {
				entry := &pod.Spec.ResourceClaims[i]
				if pod.Name != owner.Name || entry.Name != name || has(p.objects.Templates, *entry.ResourceClaimTemplateName) {
					continue
				}
				*entry = corev1.PodResourceClaim{Name: name, ResourceClaimTemplateName: new(claim.Name)}
				p.objects.Templates = append(p.objects.Templates, &resourcev1.ResourceClaimTemplate{
					ObjectMeta: metav1.ObjectMeta{Name: claim.Name, Namespace: claim.Namespace}, Spec: resourcev1.ResourceClaimTemplateSpec{Spec: claim.Spec},
				})
			}
		}
	}
}

// reserve lets those have reserved a claim who use it, as the controller does: not pods that there are not.
// What is being deleted and reserved for nobody has no devices.
func reserve(p *problem) {
	for _, claim := range p.objects.Claims {
		if claim.Status.Allocation == nil || len(claim.Status.ReservedFor) == 0 {
			continue
		}
		claim.Status.ReservedFor = nil
		for _, pod := range p.objects.Pods {
			for i := range pod.Spec.ResourceClaims {
				name, _ := inspect.ClaimNameFor(pod, &pod.Spec.ResourceClaims[i])
				if pod.Namespace == claim.Namespace && name == claim.Name && pod.Spec.NodeName != "" && !reservedFor(claim, pod.UID) {
					claim.Status.ReservedFor = append(claim.Status.ReservedFor, resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: pod.Name, UID: pod.UID})
				}
			}
		}
	}
	for _, claim := range p.objects.Claims {
		if claim.DeletionTimestamp != nil && len(claim.Status.ReservedFor) == 0 {
			deallocate(claim)
		}
	}
}

func reservedFor(claim *resourcev1.ResourceClaim, uid types.UID) bool {
	return slices.ContainsFunc(claim.Status.ReservedFor, func(r resourcev1.ResourceClaimConsumerReference) bool { return r.UID == uid })
}

// try asks about the pods of a problem, and carries out all fixes.
func (f *fixTrial) try(t *testing.T, name string, p *problem) error {
	t.Helper()
	admitted, theirs, err := askScheduler(t, p)
	if err != nil {
		return err
	}
	s := admitted.snapshot()
	cluster := sched.NewCluster(s, sched.Options{})
	for i, pod := range admitted.asked {
		if pod.Spec.NodeName != "" || pod.DeletionTimestamp != nil || waitsForController(pod) || inGang(s, pod) {
			continue
		}
		if nodes, _ := passing(theirs[i]); len(nodes) > 0 {
			continue
		}
		e, err := question.PodObject(context.Background(), cluster, pod, question.Options{})
		if err != nil {
			return fmt.Errorf("explaining pod %s: %w", pod.Name, err)
		}
		if e.Verdict != explain.Unsatisfiable {
			continue
		}
		f.refused++
		f.fixes += len(e.Fixes)
		remedy.Add(s, e, remedy.Asked{Args: []string{"pod", pod.Name}})
		about := &problem{objects: *s.Objects(), asked: []*corev1.Pod{pod}, gates: admitted.gates, controllers: admitted.controllers}
		if len(e.Fixes) == 0 {
			f.without++
		}
		if err := f.all(t, fmt.Sprint(name, ", pod ", pod.Name), about, s, e); err != nil {
			return err
		}
	}
	return nil
}

// all carries out the fixes of a pod.
func (f *fixTrial) all(t *testing.T, name string, p *problem, s *inspect.Snapshot, e *explain.Explanation) error {
	t.Helper()
	results, deeds := map[string]int{}, make([]map[string]bool, len(e.Fixes))
	for i := range e.Fixes {
		fix := &e.Fixes[i]
		found := func(what string, args ...any) {
			f.kinds["FOUND "+what]++
			if f.shown++; f.shown <= 40 {
				t.Errorf("%s: %s %v\n%s: fix %d of %d: %s %s → %s (%d nodes)\n  %s", name, what, args, e.Message, i+1, len(e.Fixes), fix.Kind, fix.Message, fix.Node, fix.Nodes, strings.Join(fix.Commands, "\n  "))
			} else {
				t.Fail()
			}
		}
		deeds[i] = deedsOf(fix)
		if slices.ContainsFunc(fix.Edits, func(e explain.Edit) bool { _, ok := e.(whatif.PoolEdit); return ok }) {
			f.kinds["not carried out: what a driver publishes"]++
			continue
		}
		c, err := carryOut(p, s, fix, inspect.PodRef{})
		if err != nil {
			found("cannot be carried out", err)
			continue
		}
		if !c.did {
			f.kinds["not carried out: "+string(fix.Kind)]++
			continue
		}
		f.carried++
		nodes, why, err := f.ask(t, c.problem)
		if err != nil {
			found("the server refuses", err)
			continue
		}
		f.judge(t, found, fix, c, nodes, why)
		for _, ref := range c.ended {
			spared, err := carryOut(p, s, fix, ref)
			if err != nil {
				found("cannot be carried out", err)
				continue
			}
			doubted := undecided(filters.NewIndex(spared.snapshotWith(), nil), spared.asked[0])
			if nodes, _, err := f.ask(t, spared.problem); err == nil && len(nodes) > doubted {
				found("ends a pod for nothing", ref, nodes)
			}
		}
		if key := c.state(); len(nodes) > 0 {
			if _, again := results[key]; again {
				found("is a duplicate", results[key]+1)
			} else {
				results[key] = i
			}
		}
	}
	f.supersets(t, name, e, deeds)
	return nil
}

// judge compares what came of a fix with what it says.
func (f *fixTrial) judge(t *testing.T, found func(string, ...any), fix *explain.Fix, c *carrier, nodes []string, why string) {
	t.Helper()
	doubted := undecided(filters.NewIndex(c.snapshotWith(), nil), c.asked[0])
	switch {
	case len(nodes) == 0:
		found("does not help", why, f.ours(c))
	case fix.Nodes > len(nodes)+doubted || fix.Nodes+doubted < len(nodes):
		found("has a wrong number of nodes", nodes, f.ours(c))
	case fix.Node != "" && !slices.Contains(nodes, string(fix.Node)):
		found("names a wrong node", nodes)
	}
}

// ours is what this project says once a fix was carried out.
func (f *fixTrial) ours(c *carrier) string {
	e, err := question.PodObject(context.Background(), sched.NewCluster(c.snapshotWith(), sched.Options{}), c.asked[0], question.Options{})
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint("ours now: ", e.Nodes, " ", e.Message)
}

// snapshotWith is the cluster with the pod that is asked about.
func (c *carrier) snapshotWith() *inspect.Snapshot {
	out := c.asking(c.asked[0])
	out.objects.Pods = append(out.objects.Pods, c.asked[0])
	return out.snapshot()
}

// state is the cluster as it is in the end.
func (c *carrier) state() string {
	var out []any
	for _, kind := range inspect.Kinds() {
		out = append(out, kind.Objects(&c.objects))
	}
	text, err := json.Marshal(append(out, c.asked, c.gates))
	if err != nil {
		panic(err)
	}
	return string(text)
}

// ask asks the scheduler about the pod of a problem.
func (f *fixTrial) ask(t *testing.T, p *problem) (nodes []string, why string, err error) {
	t.Helper()
	if err := setGates(p.features()); err != nil {
		return nil, "", err
	}
	var answer kubeAnswer
	objects := p.asking(p.asked[0]).objects
	objects.Pods = append(objects.Pods, p.asked[0])
	withKubeScheduler(t, &objects, func(_ *testing.T, s *kubeScheduler) { answer, err = s.Ask(p.asked[0]) })
	if nodes, why = passing(answer); len(nodes) == 0 {
		why = fmt.Sprint(answer)
	}
	return nodes, why, err
}

// deedsOf are all the single things that a fix does.
func deedsOf(f *explain.Fix) map[string]bool {
	out := map[string]bool{}
	for _, c := range f.Changes {
		for _, op := range c.Patch {
			out[fmt.Sprint(c.Kind, c.Namespace, "/", c.Name, op.Op, op.Path, op.Value)] = true
		}
	}
	for _, ref := range f.Pods {
		out["end "+ref.String()] = true
	}
	for i := range f.Claims {
		out["release "+f.Claims[i].Claim.String()] = true
	}
	for _, e := range f.Edits {
		out["edit "+e.Key()] = true
	}
	return out
}

// supersets finds fixes that do all that another one does, and more.
func (f *fixTrial) supersets(t *testing.T, name string, e *explain.Explanation, deeds []map[string]bool) {
	t.Helper()
	for i, more := range deeds {
		for j, less := range deeds {
			part := len(less) > 0 && len(less) < len(more)
			for deed := range less {
				part = part && more[deed]
			}
			if part {
				f.kinds["FOUND a superset"]++
				t.Errorf("%s: fix %d does all of fix %d, and more: %s; %s", name, i+1, j+1, e.Fixes[i].Message, e.Fixes[j].Message)
			}
		}
	}
}
