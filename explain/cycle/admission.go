package cycle

import (
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// What the API server refuses of claims for admin access, when they are created and again when they are
// allocated.

// adminRefused says that a claim asks for admin access in a namespace that is known not to grant it. It is
// nil otherwise.
func adminRefused(s *inspect.Snapshot, claim *resourcev1.ResourceClaim) *explain.Reason {
	at := inspect.AdminRequest(&claim.Spec)
	granted, known := s.GrantsAdminAccess(claim.Namespace)
	if at < 0 || granted || !known || !s.Features().Enabled(inspect.GateAdminAccess) {
		return nil
	}
	request := claim.Spec.Devices.Requests[at].Name
	return &explain.Reason{
		Code: allocator.AdminAccessRefused, Claim: inspect.RefOf(claim), Request: request, Path: fmt.Sprintf("spec.devices.requests[%d].exactly.adminAccess", at),
		Key: claim.Namespace, NamesRequest: true,
		Message: fmt.Sprintf("request %s: the API server refuses admin access in namespace %s, which lacks the label %s=true", request, claim.Namespace, resourcev1.DRAAdminNamespaceLabelKey),
		Brief:   fmt.Sprintf("the API server refuses admin access in namespace %s", claim.Namespace),
	}
}

// AddAdmission adds that it is not known whether the API server takes a claim for admin access, and reports
// whether that is so. What it has taken has a UID.
func (l *Limits) AddAdmission(q *whatif.Question) (unknown bool) {
	s := q.Cluster.Snapshot()
	if !s.Features().Enabled(inspect.GateAdminAccess) {
		return false
	}
	for i, claim := range q.Claims {
		_, known := s.GrantsAdminAccess(claim.Namespace)
		if known || inspect.AdminRequest(&claim.Spec) < 0 || taken(q, i) {
			continue
		}
		l.MayBeTaken = true
		l.Remarks = append(l.Remarks, fmt.Sprintf("namespace %s is not known here: the API server takes a claim for admin access only where it has the label %s=true", claim.Namespace, resourcev1.DRAAdminNamespaceLabelKey))
		return true
	}
	return false
}

// taken reports whether a server has taken a claim before or, of one that is still to be made, its template.
func taken(q *whatif.Question, claim int) bool {
	name := ""
	switch {
	case claim < len(q.Templates):
		name = q.Templates[claim]
	case q.Subject.Kind == "ResourceClaimTemplate":
		name = q.Subject.Name
	}
	if template, ok := q.Cluster.Snapshot().Template(q.Claims[claim].Namespace, name); ok {
		return template.UID != ""
	}
	return q.Claims[claim].UID != ""
}
