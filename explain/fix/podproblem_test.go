package fix_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/nodedeclaredfeatures/features"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// podProblem is a cluster with a pod in it that is asked about. Nothing here uses package explain to decide
// or to change anything.
type podProblem struct{ inspect.Objects }

// clone copies all that a change may be about.
func (p podProblem) clone() podProblem {
	p.Pods, p.Nodes, p.Claims, p.Templates = copies(p.Pods), copies(p.Nodes), copies(p.Claims), copies(p.Templates)
	p.Classes, p.Slices = slices.Clone(p.Classes), slices.Clone(p.Slices)
	p.CSINodes, p.StorageCapacities = slices.Clone(p.CSINodes), slices.Clone(p.StorageCapacities)
	return p
}

func copies[T interface{ DeepCopy() T }](list []T) []T {
	out := make([]T, len(list))
	for i := range list {
		out[i] = list[i].DeepCopy()
	}
	return out
}

// pod is the pod in question.
func (p podProblem) pod() *corev1.Pod {
	return p.Pods[slices.IndexFunc(p.Pods, func(pod *corev1.Pod) bool { return pod.Name == askedPod })]
}

func (p podProblem) node(name string) *corev1.Node {
	return p.Nodes[slices.IndexFunc(p.Nodes, func(n *corev1.Node) bool { return n.Name == name })]
}

// spec is what the pod wants of devices: in a claim, or in a template. It is nil if it wants none.
func (p podProblem) spec() *resourcev1.DeviceClaim {
	entries := p.pod().Spec.ResourceClaims
	switch {
	case len(entries) == 0:
		return nil
	case entries[0].ResourceClaimName != nil:
		return &p.Claims[slices.IndexFunc(p.Claims, func(c *resourcev1.ResourceClaim) bool { return c.Name == *entries[0].ResourceClaimName })].Spec.Devices
	}
	return &p.Templates[0].Spec.Spec.Devices
}

// fits decides: the filters by themselves, and the scheduler's own allocator about devices.
func (p podProblem) fits(t *testing.T, node string) bool {
	t.Helper()
	prepared := explaintest.NewCluster(p.Objects).Filters().Prepare(p.pod())
	o := prepared.On(inspect.NodeName(node))
	if len(o.Doubts)+len(prepared.Everywhere.Doubts) > 0 {
		t.Fatalf("a doubt: %+v %+v", o.Doubts, prepared.Everywhere.Doubts)
	}
	if len(o.Refusals)+len(prepared.Everywhere.Refusals) > 0 {
		return false
	}
	spec := p.spec()
	if spec == nil || len(spec.Requests) == 0 {
		return true
	}
	claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "asked", UID: "asked"}}
	claim.Spec.Devices = *spec
	return fitsOn(t, p.Objects, claim, node)
}

// fitsSomewhere names the first node that fits, or returns "".
func (p podProblem) fitsSomewhere(t *testing.T) string {
	t.Helper()
	for _, n := range p.Nodes {
		if p.fits(t, n.Name) {
			return n.Name
		}
	}
	return ""
}

// end takes pods away, and their devices from the claims that nobody else uses.
func (p *podProblem) end(names ...string) {
	p.Pods = slices.DeleteFunc(slices.Clone(p.Pods), func(pod *corev1.Pod) bool { return slices.Contains(names, pod.Name) })
	for _, c := range p.Claims {
		if users := c.Status.ReservedFor; len(users) > 0 && !slices.ContainsFunc(users, func(u resourcev1.ResourceClaimConsumerReference) bool { return !slices.Contains(names, u.Name) }) {
			c.Status = resourcev1.ResourceClaimStatus{}
		}
	}
}

// placid makes pods keep nobody away.
func (p *podProblem) placid(names ...string) {
	for _, pod := range p.Pods {
		if slices.Contains(names, pod.Name) {
			pod.Spec.Affinity = nil
		}
	}
}

// free takes its devices from a claim.
func (p *podProblem) free(name string) {
	for _, c := range p.Claims {
		if c.Name == name {
			c.Status = resourcev1.ResourceClaimStatus{}
		}
	}
}

// release takes its devices from a claim, for which whoever uses it ends.
func (p *podProblem) release(name string) {
	var users []string
	for _, c := range p.Claims {
		if c.Name == name {
			for _, u := range c.Status.ReservedFor {
				users = append(users, u.Name)
			}
			c.Status = resourcev1.ResourceClaimStatus{}
		}
	}
	p.end(users...)
}

// want is something that the pod or the cluster requires, and how it is given up.
type want struct {
	key  string
	give func(*podProblem)
	// fix is the kind of the change that gives it up by itself. It is "" if none does.
	fix explain.FixKind
}

// wants lists what decides about a node, by the definitions of kinds of requirements in package explain.
func (p podProblem) wants(t *testing.T, node string) []want {
	t.Helper()
	out := slices.Concat(p.wantsOfResources(), p.wantsOfPlaces(), p.wantsOfNode(node))
	out = append(out, p.wantsOfOthers(node)...)
	out = append(out, p.wantsOfVolumes(t, node, out)...)
	return append(out, p.wantsOfDevices(node)...)
}

// podNames finds the names of pods in a message.
var podNames = regexp.MustCompile(`default/(p\d+-\d+)`)

// wantsOfOthers are the pods that keep the pod away from the node, or from its zone.
func (p podProblem) wantsOfOthers(node string) []want {
	var out []want
	for _, key := range []string{corev1.LabelHostname, corev1.LabelTopologyZone} {
		var names []string
		for _, other := range p.Pods {
			if a := other.Spec.Affinity; other.Name == askedPod || a == nil || a.PodAntiAffinity == nil ||
				p.node(other.Spec.NodeName).Labels[key] != p.node(node).Labels[key] {
				continue
			}
			term := other.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0]
			if term.TopologyKey == key && term.LabelSelector.MatchLabels["app"] == p.pod().Labels["app"] {
				names = append(names, other.Name)
			}
		}
		if len(names) > 0 {
			out = append(out, want{fmt.Sprint("RepelledBy ", names), func(p *podProblem) { p.placid(names...) }, ""})
		}
	}
	return out
}

// allContainers are the containers and init containers of a pod.
func allContainers(pod *corev1.Pod) []*corev1.Container {
	var out []*corev1.Container
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			out = append(out, &list[i])
		}
	}
	return out
}

func (p podProblem) wantsOfResources() []want {
	var out []want
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, "example.com/nic"} {
		out = append(out, want{"Resource " + string(name), func(p *podProblem) {
			pod := p.pod()
			for _, c := range allContainers(pod) {
				delete(c.Resources.Requests, name)
				delete(c.Resources.Limits, name)
			}
			delete(pod.Spec.Overhead, name)
			if pod.Spec.Resources != nil {
				delete(pod.Spec.Resources.Requests, name)
			}
		}, ""})
	}
	seen := map[string]bool{}
	for _, c := range allContainers(p.pod()) {
		for _, port := range c.Ports {
			key := fmt.Sprintf("Port %d/%s", port.HostPort, port.Protocol)
			if port.HostPort == 0 || seen[key] {
				continue
			}
			seen[key] = true
			w := want{key, func(p *podProblem) {
				for _, c := range allContainers(p.pod()) {
					for i := range c.Ports {
						if c.Ports[i].HostPort == port.HostPort && c.Ports[i].Protocol == port.Protocol {
							c.Ports[i].ContainerPort = 1
							c.Ports[i].HostPort = 0
						}
					}
				}
			}, explain.ReduceRequest}
			if p.pod().Spec.HostNetwork {
				w.fix = "" // the port of the container is that of the node
			}
			out = append(out, w)
		}
	}
	return out
}

// wantsOfPlaces are those of the pod about nodes and other pods.
func (p podProblem) wantsOfPlaces() []want {
	var out []want
	pod := p.pod()
	for label, value := range pod.Spec.NodeSelector {
		out = append(out, want{"NodeAffinity " + label + "=" + value, func(p *podProblem) { delete(p.pod().Spec.NodeSelector, label) }, explain.RelaxSelector})
	}
	slices.SortFunc(out, func(a, b want) int { return strings.Compare(a.key, b.key) })
	for i := range pod.Spec.TopologySpreadConstraints {
		out = append(out, want{fmt.Sprint("Spread ", i), func(p *podProblem) {
			p.pod().Spec.TopologySpreadConstraints[i].WhenUnsatisfiable = corev1.ScheduleAnyway
		}, explain.DropConstraint})
	}
	a := pod.Spec.Affinity
	if a == nil {
		return out
	}
	if a.NodeAffinity != nil {
		out = append(out, want{"NodeAffinity", func(p *podProblem) { p.pod().Spec.Affinity.NodeAffinity = nil }, explain.RelaxSelector})
	}
	// What stands in for a dropped term keeps the indices of others true: it wants what is so everywhere.
	if a.PodAffinity != nil {
		for i := range a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			out = append(out, want{fmt.Sprint("PodAffinity podAffinity ", i), func(p *podProblem) {
				dropped(&p.pod().Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[i])
			}, explain.DropConstraint})
		}
	}
	if a.PodAntiAffinity != nil {
		for i := range a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			out = append(out, want{fmt.Sprint("PodAffinity podAntiAffinity ", i), func(p *podProblem) {
				dropped(&p.pod().Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[i])
			}, explain.DropConstraint})
		}
	}
	return out
}

// dropped marks a term as one that is no longer there.
func dropped(term *corev1.PodAffinityTerm) { term.TopologyKey = "" }

// withoutDropped takes out the terms that are marked.
func (p podProblem) withoutDropped() podProblem {
	gone := func(t corev1.PodAffinityTerm) bool { return t.TopologyKey == "" }
	if a := p.pod().Spec.Affinity; a != nil {
		if a.PodAffinity != nil {
			a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution = slices.DeleteFunc(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, gone)
		}
		if a.PodAntiAffinity != nil {
			a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution = slices.DeleteFunc(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, gone)
		}
	}
	return p
}

// wantsOfNode are what the node requires of the pod, and what it lacks.
func (p podProblem) wantsOfNode(name string) []want {
	out := []want{
		{"Pods", func(p *podProblem) { p.node(name).Status.Allocatable[corev1.ResourcePods] = resource.MustParse("1000") }, ""},
		{"Cordon", func(p *podProblem) { p.node(name).Spec.Unschedulable = false }, explain.UncordonNode},
		{"DeclaredFeature", func(p *podProblem) {
			p.node(name).Status.DeclaredFeatures = nil
			for _, f := range features.AllFeatures {
				p.node(name).Status.DeclaredFeatures = append(p.node(name).Status.DeclaredFeatures, f.Name())
			}
			slices.Sort(p.node(name).Status.DeclaredFeatures)
		}, ""},
	}
	for _, taint := range p.node(name).Spec.Taints {
		w := want{"NodeTaint " + taint.ToString(), func(p *podProblem) {
			p.pod().Spec.Tolerations = append(p.pod().Spec.Tolerations, corev1.Toleration{Key: taint.Key, Operator: corev1.TolerationOpEqual, Value: taint.Value, Effect: taint.Effect})
		}, explain.TolerateTaint}
		if strings.HasPrefix(taint.Key, "node.kubernetes.io/") {
			w.fix, w.give = explain.WaitFor, func(p *podProblem) { p.untaint(name, taint.ToString()) }
		}
		out = append(out, w)
	}
	return out
}

func (p podProblem) untaint(node, taint string) {
	n := p.node(node)
	n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.ToString() == taint })
}

// wantsOfVolumes are the number of volumes, and the volumes that cannot be had on the node although nothing
// else is wanted.
func (p podProblem) wantsOfVolumes(t *testing.T, node string, others []want) []want {
	t.Helper()
	out := []want{{"Volume CSINode " + node, func(p *podProblem) {
		at := slices.IndexFunc(p.CSINodes, func(n *storagev1.CSINode) bool { return n.Name == node })
		p.CSINodes[at] = p.CSINodes[at].DeepCopy()
		p.CSINodes[at].Spec.Drivers[0].Allocatable = nil
	}, ""}}
	others = append(slices.Clone(others), out...)
	for _, v := range p.pod().Spec.Volumes {
		only := p.given(others, func(string) bool { return true })
		only.pod().Spec.Volumes, only.pod().Spec.ResourceClaims = []corev1.Volume{v}, nil
		if only.fits(t, node) {
			continue
		}
		out = append(out, want{"Volume PersistentVolumeClaim " + v.PersistentVolumeClaim.ClaimName, func(p *podProblem) {
			p.pod().Spec.Volumes = slices.DeleteFunc(p.pod().Spec.Volumes, func(o corev1.Volume) bool { return o.Name == v.Name })
		}, ""})
	}
	return out
}

func (p podProblem) wantsOfDevices(node string) []want {
	spec := p.spec()
	if spec == nil {
		return nil
	}
	var out []want
	for i := range spec.Requests {
		r := &spec.Requests[i]
		at := func(p *podProblem) *resourcev1.ExactDeviceRequest { return p.spec().Requests[i].Exactly }
		if r.Exactly.Count > 1 {
			out = append(out, want{"Count " + r.Name, func(p *podProblem) { at(p).Count = 1 }, explain.ReduceCount})
		}
		for j := range r.Exactly.Selectors {
			out = append(out, want{fmt.Sprintf("Term %s %d", r.Name, j), func(p *podProblem) { at(p).Selectors[j].CEL.Expression = "true" }, explain.RelaxSelector})
		}
		out = append(out, want{"Taint " + r.Name, func(p *podProblem) {
			at(p).Tolerations = append(at(p).Tolerations, resourcev1.DeviceToleration{Operator: resourcev1.DeviceTolerationOpExists})
		}, explain.TolerateTaint})
	}
	for i := range spec.Constraints {
		out = append(out, want{fmt.Sprint("Constraint ", i), func(p *podProblem) { p.spec().Constraints[i].Requests = []string{"none"} }, explain.DropConstraint})
	}
	for _, c := range p.Claims {
		if a := c.Status.Allocation; a != nil && a.Devices.Results[0].Pool == node {
			out = append(out, want{"HeldBy default/" + c.Name, func(p *podProblem) { p.free(c.Name) }, ""})
		}
	}
	return out
}

// withRequests adds that the devices are wanted at all.
func (p podProblem) withRequests(list []want) []want {
	for i := range p.spec().Requests {
		name := p.spec().Requests[i].Name
		list = append(list, want{"Request " + name, func(p *podProblem) { p.spec().Requests[i].Name = "" }, ""})
	}
	return list
}

// given returns the problem with some of what is wanted given up.
func (p podProblem) given(list []want, choose func(key string) bool) podProblem {
	out := p.clone()
	for _, w := range list {
		if choose(w.key) {
			w.give(&out)
		}
	}
	if spec := out.spec(); spec != nil {
		spec.Requests = slices.DeleteFunc(spec.Requests, func(r resourcev1.DeviceRequest) bool { return r.Name == "" })
		spec.Constraints = slices.DeleteFunc(spec.Constraints, func(c resourcev1.DeviceConstraint) bool { return slices.Equal(c.Requests, []string{"none"}) })
	}
	return out.withoutDropped()
}

var (
	portIn  = regexp.MustCompile(`port (\d+/\w+) of the node`)
	indexAt = regexp.MustCompile(`\[(\d+)\]$`)
	label   = regexp.MustCompile(`a node with (\S+)$`)
)

// wantKey names a requirement as wants does. Pods that repel are told apart by their names.
func wantKey(r *explain.Requirement) string {
	last := ""
	if m := indexAt.FindStringSubmatch(r.Path); m != nil {
		last = m[1]
	}
	switch r.Kind {
	case explain.ResourceRequired:
		return "Resource " + string(r.Resource)
	case explain.PortRequired:
		return "Port " + portIn.FindStringSubmatch(r.Message)[1]
	case explain.PodsRequired, explain.CordonRequired, explain.DeclaredFeatureRequired:
		return string(r.Kind)
	case explain.NodeTaintRequired:
		return "NodeTaint " + r.Taint
	case explain.NodeAffinityRequired:
		if m := label.FindStringSubmatch(r.Message); m != nil {
			return "NodeAffinity " + m[1]
		}
		return "NodeAffinity"
	case explain.SpreadRequired:
		return "Spread " + last
	case explain.PodAffinityRequired:
		return "PodAffinity " + strings.Split(r.Path, ".")[2] + " " + last
	case explain.VolumeRequired:
		return "Volume " + r.Path
	case explain.RepelledBy:
		var names []string
		for _, m := range podNames.FindAllStringSubmatch(r.Message, -1) {
			names = append(names, m[1])
		}
		return fmt.Sprint("RepelledBy ", names)
	case explain.TaintRequired:
		return "Taint " + r.Request
	case explain.TermRequired:
		return fmt.Sprintf("Term %s %s", r.Request, indexIn.FindStringSubmatch(r.Path)[2])
	}
	return keyOf(r)
}
