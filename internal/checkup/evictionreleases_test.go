package checkup

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-dra/kubectl-dra/explain/lifecycle"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// The comparison with how each release taints devices for the scheduler, and evicts pods because of them.
// Each release is a program of its own, built from internal/oracle/eviction; see there.

var (
	oracles        = flag.Bool("oracles", false, "compare with how older releases taint devices and evict pods (builds them: minutes the first time)")
	oracleProblems = flag.Int("oracle-problems", 3_000, "with -oracles: random problems for each release")
)

// evictingRelease is a release that is compared.
type evictingRelease struct {
	// version is that of the server: tracker and controller are of this patch.
	version   string
	modfile   string
	toolchain string // with which it is built, if not that of this module
	// differs are the releases that decide otherwise, in the release's own problems at least once in a
	// hundred.
	differs []string
}

var evictingReleases = []evictingRelease{
	{"1.38.0-beta.0", "releases/v1.38.0-beta.0.mod", "go1.27.3", []string{"1.37.2"}},
	{"1.37.2", "go.mod", "", []string{"1.37.1"}},
	{"1.37.1", "releases/v1.37.1.mod", "", []string{"1.37.2", "1.37.0"}},
	{"1.37.0", "releases/v1.37.0.mod", "", []string{"1.37.1"}},
	{"1.36.5", "releases/v1.36.5.mod", "", []string{"1.37.2"}},
	{"1.35.8", "releases/v1.35.8.mod", "", []string{"1.34.12"}},
	{"1.34.12", "releases/v1.34.12.mod", "", []string{"1.35.8"}},
}

func (r evictingRelease) minor() int {
	minor := 0
	_, _ = fmt.Sscanf(r.version, "1.%d.", &minor)
	return minor
}

// taintedCluster is a random cluster of pods that hold devices with taints.
type taintedCluster struct {
	objects inspect.Objects
	gates   map[inspect.Gate]bool
}

// start is when bubbles of synctest begin, in which the controller runs.
var start = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// watched is for how long the controller is watched.
const watched = 1_000 * time.Second

func (p *taintedCluster) snapshot(version string) *inspect.Snapshot {
	minor := 0
	_, _ = fmt.Sscanf(version, "1.%d.", &minor)
	return inspect.New(p.objects, inspect.Config{ServerVersion: "v" + version, Features: inspect.DefaultFeatures(minor).With(p.gates), Time: start})
}

// consequences is what becomes of the devices and pods.
type consequences struct {
	Taints  map[string][]resourcev1.DeviceTaint
	Crash   string
	Evicted map[string]float64
}

func (p *taintedCluster) ours(version string) consequences {
	s := p.snapshot(version)
	out := consequences{Taints: map[string][]resourcev1.DeviceTaint{}, Evicted: map[string]float64{}}
	for _, slice := range s.Slices() {
		for i := range slice.Spec.Devices {
			out.Taints[slice.Name+"/"+slice.Spec.Devices[i].Name] = slice.Spec.Devices[i].Taints
		}
	}
	for _, pod := range p.objects.Pods {
		problems := lifecycle.DeviceEvictions(s, pod, allocatedOf(s, pod))
		if len(problems) == 0 {
			continue
		}
		if after := problems[0].Until.Sub(start); after < watched {
			out.Evicted[pod.Namespace+"/"+pod.Name] = max(after, 0).Seconds()
		}
	}
	return out
}

// differences says what differs. Old controllers begin up to a second late.
func (c consequences) differences(other consequences) string {
	var out []string
	for device, taints := range c.Taints {
		a, b := sortedTaints(taints), sortedTaints(other.Taints[device])
		if !slices.Equal(a, b) {
			out = append(out, fmt.Sprintf("device %s: %v, and %v", device, a, b))
		}
	}
	for _, pod := range slices.Sorted(maps.Keys(c.Evicted)) {
		if after, evicted := other.Evicted[pod]; !evicted || math.Abs(after-c.Evicted[pod]) > 1.5 {
			out = append(out, fmt.Sprintf("pod %s: evicted after %gs, and %t after %gs", pod, c.Evicted[pod], evicted, after))
		}
	}
	for _, pod := range slices.Sorted(maps.Keys(other.Evicted)) {
		if _, evicted := c.Evicted[pod]; !evicted {
			out = append(out, fmt.Sprintf("pod %s: not evicted, and after %gs", pod, other.Evicted[pod]))
		}
	}
	return strings.Join(out, "\n")
}

func sortedTaints(taints []resourcev1.DeviceTaint) []string {
	var out []string
	for i := range taints {
		t := &taints[i]
		out = append(out, fmt.Sprintf("%s=%s:%s at %s", t.Key, t.Value, t.Effect, t.TimeAdded.UTC().Format(time.RFC3339)))
	}
	slices.Sort(out)
	return out
}

func one[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// generateTainted makes a problem as it can occur in a minor release.
func generateTainted(r *rand.Rand, minor int) *taintedCluster {
	known := inspect.DefaultFeatures(minor)
	p := &taintedCluster{gates: map[inspect.Gate]bool{}}
	gates := map[inspect.Gate]bool{inspect.GateDeviceTaints: r.IntN(20) > 0, inspect.GateDeviceTaintRules: r.IntN(10) > 0, inspect.GateWorkloadResourceClaims: r.IntN(2) == 0}
	gates[inspect.GateDeviceTaintRules] = gates[inspect.GateDeviceTaintRules] && gates[inspect.GateDeviceTaints]
	gates[inspect.GateGenericWorkload] = gates[inspect.GateWorkloadResourceClaims]
	for gate, on := range gates {
		if known.Knows(gate) && !known.Locked(gate) {
			p.gates[gate] = on
		}
	}
	seconds := func() *metav1.Time {
		return new(metav1.NewTime(start.Add(time.Duration(r.IntN(80)*5-200) * time.Second)))
	}
	taint := func() resourcev1.DeviceTaint {
		return resourcev1.DeviceTaint{
			Key: one(r, "a.example.com", "b.example.com"), Value: one(r, "", "x"), TimeAdded: seconds(),
			Effect: one(r, resourcev1.DeviceTaintEffectNoExecute, resourcev1.DeviceTaintEffectNoExecute, resourcev1.DeviceTaintEffectNoSchedule),
		}
	}
	drivers, pools, devices := []string{"one.example.com", "two.example.com"}, []string{"pool", "other"}, []string{"gpu-0", "gpu-1", "gpu-2", "gpu-3"}
	for i := range 2 + r.IntN(3) {
		slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("slice-", i)}}
		slice.Spec = resourcev1.ResourceSliceSpec{Driver: one(r, drivers...), NodeName: new("node"), Pool: resourcev1.ResourcePool{Name: one(r, pools...), Generation: int64(r.IntN(2)), ResourceSliceCount: 1}}
		if minor < 35 { // the controller gets to know of slices one after another, and evicts because of old ones before it knows the new
			slice.Spec.Pool.Generation = 1
		}
		for _, name := range devices[i : i+1+r.IntN(len(devices)-i)] {
			device := resourcev1.Device{Name: name}
			for range r.IntN(3) / 2 * (1 + r.IntN(2)) {
				device.Taints = append(device.Taints, taint())
			}
			if !slices.ContainsFunc(p.objects.Slices, func(s *resourcev1.ResourceSlice) bool { // the controller takes any that has the name
				return s.Spec.Driver == slice.Spec.Driver && s.Spec.Pool.Name == slice.Spec.Pool.Name && slices.ContainsFunc(s.Spec.Devices, func(d resourcev1.Device) bool { return d.Name == name })
			}) {
				slice.Spec.Devices = append(slice.Spec.Devices, device)
			}
		}
		p.objects.Slices = append(p.objects.Slices, slice)
	}
	for i := range r.IntN(4) {
		rule := &resourcev1.DeviceTaintRule{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("rule-", i), UID: types.UID(fmt.Sprint("rule-", i))}, Spec: resourcev1.DeviceTaintRuleSpec{Taint: taint()}}
		if r.IntN(3) > 0 {
			rule.Spec.DeviceSelector = &resourcev1.DeviceTaintSelector{
				Driver: one(r, nil, &drivers[0], &drivers[1]), Pool: one(r, nil, nil, &pools[0], &pools[1]), Device: one(r, nil, nil, &devices[r.IntN(4)]),
			}
		}
		p.objects.TaintRules = append(p.objects.TaintRules, rule)
	}
	for i := range 2 + r.IntN(4) {
		p.addTaintedPod(r, i, minor, drivers, pools, devices)
	}
	return p
}

// addTaintedPod adds a pod with claims.
func (p *taintedCluster) addTaintedPod(r *rand.Rand, i, minor int, drivers, pools, devices []string) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint("pod-", i), UID: types.UID(fmt.Sprint("pod-", i))}}
	pod.Spec.NodeName = one(r, "node", "node", "node", "node", "node", "")
	pod.Status.Phase = one(r, corev1.PodRunning, corev1.PodRunning, corev1.PodSucceeded)
	if r.IntN(10) == 0 && minor > 34 { // where they are deleted once more, which changes nothing
		pod.DeletionTimestamp, pod.Finalizers = &metav1.Time{Time: start}, []string{"example.com/stay"}
	}
	if minor >= 36 && r.IntN(4) == 0 {
		pod.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: new("group")}
	}
	groupVersion := schedulingv1beta1.SchemeGroupVersion.String()
	if minor == 36 {
		groupVersion = schedulingv1beta1.GroupName + "/v1alpha2"
	}
	for j := range 1 + r.IntN(2) {
		claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("claim-%d-%d", i, j), UID: types.UID(fmt.Sprintf("claim-%d-%d", i, j))}}
		owned := func(kind, name string, uid types.UID) {
			claim.OwnerReferences = []metav1.OwnerReference{{APIVersion: one(r, "v1", groupVersion), Kind: kind, Name: name, UID: uid, Controller: new(r.IntN(8) > 0)}}
		}
		entry := corev1.PodResourceClaim{Name: fmt.Sprint("entry-", j)}
		switch kind := r.IntN(8); {
		case kind < 2:
			entry.ResourceClaimName = &claim.Name
		case kind < 5:
			entry.ResourceClaimTemplateName = new("template")
			if r.IntN(10) > 0 {
				pod.Status.ResourceClaimStatuses = append(pod.Status.ResourceClaimStatuses, corev1.PodResourceClaimStatus{Name: entry.Name, ResourceClaimName: one(r, &claim.Name, &claim.Name, &claim.Name, &claim.Name, &claim.Name, nil)})
			}
		default:
			entry.Name = ""
			pod.Status.ExtendedResourceClaimStatus = &corev1.PodExtendedResourceClaimStatus{ResourceClaimName: claim.Name}
		}
		if entry.Name != "" {
			pod.Spec.ResourceClaims = append(pod.Spec.ResourceClaims, entry)
		}
		switch r.IntN(12) {
		case 0:
			owned("Pod", "somebody", "somebody")
		case 1:
			owned("PodGroup", one(r, "group", "other"), "group")
		case 2:
		default:
			owned("Pod", pod.Name, pod.UID)
		}
		if minor == 36 && p.gates[inspect.GateWorkloadResourceClaims] && pod.Spec.SchedulingGroup == nil {
			owned("Pod", pod.Name, pod.UID) // with a claim that is not its own, a pod of no group crashes the controller of 1.36
			claim.OwnerReferences[0].Controller = new(true)
		}
		p.reserve(r, claim, pod, minor)
		if r.IntN(10) > 0 {
			claim.Status.Allocation = &resourcev1.AllocationResult{}
			for k := range 1 + r.IntN(2) {
				result := resourcev1.DeviceRequestAllocationResult{
					Request: fmt.Sprint("request-", k), Driver: one(r, drivers...), Pool: one(r, pools...), Device: one(r, devices...), Tolerations: randomTolerations(r, minor),
				}
				if slice := one(r, p.objects.Slices...); len(slice.Spec.Devices) > 0 && r.IntN(6) > 0 {
					result.Driver, result.Pool, result.Device = slice.Spec.Driver, slice.Spec.Pool.Name, one(r, slice.Spec.Devices...).Name
				}
				claim.Status.Allocation.Devices.Results = append(claim.Status.Allocation.Devices.Results, result)
			}
		}
		p.objects.Claims = append(p.objects.Claims, claim)
	}
	p.objects.Pods = append(p.objects.Pods, pod)
}

// reserve reserves a claim for a pod, mostly. Where a reservation is not for a pod that is there, controllers
// before 1.36 look at no more of them, if they learn of the claim after the pods.
func (p *taintedCluster) reserve(r *rand.Rand, claim *resourcev1.ResourceClaim, pod *corev1.Pod, minor int) {
	reserved := func(resource, group, name string, uid types.UID) {
		claim.Status.ReservedFor = append(claim.Status.ReservedFor, resourcev1.ResourceClaimConsumerReference{APIGroup: group, Resource: resource, Name: name, UID: uid})
	}
	if minor >= 36 && r.IntN(8) == 0 {
		reserved("pods", "", one(r, pod.Name, "gone"), "another")
	}
	switch n := r.IntN(10); {
	case n == 0:
	case n < 3 && minor >= 36:
		reserved("podgroups", schedulingv1beta1.GroupName, one(r, "group", "group", "other"), "group")
	default:
		reserved("pods", "", pod.Name, pod.UID)
	}
}

func randomTolerations(r *rand.Rand, minor int) []resourcev1.DeviceToleration {
	var out []resourcev1.DeviceToleration
	for range r.IntN(3) {
		t := resourcev1.DeviceToleration{
			Key: one(r, "", "a.example.com", "b.example.com"), Operator: one(r, resourcev1.DeviceTolerationOpExists, resourcev1.DeviceTolerationOpEqual),
			Effect: one(r, resourcev1.DeviceTaintEffectNoExecute, resourcev1.DeviceTaintEffectNoExecute, resourcev1.DeviceTaintEffectNoSchedule, ""),
		}
		if minor >= 38 && r.IntN(3) == 0 { // which decides there
			t.Effect = ""
		}
		if t.Operator == resourcev1.DeviceTolerationOpEqual {
			t.Value = one(r, "", "x")
		}
		if t.Effect == resourcev1.DeviceTaintEffectNoExecute {
			t.TolerationSeconds = one(r, nil, ptr.To[int64](-5), new(int64(r.IntN(60)*5)), new(int64(r.IntN(60)*5)), ptr.To[int64](9_999_999_999), ptr.To[int64](math.MaxInt64))
		}
		out = append(out, t)
	}
	return out
}

// evictionOracle is a running release.
type evictionOracle struct {
	in  *json.Encoder
	out *json.Decoder
}

func startEvictionOracle(t *testing.T, r evictingRelease) *evictionOracle {
	t.Helper()
	program := filepath.Join(t.TempDir(), "eviction-"+r.version)
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", fmt.Sprint("-tags=kube1", r.minor()), "-modfile="+r.modfile, "-o", program, ".")
	build.Dir = filepath.Join("..", "oracle", "eviction")
	if r.toolchain != "" {
		build.Env = append(build.Environ(), "GOTOOLCHAIN="+r.toolchain)
		has := exec.CommandContext(t.Context(), "go", "version")
		has.Env = build.Env
		if text, err := has.CombinedOutput(); err != nil {
			t.Skipf("%s, with which what evicts pods in %s is built, cannot be had: %v\n%s", r.toolchain, r.version, err, text)
		}
	}
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building what evicts pods in %s: %v\n%s", r.version, err, text)
	}
	command := exec.CommandContext(context.Background(), program, "-test.run", "^TestServe$", "-test.timeout", "0") // it ends when its input does
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
		if err := command.Wait(); err != nil || t.Failed() {
			t.Logf("the oracle ended with %v: %s", err, complaints.String())
		}
	})
	return &evictionOracle{in: json.NewEncoder(in), out: json.NewDecoder(bufio.NewReader(out))}
}

func (o *evictionOracle) ask(p *taintedCluster, features inspect.Features) (consequences, error) {
	gates := map[inspect.Gate]bool{}
	for _, gate := range inspect.Gates() {
		if features.Knows(gate) {
			gates[gate] = features.Enabled(gate)
		}
	}
	var rules []*resourcev1.DeviceTaintRule
	for _, rule := range p.objects.TaintRules {
		rule = rule.DeepCopy()
		rule.SetGroupVersionKind(resourcev1.SchemeGroupVersion.WithKind("DeviceTaintRule"))
		rules = append(rules, rule)
	}
	if err := o.in.Encode(map[string]any{
		"Gates": gates, "Slices": p.objects.Slices, "Rules": rules, "Claims": p.objects.Claims, "Pods": p.objects.Pods, "Seconds": int(watched.Seconds()),
	}); err != nil {
		return consequences{}, fmt.Errorf("asking the oracle: %w", err)
	}
	var out consequences
	if err := o.out.Decode(&out); err != nil {
		return consequences{}, fmt.Errorf("reading from the oracle: %w", err)
	}
	return out, nil
}

// tries is how often a release is asked at most until it answers as we do. When rules and slices come at
// once, trackers may keep a slice without the last of the rules.
const tries = 3

// TestReleases compares with each release on random problems.
func TestReleases(t *testing.T) {
	if !*oracles {
		t.Skip("without -oracles")
	}
	for _, release := range evictingReleases {
		t.Run(release.version, func(t *testing.T) {
			o := startEvictionOracle(t, release)
			decided, evicted, taints, again := map[string]int{}, 0, 0, 0
			for seed := range *oracleProblems {
				p := generateTainted(rand.New(rand.NewPCG(31, uint64(seed))), release.minor())
				ours := p.ours(release.version)
				diff := ""
				for range tries {
					theirs, err := o.ask(p, p.snapshot(release.version).Features())
					if err != nil {
						t.Fatal(err)
					}
					if theirs.Crash != "" {
						t.Fatalf("seed %d: the tracker crashes: %s", seed, theirs.Crash)
					}
					if diff = theirs.differences(ours); diff == "" {
						break
					}
					again++
				}
				if diff != "" {
					text, _ := yaml.Marshal([]any{p.objects.Slices, p.objects.TaintRules, p.objects.Claims, p.objects.Pods})
					t.Fatalf("seed %d: %s answers, and we: %s\n%v\n%s", seed, release.version, diff, p.gates, text)
				}
				evicted += len(ours.Evicted)
				for _, of := range ours.Taints {
					taints += len(of)
				}
				for _, other := range release.differs {
					if ours.differences(p.ours(other)) != "" {
						decided[other]++
					}
				}
			}
			t.Logf("%d problems, %d taints, %d pods evicted, %d asked again; problems decided otherwise than in: %v", *oracleProblems, taints, evicted, again, decided)
			if evicted*5 < *oracleProblems || taints < *oracleProblems {
				t.Errorf("%d problems with %d taints and %d evicted pods are too few", *oracleProblems, taints, evicted)
			}
			for _, other := range release.differs {
				if decided[other]*15 < *oracleProblems {
					t.Errorf("%d of %d problems are decided otherwise than in %s", decided[other], *oracleProblems, other)
				}
			}
		})
	}
}
