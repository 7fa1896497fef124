package disruption

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
)

// manyAlike is a random cluster of a few kinds of nodes, on some of which a pod runs, with pods that wait, of
// which some may care for one of the nodes by its name or a label.
func manyAlike(rng *rand.Rand) *inspect.Objects {
	o := explaintest.Farm(0)
	o.Templates = append(o.Templates, explaintest.Template("one", 1, ""), explaintest.Template("two", 2, ""), explaintest.Template("v100", 1, `device.attributes["gpu.example.com"].model == "v100"`), explaintest.Template("rack", 1, ""))
	if rng.IntN(4) == 0 { // nodes whose devices differ in what is asked for
		o.Templates[3].Spec.Spec.Devices.Requests[0].Exactly.Selectors = []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{
			Expression: `device.attributes["gpu.example.com"].serial < 20`,
		}}}
	}
	daemons := rng.IntN(3)
	for i := range 2 + rng.IntN(2) {
		explaintest.AddRandomNode(rng, o, "")
		node, slice := o.Nodes[len(o.Nodes)-1], o.Slices[len(o.Slices)-1]
		o.Nodes, o.Slices = o.Nodes[:len(o.Nodes)-1], o.Slices[:len(o.Slices)-1]
		for n := range 1 + rng.IntN(4) {
			name := fmt.Sprintf("n%d-%d", i, n)
			node, slice := node.DeepCopy(), slice.DeepCopy()
			node.Name, node.Labels = name, map[string]string{corev1.LabelHostname: name, "rack": fmt.Sprint(rng.IntN(2)), "serial": name}
			slice.Name, slice.Spec.NodeName, slice.Spec.Pool.Name = name, ptr.To(name), name
			for d := range slice.Spec.Devices {
				slice.Spec.Devices[d].Attributes["serial"] = resourcev1.DeviceAttribute{IntValue: ptr.To(int64(10*n + d))}
			}
			o.Nodes, o.Slices = append(o.Nodes, node), append(o.Slices, slice)
			if daemons == 0 || daemons == 1 && rng.IntN(2) == 0 {
				pod := explaintest.Worker("daemon-"+name, "")
				pod.Spec.ResourceClaims, pod.Spec.Containers[0].Resources.Claims, pod.Spec.NodeName = nil, nil, name
				pod.OwnerReferences = []metav1.OwnerReference{{Kind: "DaemonSet", Name: "d", Controller: ptr.To(true)}}
				o.Pods = append(o.Pods, pod)
			}
			if len(slice.Spec.Devices) > 0 && rng.IntN(4) == 0 {
				explaintest.AddRunning(o, "r-"+name, name, "Job", 0)
				o.Claims[len(o.Claims)-1].Status.Allocation.Devices.Results[0].Device = slice.Spec.Devices[0].Name
			}
		}
	}
	for i := range 1 + rng.IntN(4) {
		pod := explaintest.Worker(fmt.Sprintf("w%d", i), []string{"one", "one", "two", "v100", "rack"}[rng.IntN(5)])
		pod.CreationTimestamp = metav1.Unix(int64(1000+i), 0)
		pod.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = *resource.NewQuantity(int64(1+rng.IntN(2)), resource.DecimalSI)
		switch rng.IntN(8) {
		case 0:
			pod.Spec.NodeSelector = map[string]string{corev1.LabelHostname: o.Nodes[rng.IntN(len(o.Nodes))].Name}
		case 1:
			pod.Spec.NodeSelector = map[string]string{"rack": "1"}
		case 2:
			pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{
				Weight: 10, Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "rack", Operator: corev1.NodeSelectorOpIn, Values: []string{"1"}}}},
			}}}}
		}
		pod.Spec.PreemptionPolicy = ptr.To(corev1.PreemptNever)
		o.Pods = append(o.Pods, pod)
	}
	return o
}

// TestKinds compares the worst loss where one of a kind is played with that where each is.
func TestKinds(t *testing.T) {
	known, harmful, saved := 0, 0, 0
	for seed := range effort.Of(300, 15) {
		rng := rand.New(rand.NewPCG(uint64(seed), 91))
		o := manyAlike(rng)
		c := explaintest.NewCluster(*o)
		s := c.Snapshot()
		kinds, err := kindsOf(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		for _, what := range []string{"node", "pool", "device"} {
			if what == "device" && seed%5 != 0 {
				continue // there are many
			}
			parts, lose := partsFor(s, what)
			if len(parts) == 0 {
				continue
			}
			const k = 1
			without, _, err := unplanned(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			each, err := findWeakest(t.Context(), c, parts, k, lose, without, false)
			if err != nil {
				t.Fatal(err)
			}
			for i := range parts {
				parts[i].kind = kinds[parts[i].Name]
			}
			similar, err := FindWeakest(t.Context(), c, parts, k, lose) // as the cluster is small
			if err != nil {
				t.Fatal(err)
			}
			if similar.Disruption.Harm() != each.Disruption.Harm() || similar.Certain != each.Certain || similar.Proven != each.Proven {
				t.Fatalf("seed %d: losing %d of %s: %+v, and without kinds %+v", seed, k, what, similar, each)
			}
			once, err := findWeakest(t.Context(), c, parts, k, lose, without, true)
			if err != nil {
				t.Fatal(err)
			}
			if !each.Proven || !each.Certain {
				continue
			}
			known++
			harmful += min(1, each.Disruption.Harm())
			saved += each.Tried - once.Tried
			names := func(w *Weakest) (out []string) {
				for _, p := range w.Parts {
					out = append(out, p.Name)
				}
				return out
			}
			if !once.Proven || !once.Certain || once.Disruption.Harm() != each.Disruption.Harm() || !slices.Equal(names(once), names(each)) || once.Tried > each.Tried {
				t.Fatalf("seed %d: losing %d of %s: one of a kind %v, harm %d (%t %t); each %v, harm %d", seed, k, what,
					names(once), once.Disruption.Harm(), once.Proven, once.Certain, names(each), each.Disruption.Harm())
			}
		}
	}
	t.Logf("%d answers, %d with harm, %d losses saved", known, harmful, saved)
	if known < 15 || harmful < 5 || saved < 20 {
		t.Errorf("%d answers, %d with harm, %d losses saved", known, harmful, saved)
	}
}

// TestKindsTellNodesApart changes one of three nodes that are alike, or a pod, and looks whether the first
// two are still of one kind.
func TestKindsTellNodesApart(t *testing.T) {
	preferring := func(key string) func(*inspect.Objects) {
		return func(o *inspect.Objects) {
			o.Pods[0].Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{
				Weight: 10, Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOpExists}}},
			}}}}
		}
	}
	label := func(key, value string) func(*inspect.Objects) {
		return func(o *inspect.Objects) { o.Nodes[1].Labels[key] = value }
	}
	daemon := func(image string, nodes ...int) func(*inspect.Objects) {
		return func(o *inspect.Objects) {
			for _, n := range nodes {
				pod := explaintest.Worker(fmt.Sprintf("daemon-%d", n), "")
				pod.Spec.ResourceClaims, pod.Spec.Containers[0].Resources.Claims, pod.Spec.NodeName, pod.Spec.Containers[0].Image = nil, nil, o.Nodes[n].Name, image
				pod.OwnerReferences = []metav1.OwnerReference{{Kind: "DaemonSet", Name: "d", Controller: ptr.To(true)}}
				pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
					MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{o.Nodes[n].Name}}},
				}}}}}
				o.Pods = append(o.Pods, pod)
			}
		}
	}
	device := func(o *inspect.Objects) *resourcev1.Device { return &o.Slices[1].Spec.Devices[0] }
	for name, test := range map[string]struct {
		alike  bool
		change []func(*inspect.Objects)
	}{
		"nothing":              {true, nil},
		"a label":              {true, []func(*inspect.Objects){label("rack", "1")}},
		"a label that is read": {false, []func(*inspect.Objects){label("rack", "1"), preferring("rack")}},
		"its host name":        {false, []func(*inspect.Objects){label(corev1.LabelHostname, "other")}},
		"its zone":             {false, []func(*inspect.Objects){label(corev1.LabelTopologyZone, "b")}},
		"how much there is":    {false, []func(*inspect.Objects){func(o *inspect.Objects) { o.Nodes[1].Status.Allocatable[corev1.ResourceCPU] = resource.MustParse("65") }}},
		"when it was seen":     {true, []func(*inspect.Objects){func(o *inspect.Objects) { o.Nodes[1].Status.Conditions[0].LastHeartbeatTime = metav1.Unix(1, 0) }}},
		"cordoned":             {false, []func(*inspect.Objects){func(o *inspect.Objects) { o.Nodes[1].Spec.Unschedulable = true }}},
		"a taint": {false, []func(*inspect.Objects){func(o *inspect.Objects) {
			o.Nodes[1].Spec.Taints = []corev1.Taint{{Key: "a", Effect: corev1.TaintEffectPreferNoSchedule}}
		}}},
		"images": {false, []func(*inspect.Objects){func(o *inspect.Objects) {
			o.Nodes[1].Status.Images = []corev1.ContainerImage{{Names: []string{"i"}, SizeBytes: 5}}
		}}},
		"a model": {false, []func(*inspect.Objects){func(o *inspect.Objects) {
			device(o).Attributes["model"] = resourcev1.DeviceAttribute{StringValue: ptr.To("x")}
		}}},
		"an attribute": {true, []func(*inspect.Objects){func(o *inspect.Objects) {
			device(o).Attributes["uuid"] = resourcev1.DeviceAttribute{StringValue: ptr.To("x")}
		}}},
		"one device less":    {false, []func(*inspect.Objects){func(o *inspect.Objects) { o.Slices[1].Spec.Devices = o.Slices[1].Spec.Devices[1:] }}},
		"a pod":              {false, []func(*inspect.Objects){func(o *inspect.Objects) { explaintest.AddRunning(o, "r", "node-0001", "Job") }}},
		"a pod of each node": {true, []func(*inspect.Objects){daemon("a", 0, 1)}},
		"a pod of one node":  {false, []func(*inspect.Objects){daemon("a", 1)}},
		"other pods of each": {false, []func(*inspect.Objects){daemon("a", 0), daemon("b", 1)}},
		"volumes": {false, []func(*inspect.Objects){func(o *inspect.Objects) {
			o.CSINodes = append(o.CSINodes, &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "node-0001"}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: "d"}}}})
		}}},
		"a pod of a group": {false, []func(*inspect.Objects){func(o *inspect.Objects) {
			o.Pods[0].Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: ptr.To("g")}
		}}},
		"devices by a label": {false, []func(*inspect.Objects){label("rack", "1"), func(o *inspect.Objects) {
			explaintest.AddRunning(o, "x", "node-0004", "", 1)
			claim := o.Claims[len(o.Claims)-1]
			claim.Status.Allocation.NodeSelector = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "rack", Operator: corev1.NodeSelectorOpIn, Values: []string{"1"}}}}}}
			o.Pods[1].Spec.NodeName = ""
		}}},
		"a pod to come":         {false, []func(*inspect.Objects){func(o *inspect.Objects) { o.Pods[0].Status.NominatedNodeName = "node-0001" }}},
		"a claim without a pod": {false, []func(*inspect.Objects){func(o *inspect.Objects) { explaintest.AddRunning(o, "r", "node-0001", "Job", 7); o.Pods = o.Pods[:1] }}},
		"a pod that names it": {false, []func(*inspect.Objects){func(o *inspect.Objects) {
			o.Pods[0].Spec.NodeSelector = map[string]string{"kubernetes.io/hostname": "node-0001"}
		}}},
		"a pod that spreads": {false, []func(*inspect.Objects){func(o *inspect.Objects) {
			o.Pods[0].Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: "rack", WhenUnsatisfiable: corev1.DoNotSchedule}}
		}}},
		"devices of all nodes": {false, []func(*inspect.Objects){func(o *inspect.Objects) { o.Slices[4].Spec.NodeName, o.Slices[4].Spec.AllNodes = nil, ptr.To(true) }}},
		"a pool of two nodes": {false, []func(*inspect.Objects){func(o *inspect.Objects) {
			o.Slices[1].Spec.Pool.Name, o.Slices[1].Spec.Pool.Generation = "node-0004", 0
		}}},
		"who waits is not there": {false, []func(*inspect.Objects){func(o *inspect.Objects) { o.Pods = nil }}},
	} {
		o := explaintest.Farm(5)
		for _, slice := range o.Slices {
			for d := range slice.Spec.Devices {
				slice.Spec.Devices[d].Attributes["model"] = resourcev1.DeviceAttribute{StringValue: ptr.To("a100")}
			}
		}
		o.Templates = append(o.Templates, explaintest.Template("one", 1, `device.attributes["gpu.example.com"].model == "a100"`))
		o.Pods = append(o.Pods, explaintest.Worker("waits", "one"))
		for _, change := range test.change {
			change(o)
		}
		kinds, err := kindsOf(t.Context(), explaintest.NewCluster(*o))
		if err != nil {
			t.Fatal(err)
		}
		for _, of := range []string{"node-%04d", "gpu.example.com/node-%04d", "gpu.example.com/node-%04d/gpu-3"} {
			first := kinds[fmt.Sprintf(of, 0)]
			if alike := first != "" && first == kinds[fmt.Sprintf(of, 1)]; alike != test.alike {
				t.Errorf("%s: %s alike: %t", name, of, alike)
			}
		}
		if test.alike && kinds["gpu.example.com/node-0000/gpu-3"] == kinds["gpu.example.com/node-0000/gpu-4"] {
			t.Errorf("%s: all devices of a node are alike", name)
		}
	}
}

// partsFor are the parts that can be lost of a kind, and how.
func partsFor(s *inspect.Snapshot, what string) (parts []Part, lose func([]Part) *Event) {
	devices, pools := DeviceWeights(s)
	nodes := NodeWeights(s)
	of := map[inspect.DeviceID]string{}
	for _, node := range s.Nodes() {
		if what == "node" {
			parts = append(parts, Part{Name: node.Name, Weight: nodes[inspect.NodeName(node.Name)]})
		}
	}
	for d := range s.Inventory().Newest() {
		switch what {
		case "pool":
			if name := d.ID.PoolID().String(); len(parts) == 0 || parts[len(parts)-1].Name != name {
				parts = append(parts, Part{Name: name, Weight: pools[d.ID.PoolID()]})
			}
			of[d.ID] = d.ID.PoolID().String()
		case "device":
			parts = append(parts, Part{Name: d.ID.String(), Weight: devices[d.ID]})
			of[d.ID] = d.ID.String()
		}
	}
	return parts, func(chosen []Part) *Event {
		lost := map[string]bool{}
		var names []inspect.NodeName
		for _, p := range chosen {
			lost[p.Name], names = true, append(names, inspect.NodeName(p.Name))
		}
		if what == "node" {
			return LoseNodes(s, names...)
		}
		return LoseDevices(s, what, func(id inspect.DeviceID) bool { return lost[of[id]] })
	}
}

// TestLosingSeveral: nodes that are alike to those that wait need not be so to a pod that another loss ends.
func TestLosingSeveral(t *testing.T) {
	o := explaintest.Farm(150) // so many that only one of a kind would be played
	for i, slice := range o.Slices {
		model := "a"
		if i == 0 || i == 149 {
			model = "b"
		}
		for d := range slice.Spec.Devices {
			slice.Spec.Devices[d].Attributes["model"] = resourcev1.DeviceAttribute{StringValue: ptr.To(model)}
		}
	}
	o.Templates = append(o.Templates, explaintest.Template("one", 1, `device.attributes["gpu.example.com"].model == "b"`), explaintest.Template("eighty", 80, ""))
	explaintest.AddRunning(o, "r", "node-0000", "Job", 0)
	o.Pods = append(o.Pods, explaintest.Worker("waits", "eighty"))
	c := explaintest.NewCluster(*o)
	parts, lose := partsFor(c.Snapshot(), "node")
	w, err := FindWeakest(t.Context(), c, parts, 2, lose)
	if err != nil {
		t.Fatal(err)
	}
	if w.Disruption.Harm() != 1 || w.Parts[0].Name != "node-0000" || w.Parts[1].Name != "node-0149" {
		t.Errorf("harm %d, losing %v", w.Disruption.Harm(), w.Parts)
	}
}
