package detail

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

func addPod(s *sheet, w *screen.World, p *corev1.Pod) {
	s.title(w, p, stage(p))
	s.belongs(p)
	s.linkField("node", nodeLink(p.Spec.NodeName))
	for i := range p.OwnerReferences {
		s.field("owner", p.OwnerReferences[i].Kind+" "+p.OwnerReferences[i].Name)
	}
	if len(p.Spec.ResourceClaims) > 0 || p.Status.ExtendedResourceClaimStatus != nil {
		s.section("Claims")
	}
	for i := range p.Spec.ResourceClaims {
		entry := &p.Spec.ResourceClaims[i]
		name, ok := inspect.ClaimNameFor(p, entry)
		claim, found := w.Snapshot.Claim(inspect.ClaimRef{Namespace: p.Namespace, Name: name})
		switch {
		case !ok:
			s.field(entry.Name, "not created yet")
		case name == "":
			s.field(entry.Name, "none is needed")
		case !found:
			s.spans(entry.Name, dim(name), styled.Span{Text: "  does not exist", Role: styled.Bad})
		default:
			addPodClaim(s, entry.Name, claim)
		}
		if t := entry.ResourceClaimTemplateName; t != nil {
			s.spans("", dim("from template "), screen.LinkTo(screen.Ref{Kind: screen.Template, Namespace: p.Namespace, Name: *t}, *t))
		}
	}
	if status := p.Status.ExtendedResourceClaimStatus; status != nil {
		if claim, ok := w.Snapshot.Claim(inspect.ClaimRef{Namespace: p.Namespace, Name: status.ResourceClaimName}); ok {
			addPodClaim(s, "extended resources", claim)
		}
	}
	addExtendedRequests(s, p)
	s.section("Conditions")
	for _, c := range p.Status.Conditions {
		s.field(string(c.Type), strings.TrimSpace(string(c.Status)+"  "+words.OneLine(c.Message)))
	}
}

// addExtendedRequests adds the extended resources that containers of a pod ask for, whether device plugins or
// DRA serve them.
func addExtendedRequests(s *sheet, p *corev1.Pod) {
	begun := false
	for _, containers := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for i := range containers {
			requests := containers[i].Resources.Requests
			for _, name := range sortedKeys(requests) {
				if !inspect.IsExtendedResource(name) {
					continue
				}
				if !begun {
					s.section("Asks for extended resources")
					begun = true
				}
				n := requests[name]
				s.spans(string(name), styled.Span{Text: n.String()}, dim("  container "+containers[i].Name))
			}
		}
	}
}

// addPodClaim adds a claim of a pod with the devices that it has.
func addPodClaim(s *sheet, name string, claim *resourcev1.ResourceClaim) {
	s.spans(name, claimLink(inspect.RefOf(claim)), claimState(claim))
	if claim.Status.Allocation == nil {
		return
	}
	for i := range claim.Status.Allocation.Devices.Results {
		s.spans("", dim("has "), deviceLink(inspect.DeviceOf(&claim.Status.Allocation.Devices.Results[i])))
	}
}
