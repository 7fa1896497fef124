package e2e

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
	"github.com/kubectl-dra/kubectl-dra/internal/scenario"
)

// release is a control plane that the scenarios run on. The older ones are emulated: gates, API versions
// and validation are theirs.
type release struct {
	name    string
	minor   int
	options cluster.Options
	// least is how many questions have to be compared.
	least int
	// third says which third of the scenarios the release is asked about, and of those the first question:
	// the others are about other nodes and claims among the same objects. The full run (internal/effort)
	// asks everything. 0 means that everything is asked always.
	third int
	// gated: only scenarios that change feature gates.
	gated bool
	// anyPool: the scheduler of this release takes the pools of a node in no particular order.
	anyPool bool
}

var releases = []release{
	{name: "1.37", minor: 37, least: 300},
	{name: "1.37 with alpha gates", minor: 37, least: 20, gated: true, options: cluster.Options{FeatureGates: "DRAListTypeAttributes=true," +
		"DRADerivedAttributes=true,DRADeviceCompatibilityGroups=true,DRAFractionalCapacityRange=true"}},
	{name: "1.36", minor: 36, least: 40, third: 1, options: cluster.Options{Emulated: "1.36"}},
	{name: "1.35", minor: 35, least: 40, third: 2, options: cluster.Options{Emulated: "1.35"}, anyPool: true},
	{name: "1.34", minor: 34, least: 40, third: 3, options: cluster.Options{Emulated: "1.34"}, anyPool: true},
}

// asks reports whether question i of a scenario, which is number at of all, is put to the release.
func (r *release) asks(at int, s *scenario.Scenario, i int) bool {
	chosen := r.third == 0 || effort.Full() || i == 0 && at%3 == r.third-1
	changesGates := !slices.Equal(s.Snapshot.Features().List(), inspect.DefaultFeatures(inspect.NewestMinor).List())
	return chosen && (!r.gated || changesGates)
}

// TestScenarios has the plugin and kube-scheduler write allocations into the same cluster, one after the
// other, for the questions of testdata/scenarios: first `kubectl dra allocate` writes, then a pod is
// created for the same node with a fresh copy of the claims. Both must write the same allocations, or both
// must refuse. What the API server of a release does not accept is left out for both.
func TestScenarios(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../testdata/scenarios/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	var all []*scenario.Scenario
	for _, file := range files {
		s, err := scenario.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	for _, r := range releases {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			b := &board{Cluster: cluster.Start(t, r.options), release: r, leftOut: map[string]int{}}
			b.checkVersion(t)
			for at, s := range all {
				t.Run(s.Name, func(t *testing.T) { b.play(t, at, s) })
			}
			b.report(t)
		})
	}
}

// board is a control plane on which one scenario after the other is set up.
type board struct {
	*cluster.Cluster
	release release

	scenarios, allocated, otherPools, refused, disagreed int
	// again is how many questions the scheduler was asked more than once.
	again   int
	leftOut map[string]int // questions by reason
}

// checkVersion holds what the plugin takes the cluster for against the release, both with the server's
// metrics and with nothing but its version.
func (b *board) checkVersion(t *testing.T) {
	t.Helper()
	got := read(t, b.Cluster, cluster.Admin, live.Options{})
	if got.Features.Minor != b.release.minor {
		t.Errorf("the server is taken for Kubernetes 1.%d, want 1.%d", got.Features.Minor, b.release.minor)
	}
	var changed []inspect.Gate
	for gate := range strings.SplitSeq(b.release.options.FeatureGates, ",") {
		name, _, _ := strings.Cut(gate, "=")
		changed = append(changed, inspect.Gate(name))
	}
	checkGates(t, b.Cluster, got.Features, append(changed, inspect.GateDeviceTaintRules))
}

// report shows the line of the release in the table of README.md.
func (b *board) report(t *testing.T) {
	t.Helper()
	var left []string
	for _, why := range slices.Sorted(maps.Keys(b.leftOut)) {
		left = append(left, fmt.Sprint(b.leftOut[why], " ", why))
	}
	agreed := b.allocated + b.otherPools + b.refused
	t.Logf("%d questions were put to the scheduler more than once", b.again)
	t.Logf("| Kubernetes | scenarios | questions | allocated alike | alike but for the order of pools | refused alike | disagreed | left out |\n| %s | %d | %d | %d | %d | %d | %d | %s |",
		b.release.name, b.scenarios, agreed+b.disagreed, b.allocated, b.otherPools, b.refused, b.disagreed, strings.Join(left, ", "))
	if agreed+b.disagreed < b.release.least && (b.scenarios > 40 || b.release.gated && b.scenarios > 10) {
		t.Errorf("only %d questions were compared, want at least %d: the API server refuses more than it used to", agreed, b.release.least)
	}
}

// play sets up the scenario that is number at of all and compares the answers to its questions.
func (b *board) play(t *testing.T, at int, s *scenario.Scenario) {
	var questions []int
	for i := range s.Questions {
		if b.release.asks(at, s, i) {
			questions = append(questions, i)
		}
	}
	if len(questions) == 0 {
		t.Skip("nothing about this release")
	}
	b.Clear(t)
	b.scenarios++
	objects := s.Snapshot.Objects()
	for _, node := range s.Snapshot.Nodes() {
		b.AddNode(t, node.Name, node.Labels)
	}
	for _, slice := range objects.Slices {
		_ = b.offer(t, "ResourceSlice", slice) // what is refused is left out
	}
	for _, class := range objects.Classes {
		_ = b.offer(t, "DeviceClass", class)
	}
	for _, rule := range objects.TaintRules {
		_ = b.offer(t, "DeviceTaintRule", rule)
	}
	refused := map[inspect.ClaimRef]error{}
	for _, claim := range objects.Claims {
		b.adminNamespace(t, claim.Namespace)
		if err := b.offer(t, "ResourceClaim", claim); err != nil {
			refused[inspect.RefOf(claim)] = err
		}
	}
	for _, i := range questions {
		q := &s.Questions[i]
		t.Run(fmt.Sprintf("%d on %s", i, q.Node), func(t *testing.T) {
			if why := unfit(q, refused); why != "" {
				b.leftOut[why]++
				t.Skip(why)
			}
			b.compare(t, s, q)
		})
	}
}

// unfit says why a question cannot be put to a real scheduler, or "".
func unfit(q *scenario.Question, refused map[inspect.ClaimRef]error) string {
	for i, ref := range q.Claims {
		switch {
		case refused[ref] != nil:
			return "the API server refuses the claim"
		case slices.Contains(q.Claims[:i], ref):
			return "a claim is named twice"
		case ref.Namespace != q.Claims[0].Namespace:
			return "claims of two namespaces"
		}
	}
	if len(q.Claims) == 0 {
		return "no claims"
	}
	return ""
}

// offer creates an object at the version that the server prefers. What the server refuses is left out,
// as it would be in real life; the error says why. That it cannot answer ends the test.
func (b *board) offer(t *testing.T, kind string, object runtime.Object) error {
	t.Helper()
	version, err := b.Served(resourcev1.GroupName, kind)
	if err != nil {
		t.Logf("left out: %v", err)
		return err
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetAPIVersion(version)
	u.SetKind(kind)
	if status, ok := u.Object["status"].(map[string]any); ok && len(status) == 0 {
		delete(u.Object, "status")
	}
	err = b.Create(t.Context(), u)
	if err != nil && !refuses(err) {
		t.Fatal(err)
	}
	if err != nil {
		t.Logf("left out: %v", err)
	}
	return err
}

// refuses reports whether an API server that said so does not want an object: not that it is too busy.
func refuses(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsForbidden(err) || apierrors.IsAlreadyExists(err) ||
		meta.IsNoMatchError(err)
}

// verdict is what somebody decided about a question, in the words of the plugin.
type verdict struct {
	Verdict     string
	Allocations []*resourcev1.AllocationResult // of each claim, normalized; nil unless Allocatable
	says        string
	untold      error // that no event tells users what it says
}

// compare puts one question to the plugin and to the scheduler. The scheduler, which may have decided about
// a cluster as it was a moment ago, is asked again where it disagrees.
func (b *board) compare(t *testing.T, s *scenario.Scenario, q *scenario.Question) {
	ours := b.allocate(t, q)
	var theirs *verdict
	var diff string
	for i, pause := range patience {
		b.restore(t, s, q)
		time.Sleep(pause)
		theirs = b.schedule(t, q, ours)
		t.Logf("scheduler: %s %s; plugin: %s %s", theirs.Verdict, theirs.says, ours.Verdict, ours.says)
		diff = theirs.diff(ours)
		if agreed := diff == "" || b.release.anyPool && theirs.alikeButForPools(ours); agreed && theirs.untold == nil {
			break
		}
		if i == 0 {
			b.again++
		}
	}
	b.restore(t, s, q)
	if theirs.untold != nil {
		t.Error(theirs.untold)
	}
	switch {
	case diff == "" && ours.Verdict == "Allocatable":
		b.allocated++
	case diff == "":
		b.refused++
	case b.release.anyPool && theirs.alikeButForPools(ours):
		b.otherPools++
	default:
		b.disagreed++
		t.Errorf("verdict (-scheduler +plugin):\n%s", diff)
	}
}

// diff compares two decisions, but not their words.
func (v *verdict) diff(other *verdict) string {
	return cmp.Diff(v, other, cmpopts.IgnoreUnexported(verdict{}))
}

// alikeButForPools reports whether two decisions differ only in what depends on the order of pools: which
// devices it is when several pools have them, and in which order their node selectors come together.
func (v *verdict) alikeButForPools(other *verdict) bool {
	pools := map[string]bool{}
	alike := v.withoutPools(pools).diff(other.withoutPools(pools)) == ""
	return alike && len(pools) > 1
}

// withoutPools is the decision without devices and node selectors. The pools are added to the set.
func (v *verdict) withoutPools(pools map[string]bool) *verdict {
	out := &verdict{Verdict: v.Verdict}
	for _, a := range v.Allocations {
		a = a.DeepCopy()
		for i := range a.Devices.Results {
			r := &a.Devices.Results[i]
			pools[r.Driver+"/"+r.Pool] = true
			r.Driver, r.Pool, r.Device = "", "", ""
		}
		a.NodeSelector = nil
		out.Allocations = append(out.Allocations, a)
	}
	return out
}

// allocate has the plugin write. A plugin that says no must not have written anything.
func (b *board) allocate(t *testing.T, q *scenario.Question) *verdict {
	t.Helper()
	before := b.claims(t, q)
	args := []string{"allocate", "claim"}
	for _, ref := range q.Claims {
		args = append(args, ref.Name)
	}
	result := b.Plugin(t, cluster.Admin, append(args, "-n", q.Claims[0].Namespace, "--node", string(q.Node), "--yes", "--settle", noSettle)...)
	after := b.claims(t, q)
	answer := &verdict{says: strings.TrimSpace(result.Stderr)}
	switch result.Code {
	case 0:
		answer.Verdict = "Allocatable"
		for i, claim := range after {
			answer.Allocations = append(answer.Allocations, normalized(claim.Status.Allocation))
			checkWritten(t, before[i], claim)
		}
		return answer
	case 1:
		answer.Verdict = "Invalid"
	case 3:
		answer.Verdict = "Unsatisfiable"
	default:
		t.Fatalf("exit code %d\n%v", result.Code, result)
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("the plugin says no, but the claims changed:\n%s\n%v", diff, result)
	}
	return answer
}

// noSettle is for runs beside which nobody else allocates: there is nothing to watch for.
const noSettle = "0s"

// checkWritten looks at what the plugin may leave on a claim: an allocation and the finalizer that
// protects it, and nothing else.
func checkWritten(t *testing.T, before, after *resourcev1.ResourceClaim) {
	t.Helper()
	if len(after.Annotations) > 0 || after.Status.Allocation == nil || len(after.Status.ReservedFor) > 0 {
		t.Errorf("claim %s has annotations %v, status %+v; want only an allocation", after.Name, after.Annotations, after.Status)
	}
	if before.Status.Allocation == nil && !slices.Equal(after.Finalizers, []string{resourcev1.Finalizer}) {
		t.Errorf("claim %s has finalizers %v, want %s", after.Name, after.Finalizers, resourcev1.Finalizer)
	}
}

func (b *board) claims(t *testing.T, q *scenario.Question) []*resourcev1.ResourceClaim {
	t.Helper()
	claims, err := b.claimsNow(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return claims
}

func (b *board) claimsNow(ctx context.Context, q *scenario.Question) (claims []*resourcev1.ResourceClaim, err error) {
	for _, ref := range q.Claims {
		claim, err := b.Client().ResourceV1().ResourceClaims(ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		claims = append(claims, claim)
	}
	return claims, nil
}

// patience is how long the scheduler is given to notice that a claim was replaced, whose devices it holds
// for allocated until then: each time that it is asked. On a busy machine a tenth of a second is not always
// enough; an answer that depends on nothing but the objects is the same each time.
var patience = []time.Duration{100 * time.Millisecond, time.Second, 5 * time.Second, 20 * time.Second}

// restore replaces the claims of a question by fresh copies.
func (b *board) restore(t *testing.T, s *scenario.Scenario, q *scenario.Question) {
	t.Helper()
	for _, ref := range q.Claims {
		b.RemoveClaim(t, ref.Namespace, ref.Name)
		claim, _ := s.Snapshot.Claim(ref)
		if err := b.offer(t, "ResourceClaim", claim); err != nil {
			t.Fatal(err)
		}
	}
}

// adminNamespace makes sure that a namespace exists and that claims in it may ask for admin access.
func (b *board) adminNamespace(t *testing.T, name string) {
	t.Helper()
	(&stage{Cluster: b.Cluster}).addNamespace(t, name)
}
