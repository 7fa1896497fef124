package shapes

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"

	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/suppose"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/nodeshape"
)

// OfCluster returns the kinds of nodes that a cluster has: those first of which there are most. Nodes are of
// one kind if pods can see no difference. Labels and attributes that are different on all nodes and devices,
// as serial numbers are, only count if one of the pods may look at them.
func OfCluster(s *inspect.Snapshot, pods []*corev1.Pod) ([]nodeshape.Shape, error) {
	v, err := newView(s, pods)
	if err != nil {
		return nil, err
	}
	type kind struct {
		first *corev1.Node
		count int
	}
	var kinds []*kind
	known := map[string]*kind{}
	for _, node := range s.Nodes() {
		key := v.of(node)
		if known[key] == nil {
			known[key] = &kind{first: node}
			kinds = append(kinds, known[key])
		}
		known[key].count++
	}
	slices.SortStableFunc(kinds, func(a, b *kind) int { return cmp.Compare(b.count, a.count) })
	out := make([]nodeshape.Shape, len(kinds))
	for i, k := range kinds {
		company := newLike(s.Objects(), k.first.Name)
		out[i] = nodeshape.Shape{Name: k.first.Name, Source: nodeshape.Cluster, From: strconv.Itoa(k.count), Node: company.Nodes[0]}
		company.Nodes = nil
		out[i].Company = *company
	}
	return out, nil
}

// view is what pods can see of nodes.
type view struct {
	// labels and attributes are those that only name a node or a device.
	labels, attributes map[string]bool
	slices             map[string][]*resourcev1.ResourceSlice
	drivers            map[string][]storagev1.CSINodeDriver
}

// tally counts at how many places a name has each value.
type tally map[string]map[string]int

func (t tally) add(name, value string) {
	if t[name] == nil {
		t[name] = map[string]int{}
	}
	t[name][value]++
}

// ids returns the names that have another value at each of three or more places, unless pods mention them.
func (t tally) ids(mentioned func(name string) bool) map[string]bool {
	out := map[string]bool{}
	for name, values := range t {
		if len(values) > 2 && slices.Max(slices.Collect(maps.Values(values))) == 1 && !mentioned(name) {
			out[name] = true
		}
	}
	return out
}

func newView(s *inspect.Snapshot, pods []*corev1.Pod) (*view, error) {
	asked := []any{s.Scheduler().ListedConstraints()}
	for _, pod := range pods {
		asked = append(asked, pod.Spec.NodeSelector, pod.Spec.Affinity, pod.Spec.TopologySpreadConstraints)
		for _, claim := range question.PendingClaims(s, pod) {
			asked = append(asked, claim.Spec)
		}
	}
	for _, class := range s.Objects().Classes {
		asked = append(asked, class.Spec)
	}
	text, err := json.Marshal(asked)
	if err != nil {
		return nil, fmt.Errorf("telling nodes apart: %w", err)
	}
	v := &view{slices: map[string][]*resourcev1.ResourceSlice{}, drivers: map[string][]storagev1.CSINodeDriver{}}
	labels, attributes := tally{}, tally{}
	for _, node := range s.Nodes() {
		for key, value := range node.Labels {
			labels.add(key, value)
		}
	}
	for _, slice := range s.Objects().Slices {
		if slice.Spec.NodeName != nil {
			v.slices[*slice.Spec.NodeName] = append(v.slices[*slice.Spec.NodeName], slice)
		}
		for i := range slice.Spec.Devices {
			for name, value := range slice.Spec.Devices[i].Attributes {
				text, err := json.Marshal(value)
				if err != nil {
					return nil, fmt.Errorf("telling devices apart: %w", err)
				}
				attributes.add(slice.Spec.Driver+"/"+string(name), string(text))
			}
		}
	}
	for _, drivers := range s.Objects().CSINodes {
		v.drivers[drivers.Name] = drivers.Spec.Drivers
	}
	v.labels = labels.ids(func(key string) bool { return bytes.Contains(text, []byte(key)) })
	v.attributes = attributes.ids(func(name string) bool {
		return bytes.Contains(text, []byte(name[strings.LastIndexByte(name, '/')+1:]))
	})
	v.labels[corev1.LabelHostname] = true
	return v, nil
}

// of is the same for nodes of one kind.
func (v *view) of(node *corev1.Node) string {
	kind := struct {
		Labels      map[string]string
		Taints      []corev1.Taint
		Allocatable corev1.ResourceList
		Features    []string
		Drivers     []string
		Devices     []resourcev1.ResourceSliceSpec
	}{Labels: map[string]string{}, Allocatable: node.Status.Allocatable, Features: node.Status.DeclaredFeatures}
	for key, value := range node.Labels {
		if !v.labels[key] {
			kind.Labels[key] = value
		}
	}
	for _, taint := range node.Spec.Taints {
		if !strings.HasPrefix(taint.Key, "node.kubernetes.io/") {
			kind.Taints = append(kind.Taints, corev1.Taint{Key: taint.Key, Value: taint.Value, Effect: taint.Effect})
		}
	}
	for _, d := range v.drivers[node.Name] {
		limit := int32(-1)
		if d.Allocatable != nil && d.Allocatable.Count != nil {
			limit = *d.Allocatable.Count
		}
		kind.Drivers = append(kind.Drivers, fmt.Sprint(d.Name, " ", limit))
	}
	for _, slice := range v.slices[node.Name] {
		kind.Devices = append(kind.Devices, v.plain(slice))
	}
	text, err := json.Marshal(kind)
	if err != nil {
		return node.Name // of a kind of its own
	}
	return string(text)
}

// plain is what a slice says that does not only name the node, the pool or a device.
func (v *view) plain(slice *resourcev1.ResourceSlice) resourcev1.ResourceSliceSpec {
	spec := *slice.Spec.DeepCopy()
	spec.NodeName, spec.Pool.Name, spec.Pool.Generation = nil, "", 0
	for i := range spec.Devices {
		for t := range spec.Devices[i].Taints {
			spec.Devices[i].Taints[t].TimeAdded = nil
		}
		for name := range spec.Devices[i].Attributes {
			if v.attributes[spec.Driver+"/"+string(name)] {
				delete(spec.Devices[i].Attributes, name)
			}
		}
	}
	return spec
}

// newLike is a node like another as it would be added, with what comes with it, under the name of the other.
func newLike(o *inspect.Objects, like string) *inspect.Objects {
	more := *o
	more.Nodes, more.Slices = slices.Clip(o.Nodes), slices.Clip(o.Slices)
	more.CSINodes, more.Pods = slices.Clip(o.CSINodes), slices.Clip(o.Pods)
	suppose.AddNode(&more, like, false, func(name string) string { return name })
	return &inspect.Objects{
		Nodes: more.Nodes[len(o.Nodes):], Slices: more.Slices[len(o.Slices):],
		CSINodes: more.CSINodes[len(o.CSINodes):], Pods: slices.DeleteFunc(more.Pods[len(o.Pods):], inspect.Ended),
	}
}

// withDaemons gives nodes that files describe the pods of the daemon sets of the cluster that would run on
// them: they take of it too. Of a daemon set without a pod nothing is known.
func withDaemons(s *inspect.Snapshot, shapes []nodeshape.Shape) []nodeshape.Shape {
	out := slices.Clone(shapes)
	var daemons []*corev1.Pod
	seen := map[types.UID]bool{}
	for _, pod := range s.Objects().Pods {
		owner := metav1.GetControllerOf(pod)
		if owner == nil || owner.Kind != "DaemonSet" || seen[owner.UID] || inspect.Ended(pod) {
			continue
		}
		seen[owner.UID] = true
		daemons = append(daemons, pod)
	}
	for i := range out {
		if out[i].Source == nodeshape.Cluster {
			continue
		}
		company := out[i].Company
		company.Pods = nil
		for _, pod := range daemons {
			if runsOn(pod, out[i].Node) {
				company.Pods = append(company.Pods, pod)
			}
		}
		out[i].Company = company
	}
	return out
}

// runsOn reports whether the daemon set of a pod puts one on a node too.
func runsOn(pod *corev1.Pod, node *corev1.Node) bool {
	own := pod.DeepCopy()
	if a := own.Spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		terms := a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
		for i := range terms {
			terms[i].MatchFields = nil // which pin it to the node where it is
		}
		// A term without anything matches nothing, but this one meant a node by its name alone.
		if slices.ContainsFunc(terms, func(t corev1.NodeSelectorTerm) bool { return len(t.MatchExpressions) == 0 }) {
			a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = nil
		}
	}
	if matches, err := nodeaffinity.GetRequiredNodeAffinity(own).Match(node); err != nil || !matches {
		return false
	}
	_, refused := corev1helpers.FindMatchingUntoleratedTaint(klog.Logger{}, node.Spec.Taints, own.Spec.Tolerations, func(t *corev1.Taint) bool {
		return t.Effect != corev1.TaintEffectPreferNoSchedule
	}, true)
	return !refused
}
