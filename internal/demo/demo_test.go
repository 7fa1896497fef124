package demo

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
)

func snapshotOf(t testing.TB) *inspect.Snapshot {
	t.Helper()
	objects, err := Objects()
	if err != nil {
		t.Fatal(err)
	}
	return inspect.New(objects, inspect.Config{
		Time: Now(), Features: inspect.DefaultFeatures(inspect.NewestMinor), Health: Health(),
	})
}

func TestObjectsAreWhatTheAPIServerAccepts(t *testing.T) {
	result, err := read()
	if err != nil {
		t.Fatal(err)
	}
	for _, warning := range result.Warnings {
		t.Errorf("warning: %s", warning)
	}
	if len(result.Skipped) > 0 {
		t.Errorf("skipped: %v", result.Skipped)
	}
	o := result.Objects
	got := map[string]int{
		"nodes": len(o.Nodes), "slices": len(o.Slices), "classes": len(o.Classes), "rules": len(o.TaintRules),
		"claims": len(o.Claims), "templates": len(o.Templates),
	}
	// Nodes: 4+4+2+2. Slices: one GPU slice on each of 8 nodes, two MIG slices on each of 2, one NIC slice on
	// each of 8 GPU and 2 CPU nodes, three of FPGAs. Claims: the rows of README.md.
	want := map[string]int{
		"nodes": 12, "slices": 8 + 4 + 10 + 3, "classes": 6, "rules": 1, "claims": len(readTable(t)), "templates": 7,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("number of objects (-want +got):\n%s", diff)
	}
}

// README.md says that --from shows the same cluster.
func TestFilesHoldTheSameObjects(t *testing.T) {
	embedded, err := Objects()
	if err != nil {
		t.Fatal(err)
	}
	files, err := manifest.Read(t.Context(), []string{"cluster"}, manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(embedded, files.Objects); diff != "" {
		t.Errorf("(-embedded +files):\n%s", diff)
	}
}

func TestEachCallGivesObjectsOfItsOwn(t *testing.T) {
	a, err := Objects()
	if err != nil {
		t.Fatal(err)
	}
	b, err := Objects()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("two calls differ:\n%s", diff)
	}
	a.Claims[0].Name = "changed"
	if b.Claims[0].Name == "changed" {
		t.Error("two calls share an object")
	}
}

func TestNothingIsLaterThanNow(t *testing.T) {
	stamp := regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:]+Z`)
	for _, name := range clusterFiles(t) {
		text, err := cluster.ReadFile("cluster/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range stamp.FindAllString(string(text), -1) {
			at, err := time.Parse(time.RFC3339, found)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if at.After(Now()) {
				t.Errorf("%s: %s is later than Now", name, found)
			}
		}
	}
	objects := snapshotOf(t).Objects()
	var created []metav1.Object
	for _, o := range objects.Claims {
		created = append(created, o)
	}
	for _, o := range objects.Pods {
		created = append(created, o)
	}
	for _, o := range objects.Slices {
		created = append(created, o)
	}
	for _, o := range created {
		if stamp := o.GetCreationTimestamp(); stamp.IsZero() || o.GetUID() == "" {
			t.Errorf("%T %s/%s has no creation timestamp or no uid", o, o.GetNamespace(), o.GetName())
		}
	}
}

func clusterFiles(t *testing.T) []string {
	t.Helper()
	entries, err := cluster.ReadDir("cluster")
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, 0, len(entries))
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// Each allocation is exactly what the scheduler would write if nothing was left to choose: so the devices
// exist, match the selectors and constraints, fit into capacity and counters beside all others, and node
// selector, configuration and consumed capacity are right.
func TestAllocationsAreWhatTheSchedulerWrites(t *testing.T) {
	snapshot := snapshotOf(t)
	ignored := cmp.Options{
		cmpopts.IgnoreFields(resourcev1.DeviceRequestAllocationResult{}, "ShareID"), // random
		cmpopts.IgnoreFields(resourcev1.AllocationResult{}, "AllocationTimestamp"),  // written later
		cmpopts.EquateEmpty(),
	}
	for _, claim := range snapshot.Objects().Claims {
		if claim.Status.Allocation == nil {
			continue
		}
		t.Run(inspect.RefOf(claim).String(), func(t *testing.T) {
			fresh := claim.DeepCopy()
			fresh.Status = resourcev1.ResourceClaimStatus{}
			oracle := newOracle(t, onlyDevices(snapshot, claim), inspect.RefOf(claim))
			node := nodeOf(t, snapshot, claim)
			results, err := oracle.allocator.Allocate(t.Context(), node, []*resourcev1.ResourceClaim{fresh})
			if err != nil {
				t.Fatal(err)
			}
			if len(results) != 1 {
				t.Fatal("the scheduler would not allocate these devices")
			}
			if diff := cmp.Diff(&results[0], claim.Status.Allocation, ignored); diff != "" {
				t.Errorf("allocation (-scheduler +demo):\n%s", diff)
			}
		})
	}
}

// nodeOf is the node of a pod that uses the claim.
func nodeOf(t *testing.T, snapshot *inspect.Snapshot, claim *resourcev1.ResourceClaim) *corev1.Node {
	t.Helper()
	for _, ref := range snapshot.PodsOf(inspect.RefOf(claim)) {
		pod, ok := snapshot.Pod(ref)
		if !ok {
			t.Fatalf("pod %s does not exist", ref)
		}
		if node, ok := snapshot.Node(inspect.NodeName(pod.Spec.NodeName)); ok {
			return node
		}
	}
	t.Fatal("no pod on a node uses the claim")
	return nil
}

// No device has two holders unless it is shared, and each shared device offers what is taken of it. (The
// allocation test cannot see this: it looks at one claim with the others as they are.)
func TestHolders(t *testing.T) {
	snapshot := snapshotOf(t)
	shared := 0
	for _, slice := range snapshot.Slices() {
		for i := range slice.Spec.Devices {
			device := &slice.Spec.Devices[i]
			id := inspect.DeviceIDOf(slice, i)
			var owners []inspect.Holder
			for _, holder := range snapshot.Holders(id) {
				if !holder.Admin() {
					owners = append(owners, holder)
				}
			}
			multiple := device.AllowMultipleAllocations != nil && *device.AllowMultipleAllocations
			if len(owners) > 1 && !multiple {
				t.Errorf("%s has %d holders", id, len(owners))
			}
			if len(owners) > 1 {
				shared++
			}
			taken := map[string]bool{}
			for _, owner := range owners {
				if owner.Shared() != multiple {
					t.Errorf("%s: %s holds a share: %t, the device can be shared: %t", id, owner.Claim, owner.Shared(), multiple)
				}
				if owner.Shared() && taken[string(*owner.Result.ShareID)] {
					t.Errorf("%s: a share id occurs twice", id)
				}
				if owner.Shared() {
					taken[string(*owner.Result.ShareID)] = true
				}
			}
		}
	}
	if shared == 0 {
		t.Error("no device has several holders: that is worth showing")
	}
}

// Pods and claims name each other, and the pods run where their claims can be used.
func TestReservations(t *testing.T) {
	snapshot := snapshotOf(t)
	for _, claim := range snapshot.Objects().Claims {
		for _, consumer := range claim.Status.ReservedFor {
			ref := inspect.PodRef{Namespace: claim.Namespace, Name: consumer.Name}
			pod, ok := snapshot.Pod(ref)
			if !ok || pod.UID != consumer.UID {
				t.Errorf("%s is reserved for pod %s, which does not exist with that uid", inspect.RefOf(claim), ref)
				continue
			}
			if pod.Status.Phase != corev1.PodRunning {
				t.Errorf("%s is reserved for pod %s, which is %s", inspect.RefOf(claim), ref, pod.Status.Phase)
			}
			if node, ok := snapshot.Node(inspect.NodeName(pod.Spec.NodeName)); !ok || !usableOn(t, claim, node) {
				t.Errorf("pod %s runs on %q, where %s cannot be used", ref, pod.Spec.NodeName, inspect.RefOf(claim))
			}
		}
	}
	for _, pod := range snapshot.Objects().Pods {
		for i := range pod.Spec.ResourceClaims {
			checkEntry(t, snapshot, pod, &pod.Spec.ResourceClaims[i])
		}
	}
}

// checkEntry asks that a pod's entry leads to a claim, and that a running pod has it reserved.
func checkEntry(t *testing.T, snapshot *inspect.Snapshot, pod *corev1.Pod, entry *corev1.PodResourceClaim) {
	t.Helper()
	name, ok := inspect.ClaimNameFor(pod, entry)
	claim, found := snapshot.Claim(inspect.ClaimRef{Namespace: pod.Namespace, Name: name})
	if !ok || !found {
		t.Errorf("pod %s/%s: entry %s leads to no claim", pod.Namespace, pod.Name, entry.Name)
		return
	}
	if template := entry.ResourceClaimTemplateName; template != nil {
		made, found := snapshot.Template(pod.Namespace, *template)
		if !found {
			t.Errorf("pod %s/%s: template %s does not exist", pod.Namespace, pod.Name, *template)
		} else if diff := cmp.Diff(made.Spec.Spec, claim.Spec); diff != "" {
			t.Errorf("%s differs from its template:\n%s", inspect.RefOf(claim), diff)
		}
	}
	reserved := slices.ContainsFunc(claim.Status.ReservedFor, func(c resourcev1.ResourceClaimConsumerReference) bool {
		return c.Name == pod.Name
	})
	if running := pod.Status.Phase == corev1.PodRunning; running != reserved {
		t.Errorf("pod %s/%s is running: %t; %s is reserved for it: %t", pod.Namespace, pod.Name, running, inspect.RefOf(claim), reserved)
	}
}

// usableOn reports whether an allocated claim can be used on a node.
func usableOn(t *testing.T, claim *resourcev1.ResourceClaim, node *corev1.Node) bool {
	t.Helper()
	if claim.Status.Allocation.NodeSelector == nil {
		return true
	}
	selector, err := nodeaffinity.NewNodeSelector(claim.Status.Allocation.NodeSelector)
	if err != nil {
		t.Fatal(err)
	}
	return selector.Match(node)
}

// row is a line of the table of claims in README.md.
type row struct {
	verdict string
	nodes   []string
	reasons []string
}

func readTable(t *testing.T) map[string]row {
	t.Helper()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]row{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 7 || !strings.Contains(cells[1], "/") {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if _, twice := rows[cells[1]]; twice {
			t.Errorf("README.md has two lines for %s", cells[1])
		}
		var reasons []string
		if cells[4] != "" {
			reasons = strings.Split(cells[4], ", ")
		}
		rows[cells[1]] = row{verdict: cells[2], nodes: strings.Fields(cells[3]), reasons: reasons}
	}
	return rows
}

func TestVerdictsInREADME(t *testing.T) {
	snapshot := snapshotOf(t)
	oracle := newOracle(t, snapshot, inspect.ClaimRef{})
	rows := readTable(t)
	seen := map[string]int{}
	for _, claim := range snapshot.Objects().Claims {
		ref := inspect.RefOf(claim).String()
		t.Run(ref, func(t *testing.T) {
			want, ok := rows[ref]
			if !ok {
				t.Fatal("README.md does not mention the claim")
			}
			got := decide(t, snapshot, oracle, claim)
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(row{}), cmpopts.EquateEmpty(), cmpopts.IgnoreFields(row{}, "reasons")); diff != "" {
				t.Errorf("(-README.md +scheduler):\n%s", diff)
			}
			if no := want.verdict == "Unsatisfiable" || want.verdict == "Invalid"; no != (len(want.reasons) > 0) {
				t.Errorf("verdict %s with reasons %v", want.verdict, want.reasons)
			}
			seen[got.verdict]++
		})
	}
	for _, verdict := range []string{"Allocated", "Allocatable", "Unsatisfiable", "Invalid"} {
		if seen[verdict] == 0 {
			t.Errorf("no claim is %s", verdict)
		}
	}
}

func decide(t *testing.T, snapshot *inspect.Snapshot, oracle *oracle, claim *resourcev1.ResourceClaim) row {
	t.Helper()
	if claim.Status.Allocation != nil {
		got := row{verdict: "Allocated"}
		for _, node := range snapshot.Nodes() {
			if claim.Status.Allocation.NodeSelector != nil && usableOn(t, claim, node) {
				got.nodes = append(got.nodes, node.Name)
			}
		}
		return got
	}
	verdict, nodes, err := oracle.decide(t.Context(), claim)
	if err != nil {
		t.Logf("the scheduler aborts: %v", err)
	}
	return row{verdict: verdict, nodes: nodes}
}
