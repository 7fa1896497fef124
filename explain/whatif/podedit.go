package whatif

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/suppose"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Edits of the pod that asks, and of nodes, for the scheduler's other filters.

// DropResourceEdit makes the pod ask for nothing of a resource. Nobody wants that; it says what the resource
// has to do with it.
type DropResourceEdit struct{ Resource corev1.ResourceName }

// Key names the resource.
func (e DropResourceEdit) Key() string { return "resource " + string(e.Resource) }

// Apply removes the resource from all requests and limits.
func (e DropResourceEdit) Apply(d *Draft) {
	for _, list := range suppose.ResourceLists(d.Pod()) {
		delete(list, e.Resource)
	}
}

// ResourceEdit makes one container of the pod ask for another amount of a resource.
type ResourceEdit struct {
	// Init says that it is an init container, and Index is that in the list.
	Init     bool
	Index    int
	Resource corev1.ResourceName
	Amount   resource.Quantity
}

// Key names the resource. It is that of dropping it.
func (e ResourceEdit) Key() string { return DropResourceEdit{e.Resource}.Key() }

func (e ResourceEdit) container(pod *corev1.Pod) suppose.Container {
	at := e.Index
	if !e.Init {
		at += len(pod.Spec.InitContainers)
	}
	return suppose.ContainersOf(pod)[at]
}

// Apply sets the request, and the limit where that is lower or has to be equal.
func (e ResourceEdit) Apply(d *Draft) {
	c := e.container(d.Pod())
	if _, ok := c.Resources.Requests[e.Resource]; ok {
		c.Resources.Requests[e.Resource] = e.Amount
	}
	if e.setsLimit(c) {
		c.Resources.Limits[e.Resource] = e.Amount
	}
}

// setsLimit reports whether the limit has to change with the request: a resource that cannot be overcommitted
// has the same of both, and a limit without a request is one.
func (e ResourceEdit) setsLimit(c suppose.Container) bool {
	limit, ok := c.Resources.Limits[e.Resource]
	_, requested := c.Resources.Requests[e.Resource]
	overcommits := e.Resource == corev1.ResourceCPU || e.Resource == corev1.ResourceMemory || e.Resource == corev1.ResourceEphemeralStorage
	return ok && (!requested || !overcommits || limit.Cmp(e.Amount) < 0)
}

// PatchPod replaces the request, and the limit where Apply does.
func (e ResourceEdit) PatchPod(p *Patch) {
	c := e.container(p.q.Pod)
	if e.setsLimit(c) {
		p.Add("replace", c.Path+"/resources/limits/"+escape(string(e.Resource)), e.Amount.String())
	}
	if _, ok := c.Resources.Requests[e.Resource]; ok {
		p.Add("replace", c.Path+"/resources/requests/"+escape(string(e.Resource)), e.Amount.String())
	}
}

// PortEdit makes the pod ask for no particular port of the node instead of one. A pod in the network of the
// node has all its ports there, so nobody can make it.
type PortEdit struct {
	Port     int32
	Protocol corev1.Protocol
}

// Key names the port.
func (e PortEdit) Key() string { return fmt.Sprintf("port %d/%s", e.Port, e.Protocol) }

func (e PortEdit) is(p *corev1.ContainerPort) bool {
	return p.HostPort == e.Port && (p.Protocol == e.Protocol || p.Protocol == "" && e.Protocol == corev1.ProtocolTCP)
}

func (e PortEdit) feasible(q *Question) bool { return !q.Pod.Spec.HostNetwork }

// Apply asks for no port of the node.
func (e PortEdit) Apply(d *Draft) {
	for _, c := range suppose.ContainersOf(d.Pod()) {
		if d.Pod().Spec.HostNetwork {
			c.Ports = slices.DeleteFunc(c.Ports, func(p corev1.ContainerPort) bool { return e.is(&p) })
			continue
		}
		for i := range c.Ports {
			if e.is(&c.Ports[i]) {
				c.Ports[i].HostPort = 0
			}
		}
	}
}

// PatchPod removes the port of the node.
func (e PortEdit) PatchPod(p *Patch) {
	for _, c := range suppose.ContainersOf(p.q.Pod) {
		for i := range c.Ports {
			if e.is(&c.Ports[i]) {
				p.Add("remove", fmt.Sprintf("%s/ports/%d/hostPort", c.Path, i), nil)
			}
		}
	}
}

// NodeSelectorEdit drops a label from the node selector of the pod.
type NodeSelectorEdit struct{ Label string }

// Key names the label.
func (e NodeSelectorEdit) Key() string { return "node selector " + e.Label }

// Apply drops the label.
func (e NodeSelectorEdit) Apply(d *Draft) { delete(d.Pod().Spec.NodeSelector, e.Label) }

// PatchPod removes the label.
func (e NodeSelectorEdit) PatchPod(p *Patch) {
	p.Add("remove", "/spec/nodeSelector/"+escape(e.Label), nil)
}

// NodeAffinityEdit drops the required node affinity of the pod.
type NodeAffinityEdit struct{}

// Key names the node affinity.
func (e NodeAffinityEdit) Key() string { return "node affinity" }

// Apply drops the required node affinity.
func (e NodeAffinityEdit) Apply(d *Draft) {
	d.Pod().Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = nil
}

// PatchPod removes the required node affinity.
func (e NodeAffinityEdit) PatchPod(p *Patch) {
	p.Add("remove", "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution", nil)
}

// NodeTolerationEdit makes the pod tolerate a taint of nodes.
type NodeTolerationEdit struct{ Taint corev1.Taint }

// Key names the taint.
func (e NodeTolerationEdit) Key() string { return "node taint " + e.Taint.ToString() }

func (e NodeTolerationEdit) toleration() corev1.Toleration {
	t := corev1.Toleration{Key: e.Taint.Key, Operator: corev1.TolerationOpEqual, Value: e.Taint.Value, Effect: e.Taint.Effect}
	if t.Value == "" {
		t.Operator = corev1.TolerationOpExists
	}
	return t
}

// Apply adds a toleration.
func (e NodeTolerationEdit) Apply(d *Draft) {
	d.Pod().Spec.Tolerations = append(slices.Clip(d.Pod().Spec.Tolerations), e.toleration())
}

// PatchPod adds a toleration.
func (e NodeTolerationEdit) PatchPod(p *Patch) {
	t := e.toleration()
	value := map[string]any{"key": t.Key, "operator": string(t.Operator), "effect": string(t.Effect)}
	if t.Value != "" {
		value["value"] = t.Value
	}
	if len(p.q.Pod.Spec.Tolerations) == 0 && !p.podTolerates {
		p.podTolerates = true
		p.Add("add", "/spec/tolerations", []any{value})
		return
	}
	p.Add("add", "/spec/tolerations/-", value)
}

// UntaintNodeEdit takes a taint from a node.
type UntaintNodeEdit struct {
	Node  inspect.NodeName
	Taint corev1.Taint
}

// Key names the node and the taint.
func (e UntaintNodeEdit) Key() string { return "untaint " + string(e.Node) + " " + e.Taint.ToString() }

// Apply takes the taint away.
func (e UntaintNodeEdit) Apply(d *Draft) {
	d.around[e.Key()] = func(o *inspect.Objects) {
		suppose.ChangeNode(o, e.Node, func(n *corev1.Node) {
			n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(&e.Taint) })
		})
	}
}

// SpreadEdit makes the scheduler take a spread constraint of the pod as a wish only. With the index -1 it
// gives the pod such a wish, so that it no longer has the constraints of its profile.
type SpreadEdit struct{ Index int }

// Key names the constraint.
func (e SpreadEdit) Key() string { return fmt.Sprint("spread ", e.Index) }

// Apply makes the constraint a wish.
func (e SpreadEdit) Apply(d *Draft) {
	if e.Index < 0 {
		d.Pod().Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: &metav1.LabelSelector{MatchLabels: d.Pod().Labels},
		}}
		return
	}
	c := &d.Pod().Spec.TopologySpreadConstraints[e.Index]
	c.WhenUnsatisfiable, c.MinDomains = corev1.ScheduleAnyway, nil
}

// feasible: the API server takes no second wish about the same topology key.
func (e SpreadEdit) feasible(q *Question) bool {
	all := q.Pod.Spec.TopologySpreadConstraints
	return e.Index < 0 || !slices.ContainsFunc(all, func(c corev1.TopologySpreadConstraint) bool {
		return c.TopologyKey == all[e.Index].TopologyKey && c.WhenUnsatisfiable == corev1.ScheduleAnyway
	})
}

// PatchPod makes the constraint a wish. The API server takes no wish with minDomains.
func (e SpreadEdit) PatchPod(p *Patch) {
	if e.Index < 0 {
		labels := map[string]any{}
		for name, value := range p.q.Pod.Labels {
			labels[name] = value
		}
		p.Add("add", "/spec/topologySpreadConstraints", []any{map[string]any{
			"maxSkew": 1, "topologyKey": corev1.LabelHostname, "whenUnsatisfiable": string(corev1.ScheduleAnyway), "labelSelector": map[string]any{"matchLabels": labels},
		}})
		return
	}
	path := fmt.Sprintf("/spec/topologySpreadConstraints/%d/", e.Index)
	p.Add("replace", path+"whenUnsatisfiable", string(corev1.ScheduleAnyway))
	if p.q.Pod.Spec.TopologySpreadConstraints[e.Index].MinDomains != nil {
		p.Add("remove", path+"minDomains", nil)
	}
}

// EndPodsEdit ends other pods.
type EndPodsEdit struct{ Pods []inspect.PodRef }

// Key names the pods.
func (e EndPodsEdit) Key() string { return fmt.Sprintf("end pods %v", e.Pods) }

// Apply takes the pods away.
func (e EndPodsEdit) Apply(d *Draft) {
	for _, ref := range e.Pods {
		d.ended[ref] = true
	}
}

// DropVolumesEdit takes volumes out of the pod. Nobody wants that; it says what a volume has to do with it.
type DropVolumesEdit struct{ Volumes []string }

// Key names the volumes.
func (e DropVolumesEdit) Key() string { return fmt.Sprintf("volumes %q", e.Volumes) }

// Apply drops the volumes.
func (e DropVolumesEdit) Apply(d *Draft) {
	pod := d.Pod()
	pod.Spec.Volumes = slices.DeleteFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return slices.Contains(e.Volumes, v.Name) })
}

func (e DropVolumesEdit) feasible(*Question) bool { return false }
