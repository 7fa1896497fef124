package lifecycle

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Pod says what has become of a pod. The claims are those of the pod that are allocated. It is nil if there
// is nothing to say: the pod is on no node, no device of it is being bound, its claims can be created, and
// there are no Events.
func Pod(s *inspect.Snapshot, pod *corev1.Pod, claims []*resourcev1.ResourceClaim, events inspect.Events) *explain.Lifecycle {
	b := &builder{s: s, events: events, l: &explain.Lifecycle{At: s.Time()}}
	b.pod(pod, claims)
	b.happened("Pod", pod)
	for _, claim := range claims {
		b.devices(claim)
		b.gone(pod, claim)
		b.happened("ResourceClaim", claim)
	}
	if b.l.Pods[0].Stage == explain.Unbound && len(b.l.Events)+len(b.l.Problems) == 0 {
		return nil
	}
	return b.finish()
}

// Claim says what has become of an allocated claim and of the pods that use it, as far as their devices are
// concerned: a container that fails by itself is no problem of the claim.
func Claim(s *inspect.Snapshot, claim *resourcev1.ResourceClaim, events inspect.Events) *explain.Lifecycle {
	b := &builder{s: s, events: events, l: &explain.Lifecycle{At: s.Time()}}
	claims := []*resourcev1.ResourceClaim{claim}
	for _, ref := range s.PodsOf(inspect.RefOf(claim)) {
		if pod, ok := s.Pod(ref); ok && Uses(pod, claim) {
			b.pod(pod, claims)
			b.happened("Pod", pod)
		}
	}
	if len(b.l.Pods) == 0 {
		b.binding(claim)
	}
	b.devices(claim)
	b.gone(nil, claim)
	b.happened("ResourceClaim", claim)
	b.l.Problems = slices.DeleteFunc(b.l.Problems, func(p explain.Problem) bool { return ofPodAlone[p.Code] })
	b.l = b.finish()
	if b.l.Outcome == explain.Waiting && len(b.l.Problems) == 0 {
		b.l.Outcome = explain.Fine // the pods wait, and the claim has its devices
	}
	return b.l
}

// ofPodAlone are the problems that have nothing to do with a claim of the pod.
var ofPodAlone = map[explain.ProblemCode]bool{
	explain.PodFailed: true, explain.ClaimNotCreated: true, explain.VolumePending: true, explain.MountFailed: true, explain.SandboxFailed: true, explain.ContainerFailed: true,
}

// Uses reports whether a pod uses the devices of a claim: it is reserved for the pod or its group.
func Uses(pod *corev1.Pod, claim *resourcev1.ResourceClaim) bool {
	return inspect.ReservedForGroupOf(pod, claim) || reservedFor(pod, claim)
}

// reservedFor reports whether a claim is reserved for a pod itself.
func reservedFor(pod *corev1.Pod, claim *resourcev1.ResourceClaim) bool {
	return slices.ContainsFunc(claim.Status.ReservedFor, func(c resourcev1.ResourceClaimConsumerReference) bool {
		same := c.UID == pod.UID || c.UID == "" || pod.UID == ""
		return c.APIGroup == "" && c.Resource == "pods" && c.Name == pod.Name && same
	})
}

// builder collects a Lifecycle.
type builder struct {
	s      *inspect.Snapshot
	events inspect.Events
	l      *explain.Lifecycle
	pods   []*corev1.Pod        // those that were added
	sets   []*inspect.PluginSet // of the plugins of kubelets; see candidates
}

// pod adds what there is to say of a pod without its Events.
func (b *builder) pod(pod *corev1.Pod, claims []*resourcev1.ResourceClaim) {
	b.pods = append(b.pods, pod)
	progress := b.progress(pod, claims)
	b.l.Pods = append(b.l.Pods, progress)
	b.l.Containers = append(b.l.Containers, containersOf(pod)...)
	switch progress.Stage {
	case explain.Unbound:
		b.creation(pod)
		return
	case explain.Binding:
		for _, claim := range claims {
			b.binding(claim)
		}
		b.volumes(pod)
		return
	case explain.Ended:
		b.failed(pod)
		return
	}
	b.silent(pod)
	if progress.Stage == explain.Starting {
		b.stuck(pod, claims)
		b.failingContainers(pod)
	}
	if progress.Stage != explain.Stopping {
		b.nodeEvicts(pod)
		b.devicesEvict(pod, claims)
	}
	b.unhealthy(pod, claims)
}

// add adds a problem, once.
func (b *builder) add(p explain.Problem) {
	known := slices.ContainsFunc(b.l.Problems, func(q explain.Problem) bool {
		return q.Code == p.Code && q.Object == p.Object && q.Driver == p.Driver && q.Container == p.Container && q.Reason == p.Reason &&
			slices.Equal(q.Devices, p.Devices)
	})
	if !known {
		b.l.Problems = append(b.l.Problems, p)
	}
}

// finish puts everything in order.
func (b *builder) finish() *explain.Lifecycle {
	order := explain.ProblemCodes()
	slices.SortStableFunc(b.l.Problems, func(p, q explain.Problem) int {
		return cmp.Or(words.Btoi(q.Fails)-words.Btoi(p.Fails), cmp.Compare(slices.Index(order, p.Code), slices.Index(order, q.Code)), p.Until.Compare(q.Until))
	})
	slices.SortStableFunc(b.l.Pods, func(p, q explain.PodProgress) int {
		return cmp.Or(strings.Compare(p.Pod.Namespace, q.Pod.Namespace), strings.Compare(p.Pod.Name, q.Pod.Name))
	})
	inspect.SortEvents(b.l.Events)
	if more := len(b.l.Events) - maxEvents; more > 0 {
		b.l.Events, b.l.MoreEvents = b.l.Events[:maxEvents], more // the newest of very many
	}
	b.l.Outcome = b.outcome()
	return b.l
}

func (b *builder) outcome() explain.Outcome {
	if len(b.l.Failing()) > 0 {
		return explain.Failing
	}
	for i := range b.l.Pods {
		switch b.l.Pods[i].Stage {
		case explain.Unbound:
			return explain.Undecided
		case explain.Binding, explain.Starting, explain.Stopping:
			return explain.Waiting
		}
	}
	if len(b.l.Problems) > 0 {
		return explain.Waiting
	}
	return explain.Fine
}

// subjectOf names an object of the API.
func subjectOf(kind, namespace, name string) explain.Subject {
	return explain.Subject{Kind: kind, Namespace: namespace, Name: name}
}

func podSubject(pod *corev1.Pod) explain.Subject { return subjectOf("Pod", pod.Namespace, pod.Name) }

func claimSubject(claim *resourcev1.ResourceClaim) explain.Subject {
	return subjectOf("ResourceClaim", claim.Namespace, claim.Name)
}
