package cycle

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/spelling"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// Question makes the question that a pod is to its nodes.
func Question(c *scheduler.Cluster, pod *corev1.Pod, claims Claims, nodes []*corev1.Node, opts Options) *whatif.Question {
	s := c.Snapshot()
	q := &whatif.Question{
		Cluster: c, Claims: claims.Pending, Templates: claims.Templates, Nodes: nodes, Subject: SubjectOf(pod),
		Unsuitable: unsuitableNodes(s, pod, nodes, claims.Allocated), Supposed: opts.Supposed, SupposedPods: opts.SupposedPods, Own: map[inspect.ClaimRef]bool{},
	}
	for _, claim := range claims.Allocated {
		q.Own[inspect.RefOf(claim)] = true
	}
	q.UnsuitableWith = func(node *corev1.Node, own map[inspect.ClaimRef]bool) *explain.Reason {
		return unsuitable(s, pod, node, slices.DeleteFunc(slices.Clone(claims.Allocated), func(c *resourcev1.ResourceClaim) bool { return !own[inspect.RefOf(c)] }))
	}
	if pod.Spec.NodeName != "" {
		return q // the pod is on its node, whatever the filters would say now
	}
	q.Pod = pod
	if special := extendedOf(s, pod); special != nil {
		q.PerNode = special
		q.Simplify()
	}
	return q
}

// Claims are the claims of a pod, by what they need.
type Claims struct {
	Allocated []*resourcev1.ResourceClaim
	Pending   []*resourcev1.ResourceClaim
	// Templates has for each pending claim the name of the template that asks for the same, or "".
	Templates []string
	Notes     []explain.Note
	// Blocked says why the scheduler does not even try the pod. It is "" if it does.
	Blocked string
	// Missing is the claim or template that does not exist, if that is why the pod is blocked.
	Missing *spelling.MissingClaim
	// Unnamed says that the pod does not name what is missing itself, so that no other name helps.
	Unnamed bool
}

// ClaimsFor resolves the entries of pod.spec.resourceClaims in order. If the claim of a template has not been
// created yet, one made from the template takes its place.
func ClaimsFor(s *inspect.Snapshot, pod *corev1.Pod) Claims {
	var out Claims
	note := func(format string, args ...any) {
		out.Notes = append(out.Notes, explain.Note{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, Message: fmt.Sprintf(format, args...)})
	}
	for i := range pod.Spec.ResourceClaims {
		entry := &pod.Spec.ResourceClaims[i]
		name, ok := inspect.ClaimNameFor(pod, entry)
		if !ok {
			if shared, found := s.GroupClaimFor(pod, entry); found {
				name, ok = shared.Name, true
				note("its entry %s is the claim %s of its pod group %s, which all pods of the group share", entry.Name, name, inspect.PodGroupOf(pod))
			}
		}
		if !ok {
			out.fromTemplate(s, pod, i)
			continue
		}
		if name == "" {
			continue
		}
		claim, found := s.Claim(inspect.ClaimRef{Namespace: pod.Namespace, Name: name})
		switch {
		case !found:
			out.Missing = &spelling.MissingClaim{Entry: i, Template: false, Name: name}
			out.Blocked = out.Missing.String() + " does not exist"
			out.Unnamed = entry.ResourceClaimName == nil
		case claim.Status.Allocation != nil:
			out.Allocated = append(out.Allocated, claim)
		default:
			out.Pending, out.Templates = append(out.Pending, claim), append(out.Templates, TemplateBehind(s, entry, claim))
		}
		if !found || out.Blocked != "" {
			continue
		}
		if out.Blocked = RefusedClaim(s, pod, claim, entry.ResourceClaimName == nil); out.Blocked == "" && claim.DeletionTimestamp != nil {
			note("the claim %s is being deleted", name)
		}
	}
	if status := pod.Status.ExtendedResourceClaimStatus; status != nil && pod.Spec.NodeName != "" {
		if claim, found := s.Claim(inspect.ClaimRef{Namespace: pod.Namespace, Name: status.ResourceClaimName}); found && claim.Status.Allocation != nil {
			out.Allocated = append(out.Allocated, claim)
		}
	}
	return out
}

// TemplateBehind is the name of the template from which the claim of an entry was made. It is "" if there is
// none, or if the template no longer asks for the same.
func TemplateBehind(s *inspect.Snapshot, entry *corev1.PodResourceClaim, claim *resourcev1.ResourceClaim) string {
	if entry.ResourceClaimTemplateName == nil {
		return ""
	}
	template, ok := s.Template(claim.Namespace, *entry.ResourceClaimTemplateName)
	if !ok || !equality.Semantic.DeepEqual(template.Spec.Spec, claim.Spec) {
		return ""
	}
	return template.Name
}

// fromTemplate adds the claim for an entry whose claim has not been created yet.
func (p *Claims) fromTemplate(s *inspect.Snapshot, pod *corev1.Pod, index int) {
	entry := &pod.Spec.ResourceClaims[index]
	if entry.ResourceClaimTemplateName == nil {
		p.Blocked = fmt.Sprintf("its entry %s names neither a claim nor a template", entry.Name)
		return
	}
	template, ok := s.Template(pod.Namespace, *entry.ResourceClaimTemplateName)
	if !ok {
		p.Missing, p.Unnamed = &spelling.MissingClaim{Entry: index, Template: true, Name: *entry.ResourceClaimTemplateName}, false
		p.Blocked = p.Missing.String() + " does not exist"
		return
	}
	p.Pending, p.Templates = append(p.Pending, inspect.ClaimFromTemplate(template, pod.Name+"-"+entry.Name)), append(p.Templates, template.Name)
	p.Notes = append(p.Notes, explain.Note{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, Message: fmt.Sprintf(
		"the claim for its entry %s has not been created yet; decided with one made from the template %s", entry.Name, template.Name)})
}

// unsuitableNodes says which nodes the pod cannot use because of claims that have devices already, and why.
func unsuitableNodes(s *inspect.Snapshot, pod *corev1.Pod, nodes []*corev1.Node, allocated []*resourcev1.ResourceClaim) map[inspect.NodeName]explain.Reason {
	out := map[inspect.NodeName]explain.Reason{}
	for _, node := range nodes {
		if reason := unsuitable(s, pod, node, allocated); reason != nil {
			out[inspect.NodeName(node.Name)] = *reason
		}
	}
	return out
}

// unsuitable says why a pod cannot use a node because of claims that have devices already. It is nil if the
// pod can use the node.
func unsuitable(s *inspect.Snapshot, pod *corev1.Pod, node *corev1.Node, allocated []*resourcev1.ResourceClaim) *explain.Reason {
	switch pod.Spec.NodeName {
	case "":
	case node.Name:
		return nil // the pod is on the node, whatever has changed since
	default:
		reason := whatif.UnsuitableFor(whatif.Bound, "the pod is bound to node %s", pod.Spec.NodeName)
		return &reason
	}
	for _, claim := range allocated {
		if reason := unavailable(s, claim, node); reason != nil {
			return reason
		}
	}
	return nil
}

// OutOfReach is why a node cannot be used where a claim has devices elsewhere.
func OutOfReach(claim *resourcev1.ResourceClaim) explain.Reason {
	return whatif.UnsuitableFor(words.Key("claim", claim.Name), "the devices of the allocated claim %s cannot be used from the node", claim.Name)
}
