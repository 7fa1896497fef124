package filters

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestNodeResourcesFit asks about a node with 8 CPUs, 16Gi, 100Gi of disk, 3 pods, 4 GPUs and 8Mi of huge
// pages. On it are two pods, which take 2.5 CPUs, 4Gi, 40Gi, 1 GPU and 6Mi of huge pages together.
func TestNodeResourcesFit(t *testing.T) {
	node := testNode("n", "cpu", "8", "memory", "16Gi", "ephemeral-storage", "100Gi", "pods", "3", "example.com/gpu", "4", "hugepages-2Mi", "8Mi", "example.com/none", "0")
	s := live(inspect.Objects{Nodes: []*corev1.Node{node}, Pods: []*corev1.Pod{
		testPod("a", "n", "cpu", "1500m", "memory", "3Gi", "hugepages-2Mi", "6Mi"),
		testPod("b", "n", "cpu", "1", "memory", "1Gi", "ephemeral-storage", "40Gi", "example.com/gpu", "1"),
	}})
	lacks := func(key, message string) string { return fmt.Sprintf("InsufficientResources %q %s", key, message) }
	tooBig := func(key, message string) string {
		return fmt.Sprintf("InsufficientResources %q! %s", key+" in all", message)
	}
	for name, test := range map[string]struct {
		requests []string
		want     []string
	}{
		"nothing":               {nil, nil},
		"zeros":                 {[]string{"cpu", "0", "example.com/other", "0"}, nil},
		"all that is left":      {[]string{"cpu", "5500m", "memory", "12Gi", "ephemeral-storage", "60Gi", "example.com/gpu", "3", "hugepages-2Mi", "2Mi"}, nil},
		"a thousandth too much": {[]string{"cpu", "5501m"}, []string{lacks("cpu", "the pod asks for 5.501 CPUs; of 8, 5.5 are left")}},
		"more than there is":    {[]string{"cpu", "9"}, []string{tooBig("cpu", "the pod asks for 9 CPUs; of 8, 5.5 are left")}},
		"several": {[]string{"cpu", "8", "memory", "12.5Gi", "ephemeral-storage", "101Gi", "example.com/gpu", "4", "hugepages-2Mi", "4Mi"}, []string{
			lacks("cpu", "the pod asks for 8 CPUs; of 8, 5.5 are left"),
			tooBig("ephemeral-storage", "the pod asks for 101Gi of ephemeral-storage; of 100Gi, 60Gi is left"),
			lacks("example.com/gpu", "the pod asks for 4 example.com/gpu; of 4, 3 are left"),
			lacks("hugepages-2Mi", "the pod asks for 4Mi of hugepages-2Mi; of 8Mi, 2Mi is left"),
			lacks("memory", "the pod asks for 12.5Gi of memory; of 16Gi, 12Gi is left"),
		}},
		"a byte too much":            {[]string{"memory", "12884901889"}, []string{lacks("memory", "the pod asks for 12.1Gi of memory; of 16Gi, 12Gi is left")}},
		"a resource of no node":      {[]string{"example.com/other", "1"}, []string{tooBig("example.com/other", "the pod asks for 1 example.com/other; the node has none")}},
		"a resource that is all out": {[]string{"example.com/none", "2"}, []string{tooBig("example.com/none", "the pod asks for 2 example.com/none; the node has none")}},
		"names that do not count":    {[]string{"gpu", "5", "requests.example.com/gpu", "5", "pods", "5"}, nil},
		"of Kubernetes itself":       {[]string{"example.kubernetes.io/x", "1"}, []string{tooBig("example.kubernetes.io/x", "the pod asks for 1 example.kubernetes.io/x; the node has none")}},
		"attachable volumes":         {[]string{"attachable-volumes-x", "1"}, []string{tooBig("attachable-volumes-x", "the pod asks for 1 attachable-volumes-x; the node has none")}},
		"huge pages of another size": {[]string{"hugepages-1Gi", "1Gi"}, []string{tooBig("hugepages-1Gi", "the pod asks for 1Gi of hugepages-1Gi; the node has none")}},
	} {
		if got := said(NodeResourcesFit, testPod("p", "", test.requests...), "n", s); got != strings.Join(test.want, "\n") {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, strings.Join(test.want, "\n"))
		}
	}
	full := s.With(func(o *inspect.Objects) { o.Pods = append(o.Pods, testPod("c", "n", "cpu", "5500m")) })
	want := "TooManyPods \"pods\" the node takes 3 pods, and has 3\n" + lacks("cpu", "the pod asks for 1 CPU; of 8, nothing is left")
	if got := said(NodeResourcesFit, testPod("p", "", "cpu", "1"), "n", full); got != want {
		t.Errorf("on a full node: %s", got)
	}
	r := NewIndex(full, nil).Prepare(testPod("p", "", "cpu", "1")).On("n").Refusals[1]
	if r.Resource != "cpu" || r.Requested != 1000 || r.Used != 8000 || r.Allocatable != 8000 {
		t.Errorf("the amounts are %+v", r)
	}
}

// TestNodeResourcesFitOfFiles: what a node that was written by hand does not say is not known.
func TestNodeResourcesFitOfFiles(t *testing.T) {
	bare, pod := testNode("n"), testPod("p", "", "cpu", "1", "memory", "1Gi", "example.com/gpu", "1")
	none := "InsufficientResources \"example.com/gpu in all\"! the pod asks for 1 example.com/gpu; the node has none"
	want := none + "\n" + `? nodes "pods cpu memory" the node does not say how much it has of pods, cpu, memory`
	if got := said(NodeResourcesFit, pod, "n", snapshotOf(inspect.Objects{Nodes: []*corev1.Node{bare}})); got != want {
		t.Errorf("from a file: %s", got)
	}
	zero := `TooManyPods "pods" the node takes no pods` + "\n" + `InsufficientResources "cpu in all"! the pod asks for 1 CPU; the node has none` + "\n" +
		none + "\n" + `InsufficientResources "memory in all"! the pod asks for 1Gi of memory; the node has none`
	if got := said(NodeResourcesFit, pod, "n", live(inspect.Objects{Nodes: []*corev1.Node{bare}})); got != zero {
		t.Errorf("from a server: %s", got)
	}
	capacity := testNode("n")
	capacity.Status = corev1.NodeStatus{Capacity: list("pods", "1", "cpu", "2", "memory", "2Gi", "example.com/gpu", "1")}
	if got := said(NodeResourcesFit, pod, "n", snapshotOf(inspect.Objects{Nodes: []*corev1.Node{capacity}})); got != "" {
		t.Errorf("with a capacity only: %s", got)
	}
}

// TestNodeResourcesFitOfPods has what counts of a pod that waits.
func TestNodeResourcesFitOfPods(t *testing.T) {
	s := live(inspect.Objects{Nodes: []*corev1.Node{testNode("n", "cpu", "4", "memory", "8Gi", "pods", "10")}})
	cpu := func(amount string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Requests: list("cpu", amount)}
	}
	sidecar := ptr.To(corev1.ContainerRestartPolicyAlways)
	for name, test := range map[string]struct {
		spec corev1.PodSpec
		want string // the CPUs of the message, or ""
	}{
		"containers add up":            {corev1.PodSpec{Containers: []corev1.Container{{Resources: cpu("2")}, {Resources: cpu("2")}}}, ""},
		"containers add up to 5":       {corev1.PodSpec{Containers: []corev1.Container{{Resources: cpu("2")}, {Resources: cpu("3")}}}, "5 CPUs"},
		"init containers do not":       {corev1.PodSpec{InitContainers: []corev1.Container{{Resources: cpu("4")}, {Resources: cpu("3")}}, Containers: []corev1.Container{{Resources: cpu("1")}}}, ""},
		"sidecars do":                  {corev1.PodSpec{InitContainers: []corev1.Container{{Resources: cpu("3"), RestartPolicy: sidecar}}, Containers: []corev1.Container{{Resources: cpu("2")}}}, "5 CPUs"},
		"init beside sidecar":          {corev1.PodSpec{InitContainers: []corev1.Container{{Resources: cpu("2"), RestartPolicy: sidecar}, {Resources: cpu("3")}}, Containers: []corev1.Container{{Resources: cpu("1")}}}, "5 CPUs"},
		"init before sidecar":          {corev1.PodSpec{InitContainers: []corev1.Container{{Resources: cpu("3")}, {Resources: cpu("2"), RestartPolicy: sidecar}}, Containers: []corev1.Container{{Resources: cpu("1")}}}, ""},
		"overhead":                     {corev1.PodSpec{Overhead: list("cpu", "1500m"), Containers: []corev1.Container{{Resources: cpu("3")}}}, "4.5 CPUs"},
		"overhead of an init":          {corev1.PodSpec{Overhead: list("cpu", "1"), InitContainers: []corev1.Container{{Resources: cpu("4")}}}, "5 CPUs"},
		"the pod as a whole, less":     {corev1.PodSpec{Resources: ptr.To(cpu("4")), Containers: []corev1.Container{{Resources: cpu("5")}}}, ""},
		"the pod as a whole, more":     {corev1.PodSpec{Resources: ptr.To(cpu("6")), Overhead: list("cpu", "1"), Containers: []corev1.Container{{Resources: cpu("1")}}}, "7 CPUs"},
		"a limit only":                 {corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Limits: list("cpu", "5")}}}}, "5 CPUs"},
		"a limit above a request":      {corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: list("cpu", "1"), Limits: list("cpu", "5")}}}}, ""},
		"an unknown one for the whole": {corev1.PodSpec{Resources: &corev1.ResourceRequirements{Requests: list("example.com/gpu", "6")}}, ""},
	} {
		want := ""
		if test.want != "" {
			want = fmt.Sprintf(`InsufficientResources "cpu in all"! the pod asks for %s; of 4, 4 are left`, test.want)
		}
		if got := said(NodeResourcesFit, waiting(func(p *corev1.Pod) { p.Spec = test.spec }), "n", s); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	whole := waiting(func(p *corev1.Pod) {
		p.Spec.Resources, p.Spec.Containers[0].Resources = ptr.To(cpu("6")), cpu("1")
	})
	off := liveAt(37, *s.Objects(), map[inspect.Gate]bool{inspect.GatePodLevelResources: false})
	if got := said(NodeResourcesFit, whole, "n", off); got != "" {
		t.Errorf("the pod as a whole, where that does not count: %s", got)
	}
	resizing := waiting(func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources = cpu("1")
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", AllocatedResources: list("cpu", "6")}}
	})
	if got := said(NodeResourcesFit, resizing, "n", s); got != "" {
		t.Errorf("the status of a pod that is nowhere: %s", got)
	}
}

// TestNodeResourcesFitOfClasses: who provides an extended resource, the device plugin of the node or a class.
func TestNodeResourcesFitOfClasses(t *testing.T) {
	class := func(name, resource string, day int) *resourcev1.DeviceClass {
		c := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(time.Unix(0, 0).AddDate(0, 0, day))}}
		if resource != "" {
			c.Spec.ExtendedResourceName = &resource
		}
		return c
	}
	nodes := []*corev1.Node{
		testNode("plugin", "pods", "10", "example.com/gpu", "1", "deviceclass.resource.kubernetes.io/plain", "1"),
		testNode("zero", "pods", "10", "example.com/gpu", "0"), testNode("empty", "pods", "10"),
	}
	classes := []*resourcev1.DeviceClass{class("gpu", "example.com/gpu", 2), class("old", "example.com/gpu", 1), class("elder", "example.com/gpu", 1), class("plain", "", 1), class("fpga", "example.com/fpga", 1)}
	lacks := func(count, name string) string {
		return fmt.Sprintf(`InsufficientResources %q! the pod asks for %s %s; the node has none`, name+" in all", count, name)
	}
	const plain = "deviceclass.resource.kubernetes.io/plain"
	const unsure = `? deviceclasses "deviceclass.resource.kubernetes.io/old" the scheduler may not know that class old provides deviceclass.resource.kubernetes.io/old, because class gpu has the same extended resource`
	const unlike = `? deviceclasses "before 1.35" Kubernetes 1.34 may ask for more devices, or those of another class, for extended resources (feature gate DRAExtendedResource)`
	on, off := map[inspect.Gate]bool{inspect.GateExtendedResource: true}, map[inspect.Gate]bool{inspect.GateExtendedResource: false}
	for name, test := range map[string]struct {
		minor    int
		gates    map[inspect.Gate]bool
		node     string
		requests []string
		want     string
	}{
		"the device plugin has it":               {37, nil, "plugin", []string{"example.com/gpu", "1"}, ""},
		"the device plugin has too little":       {37, nil, "plugin", []string{"example.com/gpu", "2"}, `InsufficientResources "example.com/gpu in all"! the pod asks for 2 example.com/gpu; of 1, 1 is left`},
		"the device plugin has none":             {37, nil, "zero", []string{"example.com/gpu", "2"}, ""},
		"there is no device plugin":              {37, nil, "empty", []string{"example.com/gpu", "2"}, ""},
		"the gate is off":                        {37, off, "empty", []string{"example.com/gpu", "2"}, lacks("2", "example.com/gpu")},
		"off by default in 1.35":                 {35, nil, "empty", []string{"example.com/gpu", "2"}, lacks("2", "example.com/gpu")},
		"no class has it":                        {37, nil, "empty", []string{"example.com/other", "2"}, lacks("2", "example.com/other")},
		"by the name of the class":               {37, nil, "empty", []string{plain, "2"}, ""},
		"a device plugin, by that name":          {37, nil, "plugin", []string{plain, "2"}, `InsufficientResources "deviceclass.resource.kubernetes.io/plain in all"! the pod asks for 2 deviceclass.resource.kubernetes.io/plain; of 1, 1 is left`},
		"of a class that is not there":           {37, nil, "empty", []string{plain + "er", "1"}, lacks("1", plain+"er")},
		"of the class that wins":                 {37, nil, "empty", []string{"deviceclass.resource.kubernetes.io/gpu", "1"}, ""},
		"of the class that loses":                {37, nil, "empty", []string{"deviceclass.resource.kubernetes.io/old", "1"}, unsure},
		"of one that the scheduler met first":    {37, nil, "empty", []string{"deviceclass.resource.kubernetes.io/elder", "1"}, ""},
		"1.34, which passes what is not listed":  {34, on, "empty", []string{"example.com/fpga", "2"}, ""},
		"1.34, several classes":                  {34, on, "empty", []string{"example.com/gpu", "2"}, unlike},
		"1.34, several resources":                {34, on, "empty", []string{"example.com/fpga", "2", "example.com/gpu", "1"}, unlike},
		"1.34, by the name of the class":         {34, on, "empty", []string{plain, "1"}, unlike},
		"1.34, what is listed":                   {34, on, "zero", []string{"example.com/gpu", "2"}, lacks("2", "example.com/gpu")},
		"1.34, a class has one name":             {34, on, "empty", []string{"deviceclass.resource.kubernetes.io/gpu", "1", "example.com/gpu", "1"}, lacks("1", "deviceclass.resource.kubernetes.io/gpu")},
		"1.34, no class has it":                  {34, on, "empty", []string{"example.com/other", "2"}, lacks("2", "example.com/other")},
		"1.34, nothing with a domain of its own": {34, on, "empty", []string{"hugepages-2Mi", "2Mi"}, ""},
		"1.34, beside one with a domain":         {34, on, "empty", []string{"hugepages-2Mi", "2Mi", "example.com/gpu", "1"}, `InsufficientResources "hugepages-2Mi in all"! the pod asks for 2Mi of hugepages-2Mi; the node has none`},
		"1.34, off":                              {34, nil, "empty", []string{"hugepages-2Mi", "2Mi"}, `InsufficientResources "hugepages-2Mi in all"! the pod asks for 2Mi of hugepages-2Mi; the node has none`},
	} {
		s := liveAt(test.minor, inspect.Objects{Nodes: nodes, Classes: classes}, test.gates)
		if got := said(NodeResourcesFit, testPod("p", "", test.requests...), test.node, s); got != test.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, test.want)
		}
	}
	s := liveAt(37, inspect.Objects{Nodes: nodes}, nil).WithHealth(map[inspect.Resource]inspect.Health{inspect.Classes: {State: inspect.Forbidden}})
	if got := said(NodeResourcesFit, testPod("p", "", "example.com/gpu", "1"), "empty", s); got != `? deviceclasses "example.com/gpu" not all device classes were read: one may provide example.com/gpu` {
		t.Errorf("classes that were not read: %s", got)
	}
	if got := said(NodeResourcesFit, testPod("p", "", "hugepages-2Mi", "2Mi"), "empty", s); !strings.HasPrefix(got, "InsufficientResources") {
		t.Errorf("no class provides huge pages: %s", got)
	}
}

// TestDevicesTakeResources: how much of a node its devices take is not known here.
func TestDevicesTakeResources(t *testing.T) {
	slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: resourcev1.ResourceSliceSpec{Driver: "d", NodeName: ptr.To("n"),
		Devices: []resourcev1.Device{{Name: "x"}, {Name: "y", NodeAllocatableResources: map[corev1.ResourceName]resourcev1.NodeAllocatableResource{"cpu": {}}}}}}
	claims := waiting(func(p *corev1.Pod) { p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "c"}} })
	extended := testPod("p", "", "example.com/gpu", "1")
	class := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}, Spec: resourcev1.DeviceClassSpec{ExtendedResourceName: ptr.To("example.com/gpu")}}
	with := inspect.Objects{Nodes: []*corev1.Node{roomy(nil)}, Slices: []*resourcev1.ResourceSlice{slice}, Classes: []*resourcev1.DeviceClass{class}}
	without := with
	without.Slices = nil
	held := without
	held.Pods = []*corev1.Pod{testPod("other", "n")}
	held.Pods[0].Status.NodeAllocatableResourceClaimStatuses = []corev1.NodeAllocatableResourceClaimStatus{{ResourceClaimName: "c"}}
	on := map[inspect.Gate]bool{inspect.GateNodeAllocatableResources: true}
	const known, unknown = "", `? resourceslices "devices" devices may take CPU or memory of the node besides what the pod requests (feature gate DRANodeAllocatableResources)`
	for name, test := range map[string]struct {
		minor   int
		gates   map[inspect.Gate]bool
		objects inspect.Objects
		pod     *corev1.Pod
		want    string
	}{
		"off":                 {37, nil, with, claims, known},
		"on":                  {37, on, with, claims, unknown},
		"no such device":      {37, on, without, claims, known},
		"no claim":            {37, on, with, waiting(nil), known},
		"extended resource":   {37, on, with, extended, unknown},
		"objects of old form": {36, on, without, claims, unknown},
		"held by other pods":  {36, on, held, waiting(nil), unknown},
		"of other pods, off":  {36, nil, held, waiting(nil), known},
	} {
		if got := said(NodeResourcesFit, test.pod, "n", liveAt(test.minor, test.objects, test.gates)); got != test.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestAmounts(t *testing.T) {
	for amount, want := range map[Amount][2]string{
		{"cpu", 64000}:                   {"64 CPUs", "64"},
		{"cpu", 1000}:                    {"1 CPU", "1"},
		{"cpu", 250}:                     {"0.25 CPUs", "250m"},
		{"memory", 64 << 30}:             {"64Gi of memory", "64Gi"},
		{"memory", 131925620 << 10}:      {"125.9Gi of memory", "131925620Ki"},
		{"memory", 500}:                  {"500 of memory", "500"},
		{"memory", 1023<<20 + 1048575}:   {"1024Mi of memory", "1073741823"},
		{"ephemeral-storage", 1 << 40}:   {"1Ti of ephemeral-storage", "1Ti"},
		{"hugepages-2Mi", 8 << 20}:       {"8Mi of hugepages-2Mi", "8Mi"},
		{"example.com/gpu", 3}:           {"3 example.com/gpu", "3"},
		{"pods", 1}:                      {"1 pod", "1"},
		{"pods", 20}:                     {"20 pods", "20"},
		{"memory", 9223372036854775807}:  {"8Ei of memory", "9223372036854775807"},
		{"example.com/gpu", 30_000_000}:  {"30000000 example.com/gpu", "30M"},
		{"memory", -(3 << 29)}:           {"-1.5Gi of memory", "-1536Mi"},
		{"ephemeral-storage", 107374182}: {"102.4Mi of ephemeral-storage", "107374182"},
	} {
		q := amount.Quantity()
		if got := [2]string{amount.String(), q.String()}; got != want {
			t.Errorf("%v: %v, want %v", Amount{Resource: amount.Resource}, got, want)
		}
	}
}

// TestCountless: sums that do not fit into 64 bits are not decided about. The scheduler's own may come out as
// anything.
func TestCountless(t *testing.T) {
	s := live(inspect.Objects{Nodes: []*corev1.Node{testNode("n", "cpu", "4", "memory", "8Gi", "pods", "10")}})
	for name, lists := range map[string][]corev1.ResourceList{
		"memory": {list("memory", "5Ei"), list("memory", "5Ei")},
		"cpu":    {list("cpu", "9P"), list("cpu", "9P")},
	} {
		pod := waiting(func(p *corev1.Pod) {
			p.Spec.Containers = nil
			for _, requests := range lists {
				p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Resources: corev1.ResourceRequirements{Requests: requests}})
			}
		})
		want := fmt.Sprintf("? pods %q of %s more is asked for than can be counted", "countless "+name, name)
		if got := said(NodeResourcesFit, pod, "n", s); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	running := testPod("q", "n", "memory", "5Ei")
	other := running.DeepCopy()
	other.Name = "r"
	full := live(inspect.Objects{Nodes: s.Nodes(), Pods: []*corev1.Pod{running, other}})
	if got := said(NodeResourcesFit, testPod("p", "", "memory", "1Gi"), "n", full); !strings.Contains(got, "more is asked for than can be counted") {
		t.Errorf("beside 10Ei: %s", got)
	}
}
