package output

import (
	"strconv"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler/extended"
)

// ExtendedResource is an item of an ExtendedResourceList: a resource on a node, such as example.com/gpu.
type ExtendedResource struct {
	Listed
	Name string `json:"name"`
	// Node is empty for a resource that pods ask for or a class provides, and that is on no node.
	Node string `json:"node"`
	// ServedBy is who serves a pod that asks for the resource on the node: DevicePlugin, DRA, None, or
	// Unknown if that could not be read.
	ServedBy string `json:"servedBy" enum:"extended.Server"`
	// Class is the DeviceClass that provides the resource where no device plugin does.
	Class string `json:"class,omitempty"`
	ResourceCount
	// DevicePlugin is what the node reports of a device plugin, and Devices the devices of the class on the
	// node, whoever of them serves: what is gone is of no class. Both are absent if there is nothing of the
	// kind.
	DevicePlugin *DevicePluginCount   `json:"devicePlugin,omitempty"`
	Devices      *inspect.DeviceCount `json:"devices,omitempty"`
	// Pods have some of the resource on the node.
	Pods []ResourceUse `json:"pods"`
	// Cordoned: the node takes no new pods.
	Cordoned bool `json:"cordoned,omitempty"`
	// Notes say what else is to be known.
	Notes []string `json:"notes,omitempty"`
}

// ResourceCount counts what is offered of an extended resource by whoever serves it. A number is absent if it
// could not be read.
type ResourceCount struct {
	// Capacity counts all, Allocatable those that are healthy, and Unhealthy the others.
	Capacity    *int64 `json:"capacity,omitempty"`
	Allocatable *int64 `json:"allocatable,omitempty"`
	Unhealthy   *int64 `json:"unhealthy,omitempty"`
	// Used is what pods have, or claims. Free is what a pod that asks now could get on one node.
	Used *int64 `json:"used,omitempty"`
	Free *int64 `json:"free,omitempty"`
}

// DevicePluginCount is what a node reports of a device plugin.
type DevicePluginCount struct {
	Capacity    int64 `json:"capacity"`
	Allocatable int64 `json:"allocatable"`
}

// ResourceUse is how much a pod has of an extended resource, or waits for.
type ResourceUse struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Count     int64  `json:"count"`
	// ServedBy is absent for a pod that waits.
	ServedBy string `json:"servedBy,omitempty"`
}

// ResourceTotal is an extended resource on all nodes of a list together.
type ResourceTotal struct {
	Name  string `json:"name"`
	Class string `json:"class,omitempty"`
	// Nodes is how many have something healthy.
	Nodes int `json:"nodes"`
	ResourceCount
	// MostFree is what is free on the node that has most, which is also the most that a pod can get.
	MostFree     *int64 `json:"mostFree,omitempty"`
	MostFreeNode string `json:"mostFreeNode,omitempty"`
	// Waiting are the pods that ask for the resource and are on no node.
	Waiting []ResourceUse `json:"waiting"`
	// Message says in one line how much is free, how it is spread and what is waited for.
	Message string `json:"message"`
}

// ExtendedResources lists what there is of extended resources in a snapshot.
func ExtendedResources(s *inspect.Snapshot, survey *extended.Survey) *List {
	list := NewList("ExtendedResourceList", "extendedresource", extendedTable)
	for i := range survey.Offers {
		list.Items = append(list.Items, wireOffer(s, &survey.Offers[i]))
	}
	list.sumUp = func(l *List) {
		kept := map[[2]string]bool{}
		for _, item := range l.Items {
			e := item.(*ExtendedResource)
			kept[[2]string{e.Name, e.Node}] = true
		}
		l.Totals = []ResourceTotal{}
		for _, t := range survey.Totals(func(o *extended.Offer) bool { return kept[[2]string{string(o.Resource), string(o.Node)}] }) {
			l.Totals = append(l.Totals, wireTotal(&t))
		}
	}
	return list
}

// AddTotals adds up the items that are left, in an ExtendedResourceList or a UsageList.
func (l *List) AddTotals() {
	if l.sumUp != nil {
		l.sumUp(l)
	}
}

func wireOffer(s *inspect.Snapshot, o *extended.Offer) *ExtendedResource {
	name := string(o.Resource)
	e := &ExtendedResource{
		Name: name, Node: string(o.Node), ServedBy: string(o.ServedBy), Class: o.Class, ResourceCount: resourceCount(o.Count),
		Pods: []ResourceUse{}, Cordoned: o.Cordoned, Notes: o.Remarks(),
		Listed: Listed{Meta{Name: name, Common: name, Aliases: []string{name, name[strings.LastIndexByte(name, '/')+1:]}}},
	}
	if o.Node != "" {
		e.Metadata.Name = string(o.Node) + "/" + name
	}
	if node, ok := s.Node(o.Node); ok && !s.NodesAssumed() {
		e.Metadata.Labels, e.Metadata.Created = node.Labels, node.CreationTimestamp
	}
	if p := o.Plugin; p != nil {
		e.DevicePlugin = &DevicePluginCount{p.Capacity, p.Allocatable}
		e.Pods = append(e.Pods, resourceUses(p.Pods, extended.DevicePlugin)...)
	}
	if d := o.Devices; d != nil {
		e.Devices = &d.DeviceCount
		e.Pods = append(e.Pods, resourceUses(d.Pods, extended.DRA)...)
	}
	return e
}

func wireTotal(t *extended.Total) ResourceTotal {
	return ResourceTotal{
		Name: string(t.Resource), Class: t.Class, Nodes: t.Nodes, ResourceCount: resourceCount(t.Count), MostFree: t.MostFree,
		MostFreeNode: string(t.MostFreeNode), Waiting: resourceUses(t.Waiting, ""), Message: t.Sentence(),
	}
}

func resourceCount(c extended.Count) ResourceCount {
	out := ResourceCount{Capacity: c.Offered, Allocatable: c.Healthy, Used: c.Used, Free: c.Free}
	if c.Offered != nil && c.Healthy != nil {
		unhealthy := max(0, *c.Offered-*c.Healthy)
		out.Unhealthy = &unhealthy
	}
	return out
}

func resourceUses(uses []extended.Use, by extended.Server) []ResourceUse {
	return words.Each(uses, func(u extended.Use) ResourceUse {
		return ResourceUse{Namespace: u.Pod.Namespace, Name: u.Pod.Name, Count: u.Count, ServedBy: string(by)}
	})
}

var extendedTable = Table{
	Columns: []Column{
		{Header: "NAME"}, {Header: "NODE"}, {Header: "SERVED-BY"}, {Header: "OFFERED"}, {Header: "HEALTHY"}, {Header: "USED"}, {Header: "FREE"},
		{Header: "NOTE", Cut: CutText, Rank: 1, Least: 20}, {Header: "CLASS", Wide: true}, {Header: "PODS", Wide: true},
	},
	Row: func(item Item) []string {
		e := item.(*ExtendedResource)
		pods := words.Each(e.Pods, func(u ResourceUse) string { return u.Namespace + "/" + u.Name + ":" + strconv.FormatInt(u.Count, 10) })
		return []string{
			e.Name, OrNone(e.Node), e.ServedBy, orUnread(e.Capacity), orUnread(e.Allocatable), orUnread(e.Used), orUnread(e.Free),
			OrNone(strings.Join(e.Notes, "; ")), OrNone(e.Class), OrNone(strings.Join(pods, ",")),
		}
	},
}

func orUnread(n *int64) string {
	if n == nil {
		return "<unknown>"
	}
	return strconv.FormatInt(*n, 10)
}
