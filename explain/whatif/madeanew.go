package whatif

import (
	"maps"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/suppose"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// A pod cannot be changed but for being deleted and made anew. The claims that were made for it go with it,
// with the devices that they have, and others are made from the templates that there are now.

// madeAnew returns the question as it is put once edits have replaced the pod. It is the question itself if
// they do not, or if nothing of the pod's own has devices. It is nil if the new pod would wait for a claim of
// which there is no template.
func (q *Question) madeAnew(edits []Edit) *Question {
	if q.Pod == nil || !slices.ContainsFunc(edits, q.replacesPod) {
		return q
	}
	s, self := q.Cluster.Snapshot(), []inspect.PodRef{{Namespace: q.Pod.Namespace, Name: q.Pod.Name}}
	if q.lostTemplate() {
		return nil
	}
	out := *q
	out.Own, out.Claims, out.Templates = maps.Clone(q.Own), slices.Clone(q.Claims), slices.Clone(q.Templates)
	for ref := range q.Own {
		claim, ok := s.Claim(ref)
		if !ok || !suppose.GoesWith(claim, self) {
			continue
		}
		name := suppose.TemplateFor(q.Pod, ref.Name)
		template, ok := s.Template(ref.Namespace, name)
		if !ok {
			return nil // made of what the containers ask for
		}
		anew := &resourcev1.ResourceClaim{ObjectMeta: *claim.ObjectMeta.DeepCopy(), Spec: *template.Spec.Spec.DeepCopy()}
		out.Templates = append(out.Templates, make([]string, len(out.Claims)-len(out.Templates))...)
		out.Claims, out.Templates = append(out.Claims, anew), append(out.Templates, name)
		out.Renewed = append(out.Renewed, ref)
		delete(out.Own, ref)
	}
	if len(out.Renewed) == 0 {
		return q
	}
	out.sandboxes, out.usable, out.Answers, out.Unsuitable = nil, nil, nil, q.unsuitableWith(out.Own)
	return &out
}

// unsuitableWith says which nodes the pod cannot use, and why, when only these of its claims still have
// devices.
func (q *Question) unsuitableWith(own map[inspect.ClaimRef]bool) map[inspect.NodeName]explain.Reason {
	out := map[inspect.NodeName]explain.Reason{}
	for _, node := range q.Nodes {
		reason, bad := q.Unsuitable[inspect.NodeName(node.Name)]
		if !bad {
			continue
		}
		if !strings.HasPrefix(reason.Key, extendedResource) { // it is about claims
			still := q.UnsuitableWith(node, own)
			if still == nil {
				continue
			}
			reason = *still
		}
		out[inspect.NodeName(node.Name)] = reason
	}
	return out
}

// inPodOrder puts claims in the order in which the pod names them if some are made anew, which are the last
// of the question: the scheduler allocates one after the other, and what the first gets the next cannot have.
// The claim of what the containers ask for stays last.
func (q *Question) inPodOrder(claims []*resourcev1.ResourceClaim) []*resourcev1.ResourceClaim {
	if len(q.Renewed) == 0 {
		return claims
	}
	at := map[string]int{}
	for i := range q.Pod.Spec.ResourceClaims {
		if name, ok := inspect.ClaimNameFor(q.Pod, &q.Pod.Spec.ResourceClaims[i]); ok {
			if _, twice := at[name]; !twice {
				at[name] = i
			}
		}
	}
	place := func(c *resourcev1.ResourceClaim) int {
		if i, named := at[c.Name]; named {
			return i
		}
		return len(q.Pod.Spec.ResourceClaims)
	}
	return slices.SortedStableFunc(slices.Values(claims), func(a, b *resourcev1.ResourceClaim) int { return place(a) - place(b) })
}

// replacesPod reports whether an edit is carried out by making the pod anew.
func (q *Question) replacesPod(e Edit) bool {
	switch e := e.(type) {
	case VolumeClaimEdit: // a PodEdit, too
		return e.OfPod(q.Pod)
	case PodEdit:
		return true
	case SpecEdit:
		at := e.Target().Claim
		return at >= len(q.Claims) || q.TemplateOf(at) != "" || q.Generated(at) // behind all claims is that of the containers
	}
	return false
}

// lostTemplate reports whether there is a claim of the pod that cannot be made again, since its template is
// gone.
func (q *Question) lostTemplate() bool {
	s := q.Cluster.Snapshot()
	for i := range q.Pod.Spec.ResourceClaims {
		entry := &q.Pod.Spec.ResourceClaims[i]
		name, ok := inspect.ClaimNameFor(q.Pod, entry)
		if !ok || entry.ResourceClaimTemplateName == nil {
			continue
		}
		_, made := s.Claim(inspect.ClaimRef{Namespace: q.Pod.Namespace, Name: name})
		if _, there := s.Template(q.Pod.Namespace, *entry.ResourceClaimTemplateName); made && !there {
			return true
		}
	}
	return false
}
