package inspect

import (
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
)

// placed are claims and pods that have taken the place of those of their names in the lists of a Snapshot, or
// are new, both sorted. Who places pods one after the other makes a Snapshot of each, and a copy of all lists
// for each would cost more than everything else.
type placed struct {
	claims []*resourcev1.ResourceClaim
	pods   []*corev1.Pod
}

// maxPlaced is how many objects stand beside the lists before they are put into them.
const maxPlaced = 64

// WithPlaced is With where nothing changes but some claims and pods, which costs less: it does not depend on
// how many others there are. Each takes the place of the one of its name, or is new; of several of one name
// the last counts.
func (s *Snapshot) WithPlaced(claims []*resourcev1.ResourceClaim, pods []*corev1.Pod) *Snapshot {
	claims, pods = lastOfEach(claims), lastOfEach(pods)
	if s.assumed || twins(claims, s.objects.Claims) || len(claims)+len(pods)+len(s.placed.claims)+len(s.placed.pods) > maxPlaced {
		o := *s.Objects()
		o.Claims, o.Pods = merged(o.Claims, claims), merged(o.Pods, pods)
		next := s.Next(o, s.config)
		next.newer = s.newer
		return next
	}
	n := *s
	n.placed = placed{merged(s.placed.claims, claims), merged(s.placed.pods, pods)}
	n.whole = sync.OnceValue(func() *Objects {
		o := n.objects
		o.Claims, o.Pods = merged(o.Claims, n.placed.claims), merged(o.Pods, n.placed.pods)
		return &o
	})
	n.idleHolders = sync.OnceValue(n.findIdleHolders)
	for _, pod := range pods {
		if before, known := s.Pod(PodRef{pod.Namespace, pod.Name}); !known || !sameUses(before, pod) {
			n.podsOf = sync.OnceValue(func() *podIndex { return newPodIndex(n.Objects().Pods) })
			break
		}
	}
	var removed, added []*resourcev1.ResourceClaim
	for _, claim := range claims {
		before, known := s.Claim(RefOf(claim))
		if before == claim {
			continue
		}
		if added = append(added, claim); known {
			removed = append(removed, before)
		}
	}
	if len(added) > 0 {
		n.holders = s.holders.with(removed, added)
	}
	return &n
}

// ChangedPods returns the pods that are in another Snapshot only, and those that are in this one only, both
// sorted by namespace and name. It is cheap if one Snapshot was made of the other by [Snapshot.WithPlaced].
func (s *Snapshot) ChangedPods(before *Snapshot) (gone, come []*corev1.Pod) {
	a, b := before.objects.Pods, s.objects.Pods
	if len(a) != len(b) || len(a) > 0 && &a[0] != &b[0] {
		return difference(before.Objects().Pods, s.Objects().Pods, byName[*corev1.Pod])
	}
	for _, pod := range merged(before.placed.pods, s.placed.pods) { // any of each name
		ref := PodRef{pod.Namespace, pod.Name}
		was, there := before.Pod(ref)
		is, here := s.Pod(ref)
		if was == is {
			continue
		}
		if there {
			gone = append(gone, was)
		}
		if here {
			come = append(come, is)
		}
	}
	return gone, come
}

// NoPods reports whether there is no pod.
func (s *Snapshot) NoPods() bool { return len(s.objects.Pods)+len(s.placed.pods) == 0 }

// lastOfEach are the objects sorted by name, of several of one name the last.
func lastOfEach[T object](objects []T) []T {
	if len(objects) < 2 {
		return objects
	}
	var out []T
	objects = slices.SortedStableFunc(slices.Values(objects), byName[T])
	for i, o := range objects {
		if i+1 == len(objects) || byName(o, objects[i+1]) != 0 {
			out = append(out, o)
		}
	}
	return out
}

// merged is a sorted list with others, which are sorted too, in place of those of their names.
func merged[T object](list, with []T) []T {
	if len(with) == 0 {
		return list
	}
	out := make([]T, 0, len(list)+len(with))
	for _, o := range with {
		at, found := slices.BinarySearchFunc(list, o, byName[T])
		out = append(append(out, list[:at]...), o)
		if list = list[at:]; found {
			list = list[1:]
		}
	}
	return append(out, list...)
}
