package disruption

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain/disruption"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/checkup"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// Kinds are the kinds of objects that each page can be about.
var Kinds = map[screen.Page][]screen.Kind{
	screen.Drain:  {screen.Node},
	screen.Lose:   {screen.Node, screen.Device, screen.Pool},
	screen.Taint:  {screen.Device},
	screen.Delete: {screen.Namespace},
	screen.Evict:  {screen.Pod},
}

// eventOf is what a page supposes of objects.
func eventOf(w *screen.World, page screen.Page, refs []screen.Ref) (*disruption.Event, error) {
	for _, ref := range refs {
		if ref.Kind != refs[0].Kind {
			return nil, fmt.Errorf("a %s and a %s cannot go together; mark objects of one kind", refs[0].Kind, ref.Kind)
		}
		if _, _, ok := screen.Find(w, ref); !ok && ref.Kind != screen.Namespace { // one without objects loses nothing
			return nil, fmt.Errorf("%s %s is gone", ref.Kind, ref)
		}
	}
	return happening(w.Snapshot, page, refs), nil
}

// happening is what a page supposes of objects of one kind. Those that are not there change nothing.
func happening(s *inspect.Snapshot, page screen.Page, refs []screen.Ref) *disruption.Event {
	switch {
	case page == screen.Drain:
		return disruption.Drain(s, nodesOf(refs)...)
	case page == screen.Delete:
		return disruption.DeleteNamespace(s, refs[0].Name)
	case page == screen.Taint:
		return taintOf(s, refs)
	case page == screen.Evict:
		return disruption.Evict(podsOf(s, refs)...)
	case refs[0].Kind == screen.Node:
		return disruption.LoseNodes(s, nodesOf(refs)...)
	}
	return loseOf(s, refs)
}

// after is a cluster after a change that is supposed, if that is one that a page is about, before
// kube-scheduler places anything. Otherwise it is the cluster as it was.
func after(s *inspect.Snapshot, c screen.Change) *inspect.Snapshot {
	page := screen.Page(c.Kind)
	if !slices.Contains(Kinds[page], c.Ref.Kind) {
		return s
	}
	return disruption.After(s, happening(s, page, []screen.Ref{c.Ref}))
}

func nodesOf(refs []screen.Ref) []inspect.NodeName {
	return words.Each(refs, func(ref screen.Ref) inspect.NodeName { return inspect.NodeName(ref.Name) })
}

// podsOf are those of some pods that are there.
func podsOf(s *inspect.Snapshot, refs []screen.Ref) []*corev1.Pod {
	var pods []*corev1.Pod
	for _, ref := range refs {
		if pod, ok := s.Pod(inspect.PodRef{Namespace: ref.Namespace, Name: ref.Name}); ok {
			pods = append(pods, pod)
		}
	}
	return pods
}

// loseOf is the loss of devices, or of pools with all their devices.
func loseOf(s *inspect.Snapshot, refs []screen.Ref) *disruption.Event {
	lost := make(map[string]bool, len(refs))
	for _, ref := range refs {
		lost[ref.Name] = true
	}
	word := "device"
	if refs[0].Kind == screen.Pool {
		word = "pool"
	}
	return disruption.LoseDevices(s, naming(word, refs), func(id inspect.DeviceID) bool {
		if word == "pool" {
			return lost[id.PoolID().String()]
		}
		return lost[id.String()]
	})
}

// maxNamed is the number of objects that are named in a line.
const maxNamed = 3

// naming names objects of a kind.
func naming(word string, refs []screen.Ref) string {
	names := words.Each(refs, func(ref screen.Ref) string { return ref.Name })
	slices.Sort(names)
	return words.Plural(len(names), word, word+"s") + " " + words.Shorten(names, maxNamed)
}

// taintKey is that of the taint that is supposed. Nobody tolerates it by name.
const taintKey = "kubectl-dra/what-if"

// taintOf is that devices get a taint by which pods are evicted, each by a rule.
func taintOf(s *inspect.Snapshot, refs []screen.Ref) *disruption.Event {
	var rules []*resourcev1.DeviceTaintRule
	for i, ref := range refs {
		id := screen.DeviceID(ref)
		rule := &resourcev1.DeviceTaintRule{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("what-if-%d", i), CreationTimestamp: metav1.NewTime(s.Time())}}
		rule.Spec.DeviceSelector = &resourcev1.DeviceTaintSelector{Driver: ptr.To(id.Driver), Pool: ptr.To(id.Pool), Device: ptr.To(id.Device)}
		rule.Spec.Taint = resourcev1.DeviceTaint{Key: taintKey, Effect: resourcev1.DeviceTaintEffectNoExecute, TimeAdded: ptr.To(metav1.NewTime(s.Time()))}
		rules = append(rules, rule)
	}
	e := checkup.RulesEvent(s, rules)
	e.What = "tainting " + naming("device", refs) + " with NoExecute"
	return e
}
