package checkup

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/labels"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector/bench"
	"github.com/kubectl-dra/kubectl-dra/explain/admission"
	"github.com/kubectl-dra/kubectl-dra/explain/admission/config"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler/kueue"
)

// queueRules are about Kueue. They need no kinds of it: where it is not installed, there is nothing to say,
// not even that.
var queueRules = []Rule{
	{
		Code: "ClassUnmapped", Severity: Error, needs: []inspect.Resource{inspect.Classes},
		About:  "A workload in a queue of Kueue asks for devices of a class that Kueue's configuration does not map to a resource. Kueue does not consider such a workload.",
		Remedy: "Add the class to resources.deviceClassMappings of Kueue's Configuration, and quota for its resource to the ClusterQueue.",
		find:   findUnmapped,
	},
	{
		Code: "FlavorWithoutNodes", Severity: Warning, needs: []inspect.Resource{inspect.Nodes},
		About:  "A ClusterQueue or Cohort has quota of a ResourceFlavor whose labels no node has. Pods that are admitted with it find no node, unless one is added.",
		Remedy: "Correct spec.nodeLabels of the flavor, or label the nodes.",
		find:   findFlavorsWithoutNodes,
	},
	{
		Code: "QuotaWithoutDevices", Severity: Warning, needs: []inspect.Resource{inspect.Nodes, inspect.Slices, inspect.Classes},
		About:  "A ClusterQueue has more quota for devices than the nodes of the flavor have. Pods are admitted that find none, unless nodes are added.",
		Remedy: "Lower the nominal quota to what there is, or add nodes.",
		find:   findQuotaWithoutDevices,
	},
	{
		Code: "QuotaPromisedTwice", Severity: Note, needs: []inspect.Resource{inspect.Nodes, inspect.Slices, inspect.Classes},
		About:  "Several ClusterQueues together have more quota for devices than the nodes of the flavor have, so that one of them may find devices taken that it was promised.",
		Remedy: "That may be wanted. If not, lower the nominal quotas, or put the queues into a cohort, in which they lend to each other.",
		find:   findQuotaPromisedTwice,
	},
	{
		Code: "DevicesWithoutQuota", Severity: Note, needs: []inspect.Resource{inspect.Nodes, inspect.Slices, inspect.Classes},
		About:  "Nodes have devices that count for a resource in Kueue, and no quota for it is of a flavor that these nodes are of: what waits in queues is never admitted for them.",
		Remedy: "Add a flavor with the labels of these nodes to a ClusterQueue, or leave them to what is in no queue.",
		find:   findDevicesWithoutQuota,
	},
}

// queued reports whether Kueue is there and all was read of some of its kinds.
func (v *visit) queued(needs ...inspect.Resource) bool {
	if !admission.Here(v.s) {
		return false
	}
	for _, r := range needs {
		if v.s.Health(r).Partial() {
			v.skip("not all %s could be read", r)
			return false
		}
	}
	return true
}

// mapped reports whether it is known what devices count for.
func (v *visit) mapped() bool {
	if config.Of(v.s.Kueue()).Assumed || len(config.Doubts(v.s.Kueue())) > 0 {
		v.skip("the configuration of Kueue was not read, or has what is not known here: it says what devices count for")
		return false
	}
	return true
}

func findUnmapped(v *visit) {
	if !v.queued(inspect.KueueWorkloads, inspect.ClusterQueues, inspect.LocalQueues, inspect.Templates) || !v.mapped() {
		return
	}
	for _, w := range admission.NewQueues(v.s).Waiting() {
		if w.Decision.Outcome == kueue.Refused && w.Reason.Code == kueue.UnmappedClass {
			v.report(about(object("Workload", w.Workload.Namespace, w.Workload.Name), "spec.podSets", fmt.Sprintf(
				"it asks for devices of class %s, which no deviceClassMapping names", w.Reason.Name), object("DeviceClass", "", w.Reason.Name)))
		}
	}
}

// quota is what a ClusterQueue or Cohort has of a resource in a flavor.
type quota struct {
	of       inspect.ObjectRef
	flavor   string
	resource corev1.ResourceName
	nominal  *resource.Quantity
}

// quotas are those of all ClusterQueues and Cohorts that are above nought.
func (v *visit) quotas() (out []quota) {
	add := func(of inspect.ObjectRef, groups []kueuev1beta2.ResourceGroup) {
		for i := range groups {
			for _, f := range groups[i].Flavors {
				for j := range f.Resources {
					if nominal := &f.Resources[j].NominalQuota; nominal.Sign() > 0 {
						out = append(out, quota{of, string(f.Name), f.Resources[j].Name, nominal})
					}
				}
			}
		}
	}
	for _, q := range v.s.Around().ClusterQueues {
		add(object("ClusterQueue", "", q.Name), q.Spec.ResourceGroups)
	}
	for _, c := range v.s.Around().Cohorts {
		add(object("Cohort", "", c.Name), c.Spec.ResourceGroups)
	}
	return out
}

// nodesOf are the nodes that have the labels of a flavor. known is false if there is no such flavor.
func (v *visit) nodesOf(flavor string) (nodes []*corev1.Node, known bool) {
	for _, f := range v.s.Around().ResourceFlavors {
		if f.Name != flavor {
			continue
		}
		selector := labels.SelectorFromValidatedSet(f.Spec.NodeLabels)
		return slices.DeleteFunc(slices.Clone(v.s.Nodes()), func(n *corev1.Node) bool { return !selector.Matches(labels.Set(n.Labels)) }), true
	}
	return nil, false
}

func findFlavorsWithoutNodes(v *visit) {
	if v.s.NodesAssumed() || !v.queued(inspect.ResourceFlavors, inspect.ClusterQueues, inspect.Cohorts) {
		return
	}
	users := map[string][]inspect.ObjectRef{}
	for _, q := range v.quotas() {
		if nodes, known := v.nodesOf(q.flavor); known && len(nodes) == 0 && !slices.Contains(users[q.flavor], q.of) {
			users[q.flavor] = append(users[q.flavor], q.of)
		}
	}
	for _, flavor := range slices.Sorted(maps.Keys(users)) {
		v.report(about(object("ResourceFlavor", "", flavor), "spec.nodeLabels", fmt.Sprintf("no node has its labels, and %s quota of it",
			words.Plural(len(users[flavor]), subjectOf(users[flavor][0])+" has", fmt.Sprintf("%s and %d more have", subjectOf(users[flavor][0]), len(users[flavor])-1))), users[flavor]...))
	}
}

// counting are the devices that count for a resource, by the nodes that they can be used on. There are no
// more than these as long as all pools are complete.
type counting struct {
	resource corev1.ResourceName
	on       map[string][]inspect.DeviceID
}

// countings are the resources that count whole devices, of which it is clear which these are: no device is
// shared, the selectors of the classes fail on none, and no device plugin offers the resource too.
func (v *visit) countings() (out []counting) {
	classes, sources := map[corev1.ResourceName][]string{}, map[corev1.ResourceName]bool{}
	for _, m := range config.Of(v.s.Kueue()).DeviceClassMappings {
		classes[m.Resource] = append(classes[m.Resource], m.DeviceClasses...)
		sources[m.Resource] = sources[m.Resource] || len(m.Sources) > 0
	}
	for _, name := range slices.Sorted(maps.Keys(classes)) {
		plugin := slices.ContainsFunc(v.s.Nodes(), func(n *corev1.Node) bool { return !n.Status.Allocatable.Name(name, resource.DecimalSI).IsZero() })
		devices, sure := v.ofClasses(classes[name])
		if sources[name] || plugin || !sure {
			continue
		}
		c := counting{resource: name, on: map[string][]inspect.DeviceID{}}
		for _, node := range v.s.Nodes() {
			for _, d := range v.inventory().On(node) {
				if devices[d.ID] {
					c.on[node.Name] = append(c.on[node.Name], d.ID)
				}
			}
		}
		out = append(out, c)
	}
	return out
}

// ofClasses are the devices of any of some classes. sure is false if it is not clear which they are, or if
// several claims may have one of them.
func (v *visit) ofClasses(classes []string) (out map[inspect.DeviceID]bool, sure bool) {
	out = map[inspect.DeviceID]bool{}
	for _, name := range classes {
		class, exists := v.s.Class(name)
		if !exists {
			continue
		}
		var trials []*bench.Trial
		for _, s := range class.Spec.Selectors {
			if s.CEL == nil || v.try(s.CEL.Expression) == nil {
				return nil, false
			}
			trials = append(trials, v.try(s.CEL.Expression))
		}
		result := outcome{failed: map[int]int{}, first: map[int]*inspect.DeviceStatus{}, why: map[int]error{}}
		for i, d := range v.devices() {
			if v.askDevice(i, trials, &result) == len(trials) {
				if out[d.ID] = true; d.Device.AllowMultipleAllocations != nil && *d.Device.AllowMultipleAllocations {
					return nil, false
				}
			}
		}
		if len(result.failed) > 0 {
			return nil, false
		}
	}
	return out, true
}

// there is how many devices count for a resource on nodes.
func (c *counting) there(nodes []*corev1.Node) int64 {
	all := map[inspect.DeviceID]bool{}
	for _, n := range nodes {
		for _, id := range c.on[n.Name] {
			all[id] = true
		}
	}
	return int64(len(all))
}

// promised calls yield for the quotas of each resource and flavor that some nodes are of, with the number of
// devices there, if they are more than that together.
func (v *visit) promised(yield func(of []quota, there int64)) {
	if v.s.NodesAssumed() || !v.queued(inspect.ResourceFlavors, inspect.ClusterQueues, inspect.Cohorts) || !v.mapped() {
		return
	}
	all := v.quotas()
	for _, c := range v.countings() {
		by := map[string][]quota{}
		for _, q := range all {
			if q.resource == c.resource {
				by[q.flavor] = append(by[q.flavor], q)
			}
		}
		for _, flavor := range slices.Sorted(maps.Keys(by)) {
			nodes, known := v.nodesOf(flavor)
			if there := c.there(nodes); known && len(nodes) > 0 && total(by[flavor]).CmpInt64(there) > 0 {
				if slices.ContainsFunc(v.pools(), func(p *inspect.PoolStatus) bool { return !p.Complete }) {
					v.skip("some pools are not complete, so there may be more devices than are known")
					return
				}
				yield(by[flavor], there)
			}
		}
	}
}

func total(of []quota) *resource.Quantity {
	sum := resource.Quantity{}
	for i := range of {
		sum.Add(*of[i].nominal)
	}
	return &sum
}

func (q *quota) finding(detail string, others ...inspect.ObjectRef) Finding {
	f := about(q.of, "spec.resourceGroups", detail, others...)
	f.Name = fmt.Sprintf("%s %s of flavor %s", f.Subject, q.resource, q.flavor)
	return f
}

func findQuotaWithoutDevices(v *visit) {
	v.promised(func(of []quota, there int64) {
		for i := range of {
			if q := &of[i]; q.nominal.CmpInt64(there) > 0 {
				v.report(q.finding(fmt.Sprintf("it has quota for %s %s of flavor %s, whose nodes have %s that count for it",
					q.nominal, q.resource, q.flavor, words.Count(int(there), "device")), object("ResourceFlavor", "", q.flavor)))
			}
		}
	})
}

// findQuotaPromisedTwice reports what no single queue has too much of.
func findQuotaPromisedTwice(v *visit) {
	v.promised(func(of []quota, there int64) {
		if slices.ContainsFunc(of, func(q quota) bool { return q.nominal.CmpInt64(there) > 0 }) {
			return
		}
		q := &of[0]
		var others []inspect.ObjectRef
		for i := range of[1:] {
			others = append(others, of[i+1].of)
		}
		v.report(q.finding(fmt.Sprintf("with %s it has quota for %s %s of flavor %s, whose nodes have %s that count for it",
			words.Shorten(texts(others, subjectOf), 3), total(of), q.resource, q.flavor, words.Count(int(there), "device")), others...))
	})
}

func findDevicesWithoutQuota(v *visit) {
	if v.s.NodesAssumed() || !v.queued(inspect.ResourceFlavors, inspect.ClusterQueues, inspect.Cohorts) || !v.mapped() {
		return
	}
	all := v.quotas()
	for _, c := range v.countings() {
		covered := map[string]bool{}
		for _, q := range all {
			if q.resource == c.resource {
				nodes, _ := v.nodesOf(q.flavor)
				for _, n := range nodes {
					covered[n.Name] = true
				}
			}
		}
		left := slices.DeleteFunc(slices.Clone(v.s.Nodes()), func(n *corev1.Node) bool { return covered[n.Name] || len(c.on[n.Name]) == 0 })
		if len(left) == 0 {
			continue
		}
		refs := texts(left, func(n *corev1.Node) inspect.ObjectRef { return object("Node", "", n.Name) })
		f := about(refs[0], "", fmt.Sprintf("no quota for %s is of a flavor of %s, with %s that count for it", c.resource,
			words.Plural(len(left), "this node", "these nodes"), words.Count(int(c.there(left)), "device")), refs[1:]...)
		if len(refs) > 1 {
			f.Subject = fmt.Sprintf("%s and %d more", f.Subject, len(refs)-1)
		}
		f.Name = "nodes without quota for " + string(c.resource)
		v.report(f)
	}
}
