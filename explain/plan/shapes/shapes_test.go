package shapes

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/nodeshape"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// saidOf is the answers in short, the best first.
func saidOf(p *explain.ShapePlan) string {
	var out []string
	for i := range p.Shapes {
		a := &p.Shapes[i]
		text := fmt.Sprint(a.Count, " ", a.Name, " ", a.Verdict)
		if a.Verdict == explain.ShapeFits && !a.Minimal {
			text += " (perhaps fewer)"
		}
		if a.Code != "" {
			text += fmt.Sprintf(" %s %s", a.Pod.Name, a.Code)
		}
		out = append(out, text)
	}
	for i := range p.Stuck {
		out = append(out, "stuck "+p.Stuck[i].Subject.Name)
	}
	for _, untried := range p.Untried {
		out = append(out, "untried: "+untried)
	}
	return strings.Join(out, ", ")
}

func shapeOf(name string, cpus int, models ...string) nodeshape.Shape {
	node, slice := smallNode(name, cpus, models...)
	shape := nodeshape.Shape{Name: name, Source: nodeshape.Manifest, Node: node}
	if len(models) > 0 {
		shape.Company.Slices = []*resourcev1.ResourceSlice{slice}
	}
	return shape
}

func daemonOn(node string, cpus string, tolerates ...corev1.Toleration) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "agent-" + node, UID: "agent", OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "agent", UID: "set", Controller: ptr.To(true)}}},
		Spec: corev1.PodSpec{
			NodeName: node, Tolerations: tolerates,
			Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{
					{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{node}}}}}}}},
			Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpus)}}}},
		},
	}
}

const ofModelA = `device.attributes["gpu.example.com"].model == "a"`

// TestShapes asks about small clusters whose answers were found by hand.
func TestShapes(t *testing.T) {
	base := func(extra ...*corev1.Pod) *inspect.Objects {
		o := &inspect.Objects{Classes: []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}}}, Pods: extra}
		node, slice := smallNode("n0", 2)
		o.Nodes, o.Slices = append(o.Nodes, node), append(o.Slices, slice)
		o.Templates = append(o.Templates, explaintest.Template("a", 1, ofModelA), explaintest.Template("b", 2, strings.Replace(ofModelA, `"a"`, `"b"`, 1)), explaintest.Template("c", 1, strings.Replace(ofModelA, `"a"`, `"c"`, 1)))
		return o
	}
	reserved := base()
	node, slice := smallNode("n1", 4, "a", "a")
	node.Spec.Taints = []corev1.Taint{{Key: "x", Effect: corev1.TaintEffectNoSchedule}}
	reserved.Nodes, reserved.Slices = append([]*corev1.Node(nil), node), append(reserved.Slices, slice)
	grouped := base()
	grouped.PodGroups = []*schedulingv1beta1.PodGroup{{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "gang"}, Spec: schedulingv1beta1.PodGroupSpec{
		SchedulingPolicy: schedulingv1beta1.PodGroupSchedulingPolicy{Gang: &schedulingv1beta1.GangSchedulingPolicy{MinCount: 2}}}}}
	together := func(pods ...*corev1.Pod) []*corev1.Pod {
		for _, pod := range pods {
			pod.Spec.ResourceClaims, pod.Spec.Containers[0].Resources.Claims = nil, nil
			pod.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("3")
			pod.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: ptr.To("gang")}
		}
		return pods
	}
	within := func(pods ...*corev1.Pod) *inspect.Objects {
		o := *grouped
		o.Pods = together(pods...)
		return &o
	}
	whole, broken := within(explaintest.Worker("g0", "a"), explaintest.Worker("g1", "a")), within(explaintest.Worker("g0", "a"), explaintest.Worker("g1", "a"))
	broken.Pods[1].Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("30")
	tainted := shapeOf("tainted", 4, "a", "a")
	tainted.Node.Spec.Taints = []corev1.Taint{{Key: "x", Effect: corev1.TaintEffectNoSchedule}}
	few := shapeOf("few", 4, "a")
	few.Max = 1
	gated := explaintest.Worker("gated", "a")
	gated.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "x"}}
	apart := explaintest.Workers(2, "apart", "a")
	for _, pod := range apart {
		pod.Labels = map[string]string{"app": "apart"}
		pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
			{TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "apart"}}}}}}
	}
	for _, tt := range []struct {
		name   string
		o      *inspect.Objects
		pods   []*corev1.Pod
		shapes []nodeshape.Shape
		opts   Options
		want   string
	}{
		{"the fewest nodes without prices", base(), explaintest.Workers(4, "w", "a"), []nodeshape.Shape{shapeOf("one", 4, "a"), shapeOf("two", 4, "a", "a")}, Options{}, "2 two Fits, 4 one Fits"},
		{"the fewest devices of equally many nodes", base(), explaintest.Workers(2, "w", "a"), []nodeshape.Shape{shapeOf("large", 4, "a", "a", "b"), shapeOf("fitting", 4, "a", "a")}, Options{},
			"1 fitting Fits, 1 large Fits"},
		{"two kinds where none does alone", base(), append(explaintest.Workers(2, "w", "a"), explaintest.Workers(1, "v", "b")...), []nodeshape.Shape{shapeOf("as", 4, "a", "a"), shapeOf("bs", 4, "b", "b")}, Options{},
			"0 as Fails v-0000 SelectorRejected, 0 bs Fails w-0000 SelectorRejected, untried: nodes of several kinds were not tried together"},
		{"one kind where another helps some", base(), append(explaintest.Workers(3, "w", "a"), explaintest.Workers(1, "v", "b")...), []nodeshape.Shape{shapeOf("both", 4, "a", "b", "b"), shapeOf("as", 4, "a", "a")},
			Options{}, "3 both Fits, 0 as Fails v-0000 SelectorRejected"},
		{"too little of something else", base(), explaintest.Workers(1, "w", "a"), []nodeshape.Shape{shapeOf("slow", 0, "a")}, Options{}, "stuck w-0000"},
		{"a taint", base(), explaintest.Workers(1, "w", "a"), []nodeshape.Shape{tainted, shapeOf("one", 4, "a")}, Options{}, "1 one Fits, 0 tainted Fails w-0000 NodeTainted"},
		{"a gate", base(), []*corev1.Pod{gated, explaintest.Worker("w", "a")}, []nodeshape.Shape{shapeOf("one", 4, "a")}, Options{}, "1 one Fits, stuck gated"},
		{"a template that is not there", base(), []*corev1.Pod{explaintest.Worker("lost", "none")}, []nodeshape.Shape{shapeOf("one", 4, "a")}, Options{}, "stuck lost"},
		{"a limit", base(), explaintest.Workers(3, "w", "a"), []nodeshape.Shape{shapeOf("one", 4, "a")}, Options{Max: 2}, "0 one Fails"},
		{"a limit of a group", base(), explaintest.Workers(2, "w", "a"), []nodeshape.Shape{few}, Options{}, "0 few Fails"},
		{"pods of daemon sets", base(daemonOn("n0", "3")), explaintest.Workers(2, "w", "a"), []nodeshape.Shape{shapeOf("two", 4, "a", "a")}, Options{}, "2 two Fits"},
		{"pods of daemon sets that do not run there", base(daemonOn("n0", "3")), withToleration(explaintest.Workers(2, "w", "a"), "x"), []nodeshape.Shape{tainted}, Options{}, "1 tainted Fits"},
		{"pods that keep apart", base(), apart, []nodeshape.Shape{shapeOf("two", 4, "a", "a")}, Options{}, "2 two Fits"},
		{"devices where the pods may not go", reserved, bare(explaintest.Workers(2, "w", "a")), []nodeshape.Shape{shapeOf("two", 4, "a", "a")}, Options{}, "1 two Fits"},
		{"a group", whole, whole.Pods, []nodeshape.Shape{shapeOf("one", 4, "a")}, Options{}, "2 one Fits"},
		{"a group that lacks a pod", broken, broken.Pods, []nodeshape.Shape{shapeOf("one", 4, "a")}, Options{}, "stuck g1, stuck g0"},
		{"nothing to add", base(), nil, []nodeshape.Shape{shapeOf("two", 4, "a", "a")}, Options{}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := shapesOf(t, tt.o, tt.pods, tt.shapes, tt.opts)
			if said := saidOf(got); said != tt.want {
				t.Errorf("got\n%s\nwant\n%s", said, tt.want)
			}
			for i := range got.Shapes {
				if a := &got.Shapes[i]; a.Verdict != explain.ShapeFits && strings.TrimSpace(a.Why) == "" {
					t.Errorf("%s: no reason", a.Name)
				}
			}
		})
	}
}

// bare are pods that ask for nothing but devices.
func bare(pods []*corev1.Pod) []*corev1.Pod {
	for _, pod := range pods {
		pod.Spec.Containers[0].Resources.Requests = nil
	}
	return pods
}

func withToleration(pods []*corev1.Pod, key string) []*corev1.Pod {
	for _, pod := range pods {
		pod.Spec.Tolerations = []corev1.Toleration{{Key: key, Operator: corev1.TolerationOpExists}}
	}
	return pods
}

// TestClusterShapes finds the kinds of nodes: serial numbers make none, unless a pod asks for them.
func TestOfCluster(t *testing.T) {
	o := &inspect.Objects{Classes: []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}}}}
	o.Templates = append(o.Templates, explaintest.Template("a", 1, ofModelA), explaintest.Template("uuid", 1, `device.attributes["gpu.example.com"].uuid == "3"`))
	for i, cpus := range []int{4, 4, 8, 4} {
		node, slice := smallNode(fmt.Sprint("n", i), cpus, "a")
		node.Labels["serial"] = fmt.Sprint("s", i)
		slice.Spec.Devices[0].Attributes["uuid"] = resourcev1.DeviceAttribute{StringValue: ptr.To(fmt.Sprint(i))}
		o.Nodes, o.Slices = append(o.Nodes, node), append(o.Slices, slice)
	}
	o.Pods = append(o.Pods, daemonOn("n0", "1"))
	o.Nodes[0].Spec.Unschedulable = true
	for _, tt := range []struct {
		pod  *corev1.Pod
		want string
	}{{explaintest.Worker("w", "a"), "n0 3, n2 1"}, {explaintest.Worker("w", "uuid"), "n0 1, n1 1, n2 1, n3 1"}} {
		shapes, err := OfCluster(inspect.New(*o, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)}), []*corev1.Pod{tt.pod})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range shapes {
			got = append(got, shapes[i].Name+" "+shapes[i].From)
			if shapes[i].Node.Spec.Unschedulable || len(shapes[i].Company.Slices) != 1 || (shapes[i].Name == "n0") != (len(shapes[i].Company.Pods) == 1) {
				t.Errorf("%s comes with %d slices and %d pods", shapes[i].Name, len(shapes[i].Company.Slices), len(shapes[i].Company.Pods))
			}
		}
		if strings.Join(got, ", ") != tt.want {
			t.Errorf("got %v, want %s", got, tt.want)
		}
	}
	if !slices.ContainsFunc(o.Nodes, func(n *corev1.Node) bool { return n.Spec.Unschedulable }) {
		t.Error("a node of the cluster was changed")
	}
}

// TestTooManyForOtherNodes: pods that no node of a shape holds are counted, not played with every number of
// nodes. None of them are too many by themselves.
func TestTooManyForOtherNodes(t *testing.T) {
	const a100 = `device.attributes["gpu.example.com"].model == "a100"`
	o := explaintest.Farm(105) // of which 70 have what they want
	o.Templates = append(o.Templates, explaintest.Template("five", 5, a100), explaintest.Template("six", 6, a100))
	node, slice := smallNode("old", 64, "v100", "v100", "v100", "v100", "v100", "v100", "v100", "v100")
	shape := nodeshape.Shape{Name: node.Name, Source: nodeshape.Manifest, Node: node}
	shape.Company.Slices = []*resourcev1.ResourceSlice{slice}
	for n, want := range map[int]explain.ShapeVerdict{35: explain.ShapeFits, 36: explain.ShapeFails} {
		pods := append(explaintest.Workers(35, "five", "five"), explaintest.Workers(n, "six", "six")...)
		c := scheduler.NewCluster(inspect.New(*o, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)}), scheduler.Options{})
		p, err := Find(t.Context(), c, pods, []nodeshape.Shape{shape}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if want == explain.ShapeFits {
			if len(p.Shapes) > 0 && p.Shapes[0].Verdict == explain.ShapeFails {
				t.Errorf("%d pods: %+v", n, p.Shapes)
			}
			continue
		}
		if len(p.Shapes) != 1 || p.Shapes[0].Verdict != want || p.Shapes[0].Pod.Name != "six-0035" {
			t.Errorf("%d pods: %+v", n, p.Shapes)
		}
	}
}
