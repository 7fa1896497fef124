package e2e

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
)

// The sizes of the fight. KUBECTL_DRA_E2E_ROUNDS changes the number of rounds, and KUBECTL_DRA_E2E_SEED what
// is random.
const (
	fightDevices = 20
	fightPods    = 50
	fightRuns    = 8
	fightSettle  = 3 * time.Second
	// fightKill is the time within which half of the runs are killed: a run that meets nobody takes a
	// little longer.
	fightKill = fightSettle + 1500*time.Millisecond
	// fightForged is how many rounds one has in which announcements are forged and some views are partial,
	// the last of them; KUBECTL_DRA_E2E_FORGED makes it every round. In those a run may have to wait for a
	// while.
	fightForged  = 5
	fightPatient = 3 * fightSettle
	// fightStall is what the machine may stand still in a round, or the API server take for a write: allocate
	// promises that a device gets no second holder only where the scheduler writes within fightSettle what it
	// has decided.
	fightStall = fightSettle / 3
)

// TestFight has processes that allocate fight for devices, with each other and with the scheduler, and
// kills half of them at random moments. Afterwards no device may have two holders, and after one more run
// for each claim whose process was killed no claim may be half-written, and whatever is not allocated can
// be.
func TestFight(t *testing.T) {
	rounds := effort.Of(20, 5)
	if text := os.Getenv("KUBECTL_DRA_E2E_ROUNDS"); text != "" {
		var err error
		if rounds, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	seed := uint64(1) // of what is random but for who comes first
	if text := os.Getenv("KUBECTL_DRA_E2E_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	f := &fight{Cluster: cluster.Start(t, cluster.Options{Users: []string{local}}), random: rand.New(rand.NewPCG(seed, 0)), counts: map[string]int{}, fences: map[string]bool{}}
	t.Logf("seed %d", seed)
	f.prepareLocal(t)
	begin := time.Now()
	for i := range rounds {
		t.Run(fmt.Sprint("round ", i), func(t *testing.T) { f.round(t, i) })
	}
	f.counts[twoHolders] += 0 // to be shown
	f.counts["wrong writes"] += 0
	var lines []string
	for _, what := range slices.Sorted(maps.Keys(f.counts)) {
		lines = append(lines, fmt.Sprintf("%5d %s", f.counts[what], what))
	}
	t.Logf("%d rounds in %v:\n%s", rounds, time.Since(begin).Round(time.Second), strings.Join(lines, "\n"))
}

type fight struct {
	*cluster.Cluster
	random *rand.Rand
	forged bool // in this round announcements are forged

	mutex  sync.Mutex
	stall  time.Duration // the longest one of this round
	counts map[string]int
	fences map[string]bool // the names of all rules that runs made, or found made
}

// counted are parts of what runs say, by what they mean.
var counted = map[string]string{
	"allocations taken back because others had the device": ": the allocation is taken back",
	"times that a run began again":                         "beginning again",
	"times that a run waited for another one":              ": waiting for another run",
	"announcements ignored that could not be removed":      " cannot be removed and is ignored",
	"announcements of others revoked":                      "it has to decide again",
	"killed runs finished by others":                       ": finished what a killed run left",
	"killed runs undone by others":                         ": undid what a killed run left",
	"devices that could not be fenced":                     "kube-scheduler may give ",
	"fences removed":                                       " is removed: no claim holds ",
	"allocations kept because they were reserved":          ": the allocation stays, because",
}

// round is one fight in a cleared cluster.
func (f *fight) round(t *testing.T, number int) {
	defer f.watchStalls(t)()
	f.Clear(t)
	f.AddNode(t, "arena", map[string]string{corev1.LabelHostname: "arena"})
	f.ApplyText(t, sliceYAML("gpu.example.com", "arena", fightDevices)+"---\n"+classYAML)
	for i := range fightRuns {
		f.ApplyText(t, claimYAML(fmt.Sprint("hand-", i)))
	}
	for i := range fightPods {
		f.ApplyText(t, claimYAML(fmt.Sprint("pod-", i)))
	}
	f.forged = number%fightForged == fightForged-1 || os.Getenv("KUBECTL_DRA_E2E_FORGED") != ""
	stop := func() {}
	if f.forged {
		stop = f.tenants(t)
	}
	killed := f.compete(t)
	f.oneHolder(t, "after the fight", killed...)
	f.again(t, number, killed)
	stop()
	f.oneHolder(t, "after the killed runs were repeated")
	f.whole(t)
	f.rest(t)
	f.oneHolder(t, "after the rest was allocated")
	f.unfenced(t)
	if f.forged {
		f.unforged(t)
		f.promptReplaced(t, "hand-0")
	}
}

// watchStalls measures for how long this process does not run, and how long a write takes, until the function
// that it returns is called.
func (f *fight) watchStalls(t *testing.T) (stop func()) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.stall = 0
	end := make(chan struct{})
	var done sync.WaitGroup
	watch := func(every time.Duration, doing func()) {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for last := time.Now(); ; last = time.Now() {
			doing()
			select {
			case <-end:
				return
			case <-ticker.C:
			}
			f.mutex.Lock()
			f.stall = max(f.stall, time.Since(last))
			f.mutex.Unlock()
		}
	}
	ctx := t.Context()
	done.Go(func() { watch(20*time.Millisecond, func() {}) })
	done.Go(func() {
		probe := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "probe-"}}
		watch(250*time.Millisecond, func() {
			_, _ = f.Client().CoreV1().ConfigMaps("default").Create(ctx, probe, metav1.CreateOptions{}) // how long it takes is what counts
		})
	})
	return func() { close(end); done.Wait() }
}

// stalled reports whether the machine stood still for too long in this round.
func (f *fight) stalled() bool {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.stall > fightStall
}

// compete starts the runs and creates the pods while they run. It returns the claims whose run was killed.
func (f *fight) compete(t *testing.T) (killed []string) {
	t.Helper()
	var wait sync.WaitGroup
	for i := range fightRuns {
		claim, delay := fmt.Sprint("hand-", i), time.Duration(f.random.Int64N(int64(500*time.Millisecond)))
		var life time.Duration // 0: it may live
		if i%2 == 0 {
			within := fightKill
			if f.forged {
				within += fightPatient
			}
			life = time.Duration(f.random.Int64N(int64(within))) + time.Millisecond
		}
		first := f.random.Int64N(4)
		wait.Go(func() {
			time.Sleep(delay)
			if f.run(t, claim, life, first) {
				f.mutex.Lock()
				defer f.mutex.Unlock()
				killed = append(killed, claim)
			}
		})
	}
	for i := range fightPods {
		f.ApplyText(t, podYAML(fmt.Sprint("pod-", i), "arena", fmt.Sprintf("resourceClaims: [{name: gpu, resourceClaimName: pod-%d}]", i), "claims: [{name: gpu}]"))
		if i == fightPods/5 { // the others come when the runs write
			f.announced(t)
			if f.forged { // runs come late: some have written by then, some are about to
				time.Sleep(time.Duration(f.random.Int64N(int64(fightSettle))))
			}
		} else if i%5 == 4 {
			time.Sleep(time.Duration(f.random.Int64N(int64(200 * time.Millisecond))))
		}
	}
	wait.Wait()
	f.counts["runs"] += fightRuns
	f.counts["runs killed"] += len(killed)
	slices.Sort(killed)
	return killed
}

// announced waits until a run has written something; not for long, because all may have been killed before.
func (f *fight) announced(t *testing.T) {
	t.Helper()
	wait := 4 * time.Second
	if f.forged {
		wait += fightPatient
	}
	for begin := time.Now(); time.Since(begin) < wait; time.Sleep(20 * time.Millisecond) {
		if slices.ContainsFunc(f.all(t), func(c resourcev1.ResourceClaim) bool { return len(c.Annotations) > 0 }) {
			return
		}
	}
}

// run allocates a claim and reports whether the process was killed before it was done. In rounds with
// forgeries first says which of its lists fails first.
func (f *fight) run(t *testing.T, claim string, life time.Duration, first int64) bool {
	user, args := cluster.Admin, []string{"allocate", "claim", claim, "--yes", "--settle", fightSettle.String()}
	if f.forged && life == 0 {
		address, stop := f.faultyServer(t, local, first)
		defer stop()
		user, args = local, append(args, "--server", address)
	}
	cmd := f.Command(t, user, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Error(err)
		return false
	}
	if life > 0 {
		timer := time.AfterFunc(life, func() { _ = cmd.Process.Kill() }) // fails when the process is over
		defer timer.Stop()
	}
	err := cmd.Wait()
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.count(out.String())
	code := cmd.ProcessState.ExitCode()
	switch code {
	case 0:
		f.counts["runs that allocated"]++
	case 3:
		f.counts["runs that found no device left"]++
	case -1:
		return true
	default:
		switch {
		case f.forged && strings.Contains(out.String(), "nothing is written, because without all devicetaintrules"):
			f.counts["runs ended by a partial view"]++
		case f.forged && strings.Contains(out.String(), "given up after"):
			f.counts["runs that gave up"]++
		default:
			t.Errorf("allocate claim %s: %v\n%s", claim, err, out.String())
		}
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Errorf("an escape sequence of a tenant reached the terminal: %q", out.String())
	}
	return false
}

var fenceName = regexp.MustCompile(`stays tainted by DeviceTaintRule (\S+)`)

// count looks for incidents in what a run says.
func (f *fight) count(said string) {
	for _, match := range fenceName.FindAllStringSubmatch(said, -1) {
		f.fences[match[1]] = true
	}
	f.counts["devices fenced before an allocation was cleared"] = len(f.fences)
	for what, part := range counted {
		f.counts[what] += strings.Count(said, part)
	}
}

// again runs once more for every claim whose process was killed: in even rounds to allocate, in odd ones to
// deallocate.
func (f *fight) again(t *testing.T, number int, killed []string) {
	t.Helper()
	for _, claim := range killed {
		args := []string{"allocate", "claim", claim, "--yes", "--settle", fightSettle.String()}
		if number%2 == 1 {
			args = []string{"deallocate", "claim", claim, "--yes"}
		}
		result := f.Plugin(t, cluster.Admin, args...)
		f.count(result.Stderr)
		if result.Code != 0 && result.Code != 3 {
			t.Errorf("want exit code 0, or 3 because nothing is left\n%v", result)
		}
	}
}

const twoHolders = "devices with two holders in the end"

// oneHolder makes sure that no device has two holders. What runs left that were killed while they had an
// allocation to take back is left out: the next run takes it back.
//
// This is also a test of kube-scheduler's memory: when a claim is deallocated, the scheduler takes its
// devices out of the set of those in use (removeDevices in its plugin dynamicresources), also if another
// claim holds them too. Without fences it gives such devices to two pods.
func (f *fight) oneHolder(t *testing.T, when string, killed ...string) {
	t.Helper()
	holder := map[string]string{}
	for _, claim := range f.all(t) {
		if claim.Status.Allocation == nil || slices.Contains(killed, claim.Name) {
			continue
		}
		for _, r := range claim.Status.Allocation.Devices.Results {
			if other := holder[r.Device]; other != "" && f.stalled() {
				t.Logf("%s: device %s is held by %s and by %s, in a round in which the machine stood still", when, r.Device, other, claim.Name)
			} else if other != "" {
				f.counts[twoHolders]++
				t.Errorf("%s: device %s is held by %s and by %s", when, r.Device, other, claim.Name)
			}
			holder[r.Device] = claim.Name
		}
	}
}

// unfenced makes sure that the last run left no fence around a device that nobody holds.
func (f *fight) unfenced(t *testing.T) {
	t.Helper()
	held := map[string]bool{}
	for _, claim := range f.all(t) {
		if claim.Status.Allocation != nil {
			held[claim.Status.Allocation.Devices.Results[0].Device] = true
		}
	}
	rules, err := f.Client().ResourceV1().DeviceTaintRules().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range rules.Items {
		if device := rule.Spec.DeviceSelector.Device; !held[*device] {
			t.Errorf("DeviceTaintRule %s is left around device %s, which nobody holds", rule.Name, *device)
		}
	}
}

func (f *fight) all(t *testing.T) []resourcev1.ResourceClaim {
	t.Helper()
	list, err := f.Client().ResourceV1().ResourceClaims("default").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

// whole makes sure that none of the runs left anything but an allocation with the finalizer that protects
// it, or nothing.
func (f *fight) whole(t *testing.T) {
	t.Helper()
	for _, claim := range f.all(t) {
		if len(claim.Annotations) > 0 {
			t.Errorf("claim %s still has annotations %v", claim.Name, claim.Annotations)
		}
		protected := slices.Contains(claim.Finalizers, resourcev1.Finalizer)
		if strings.HasPrefix(claim.Name, "hand-") && protected != (claim.Status.Allocation != nil) {
			t.Errorf("claim %s is half-written: finalizers %v, allocation %v", claim.Name, claim.Finalizers, claim.Status.Allocation)
		}
	}
}

// rest takes the pods and their claims away and allocates every claim that has no allocation: with all the
// devices free that nobody holds, that must work.
func (f *fight) rest(t *testing.T) {
	t.Helper()
	now := metav1.DeleteOptions{GracePeriodSeconds: new(int64)}
	if err := f.Client().CoreV1().Pods("default").DeleteCollection(t.Context(), now, metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	args := []string{"allocate", "claim"}
	for _, claim := range f.all(t) {
		switch {
		case strings.HasPrefix(claim.Name, "pod-"):
			f.RemoveClaim(t, "default", claim.Name)
		case claim.Status.Allocation == nil:
			args = append(args, claim.Name)
		}
	}
	if len(args) == 2 {
		args = append(args, "hand-0") // which is allocated: the run has only to clear up
	}
	result := f.Plugin(t, cluster.Admin, append(args, "--yes", "--settle", noSettle)...)
	if result.Code != 0 {
		t.Errorf("all devices but those of %d claims are free, want exit code 0\n%v", fightRuns, result)
	}
	f.count(result.Stderr)
}

const classYAML = `apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec: {selectors: [{cel: {expression: device.driver == "gpu.example.com"}}]}
`

// claimYAML is a claim of one device.
func claimYAML(name string) string {
	return fmt.Sprintf(`apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: %s}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}
`, name)
}
