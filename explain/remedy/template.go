package remedy

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// maxRemade is the number of pods that a command names.
const maxRemade = 16

// remake writes what lets pods have claims that are made from a changed template. A claim that is deleted
// would be made anew, but the controller that does so (package resourceclaim of kube-controller-manager) may
// remember the old one for an hour. So it is the pods that are made anew: all that wait with a claim made
// from the template, those first that were asked about, and but for those that are written anew anyway.
func (b *builder) remake(template explain.ObjectChange, written []explain.ObjectChange) {
	anew := slices.DeleteFunc(b.waiting(template), func(pod *corev1.Pod) bool {
		return slices.ContainsFunc(written, func(c explain.ObjectChange) bool {
			return c.Kind == "Pod" && c.Name == pod.Name && c.Namespace == pod.Namespace
		})
	})
	groups := words.Groups(anew, func(pod *corev1.Pod) Controller { return ptr.Deref(ControllerOf(pod), Controller{}) })
	slices.SortStableFunc(groups, func(x, y words.Group[Controller, *corev1.Pod]) int { // those that nobody makes anew first
		return words.Btoi(x.Key != Controller{}) - words.Btoi(y.Key != Controller{})
	})
	var named []string
	for _, made := range groups {
		c := made.Key
		switch selector := b.selecting(made.Of); {
		case c == Controller{}:
			for _, pod := range made.Of {
				b.add(b.kubectl("get", "pod", b.name(pod.Name), "-n", pod.Namespace, "-o", "yaml") + " | " + b.kubectl("replace", "--force", "-f", "-"))
			}
		case c.Kind == "Deployment" && len(podsOf(b.s, template.Namespace, c)) == len(made.Of):
			b.add(b.kubectl("rollout", "restart", b.of(c.Kind, c.Name), "-n", template.Namespace))
		case len(made.Of) > maxRemade && selector != "":
			b.add(b.kubectl("delete", "pod", "-l", selector, "--field-selector=spec.nodeName=", "-n", template.Namespace))
		default:
			named = append(named, words.Each(made.Of, func(pod *corev1.Pod) string { return b.name(pod.Name) })...)
		}
	}
	for some := range slices.Chunk(named, maxRemade) {
		b.add(b.kubectl(append(append([]string{"delete", "pod"}, some...), "-n", template.Namespace)...))
	}
	if len(anew) > 0 {
		b.remark("Claims that were made from the template stay as they are, so the pods that wait with one are made anew.")
	}
}

// waiting are the pods that wait with a claim made from a template. The one that was asked about comes first.
func (b *builder) waiting(template explain.ObjectChange) []*corev1.Pod {
	out := words.Keep(b.s.Objects().Pods, func(pod *corev1.Pod) bool {
		return pod.Namespace == template.Namespace && waitsWithClaimOf(pod, template.Name)
	})
	slices.SortStableFunc(out, func(x, y *corev1.Pod) int { return words.Btoi(b.isAsking(y)) - words.Btoi(b.isAsking(x)) })
	return out
}

func (b *builder) isAsking(pod *corev1.Pod) bool {
	return pod.Namespace == b.asking.Namespace && pod.Name == b.asking.Name
}

// selecting is a selector of labels that selects these pods and, of all that have no node, no other. It is ""
// if there is none.
func (b *builder) selecting(pods []*corev1.Pod) string {
	common := maps.Clone(pods[0].Labels)
	for _, pod := range pods {
		maps.DeleteFunc(common, func(key, value string) bool { return pod.Labels[key] != value })
	}
	if len(common) == 0 {
		return ""
	}
	selector := labels.SelectorFromSet(common)
	for _, pod := range b.s.Objects().Pods {
		if pod.Namespace == pods[0].Namespace && pod.Spec.NodeName == "" && selector.Matches(labels.Set(pod.Labels)) && !slices.Contains(pods, pod) {
			return ""
		}
	}
	return selector.String()
}

// waitsWithClaimOf reports whether a pod that has no node yet has got a claim that was made from a template.
func waitsWithClaimOf(pod *corev1.Pod, template string) bool {
	if pod.Spec.NodeName != "" || pod.DeletionTimestamp != nil {
		return false
	}
	for i := range pod.Spec.ResourceClaims {
		entry := &pod.Spec.ResourceClaims[i]
		if entry.ResourceClaimTemplateName == nil || *entry.ResourceClaimTemplateName != template {
			continue
		}
		if name, made := inspect.ClaimNameFor(pod, entry); made && name != "" {
			return true
		}
	}
	return false
}
