package filters

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// live are objects that a server of the newest release serves, all of them read.
func live(objects inspect.Objects) *inspect.Snapshot {
	return liveAt(inspect.NewestMinor, objects, nil)
}

func liveAt(minor int, objects inspect.Objects, gates map[inspect.Gate]bool) *inspect.Snapshot {
	health := map[inspect.Resource]inspect.Health{}
	for _, r := range []inspect.Resource{inspect.Pods, inspect.Nodes, inspect.Classes, inspect.Slices} {
		health[r] = inspect.Health{State: inspect.Synced}
	}
	return inspect.New(objects, inspect.Config{
		Features: inspect.DefaultFeatures(minor).With(gates), Health: health, ServerVersion: fmt.Sprintf("v1.%d.1", minor),
	})
}

// said is what one plugin says of a pod on a node, a line for each refusal and each doubt.
func said(plugin Plugin, pod *corev1.Pod, node string, s *inspect.Snapshot) string {
	p := NewIndex(s, nil).Prepare(pod)
	var lines []string
	for _, o := range []Outcome{p.Everywhere, p.On(inspect.NodeName(node))} {
		for _, r := range o.Refusals {
			if r.Plugin == plugin {
				lines = append(lines, fmt.Sprintf("%s %q%s %s", r.Code, r.Key, map[bool]string{true: "!"}[r.Unresolvable], r.Message))
			}
		}
		for _, d := range o.Doubts {
			if d.Plugin == plugin {
				lines = append(lines, fmt.Sprintf("? %s %q %s", d.Resource, d.Key, d.Message))
			}
		}
	}
	return strings.Join(lines, "\n")
}

// roomy is a node with room for everything.
func roomy(change func(*corev1.Node)) *corev1.Node {
	n := testNode("n", "cpu", "8", "memory", "16Gi", "ephemeral-storage", "100Gi", "pods", "110")
	if change != nil {
		change(n)
	}
	return n
}

func waiting(change func(*corev1.Pod)) *corev1.Pod {
	pod := testPod("p", "")
	if change != nil {
		change(pod)
	}
	return pod
}

func TestNothingToSay(t *testing.T) {
	p := NewIndex(live(inspect.Objects{Nodes: []*corev1.Node{roomy(nil)}}), nil).Prepare(waiting(nil))
	if o := p.On("n"); !o.Passes() || !p.Everywhere.Passes() {
		t.Errorf("a plain pod on an empty node: %+v, %+v", p.Everywhere, o)
	}
	if o := p.On("other"); o.Passes() {
		t.Error("a pod passes on a node that is not there")
	}
	order := []Plugin{SchedulingGates, NodeName, NodeUnschedulable, TaintToleration, NodeAffinity, NodePorts, NodeResourcesFit, VolumeRestrictions,
		NodeVolumeLimits, VolumeBinding, VolumeZone, PodTopologySpread, InterPodAffinity, NodeDeclaredFeatures, GangScheduling}
	if got := Plugins(); !slices.IsSortedFunc(got, func(a, b Plugin) int { return slices.Index(order, a) - slices.Index(order, b) }) {
		t.Errorf("the plugins are asked in the order %v", got)
	}
}

func TestSchedulingGates(t *testing.T) {
	pod := waiting(func(p *corev1.Pod) {
		p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/quota"}, {Name: "example.com/budget"}}
	})
	want := `SchedulingGated "example.com/quota example.com/budget"! the pod is held back by its scheduling gates example.com/quota, example.com/budget`
	if got := said(SchedulingGates, pod, "n", live(inspect.Objects{Nodes: []*corev1.Node{roomy(nil)}})); got != want {
		t.Errorf("got %s", got)
	}
}

func TestNodeName(t *testing.T) {
	for name, want := range map[string]string{"n": "", "m": `NodeAffinity "m"! the pod is bound to node m`} {
		pod := waiting(func(p *corev1.Pod) { p.Spec.NodeName = name })
		if got := said(NodeName, pod, "n", live(inspect.Objects{Nodes: []*corev1.Node{roomy(nil)}})); got != want {
			t.Errorf("%s: got %s", name, got)
		}
	}
}

func TestNodeUnschedulable(t *testing.T) {
	cordoned := `NodeUnschedulable ""! the node is unschedulable`
	for name, test := range map[string]struct {
		unschedulable bool
		toleration    corev1.Toleration
		want          string
	}{
		"schedulable":                {false, corev1.Toleration{}, ""},
		"cordoned":                   {true, corev1.Toleration{}, cordoned},
		"tolerated":                  {true, corev1.Toleration{Key: corev1.TaintNodeUnschedulable, Operator: corev1.TolerationOpExists}, ""},
		"everything tolerated":       {true, corev1.Toleration{Operator: corev1.TolerationOpExists}, ""},
		"another effect tolerated":   {true, corev1.Toleration{Key: corev1.TaintNodeUnschedulable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute}, cordoned},
		"with a value, which is not": {true, corev1.Toleration{Key: corev1.TaintNodeUnschedulable, Operator: corev1.TolerationOpEqual, Value: "yes"}, cordoned},
		"with an empty value":        {true, corev1.Toleration{Key: corev1.TaintNodeUnschedulable}, ""},
	} {
		node := roomy(func(n *corev1.Node) { n.Spec.Unschedulable = test.unschedulable })
		pod := waiting(func(p *corev1.Pod) { p.Spec.Tolerations = []corev1.Toleration{test.toleration} })
		if test.toleration == (corev1.Toleration{}) {
			pod.Spec.Tolerations = nil // an empty one would be of the taint without a key
		}
		if got := said(NodeUnschedulable, pod, "n", live(inspect.Objects{Nodes: []*corev1.Node{node}})); got != test.want {
			t.Errorf("%s: got %s", name, got)
		}
	}
}

func TestTaintToleration(t *testing.T) {
	node := roomy(func(n *corev1.Node) {
		n.Spec.Taints = []corev1.Taint{
			{Key: "team", Value: "ml", Effect: corev1.TaintEffectNoSchedule},
			{Key: "slow", Effect: corev1.TaintEffectPreferNoSchedule},
			{Key: "broken", Effect: corev1.TaintEffectNoExecute},
			{Key: "load", Value: "7", Effect: corev1.TaintEffectNoSchedule},
		}
	})
	team, broken, load := `NodeTainted "team=ml:NoSchedule"! the pod does not tolerate the node's taint team=ml:NoSchedule`,
		`NodeTainted "broken:NoExecute"! the pod does not tolerate the node's taint broken:NoExecute`,
		`NodeTainted "load=7:NoSchedule"! the pod does not tolerate the node's taint load=7:NoSchedule`
	exists := func(key string) corev1.Toleration {
		return corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists}
	}
	less := corev1.Toleration{Key: "load", Operator: corev1.TolerationOpLt, Value: "8"}
	comparisons := map[inspect.Gate]bool{inspect.GateTaintTolerationComparisonOperators: true}
	for name, test := range map[string]struct {
		tolerations []corev1.Toleration
		gates       map[inspect.Gate]bool
		want        []string
	}{
		"none":               {nil, nil, []string{team, broken, load}},
		"all":                {[]corev1.Toleration{{Operator: corev1.TolerationOpExists}}, nil, nil},
		"of one effect":      {[]corev1.Toleration{{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}}, nil, []string{broken}},
		"another value":      {[]corev1.Toleration{{Key: "team", Value: "web"}, exists("broken"), exists("load")}, nil, []string{team}},
		"the value":          {[]corev1.Toleration{{Key: "team", Value: "ml"}, exists("broken"), exists("load")}, nil, nil},
		"less, not known":    {[]corev1.Toleration{exists("team"), exists("broken"), less}, nil, []string{load}},
		"less, known":        {[]corev1.Toleration{exists("team"), exists("broken"), less}, comparisons, nil},
		"less than the same": {[]corev1.Toleration{exists("team"), exists("broken"), {Key: "load", Operator: corev1.TolerationOpLt, Value: "7"}}, comparisons, []string{load}},
	} {
		pod := waiting(func(p *corev1.Pod) { p.Spec.Tolerations = test.tolerations })
		s := liveAt(inspect.NewestMinor, inspect.Objects{Nodes: []*corev1.Node{node}}, test.gates)
		if got := said(TaintToleration, pod, "n", s); got != strings.Join(test.want, "\n") {
			t.Errorf("%s: got %s", name, got)
		}
	}
}

func TestNodeAffinity(t *testing.T) {
	node := roomy(func(n *corev1.Node) { n.Labels = map[string]string{"zone": "a", "gpus": "8"} })
	in := func(key string, values ...string) corev1.NodeSelectorRequirement {
		return corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}
	}
	of := func(key string, operator corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorRequirement {
		return corev1.NodeSelectorRequirement{Key: key, Operator: operator, Values: values}
	}
	labels := func(r ...corev1.NodeSelectorRequirement) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchExpressions: r}
	}
	fields := func(r ...corev1.NodeSelectorRequirement) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchFields: r}
	}
	for name, test := range map[string]struct {
		selector map[string]string
		terms    []corev1.NodeSelectorTerm // nil: no affinity
		want     string
	}{
		"selector matches": {map[string]string{"zone": "a"}, nil, ""},
		"selector does not": {map[string]string{"zone": "b", "disk": "fast", "gpus": "8"}, nil,
			`NodeAffinity "selector disk"! the node selector of the pod wants disk=fast; the node has no label disk` + "\n" +
				`NodeAffinity "selector zone"! the node selector of the pod wants zone=b; the node has zone=a`},
		"an absent label is not an empty one": {map[string]string{"disk": ""}, nil, `NodeAffinity "selector disk"! the node selector of the pod wants disk=; the node has no label disk`},
		"no term":                             {nil, []corev1.NodeSelectorTerm{}, `NodeAffinity "terms"! the pod's node affinity has no terms, which no node meets`},
		"an empty term":                       {nil, []corev1.NodeSelectorTerm{{}}, `NodeAffinity "terms"! the only term of the pod's node affinity is empty, which no node meets`},
		"one of two terms":                    {nil, []corev1.NodeSelectorTerm{labels(in("zone", "b")), labels(of("gpus", "Gt", "4"))}, ""},
		"an empty term is not met":            {nil, []corev1.NodeSelectorTerm{{}, labels(in("zone", "b"))}, `NodeAffinity "terms"! the node meets none of the 2 terms of the pod's node affinity`},
		"all of one term": {nil, []corev1.NodeSelectorTerm{labels(in("zone", "b", "c"), of("gpus", "Exists"), of("gpus", "Lt", "8"), of("zone", "NotIn", "a"), of("gpus", "DoesNotExist"), of("disk", "Exists"))},
			`NodeAffinity "expression 0"! the node affinity of the pod wants zone to be one of b, c; the node has zone=a` + "\n" +
				`NodeAffinity "expression 2"! the node affinity of the pod wants gpus below 8; the node has gpus=8` + "\n" +
				`NodeAffinity "expression 3"! the node affinity of the pod wants zone not to be a; the node has zone=a` + "\n" +
				`NodeAffinity "expression 4"! the node affinity of the pod wants no label gpus; the node has gpus=8` + "\n" +
				`NodeAffinity "expression 5"! the node affinity of the pod wants a label disk; the node has no label disk`},
		"not among, where there is no label":  {nil, []corev1.NodeSelectorTerm{labels(of("disk", "NotIn", "slow"))}, ""},
		"above, where the label is no number": {nil, []corev1.NodeSelectorTerm{labels(of("zone", "Gt", "4"))}, `NodeAffinity "expression 0"! the node affinity of the pod wants zone above 4; the node has zone=a`},
		"its name":                            {nil, []corev1.NodeSelectorTerm{fields(in("metadata.name", "n"))}, ""},
		"another name":                        {nil, []corev1.NodeSelectorTerm{fields(in("metadata.name", "m"))}, `NodeAffinity "field 0"! the node affinity of the pod wants metadata.name=m`},
		"not its name":                        {nil, []corev1.NodeSelectorTerm{fields(of("metadata.name", "NotIn", "n"))}, `NodeAffinity "field 0"! the node affinity of the pod wants metadata.name not to be n`},
		"name or label":                       {nil, []corev1.NodeSelectorTerm{fields(in("metadata.name", "m")), labels(in("zone", "a"))}, ""},
		"names that contradict": {map[string]string{"zone": "b"}, []corev1.NodeSelectorTerm{fields(in("metadata.name", "n"), in("metadata.name", "m"))},
			`NodeAffinity "contradiction"! each term of the pod's node affinity wants nodes of different names at once` + "\n" +
				`NodeAffinity "selector zone"! the node selector of the pod wants zone=b; the node has zone=a`},
		"two names in one": {nil, []corev1.NodeSelectorTerm{fields(in("metadata.name", "m", "n"))},
			`NodeAffinity "error"! the node affinity of the pod cannot be evaluated: nodeSelectorTerms[0].matchFields[0].values: Invalid value: ["m","n"]: must have one element`},
		"a malformed term, and one that is met": {nil, []corev1.NodeSelectorTerm{fields(in("metadata.name", "m", "n")), labels(in("zone", "a"))}, ""},
	} {
		pod := waiting(func(p *corev1.Pod) {
			p.Spec.NodeSelector = test.selector
			if test.terms != nil {
				p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: test.terms}}}
			}
		})
		if got := said(NodeAffinity, pod, "n", live(inspect.Objects{Nodes: []*corev1.Node{node}})); got != test.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, test.want)
		}
	}
}

func TestNodePorts(t *testing.T) {
	with := func(name, node string, ports ...corev1.ContainerPort) *corev1.Pod {
		pod := testPod(name, node)
		pod.Spec.Containers[0].Ports = ports
		return pod
	}
	port := func(number int32, protocol corev1.Protocol, address string) corev1.ContainerPort {
		return corev1.ContainerPort{HostPort: number, ContainerPort: 1, Protocol: protocol, HostIP: address}
	}
	init := with("init", "n")
	init.Spec.InitContainers = []corev1.Container{
		{Name: "ends", Ports: []corev1.ContainerPort{port(7000, "", "")}},
		{Name: "stays", Ports: []corev1.ContainerPort{port(7001, "", "")}, RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)},
	}
	network := with("network", "n", corev1.ContainerPort{ContainerPort: 9100}, corev1.ContainerPort{ContainerPort: 9101, HostPort: 9101})
	network.Spec.HostNetwork = true
	ended := with("ended", "n", port(5000, "", ""))
	ended.Status.Phase = corev1.PodFailed
	pods := []*corev1.Pod{
		with("all", "n", port(8080, "TCP", "")), with("one", "n", port(8081, "TCP", "10.0.0.1")), with("udp", "n", port(53, "UDP", "0.0.0.0")),
		with("away", "m", port(6000, "", "")), with("container", "n", corev1.ContainerPort{ContainerPort: 4000}), init, network, ended,
	}
	s := live(inspect.Objects{Nodes: []*corev1.Node{roomy(nil), testNode("m")}, Pods: pods})
	has := func(name, pod string) string {
		return fmt.Sprintf(`PortInUse %q the pod wants port %s of the node, which pod default/%s has`, name, name, pod)
	}
	for name, test := range map[string]struct {
		ports []corev1.ContainerPort
		want  []string
	}{
		"none":                           {nil, nil},
		"free":                           {[]corev1.ContainerPort{port(8082, "", "")}, nil},
		"taken":                          {[]corev1.ContainerPort{port(8080, "", "")}, []string{has("8080/TCP", "all")}},
		"another protocol":               {[]corev1.ContainerPort{port(8080, "UDP", "")}, nil},
		"one address of all":             {[]corev1.ContainerPort{port(8080, "", "10.0.0.1")}, []string{has("10.0.0.1:8080/TCP", "all")}},
		"all addresses of one":           {[]corev1.ContainerPort{port(8081, "TCP", "0.0.0.0")}, []string{has("8081/TCP", "one")}},
		"the same address":               {[]corev1.ContainerPort{port(8081, "TCP", "10.0.0.1")}, []string{has("10.0.0.1:8081/TCP", "one")}},
		"another address":                {[]corev1.ContainerPort{port(8081, "TCP", "10.0.0.2")}, nil},
		"two, and one twice":             {[]corev1.ContainerPort{port(53, "UDP", ""), port(8080, "", ""), port(8080, "", "")}, []string{has("53/UDP", "udp"), has("8080/TCP", "all")}},
		"of a pod elsewhere":             {[]corev1.ContainerPort{port(6000, "", "")}, nil},
		"of a container only":            {[]corev1.ContainerPort{port(4000, "", "")}, nil},
		"of an init container that ends": {[]corev1.ContainerPort{port(7000, "", "")}, nil},
		"of a sidecar":                   {[]corev1.ContainerPort{port(7001, "", "")}, []string{has("7001/TCP", "init")}},
		"of the host's network":          {[]corev1.ContainerPort{port(9100, "", ""), port(9101, "", "")}, []string{has("9100/TCP", "network"), has("9101/TCP", "network")}},
		"of a pod that ended":            {[]corev1.ContainerPort{port(5000, "", "")}, nil},
	} {
		if got := said(NodePorts, with("p", "", test.ports...), "n", s); got != strings.Join(test.want, "\n") {
			t.Errorf("%s: got\n%s", name, got)
		}
	}
	p := NewIndex(s, nil).Prepare(with("p", "", port(8081, "", "")))
	if r := p.On("n").Refusals[0]; r.Port.HostPort != 8081 || r.Port.Protocol != "TCP" || !slices.Equal(r.Pods, []inspect.PodRef{{Namespace: "default", Name: "one"}}) {
		t.Errorf("the port and its pods: %+v, %v", r.Port, r.Pods)
	}
}

func TestNodeDeclaredFeatures(t *testing.T) {
	restarts := waiting(func(p *corev1.Pod) {
		p.Spec.Containers[0].RestartPolicyRules = []corev1.ContainerRestartRule{{Action: corev1.ContainerRestartRuleActionRestartAllContainers}}
	})
	users := waiting(func(p *corev1.Pod) { p.Spec.HostNetwork, p.Spec.HostUsers = true, ptr.To(false) })
	declares := func(features ...string) *corev1.Node {
		return roomy(func(n *corev1.Node) { n.Status.DeclaredFeatures = features })
	}
	const restart, network = "RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport"
	lacks := func(name string) string {
		return fmt.Sprintf(`DeclaredFeature %q! the kubelet of the node lacks what the pod needs: %s`, name, name)
	}
	on := map[inspect.Gate]bool{inspect.GateNodeDeclaredFeatures: true}
	off := map[inspect.Gate]bool{inspect.GateNodeDeclaredFeatures: false}
	for name, test := range map[string]struct {
		minor int
		gates map[inspect.Gate]bool
		pod   *corev1.Pod
		node  *corev1.Node
		want  string
	}{
		"nothing needed":            {37, nil, waiting(nil), declares(), ""},
		"declared":                  {37, nil, restarts, declares("A", restart, "Z"), ""},
		"not declared":              {37, nil, restarts, declares("A", network), lacks(restart)},
		"none declared":             {37, nil, users, declares(), lacks(network)},
		"1.36":                      {36, nil, restarts, declares(), lacks(restart)},
		"1.36, off":                 {36, off, restarts, declares(), ""},
		"1.35, off by default":      {35, nil, restarts, declares(), ""},
		"1.35, on":                  {35, on, restarts, declares(), lacks(restart)},
		"1.35, of a later release":  {35, on, users, declares(), ""},
		"1.34 knows nothing of it":  {34, nil, restarts, declares(), ""},
		"1.36, of the same release": {36, nil, users, declares(), lacks(network)},
	} {
		if got := said(NodeDeclaredFeatures, test.pod, "n", liveAt(test.minor, inspect.Objects{Nodes: []*corev1.Node{test.node}}, test.gates)); got != test.want {
			t.Errorf("%s: got %s", name, got)
		}
	}
	files := snapshotOf(inspect.Objects{Nodes: []*corev1.Node{declares()}})
	if got := said(NodeDeclaredFeatures, restarts, "n", files); got != `? nodes "`+restart+`" the node does not say which features it has; the pod needs `+restart {
		t.Errorf("a node from a file that says nothing: %s", got)
	}
	printed := declares()
	printed.Status.NodeInfo.KubeletVersion = "v1.37.1"
	if got := said(NodeDeclaredFeatures, restarts, "n", snapshotOf(inspect.Objects{Nodes: []*corev1.Node{printed}})); got != lacks(restart) {
		t.Errorf("a node as kubectl prints it: %s", got)
	}
}
