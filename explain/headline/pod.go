package headline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// OfPod returns the headline of a pod that filters other than the allocation of devices refuse on some nodes.
// It is empty if there is none, or if devices alone say it all.
func OfPod(q *whatif.Question, e *explain.Explanation) Headline {
	if q.Pod == nil {
		return Headline{}
	}
	l := lacksOf(q)
	switch {
	case len(l.by) == 0:
		return Headline{}
	case l.nodes == 0 && slices.ContainsFunc(q.Answers, func(a whatif.Answer) bool { return len(a.Unsuitable) > 0 }):
		return Headline{} // its claims keep it from nodes, too
	case l.nodes == 0:
		return l.counted(e)
	}
	l.devices = devicesShort(q, e)
	if h := l.single(); h != (Headline{}) {
		return h
	}
	if h := l.split(); h != (Headline{}) {
		return h
	}
	return l.counted(e)
}

// lack is something that nodes lack for the pod, the same on each of them.
type lack struct {
	key     string // "" for devices
	refusal []filters.Refusal
	nodes   []inspect.NodeName
	// alone are those of the nodes that lack nothing else.
	alone []inspect.NodeName
	// keepsOut says that the pod cannot use the nodes whatever room they have.
	keepsOut bool
}

// lacks is what the nodes lack, by what it is.
type lacks struct {
	q     *whatif.Question
	by    map[string]*lack
	order []string
	// nodes is the number of nodes that the pod could use.
	nodes int
	// excluded is the number of nodes that it could not use whatever room they have.
	excluded int
	// devices says which devices are lacked. It is nil if that takes more than a few words.
	devices *shortage
	// filtered says that a filter other than the allocation of devices refuses some node.
	filtered bool
}

const devices = "" // the key of what lacks devices

func lacksOf(q *whatif.Question) *lacks {
	l := &lacks{q: q, by: map[string]*lack{}}
	for i := range q.Answers {
		a := &q.Answers[i]
		if len(a.Unsuitable) > 0 {
			l.excluded += len(a.Nodes)
			continue
		}
		noDevices := a.Result == nil || a.Result.Outcome != allocator.Allocated
		for n, node := range a.Nodes {
			var refusals []filters.Refusal
			if n < len(a.Filtered) {
				refusals = a.Filtered[n].Refusals
			}
			l.add(inspect.NodeName(q.Nodes[node].Name), refusals, noDevices)
		}
	}
	return l
}

// add adds what a node lacks.
func (l *lacks) add(node inspect.NodeName, refusals []filters.Refusal, noDevices bool) {
	out := slices.ContainsFunc(refusals, func(r filters.Refusal) bool { return explain.KeepsOut(&r) })
	if out {
		l.excluded++
	} else {
		l.nodes++
	}
	found := 0
	note := func(key string, r *filters.Refusal) *lack {
		if l.by[key] == nil {
			l.by[key] = &lack{key: key}
			l.order = append(l.order, key)
		}
		at := l.by[key]
		at.nodes = append(at.nodes, node)
		if r != nil {
			at.refusal = append(at.refusal, *r)
			at.keepsOut = explain.KeepsOut(r)
			l.filtered = true
		}
		found++
		return at
	}
	var last *lack
	for i := range refusals {
		if r := &refusals[i]; !out || explain.KeepsOut(r) {
			last = note(keyOf(r), r)
		}
	}
	if noDevices && !out {
		last = note(devices, nil)
	}
	if found == 1 {
		last.alone = append(last.alone, node)
	}
}

// keyOf tells lacks apart: a resource is the same lack on all nodes.
func keyOf(r *filters.Refusal) string {
	if r.Resource != "" {
		return string(r.Plugin) + " " + string(r.Code) + " " + string(r.Resource)
	}
	return string(r.Plugin) + " " + string(r.Code) + " " + r.Key
}

// usable are the lacks of nodes that the pod could use.
func (l *lacks) usable() []*lack {
	var out []*lack
	for _, key := range l.order {
		if at := l.by[key]; !at.keepsOut {
			out = append(out, at)
		}
	}
	return out
}

// single is the headline of something that all nodes lack that the pod could use.
func (l *lacks) single() Headline {
	for _, at := range l.usable() {
		if at.key == devices || len(at.nodes) < l.nodes {
			continue
		}
		r := &at.refusal[0]
		if r.Code == filters.InsufficientResources {
			return l.resource(at)
		}
		text := filters.Summary(at.refusal)
		return Headline{Sentence: "cannot be scheduled: " + l.everywhere() + text, Brief: text}
	}
	return Headline{}
}

// everywhere begins what is said of all nodes that the pod could use.
func (l *lacks) everywhere() string {
	switch {
	case len(l.q.Nodes) == 1:
		return ""
	case l.excluded > 0:
		return "on every node that it may use, "
	}
	return "on every node, "
}

// resource is the headline of a resource of which no node has enough left.
func (l *lacks) resource(at *lack) Headline {
	name := at.refusal[0].Resource
	most, sum := int64(0), int64(0)
	for i := range at.refusal {
		left := at.refusal[i].Left()
		most, sum = max(most, left), sum+left
	}
	asked := at.refusal[0].Requested
	left, of := " left", most
	if all := allocatable(at.refusal); all < asked {
		left, of = "", all // however many pods there are
	}
	node := "no node"
	switch {
	case len(l.q.Nodes) == 1:
		node = "node " + l.q.Nodes[0].Name
	case l.excluded > 0:
		node = "no node that it may use"
	}
	none := node + " has more than " + filters.WordsLeft(name, of) + left
	switch {
	case len(l.q.Nodes) == 1 && of == 0:
		none = node + " has none" + left
	case len(l.q.Nodes) == 1:
		none = node + " has no more than " + filters.WordsLeft(name, of) + left
	case of == 0:
		none = node + " has any" + left
	}
	if of == 0 {
		none += stopped(l.q.Nodes, at)
	}
	if sum >= asked {
		none += fmt.Sprintf(" (%s in all)", filters.WordsLeft(name, sum))
	}
	return Headline{Sentence: "asks for " + filters.Words(name, asked) + "; " + none, Brief: none + ", " + filters.Words(name, asked) + " asked for"}
}

// stopped names a node that could give a resource if its devices were healthy and its device plugin ran.
func stopped(nodes []*corev1.Node, at *lack) string {
	i := slices.IndexFunc(at.refusal, func(r filters.Refusal) bool { return r.Stopped > 0 })
	switch {
	case i < 0:
		return ""
	case len(nodes) == 1:
		return " to give: " + at.refusal[i].WhyStopped()
	}
	return " to give, though some have devices that are unhealthy, or whose device plugin has stopped"
}

// allocatable is the most that a node has of a resource, whoever uses it.
func allocatable(refusals []filters.Refusal) int64 {
	most := int64(0)
	for i := range refusals {
		most = max(most, refusals[i].Allocatable)
	}
	return most
}

// split is the headline of a pod that would fit if one node had what two have.
func (l *lacks) split() Headline {
	all := l.usable()
	if len(all) != 2 || len(all[0].alone) == 0 || len(all[1].alone) == 0 {
		return Headline{}
	}
	slices.SortStableFunc(all, func(a, b *lack) int { return words.Btoi(a.key == devices) - words.Btoi(b.key == devices) })
	first, second := all[0], all[1] // the second is devices, if any of them is
	if l.what(first) == l.what(second) {
		return Headline{} // there are no words that tell them apart
	}
	return Headline{
		Sentence: fmt.Sprintf("needs %s and %s on one node; %s, and %s", l.what(first), l.what(second), l.has(first, second), l.has(second, first)),
		Brief:    fmt.Sprintf("no node has both %s and %s", l.what(first), l.what(second)),
	}
}

// phrases say in a few words what a node lacks for a pod, and what is wrong with such a node.
var phrases = map[filters.Code]struct{ what, short string }{
	filters.TooManyPods:      {"room for a pod", "with too many pods"},
	filters.NodeMismatch:     {"", "not of the kind that it asks for"},
	filters.NodeTainted:      {"", "tainted"},
	filters.Unschedulable:    {"", "cordoned"},
	filters.SpreadConstraint: {"a place that its topology spread allows", "against its spread"},
	filters.PodAffinity:      {"the company that it wants", "without the pods that it wants to be with"},
	filters.PodAntiAffinity:  {"distance from other pods", "with pods that it has to keep away from"},
	filters.VolumeCapacity:   noVolumes, filters.VolumeInUse: noVolumes, filters.VolumeLimit: noVolumes,
	filters.VolumeNode: noVolumes, filters.VolumeOutOfZone: noVolumes, filters.VolumeUnbound: noVolumes,
}

var noVolumes = struct{ what, short string }{"its volumes", "without its volumes"}

// what names what is lacked.
func (l *lacks) what(at *lack) string {
	if at.key == devices {
		return l.ofDevices()
	}
	r := &at.refusal[0]
	switch r.Code {
	case filters.InsufficientResources:
		return filters.Words(r.Resource, r.Requested)
	case filters.PortInUse:
		return fmt.Sprintf("port %d", r.Port.HostPort)
	}
	return cmp.Or(phrases[r.Code].what, "what "+string(r.Plugin)+" asks for")
}

// ofDevices names the devices that are asked for.
func (l *lacks) ofDevices() string {
	if l.devices == nil {
		return "its devices"
	}
	return l.devices.wanted() + l.devices.constraint()
}

// again names what a node has, once it was said what is asked for.
func (l *lacks) again(at *lack) string {
	switch {
	case at.key != devices || l.devices == nil:
		return l.what(at)
	case l.devices.funnels[0].Needed == 1:
		return "the device"
	}
	return "the devices"
}

// has says which node has all but one thing, and what it has instead.
func (l *lacks) has(missing, other *lack) string {
	best, left := missing.alone[0], int64(-1)
	for i := range missing.refusal {
		r := &missing.refusal[i]
		if r.Resource != "" && slices.Contains(missing.alone, missing.nodes[i]) && r.Left() > left {
			best, left = missing.nodes[i], r.Left()
		}
	}
	switch {
	case left == 0:
		return fmt.Sprintf("%s has %s but no %s", best, l.again(other), noneLeft(missing.refusal[0].Resource))
	case left > 0:
		return fmt.Sprintf("%s has %s but only %s left", best, l.again(other), filters.Words(missing.refusal[0].Resource, left))
	case missing.key == devices && l.devices != nil:
		node, has := l.devices.mostOn(missing.alone)
		return fmt.Sprintf("%s has %s but %s", node, l.again(other), has)
	}
	return fmt.Sprintf("%s has %s but not %s", best, l.again(other), l.again(missing))
}

// noneLeft names a resource after "no".
func noneLeft(name corev1.ResourceName) string {
	switch name {
	case corev1.ResourceCPU:
		return "CPUs left"
	case corev1.ResourcePods:
		return "room for a pod"
	}
	return string(name) + " left"
}

// maxCounted is the number of lacks that a headline counts.
const maxCounted = 3

// counted is the headline of a pod that different nodes refuse for different reasons.
func (l *lacks) counted(e *explain.Explanation) Headline {
	if !l.filtered {
		return Headline{} // devices say it all
	}
	counts := l.counts()
	parts := words.Each(counts[:min(len(counts), maxCounted)], func(c count) string { return fmt.Sprintf("%d %s", c.nodes, c.text) })
	text := strings.Join(parts, ", ")
	if n := len(counts) - maxCounted; n > 0 {
		text += fmt.Sprintf(", and %s", words.Count(n, "other reason"))
	}
	return Headline{Sentence: fmt.Sprintf("cannot be scheduled on any of %d nodes: %s", e.Nodes.Total, text), Brief: text}
}

// count is the number of nodes of which the same is said.
type count struct {
	text  string
	nodes int
}

// counts are what is said of nodes, of most of them first.
func (l *lacks) counts() []count {
	var out []count
	seen := map[string]map[inspect.NodeName]bool{}
	for _, key := range l.order {
		text := l.short(l.by[key])
		at := slices.IndexFunc(out, func(c count) bool { return c.text == text })
		if at < 0 {
			at = len(out)
			out, seen[text] = append(out, count{text: text}), map[inspect.NodeName]bool{}
		}
		for _, n := range l.by[key].nodes {
			if !seen[text][n] {
				seen[text][n] = true
				out[at].nodes++
			}
		}
	}
	slices.SortStableFunc(out, func(a, b count) int { return b.nodes - a.nodes })
	return out
}

// short says in a few words what is wrong with nodes.
func (l *lacks) short(at *lack) string {
	if at.key == devices {
		return "without its devices"
	}
	r := &at.refusal[0]
	switch {
	case r.Code == filters.InsufficientResources:
		return "short of " + string(r.Resource)
	case r.Code == filters.PortInUse:
		return fmt.Sprintf("with port %d in use", r.Port.HostPort)
	case r.Code == filters.NodeTainted && r.Taint != nil:
		return "with the taint " + (&corev1.Taint{Key: r.Taint.Key, Value: r.Taint.Value, Effect: r.Taint.Effect}).ToString()
	}
	return cmp.Or(phrases[r.Code].short, "refused by "+string(r.Plugin))
}
