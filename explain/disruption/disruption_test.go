package disruption

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
)

// gone tells what becomes of the pods of a disruption, in a line.
func gone(d *explain.Disruption) string {
	var out []string
	for _, g := range d.Gone {
		text := g.Subject.Name + " " + string(g.Then)
		if g.After > 0 {
			text += " after " + g.After.String()
		}
		if g.Again != nil {
			text += " " + string(g.Again.Node)
		}
		out = append(out, text)
	}
	for _, n := range d.Besides {
		out = append(out, n.Name+" "+n.Message)
	}
	return strings.Join(out, ", ")
}

func names(of []explain.PlacedPod) (out []string) {
	for _, p := range of {
		out = append(out, p.Subject.Name)
	}
	return out
}

func TestPlay(t *testing.T) {
	seconds := func(o *inspect.Objects) {
		o.Pods[0].Spec.Tolerations = []corev1.Toleration{{Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpExists, TolerationSeconds: ptr.To(int64(300))}}
	}
	tests := []struct {
		name   string
		change func(*inspect.Objects)
		event  func(*inspect.Snapshot) *Event
		want   string
		claims int
		gains  []string
	}{
		{
			"drain", nil, func(s *inspect.Snapshot) *Event { return Drain(s, "node-0000") },
			"five Placed node-0001, orphan Gone, daemon stays: it belongs to the node", 2, nil,
		},
		{
			"drain of both", nil, func(s *inspect.Snapshot) *Event { return Drain(s, "node-0000", "node-0001") },
			"five Pending, orphan Gone, two Pending, daemon stays: it belongs to the node", 3, nil,
		},
		{
			"lost node", seconds, func(s *inspect.Snapshot) *Event { return LoseNodes(s, "node-0000") },
			"orphan Gone, five Placed after 5m0s node-0001, daemon goes with its node", 3, nil,
		},
		{
			"lost device", nil, func(s *inspect.Snapshot) *Event {
				return LoseDevices(s, "a device", func(id inspect.DeviceID) bool { return id.Pool == "node-0001" && id.Device == "gpu-1" })
			}, "two Placed node-0001", 1, nil,
		},
		{
			"namespace", nil, func(s *inspect.Snapshot) *Event { return DeleteNamespace(s, "ml") },
			"daemon Gone, five Gone, orphan Gone, two Gone", 4, nil,
		},
		{
			"room for others", func(o *inspect.Objects) { o.Pods[4].Namespace = "dev"; o.Templates[2].Namespace = "dev" },
			func(s *inspect.Snapshot) *Event { return DeleteNamespace(s, "ml") },
			"daemon Gone, five Gone, orphan Gone, two Gone", 4, []string{"waits"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o := explaintest.BusyFarm()
			if test.change != nil {
				test.change(o)
			}
			c := explaintest.NewCluster(*o)
			d, err := Play(t.Context(), c, test.event(c.Snapshot()))
			if err != nil {
				t.Fatal(err)
			}
			if got := gone(d); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
			if len(d.Claims) != test.claims || !slices.Equal(names(d.Gains), test.gains) {
				t.Errorf("%d claims lost, gains %v", len(d.Claims), names(d.Gains))
			}
		})
	}
}

// TestPlayLosses sees who is left waiting by an event although he fits now: what comes back takes its room.
func TestPlayLosses(t *testing.T) {
	o := explaintest.BusyFarm()
	o.Pods[0].Spec.Priority = ptr.To(int32(10))
	o.Pods[4] = explaintest.Worker("waits", "four")
	c := explaintest.NewCluster(*o)
	d, err := Play(t.Context(), c, Drain(c.Snapshot(), "node-0000"))
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Losses) != 1 || d.Losses[0].Subject.Name != "waits" || d.Harm() != 2 {
		t.Errorf("losses %v, harm %d: %s", d.Losses, d.Harm(), gone(d))
	}
}

// TestSharedClaims sees that a claim is released only when all that it is reserved for end.
func TestSharedClaims(t *testing.T) {
	o := explaintest.BusyFarm()
	shared := o.Claims[3]
	shared.OwnerReferences = nil
	shared.Status.ReservedFor = append(shared.Status.ReservedFor, resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: "five"})
	c := explaintest.NewCluster(*o)
	d, err := Play(t.Context(), c, Drain(c.Snapshot(), "node-0001"))
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Claims) != 0 {
		t.Errorf("lost: %v", d.Claims)
	}
	if d, err = Play(t.Context(), c, Drain(c.Snapshot(), "node-0000", "node-0001")); err != nil {
		t.Fatal(err)
	}
	if i := slices.IndexFunc(d.Claims, func(l explain.LostClaim) bool { return l.Claim.Name == shared.Name }); i < 0 || d.Claims[i].Deleted {
		t.Errorf("lost: %v", d.Claims)
	}
}

// TestFindWeakest compares the worst loss with what comes out when all are played.
func TestFindWeakest(t *testing.T) {
	harms := map[int]int{}
	saved := 0
	for seed := range effort.Of(500, 20) {
		rng := rand.New(rand.NewPCG(uint64(seed), 5))
		o := explaintest.SmallFarm(0)
		for i := range 3 + rng.IntN(3) {
			explaintest.AddRandomNode(rng, o, fmt.Sprintf("n%d", i))
		}
		o.Templates[0] = explaintest.Template("one", 1, "")
		for i, slice := range o.Slices {
			for d := range slice.Spec.Devices {
				slice.Spec.Devices[d].Name = fmt.Sprintf("gpu-%d", d)
				if rng.IntN(2) == 0 {
					explaintest.AddRunning(o, fmt.Sprintf("p%d-%d", i, d), *slice.Spec.NodeName, []string{"Job", "Job", ""}[rng.IntN(3)], d)
				}
			}
		}
		if rng.IntN(2) == 0 {
			o.Pods = append(o.Pods, explaintest.Worker("waits", "one"))
		}
		k := 1 + rng.IntN(2)
		checkWeakest(t, seed, o, k, harms, &saved)
	}
	t.Log(harms, saved)
	if len(harms) < 3 || saved == 0 {
		t.Errorf("too few kinds of harm, or all losses were played: %v, %d", harms, saved)
	}
}

func checkWeakest(t *testing.T, seed int, o *inspect.Objects, k int, harms map[int]int, saved *int) {
	t.Helper()
	c := explaintest.NewCluster(*o)
	s := c.Snapshot()
	lose := func(parts []Part) *Event {
		var nodes []inspect.NodeName
		for _, p := range parts {
			nodes = append(nodes, inspect.NodeName(p.Name))
		}
		return LoseNodes(s, nodes...)
	}
	var parts []Part
	weights := NodeWeights(s)
	for _, node := range s.Nodes() {
		part := Part{Name: node.Name, Weight: weights[inspect.NodeName(node.Name)]}
		if n := len(lose([]Part{part}).Evicted); n != part.Weight {
			t.Fatalf("seed %d: losing %s ends %d pods, and weighs %d", seed, node.Name, n, part.Weight)
		}
		parts = append(parts, part)
	}
	got, err := FindWeakest(t.Context(), c, parts, k, lose)
	if err != nil {
		t.Fatal(err)
	}
	worst, all := 0, 0
	for i := range parts {
		for j := i; j < len(parts); j++ {
			if (k == 1) != (i == j) {
				continue
			}
			all++
			chosen := []Part{parts[i]}
			if k == 2 {
				chosen = append(chosen, parts[j])
			}
			d, err := Play(t.Context(), explaintest.NewCluster(*o), lose(chosen))
			if err != nil {
				t.Fatal(err)
			}
			worst = max(worst, d.Harm())
		}
	}
	if !got.Proven || got.Disruption.Harm() != worst || len(got.Parts) != k {
		t.Fatalf("seed %d: harm %d by %v (proven %t), want %d", seed, got.Disruption.Harm(), got.Parts, got.Proven, worst)
	}
	*saved += all - got.Tried
	harms[worst]++
}

func TestFindWeakestBounds(t *testing.T) {
	c := explaintest.NewCluster(*explaintest.BusyFarm())
	if w, err := FindWeakest(t.Context(), c, nil, 1, nil); w != nil || err != nil {
		t.Errorf("of nothing: %v, %v", w, err)
	}
	late := LoseNodes(c.Snapshot(), "node-0000")
	if i := slices.IndexFunc(late.Evicted, func(e Eviction) bool { return e.After > time.Second }); i >= 0 {
		t.Errorf("tolerated: %v", late.Evicted[i])
	}
}

// TestPlayOutLeadsToClusters: the cluster after an event has what is placed then, and the one without it what
// is placed anyway.
func TestPlayOutLeadsToClusters(t *testing.T) {
	o := explaintest.BusyFarm()
	o.Templates[2] = explaintest.Template("eight", 1, "") // of the pod that waits
	c := explaintest.NewCluster(*o)
	before := fmt.Sprint(placesOf(c.Snapshot()))
	a, err := PlayOut(t.Context(), c, Drain(c.Snapshot(), "node-0000"))
	if err != nil {
		t.Fatal(err)
	}
	if got := placesOf(a.With); got["five"] != "node-0001" || got["orphan"] != "" || got["waits"] == "" || got["daemon"] != "node-0000" {
		t.Errorf("with the event: %v", got)
	}
	if got := placesOf(a.Without); got["five"] != "node-0000" || got["orphan"] != "node-0000" || got["waits"] == "" {
		t.Errorf("without the event: %v", got)
	}
	if node, _ := a.With.Node("node-0000"); !node.Spec.Unschedulable {
		t.Error("the node that is drained is not cordoned")
	}
	if a.Waiting != 0 || fmt.Sprint(placesOf(c.Snapshot())) != before {
		t.Errorf("%d are left waiting, and the cluster has %v", a.Waiting, placesOf(c.Snapshot()))
	}
}

// placesOf says on which nodes pods are.
func placesOf(s *inspect.Snapshot) map[string]string {
	out := map[string]string{}
	for _, pod := range s.Objects().Pods {
		out[pod.Name] = pod.Spec.NodeName
	}
	return out
}

// TestStrandedClaims: nothing releases a claim that is reserved for nobody, so it keeps devices that are
// gone. One that is reserved gives them back with its last pod.
func TestStrandedClaims(t *testing.T) {
	o := explaintest.BusyFarm()
	idle := o.Claims[3].DeepCopy()
	idle.Name, idle.OwnerReferences, idle.Status.ReservedFor = "idle", nil, nil
	idle.Status.Allocation.Devices.Results = []resourcev1.DeviceRequestAllocationResult{{Request: "gpus", Driver: "gpu.example.com", Pool: "node-0001", Device: "gpu-7"}}
	waits := explaintest.Worker("waits-for-idle", "one")
	waits.Spec.ResourceClaims[0] = corev1.PodResourceClaim{Name: "gpus", ResourceClaimName: ptr.To("idle")}
	idle.Status.Allocation.NodeSelector = pinnedTo("node-0001")
	o.Claims, o.Pods = append(o.Claims, idle), append(o.Pods, waits)
	c := explaintest.NewCluster(*o)
	s := c.Snapshot()
	for _, e := range []*Event{
		LoseNodes(s, "node-0001"), LoseDevices(s, "pool", func(id inspect.DeviceID) bool { return id.Pool == "node-0001" }),
	} {
		d, err := Play(t.Context(), c, e)
		if err != nil {
			t.Fatal(err)
		}
		var stranded []string
		for _, n := range d.Besides {
			if n.Kind == "ResourceClaim" {
				stranded = append(stranded, n.Name+" "+n.Message)
			}
		}
		if len(stranded) != 1 || !strings.HasPrefix(stranded[0], "idle stays allocated to devices that are gone: it is reserved for nobody") {
			t.Errorf("%s: %v", d.What, stranded)
		}
		if slices.ContainsFunc(d.Claims, func(l explain.LostClaim) bool { return l.Claim.Name == "idle" }) {
			t.Errorf("%s: idle gives its devices back", d.What)
		}
	}
	d, err := Play(t.Context(), c, LoseNodes(s, "node-0001"))
	if err != nil {
		t.Fatal(err)
	}
	if got := explaintest.Ends(&d.Replay); !strings.Contains(got, "waits-for-idle waits Unknown") { // kube-scheduler takes the devices from the claim
		t.Errorf("who waits for the claim: %s", got)
	}
}

func pinnedTo(node string) *corev1.NodeSelector {
	return &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{
		{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{node}},
	}}}}
}

// TestLoseAllNodes: without any node nobody comes back, which is no cluster whose nodes are not known.
func TestLoseAllNodes(t *testing.T) {
	o := explaintest.BusyFarm()
	for _, pod := range o.Pods { // who asks for no devices would fit on any node
		pod.Spec.ResourceClaims, pod.Spec.Containers[0].Resources.Claims = nil, nil
	}
	c := explaintest.NewCluster(*o)
	d, err := Play(t.Context(), c, LoseNodes(c.Snapshot(), "node-0000", "node-0001"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := gone(d), "five Pending, orphan Gone, two Pending, daemon goes with its node"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if len(d.Losses) != 1 || d.Losses[0].Verdict != explain.Unsatisfiable {
		t.Errorf("losses: %v", d.Losses)
	}
}

// endedBy is the number of pods that have to go by an event and would stay otherwise.
func endedBy(e *Event) int {
	n := 0
	for _, v := range e.Evicted {
		if !v.Along {
			n++
		}
	}
	return n
}

// TestWeights compares what parts weigh with the pods that their loss ends.
func TestWeights(t *testing.T) {
	o := explaintest.BusyFarm()
	shared := o.Claims[3] // of two pods, one of which is elsewhere
	shared.Status.ReservedFor = append(shared.Status.ReservedFor, resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: "five"})
	second := o.Claims[0].DeepCopy() // another claim of the same pod for the same device
	second.Name, second.Status.Allocation.Devices.Results = "second", second.Status.Allocation.Devices.Results[:1]
	o.Claims = append(o.Claims, second)
	o.Pods[1].Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}} // who stays until the node is deleted
	s := explaintest.NewCluster(*o).Snapshot()
	nodes := NodeWeights(s)
	for _, node := range []inspect.NodeName{"node-0000", "node-0001"} {
		if n := endedBy(LoseNodes(s, node)); n != nodes[node] || nodes[node] != 1 {
			t.Errorf("losing %s ends %d pods, and weighs %d", node, n, nodes[node])
		}
	}
	devices, pools := DeviceWeights(s)
	heavy := 0
	for d := range s.Inventory().Newest() {
		e := LoseDevices(s, "it", func(id inspect.DeviceID) bool { return id == d.ID })
		if len(e.Evicted) != devices[d.ID] {
			t.Errorf("losing %s ends %d pods, and weighs %d", d.ID, len(e.Evicted), devices[d.ID])
		}
		heavy = max(heavy, devices[d.ID])
		e = LoseDevices(s, "it", func(id inspect.DeviceID) bool { return id.PoolID() == d.ID.PoolID() })
		if len(e.Evicted) != pools[d.ID.PoolID()] {
			t.Errorf("losing pool %s ends %d pods, and weighs %d", d.ID.PoolID(), len(e.Evicted), pools[d.ID.PoolID()])
		}
	}
	if heavy != 2 {
		t.Errorf("the heaviest device weighs %d", heavy)
	}
}
