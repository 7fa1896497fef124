package triage

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// shape is what subjects ask for that differ in nothing that decides about them.
type shape struct {
	number int // in the order of the queue
}

// numbered are labels that number the pods of a set, which have the same otherwise.
var numbered = []string{"statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index", "batch.kubernetes.io/job-completion-index"}

// shaper sorts subjects by what they ask for.
type shaper struct {
	s        *inspect.Snapshot
	selected map[string]bool // the labels that somebody's selector reads
	index    map[string]*shape
}

func newShaper(s *inspect.Snapshot) *shaper {
	out := &shaper{s: s, selected: map[string]bool{}, index: map[string]*shape{}}
	for _, pod := range s.Objects().Pods {
		for _, label := range labelsRead(pod) {
			out.selected[label] = true
		}
		if _, selector, _ := s.DefaultSpread(pod); selector != nil {
			requirements, _ := selector.Requirements()
			for i := range requirements {
				out.selected[requirements[i].Key()] = true
			}
		}
	}
	return out
}

// of returns the shape of a subject, which is a pod or a claim.
func (h *shaper) of(subject metav1.Object) *shape {
	key := h.key(subject)
	known, ok := h.index[key]
	if !ok {
		known = &shape{len(h.index)}
		h.index[key] = known
	}
	return known
}

// key tells shapes apart.
func (h *shaper) key(subject metav1.Object) string {
	parts := []any{subject.GetNamespace()}
	switch subject := subject.(type) {
	case *resourcev1.ResourceClaim:
		parts = append(parts, "claim", subject.Spec, subject.Annotations[inspect.NewerKey])
	case *corev1.Pod:
		if defaults, selector, known := h.s.DefaultSpread(subject); len(defaults) > 0 {
			parts = append(parts, fmt.Sprint(known, selector))
		}
		parts = append(parts, "pod", h.labels(subject), askedOf(&subject.Spec), h.claims(subject), subject.Annotations[inspect.NewerKey])
	}
	text, err := json.Marshal(parts)
	if err != nil { // no shape but its own
		return fmt.Sprintf("%T %s/%s", subject, subject.GetNamespace(), subject.GetName())
	}
	return string(text)
}

// claims are what the claims of a pod ask for, and the names of those that it shares or that have devices
// already.
func (h *shaper) claims(pod *corev1.Pod) []any {
	var out []any
	for i := range pod.Spec.ResourceClaims {
		entry := &pod.Spec.ResourceClaims[i]
		name, ok := inspect.ClaimNameFor(pod, entry)
		claim, found := h.s.Claim(inspect.ClaimRef{Namespace: pod.Namespace, Name: name})
		switch {
		case !ok && entry.ResourceClaimTemplateName != nil:
			out = append(out, "template", *entry.ResourceClaimTemplateName)
		case ok && found && claim.Status.Allocation == nil && claim.DeletionTimestamp == nil && len(h.s.PodsOf(inspect.RefOf(claim))) == 1:
			template := ""
			if entry.ResourceClaimTemplateName != nil {
				template = *entry.ResourceClaimTemplateName
			}
			out = append(out, "claim", template, claim.Spec, metav1.GetControllerOf(claim) != nil, claim.Annotations[inspect.NewerKey])
		default:
			out = append(out, "shared", name)
		}
	}
	return out
}

// labels are those of a pod that some selector may tell it by.
func (h *shaper) labels(pod *corev1.Pod) map[string]string {
	out := map[string]string{}
	for name, value := range pod.Labels {
		if !slices.Contains(numbered, name) || h.selected[name] {
			out[name] = value
		}
	}
	return out
}

// askedOf is the spec of a pod without what does not decide where it can run: what differs between the pods
// of a set, and its claims.
func askedOf(spec *corev1.PodSpec) *corev1.PodSpec {
	out := *spec
	out.Hostname, out.ResourceClaims = "", nil
	out.Containers, out.InitContainers = withoutProcess(spec.Containers), withoutProcess(spec.InitContainers)
	return &out
}

func withoutProcess(containers []corev1.Container) []corev1.Container {
	out := slices.Clone(containers)
	for i := range out {
		out[i].Env, out[i].EnvFrom, out[i].Command, out[i].Args = nil, nil, nil, nil
	}
	return out
}

// labelsRead are the labels by which a pod tells others.
func labelsRead(pod *corev1.Pod) []string {
	var out []string
	add := func(s *metav1.LabelSelector) {
		if s != nil {
			out = slices.AppendSeq(out, maps.Keys(s.MatchLabels))
			for _, r := range s.MatchExpressions {
				out = append(out, r.Key)
			}
		}
	}
	var terms []corev1.PodAffinityTerm
	if a := pod.Spec.Affinity; a != nil && a.PodAffinity != nil {
		terms = append(terms, a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution...)
	}
	if a := pod.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		terms = append(terms, a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution...)
	}
	for i := range terms {
		add(terms[i].LabelSelector)
	}
	for i := range pod.Spec.TopologySpreadConstraints {
		c := &pod.Spec.TopologySpreadConstraints[i]
		add(c.LabelSelector)
		out = append(out, c.MatchLabelKeys...)
	}
	return out
}

// changed returns a subject with what edits made of the shape that it has: its claims, which are then to be
// put into the objects, and the pod itself. The claims of edits are in the order of those of the pod.
func changed(s *inspect.Snapshot, subject metav1.Object, specs []resourcev1.ResourceClaimSpec, pod *corev1.Pod) (metav1.Object, []*resourcev1.ResourceClaim) {
	if claim, ok := subject.(*resourcev1.ResourceClaim); ok {
		claim = claim.DeepCopy()
		claim.Spec = specs[0]
		return claim, []*resourcev1.ResourceClaim{claim}
	}
	own := subject.(*corev1.Pod)
	var claims []*resourcev1.ResourceClaim
	for i, claim := range question.PendingClaims(s, own) {
		if _, exists := s.Claim(inspect.RefOf(claim)); exists && i < len(specs) {
			claim = claim.DeepCopy()
			claim.Spec = specs[i]
			claims = append(claims, claim)
		}
	}
	entries := own.Spec.ResourceClaims
	hostname := own.Spec.Hostname
	own = own.DeepCopy()
	own.Spec = *pod.Spec.DeepCopy()
	own.Spec.ResourceClaims, own.Spec.Hostname = entries, hostname
	return own, claims
}
