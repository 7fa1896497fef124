package allocator

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// The comparison with the allocators of older releases. Each is a program of its own, built from the module
// oracle, that reads problems and writes answers; see there.

var (
	oracles        = flag.Bool("oracles", false, "compare with the allocators of older releases (builds them: minutes the first time)")
	oracleProblems = flag.Int("oracle-problems", 3_000, "with -oracles: random problems for each release")
)

// oracleRelease is a release that is compared, and what may be compared of it.
type oracleRelease struct {
	version   string // of k8s.io/dynamic-resource-allocation, without "v0."
	toolchain string // with which it is built, if not that of this module
	as        string // the release whose rules it decides by, if not its own
}

// oracleReleases are a patch release for each way in which the allocators decide. That of 1.37.2, which
// is that of 1.37.1, is also the library that this module is built with; TestDifferential compares with it.
var oracleReleases = []oracleRelease{
	{version: "36.6"},
	{version: "38.0-beta.0", toolchain: "go1.27.3"},
	{version: "38.0-alpha.0", as: "37.0"}, // cut before the first change of 1.38
	{version: "37.1"},
	{version: "37.0"},
	{version: "36.4"},
	{version: "36.3"},
	{version: "36.2"},
	{version: "36.1"},
	{version: "35.10"},
	{version: "35.8"},
	{version: "35.5"},
	{version: "34.13"},
	{version: "34.11"},
}

func (r oracleRelease) minor() int {
	minor := 0
	_, _ = fmt.Sscanf(r.rules(), "%d.", &minor)
	return minor
}

func (r oracleRelease) rules() string { return cmp.Or(r.as, r.version) }

func (r oracleRelease) serverVersion() string { return "v1." + r.rules() }

// modfile is the go.mod of the module oracle with the allocator of the release.
func (r oracleRelease) modfile() string {
	if r == oracleReleases[0] {
		return "go.mod"
	}
	return "releases/v0." + r.version + ".mod"
}

// oracle is a running program.
type oracle struct {
	in  *json.Encoder
	out *json.Decoder
}

// oracleProblem and oracleReply are what goes to and comes from an oracle.
type (
	oracleProblem struct {
		Gates   map[inspect.Gate]bool
		Slices  []*resourcev1.ResourceSlice
		Claims  []*resourcev1.ResourceClaim
		Classes []*resourcev1.DeviceClass
		Nodes   []*corev1.Node
		Pending []*resourcev1.ResourceClaim
		Steps   int
		Times   int
	}
	oracleReply struct {
		Nodes [][]struct {
			Outcome     outcome
			Allocations []resourcev1.AllocationResult
			Steps       int64
			Variant     string
			Err         string
		}
	}
)

// buildOracle returns the path of the program.
func buildOracle(t *testing.T, r oracleRelease) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "oracle-"+r.version)
	build := exec.CommandContext(t.Context(), "go", "build", "-modfile="+r.modfile(), "-o", program, ".")
	build.Dir = filepath.Join("..", "internal", "oracle")
	if r.toolchain != "" {
		build.Env = append(build.Environ(), "GOTOOLCHAIN="+r.toolchain)
		has := exec.CommandContext(t.Context(), "go", "version")
		has.Env = build.Env
		if text, err := has.CombinedOutput(); err != nil {
			t.Skipf("%s, with which the allocator of 1.%s is built, cannot be had: %v\n%s", r.toolchain, r.version, err, text)
		}
	}
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the allocator of 1.%s: %v\n%s", r.version, err, text)
	}
	return program
}

func startOracle(t *testing.T, program string) *oracle {
	t.Helper()
	command := exec.CommandContext(context.Background(), program) // it ends when its input does
	var complaints strings.Builder
	command.Stderr = &complaints
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		if err := command.Wait(); err != nil && !t.Failed() {
			t.Errorf("the oracle ended with %v: %s", err, complaints.String())
		}
	})
	return &oracle{in: json.NewEncoder(in), out: json.NewDecoder(bufio.NewReader(out))}
}

// ask returns the different answers that the oracle gave for each node.
func (o *oracle) ask(q *question, times int) ([][]answer, error) {
	problem := oracleProblem{
		Gates: q.gates, Slices: schedulerSlices(q), Claims: q.objects.Claims, Classes: q.objects.Classes,
		Nodes: q.objects.Nodes, Pending: q.pending, Steps: stepBudget, Times: times,
	}
	if err := o.in.Encode(problem); err != nil {
		return nil, fmt.Errorf("asking the oracle: %w", err)
	}
	var reply oracleReply
	if err := o.out.Decode(&reply); err != nil {
		return nil, fmt.Errorf("reading from the oracle: %w", err)
	}
	var out [][]answer
	for _, node := range reply.Nodes {
		var answers []answer
		for _, a := range node {
			answers = append(answers, answer{outcome: a.Outcome, allocations: a.Allocations, steps: a.Steps, variant: a.Variant, err: errorOf(a.Err)})
		}
		out = append(out, answers)
	}
	return out, nil
}

func errorOf(text string) error {
	if text == "" {
		return nil
	}
	return fmt.Errorf("%s", text)
}

// generateFor makes a problem as it can occur in a release: with the gates that it knows, and with objects as
// its API server would serve them.
func generateFor(r oracleRelease, d *dice) (*question, error) {
	q := generate(d)
	gates := map[inspect.Gate]bool{}
	known := inspect.DefaultFeatures(r.minor())
	for _, gate := range switches {
		gates[gate] = q.gates[gate] && known.Knows(gate)
		if r.minor() < 35 && (gate == inspect.GatePartitionableDevices || gate == inspect.GateConsumableCapacity) {
			gates[gate] = false // alpha, and not modelled
		}
	}
	q.gates = gates
	q.features = known.With(gates)
	q.serverVersion = r.serverVersion()
	if err := q.served(r); err != nil || r.minor() < inspect.PreviewMinor {
		return q, err
	}
	q.preview(d)
	return q, nil
}

// served puts the objects into the form in which a server of the release has them.
func (q *question) served(r oracleRelease) error {
	for i, slice := range q.objects.Slices {
		served := &resourcev1.ResourceSlice{}
		if err := throughJSON(slice, served); err != nil {
			return err
		}
		if r.minor() < 37 {
			olderSlice(&served.Spec)
		}
		q.objects.Slices[i] = served
	}
	seen := map[*resourcev1.ResourceClaim]*resourcev1.ResourceClaim{}
	for i, claim := range q.pending {
		if seen[claim] == nil {
			served := &resourcev1.ResourceClaim{}
			if err := throughJSON(claim, served); err != nil {
				return err
			}
			if r.minor() < 37 {
				olderClaim(&served.Spec)
			}
			seen[claim] = served
		}
		q.pending[i] = seen[claim]
	}
	return nil
}

// olderSlice drops fields of 1.37, and amounts that no int64 holds: there old releases change objects in
// place, so that answers depend on what they were asked before.
func olderSlice(spec *resourcev1.ResourceSliceSpec) {
	spec.SkipNodeOperations = nil
	for i := range spec.Devices {
		device := &spec.Devices[i]
		for j := range device.ConsumesCounters {
			device.ConsumesCounters[j].CompatibilityGroups = nil
		}
		for _, capacity := range device.Capacity {
			if policy := capacity.RequestPolicy; policy != nil && policy.Default != nil {
				*policy.Default = tame(*policy.Default)
			}
		}
	}
}

// olderClaim is olderSlice for a claim.
func olderClaim(spec *resourcev1.ResourceClaimSpec) {
	older := func(derived *[]resourcev1.DeviceDerivedAttribute, capacity *resourcev1.CapacityRequirements) {
		*derived = nil
		if capacity == nil {
			return
		}
		for name, amount := range capacity.Requests {
			capacity.Requests[name] = tame(amount)
		}
	}
	for i := range spec.Devices.Requests {
		request := &spec.Devices.Requests[i]
		if request.Exactly != nil {
			older(&request.Exactly.DerivedAttributes, request.Exactly.Capacity)
		}
		for j := range request.FirstAvailable {
			older(&request.FirstAvailable[j].DerivedAttributes, request.FirstAvailable[j].Capacity)
		}
	}
}

// tame returns the amount, or a smaller one that an int64 holds.
func tame(amount resource.Quantity) resource.Quantity {
	if most := resource.MustParse("1e17"); amount.Cmp(most) > 0 {
		return most
	}
	return amount
}

func throughJSON(from, to any) error {
	data, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, to)
}

// releaseComparison is what came of the problems for one release.
type releaseComparison struct {
	outcomes map[outcome]int
	variants map[string]int
	left     int // nodes on which the search is too long
	// absurd are problems that were left out: expressions that an old API server refuses, and with quantities
	// of more than an int64 holds, old releases change objects in place, so that their answers depend on what
	// they were asked before.
	absurd int
	pruned int
	// unclear are nodes about which we say that it is not known what an expression gives.
	unclear int
	// rules are those of the release, and decided says on how many nodes each of them decided: without it the
	// answer is another one.
	rules   map[string]func(*rules)
	decided map[string]int
}

// TestReleases compares with the allocator of each older release on random problems.
func TestReleases(t *testing.T) {
	if !*oracles {
		t.Skip("without -oracles")
	}
	for _, r := range oracleReleases {
		t.Run("1."+r.version, func(t *testing.T) {
			o := startOracle(t, buildOracle(t, r))
			seen := releaseComparison{outcomes: map[outcome]int{}, variants: map[string]int{}, decided: map[string]int{}}
			if r.minor() == inspect.PreviewMinor {
				seen.rules = previewRules
			}
			problems := *oracleProblems
			for seed := range problems {
				q, err := generateFor(r, seeded(uint64(20_000_000+seed)))
				if err != nil {
					t.Fatal(err)
				}
				if q.absurd && r.minor() < 38 || r.minor() < 36 && strings.Contains(q.String(), ".includes(") {
					seen.absurd++
					continue
				}
				if d, err := seen.compare(o, q); err != nil {
					t.Fatal(err)
				} else if d != "" {
					t.Fatalf("seed %d: %s\n%s", seed, d, q)
				}
			}
			seen.check(t, problems)
			checkRuleCases(t, o, "1."+r.rules())
		})
	}
}

// tries is how often an oracle is asked that goes through pools in random order: few first, and when none of
// the answers is ours, so many that each order of four pools comes up.
var tries = []int{3, 30, 400}

func (c *releaseComparison) compare(o *oracle, q *question) (string, error) {
	differs := ""
	for i, times := range tries {
		if i > 0 && !unorderedPools(q) {
			break
		}
		theirs, err := o.ask(q, times)
		if err != nil {
			return "", err
		}
		if differs = c.compareWith(q, theirs); differs == "" {
			return "", nil
		}
	}
	return differs, nil
}

// unorderedPools reports whether the allocator goes through pools in random order, or decides by chance for
// another reason.
func unorderedPools(q *question) bool {
	_, variant := featuresAt(snapshotOf(q).Release(), q.features)
	return q.features.Minor < 36 || variant == Stable && q.features.Minor < 38 || q.features.Minor >= 38 && q.twoNames()
}

// compareWith wants that our answer for each node is among those of the oracle.
func (c *releaseComparison) compareWith(q *question, theirs [][]answer) string {
	ctx := context.Background()
	cluster := newOurs(q, stepBudget)
	pruning := NewCluster(cluster.Snapshot(), Options{StepLimit: 2 * stepBudget})
	pruning.plainSteps = 0
	for i, node := range q.objects.Nodes {
		ours := answerOf(ctx, cluster, q, node, nil)
		want, ok := c.comparable(cluster, theirs[i])
		if !ok {
			c.left++
			continue
		}
		var abort *AbortError
		if errors.As(ours.err, &abort) && abort.Undecided() {
			c.unclear++
			continue
		}
		c.outcomes[ours.outcome]++
		c.variants[ours.variant]++
		if d := noneLike(ours, want); d != "" {
			return fmt.Sprintf("node %s: %s", node.Name, d)
		}
		for rule, off := range c.rules {
			if noneLike(answerOf(ctx, changed(q, off), q, node, nil), want) != "" {
				c.decided[rule]++
			}
		}
		c.pruned++
		pruned := answerOf(ctx, pruning, q, node, nil)
		pruned.steps = ours.steps
		if d := noneLike(pruned, want); d != "" {
			return fmt.Sprintf("node %s, with pruning: %s", node.Name, d)
		}
	}
	return ""
}

// comparable leaves out nodes on which a search is too long, or panics where that is not modelled.
func (c *releaseComparison) comparable(cluster *Cluster, answers []answer) ([]answer, bool) {
	var out []answer
	for _, a := range answers {
		switch {
		case a.outcome == gotUndecided, a.outcome == gotPanic && !cluster.rules.countsWrap && !cluster.rules.allCrashesOnCounters:
			return nil, false
		case a.outcome == gotPanic:
			a.outcome, a.variant = gotAbort, string(cluster.variant)
		}
		out = append(out, a)
	}
	return out, true
}

// noneLike says how our answer differs from each of the answers, or "".
func noneLike(ours answer, answers []answer) string {
	first := ""
	for _, theirs := range answers {
		d := releaseDifference(ours, theirs)
		if d == "" {
			return ""
		}
		first += "\n" + d
	}
	return first
}

// releaseDifference is difference for an answer that came through JSON.
func releaseDifference(ours, theirs answer) string {
	var same []resourcev1.AllocationResult
	if err := throughJSON(ours.allocations, &same); err != nil {
		return err.Error()
	}
	if ours.outcome == gotDevices && same == nil {
		same = []resourcev1.AllocationResult{}
	}
	ours.allocations = same
	if theirs.steps < 0 { // the oldest variants do not count
		ours.steps = theirs.steps
	}
	return difference(ours, theirs)
}

// checkRuleCases wants that the oracle gives the answers that the cases of TestRules have for its release.
func checkRuleCases(t *testing.T, o *oracle, release string) {
	t.Helper()
	for _, c := range readRuleCases(t) {
		want, ok := c.want[release]
		if !ok {
			continue
		}
		answers, err := o.ask(c.question(t, release), 1)
		if err != nil {
			t.Fatal(err)
		}
		a := answers[0][0]
		if a.outcome == gotPanic {
			a.outcome = gotAbort
		}
		if got := a.inWords(); got != want {
			t.Errorf("case %s: %s answers %s, want %s", c.name, release, got, want)
		}
	}
}

func (c *releaseComparison) check(t *testing.T, problems int) {
	t.Helper()
	total := 0
	for _, n := range c.outcomes {
		total += n
	}
	t.Logf("%d problems, %d nodes: %v, %v, %d with pruning, %d left out, %d unclear", problems, total, c.outcomes, c.variants, c.pruned, c.left, c.unclear)
	for _, share := range []struct {
		outcome outcome
		least   int // of a hundred
	}{{gotDevices, 15}, {gotNothing, 20}, {gotAbort, 8}} {
		if n := c.outcomes[share.outcome]; n*100 < share.least*total {
			t.Errorf("%s: %d of %d nodes, want at least %d%%", share.outcome, n, total, share.least)
		}
	}
	for rule := range c.rules {
		t.Logf("%s decided on %d nodes", rule, c.decided[rule])
		if c.decided[rule]*1_000 < problems {
			t.Errorf("rule %s decided on %d nodes of %d problems, which is too few", rule, c.decided[rule], problems)
		}
	}
	if c.left*50 > total || c.unclear*20 > total {
		t.Errorf("%d nodes of %d were left out, %d are unclear", c.left, total, c.unclear)
	}
}
