package lifecycle

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// creationFailed is the reason of the Event that the controller makes when it cannot make a claim of a pod
// (pkg/controller/resourceclaim).
const creationFailed = "FailedResourceClaimCreation"

// Uncreated returns the entries of a pod's claims that name a template of the snapshot and of which the claim
// has not been made yet, by index.
func Uncreated(s *inspect.Snapshot, pod *corev1.Pod) []int {
	var out []int
	for i := range pod.Spec.ResourceClaims {
		entry := &pod.Spec.ResourceClaims[i]
		if entry.ResourceClaimTemplateName == nil {
			continue
		}
		_, made := inspect.ClaimNameFor(pod, entry)
		_, shared := s.GroupClaimFor(pod, entry)
		_, exists := s.Template(pod.Namespace, *entry.ResourceClaimTemplateName)
		if !made && !shared && exists {
			out = append(out, i)
		}
	}
	return out
}

// creation adds the claim of a pod that cannot be made: the controller makes one after the other and gives up
// at the first that fails.
func (b *builder) creation(pod *corev1.Pod) {
	uncreated := Uncreated(b.s, pod)
	if pod.DeletionTimestamp != nil || len(uncreated) == 0 {
		return
	}
	quota := b.s.ClaimQuota(pod.Namespace)
	for _, i := range uncreated {
		entry := &pod.Spec.ResourceClaims[i]
		template, _ := b.s.Template(pod.Namespace, *entry.ResourceClaimTemplateName)
		excess := quota.Create(inspect.ClaimFromTemplate(template, pod.Name+"-"+entry.Name))
		if excess == nil {
			continue
		}
		p := explain.Problem{
			Code: explain.ClaimNotCreated, Fails: true, Object: podSubject(pod), Actor: explain.ClusterAdmin,
			Message:  "the claim for its entry " + entry.Name + " cannot be created: " + excessInWords(excess),
			Commands: commands(describe("resourcequota", excess.Quota.Namespace, excess.Quota.Name)),
		}
		p.Brief = p.Message
		if e := b.creationEvent(pod); e != nil {
			p.Reason, p.Said, p.Count, p.Since, p.Last = e.Reason, e.Message, e.Count, e.First, e.Last
		}
		b.add(p)
		return
	}
	if e := b.creationEvent(pod); e != nil {
		which := "the claim for its entry " + pod.Spec.ResourceClaims[uncreated[0]].Name
		if len(uncreated) > 1 {
			which = "one of its claims" // the controller tells of none before it has made all
		}
		b.add(explain.Problem{
			Code: explain.ClaimNotCreated, Fails: true, Object: podSubject(pod), Reason: e.Reason, Said: e.Message, Count: e.Count, Since: e.First, Last: e.Last,
			Actor: explain.User, Brief: which + " could not be created", Message: which + " could not be created" + b.times(e),
			Commands: commands(describe("pod", pod.Namespace, pod.Name)),
		})
	}
}

// excessInWords says which quota is exceeded.
func excessInWords(x *inspect.QuotaExcess) string {
	text := fmt.Sprintf("quota %s of namespace %s allows ", x.Quota.Name, x.Quota.Namespace)
	if x.Class == "" {
		text += words.Count(int(x.Hard), "claim")
	} else {
		text += words.Count(int(x.Hard), "device") + " of class " + x.Class
	}
	if text += fmt.Sprintf(", of which %d %s used", x.Used, words.Plural(int(x.Used), "is", "are")); x.Charged > 0 {
		text += fmt.Sprintf(" and %d %s to claims of the pod before it", x.Charged, words.Plural(int(x.Charged), "goes", "go"))
	}
	return text + fmt.Sprintf("; it needs %d", x.Requested)
}

// creationEvent is the newest Event that a claim of a pod could not be made. It is nil if there is none.
func (b *builder) creationEvent(pod *corev1.Pod) *inspect.Event {
	for _, e := range summed(b.events.About("Pod", pod.Namespace, pod.Name, pod.UID)) {
		if e.Reason == creationFailed {
			return &e
		}
	}
	return nil
}
