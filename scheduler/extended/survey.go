package extended

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// Survey is what there is of extended resources on some nodes.
type Survey struct {
	// Offers are sorted by resource, then by node.
	Offers []Offer

	inventory *inspect.Inventory
	waiting   map[corev1.ResourceName][]Use
	read      read
	taints    bool // of devices count
}

// read says what could be read completely.
type read struct{ nodes, pods, slices, claims, classes bool }

// surveyor makes a Survey.
type surveyor struct {
	*Survey
	cluster  *scheduler.Cluster
	snapshot *inspect.Snapshot
	index    *filters.Index
	// named are the resources that classes name, that a pod asks for, or that a pod has and a class provides.
	named map[corev1.ResourceName]bool
	// early: a node that lists a resource, if only with 0, is left to the device plugin, and classes are not
	// resources by themselves. Before 1.35.
	early bool
}

// All surveys all nodes. A resource that is on none of them has an offer without a node. The inventory is
// that of the snapshot of the cluster. The error is that of the context.
func All(ctx context.Context, c *scheduler.Cluster, inventory *inspect.Inventory) (*Survey, error) {
	s := newSurveyor(c, inventory)
	s.nameUsed()
	found := map[corev1.ResourceName]bool{}
	for _, node := range s.snapshot.Nodes() {
		if s.snapshot.NodesAssumed() && node.Name == string(inspect.PseudoNode) {
			continue
		}
		offers, err := s.on(ctx, node)
		if err != nil {
			return nil, err
		}
		for i := range offers {
			found[offers[i].Resource] = true
		}
		s.Offers = append(s.Offers, offers...)
	}
	for name := range s.named {
		if !found[name] {
			s.Offers = append(s.Offers, s.offer(name, nil))
		}
	}
	slices.SortFunc(s.Offers, compare)
	return s.Survey, nil
}

// Plugins surveys all nodes without regard to devices of DRA, which costs less: the offers are those of which
// nodes report that there is or was a device plugin.
func Plugins(c *scheduler.Cluster) *Survey {
	nodes := slices.DeleteFunc(slices.Clone(c.Snapshot().Nodes()), func(node *corev1.Node) bool { return !reports(node) })
	if len(nodes) == 0 {
		return &Survey{} // most clusters with DRA have no device plugins, and what pods request need not be known
	}
	s := newSurveyor(c, nil)
	for _, node := range nodes {
		found := map[corev1.ResourceName]*Offer{}
		s.addPlugins(node, found)
		reported := slices.Collect(maps.Keys(found))
		s.addPods(node, found)
		maps.DeleteFunc(found, func(name corev1.ResourceName, _ *Offer) bool { return !slices.Contains(reported, name) })
		s.Offers = append(s.Offers, s.settled(found)...)
	}
	slices.SortFunc(s.Offers, compare)
	return s.Survey
}

// On surveys one node of the snapshot of the cluster. The inventory is that of the snapshot. The error is
// that of the context.
func On(ctx context.Context, c *scheduler.Cluster, inventory *inspect.Inventory, node *corev1.Node) (*Survey, error) {
	s := newSurveyor(c, inventory)
	s.nameUsed()
	var err error
	s.Offers, err = s.on(ctx, node)
	return s.Survey, err
}

func newSurveyor(c *scheduler.Cluster, inventory *inspect.Inventory) *surveyor {
	snapshot := c.Snapshot()
	whole := func(r inspect.Resource) bool { return !snapshot.Health(r).Partial() }
	s := &surveyor{
		Survey: &Survey{
			inventory: inventory, waiting: map[corev1.ResourceName][]Use{}, taints: snapshot.Features().Enabled(inspect.GateDeviceTaints),
			read: read{
				nodes: !snapshot.NodesAssumed(), pods: whole(inspect.Pods), slices: whole(inspect.Slices), claims: whole(inspect.Claims), classes: whole(inspect.Classes),
			},
		},
		cluster: c, snapshot: snapshot, index: c.Filters(), named: map[corev1.ResourceName]bool{}, early: snapshot.Release().Modelled().Before(35, 0),
	}
	for _, class := range snapshot.Objects().Classes {
		if name := class.Spec.ExtendedResourceName; name != nil && snapshot.ClassOfExtendedResource(corev1.ResourceName(*name)) != nil {
			s.named[corev1.ResourceName(*name)] = true
		}
	}
	s.findWaiting()
	return s
}

// findWaiting notes which pods wait for what.
func (s *surveyor) findWaiting() {
	for _, pod := range s.snapshot.Objects().Pods {
		if pod.Spec.NodeName != "" || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			continue
		}
		for _, r := range s.index.Requests(pod) {
			if r.Value > 0 && inspect.IsExtendedResource(r.Resource) {
				s.named[r.Resource] = true
				s.waiting[r.Resource] = append(s.waiting[r.Resource], Use{inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name}, r.Value})
			}
		}
	}
}

// nameUsed names what pods have on any node and a class provides: other nodes have devices of the class too,
// though no pod there asks for them by this name.
func (s *surveyor) nameUsed() {
	for _, node := range s.snapshot.Nodes() {
		for _, pod := range s.index.Occupants(inspect.NodeName(node.Name)) {
			for _, r := range pod.Requests {
				if r.Value > 0 && !s.named[r.Resource] && inspect.IsExtendedResource(r.Resource) && s.classOf(r.Resource) != nil {
					s.named[r.Resource] = true
				}
			}
		}
	}
}

// compare orders offers by resource, then by node.
func compare(a, b Offer) int {
	return cmp.Or(cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Node, b.Node))
}

// on makes the offers of a node, sorted by resource.
func (s *surveyor) on(ctx context.Context, node *corev1.Node) ([]Offer, error) {
	found := map[corev1.ResourceName]*Offer{}
	s.addPlugins(node, found)
	s.addPods(node, found)
	if devices := s.inventory.On(node); len(devices) > 0 {
		names := maps.Clone(s.named)
		for name := range found {
			names[name] = true
		}
		for name := range names {
			if err := s.addDevices(ctx, name, node, devices, found); err != nil {
				return nil, err
			}
		}
	}
	return s.settled(found), nil
}

// settled are the offers of a node, sorted by resource, when all is known of them.
func (s *surveyor) settled(found map[corev1.ResourceName]*Offer) []Offer {
	out := make([]Offer, 0, len(found))
	for _, name := range slices.Sorted(maps.Keys(found)) {
		o := found[name]
		o.ServedBy = s.server(o)
		o.count(s.read)
		out = append(out, *o)
	}
	return out
}

// at is the offer of a resource on a node among those that were found.
func (s *surveyor) at(name corev1.ResourceName, node *corev1.Node, found map[corev1.ResourceName]*Offer) *Offer {
	if found[name] == nil {
		o := s.offer(name, node)
		found[name] = &o
	}
	return found[name]
}

// offer makes an offer of which nothing is known yet. The node may be nil.
func (s *surveyor) offer(name corev1.ResourceName, node *corev1.Node) Offer {
	o := Offer{Resource: name}
	if class := s.classOf(name); class != nil {
		o.Class = class.Name
	}
	if node != nil {
		o.Node, o.Cordoned = inspect.NodeName(node.Name), node.Spec.Unschedulable
		return o
	}
	o.ServedBy = s.server(&o)
	o.count(s.read)
	return o
}

// classOf is the class that provides a resource, or nil.
func (s *surveyor) classOf(name corev1.ResourceName) *resourcev1.DeviceClass {
	if s.early && strings.HasPrefix(string(name), resourcev1.ResourceDeviceClassPrefix) {
		return nil
	}
	return s.snapshot.ClassOfExtendedResource(name)
}

// server says who serves a pod that asks for what is offered.
func (s *surveyor) server(o *Offer) Server {
	switch {
	case o.plugin().Allocatable > 0:
		return DevicePlugin
	case !s.read.nodes && o.Node != "":
		return Unknown
	case s.early && o.plugin().listed:
		return Nobody
	case o.Class != "":
		return DRA
	case !s.read.classes && s.snapshot.Features().Enabled(inspect.GateExtendedResource):
		return Unknown
	}
	return Nobody
}

// reports reports whether the kubelet of a node has anything to say of device plugins.
func reports(node *corev1.Node) bool {
	for _, list := range []corev1.ResourceList{node.Status.Capacity, node.Status.Allocatable} {
		for name := range list {
			if inspect.IsExtendedResource(name) {
				return true
			}
		}
	}
	return false
}

// addPlugins adds what the kubelet reports.
func (s *surveyor) addPlugins(node *corev1.Node, found map[corev1.ResourceName]*Offer) {
	for _, list := range []corev1.ResourceList{node.Status.Capacity, node.Status.Allocatable} {
		for name := range list {
			if inspect.IsExtendedResource(name) {
				capacity := node.Status.Capacity[name]
				allocatable, listed := node.Status.Allocatable[name]
				s.at(name, node, found).Plugin = &Plugin{Capacity: max(0, capacity.Value()), Allocatable: max(0, allocatable.Value()), listed: listed}
			}
		}
	}
}

// addPods adds what the pods on a node have.
func (s *surveyor) addPods(node *corev1.Node, found map[corev1.ResourceName]*Offer) {
	for _, pod := range s.index.Occupants(inspect.NodeName(node.Name)) {
		for _, r := range pod.Requests {
			if r.Value <= 0 || !inspect.IsExtendedResource(r.Resource) {
				continue
			}
			o, use := s.at(r.Resource, node, found), Use{inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name}, r.Value}
			if servedByDRA(pod.Pod, r.Resource) {
				if o.Devices == nil {
					o.Devices = &Devices{}
				}
				o.Devices.Pods = append(o.Devices.Pods, use)
				continue
			}
			if o.Plugin == nil {
				o.Plugin = &Plugin{}
			}
			o.Plugin.Pods = append(o.Plugin.Pods, use)
		}
	}
}

// addDevices adds those devices of a node that the class of a resource selects, if it has one. The error is
// that of the context.
func (s *surveyor) addDevices(ctx context.Context, name corev1.ResourceName, node *corev1.Node, devices []*inspect.DeviceStatus, found map[corev1.ResourceName]*Offer) error {
	class := s.classOf(name)
	if class == nil {
		return nil
	}
	d, err := s.devicesOf(ctx, class, devices)
	if err != nil || d.Total == 0 && d.Fails == nil {
		return err
	}
	o := s.at(name, node, found)
	d.Pods = o.devices().Pods
	o.Devices = d
	return nil
}

// servedByDRA reports whether a pod has its share of a resource by a claim that the scheduler made for it.
func servedByDRA(pod *corev1.Pod, name corev1.ResourceName) bool {
	status := pod.Status.ExtendedResourceClaimStatus
	return status != nil && slices.ContainsFunc(status.RequestMappings, func(m corev1.ContainerExtendedResourceRequest) bool {
		return m.ResourceName == string(name)
	})
}

// devicesOf counts those of some devices that are of a class. The error is that of the context.
func (s *surveyor) devicesOf(ctx context.Context, class *resourcev1.DeviceClass, devices []*inspect.DeviceStatus) (*Devices, error) {
	out := &Devices{}
	for _, d := range devices {
		ok, err := s.selected(ctx, class, d)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil && out.Fails == nil {
			out.Fails = fmt.Errorf("class %s: device %s: %w", class.Name, d.ID, err)
		}
		if ok && err == nil {
			out.devices = append(out.devices, d)
		}
	}
	s.settle(out)
	return out, nil
}

// settle counts the devices.
func (s *Survey) settle(d *Devices) {
	d.DeviceCount, d.Healthy = s.inventory.Count(slices.Values(d.devices)), 0
	for _, device := range d.devices {
		if healthy(device, s.taints) {
			d.Healthy++
		}
	}
}

// selected reports whether all selectors of a class select a device.
func (s *surveyor) selected(ctx context.Context, class *resourcev1.DeviceClass, d *inspect.DeviceStatus) (bool, error) {
	for i := range class.Spec.Selectors {
		c := class.Spec.Selectors[i].CEL
		if c == nil {
			return false, fmt.Errorf("its selector %d is of a type that is not known", i)
		}
		if ok, err := s.cluster.Selectors().Selector(c.Expression).Match(ctx, d.ID.Driver, d.Device); err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}
