package triage

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/headline"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// maxAsked is how many different things that are asked for are told of a cause.
const maxAsked = 3

// wanted says what the subjects of a cause want that no node has. Where that is not known of all nodes, it
// says so of those that come closest.
func (c *collection) wanted(key string) string {
	n, lacks, texts := len(c.causes[key].Subjects), c.lacks[key], c.asks[key]
	if !slices.Contains(lacks, nil) {
		return headline.Together(n, lacks)
	}
	shown := slices.Clone(texts[:min(len(texts), maxAsked)])
	if more := len(texts) - len(shown); more > 0 {
		shown = append(shown, fmt.Sprintf("%d other things", more))
	}
	return words.Plural(n, "wants ", "want ") + strings.Join(shown, "; or ") + "; even the nodes that come closest cannot give that"
}

// askedBy says what a subject asks for, as far as it is part of a conflict: kind and number of the devices,
// and what has to be true of them.
func askedBy(s *inspect.Snapshot, subject metav1.Object, c *explain.Conflict) string {
	var claims []*resourcev1.ResourceClaim
	switch subject := subject.(type) {
	case *resourcev1.ResourceClaim:
		claims = append(claims, subject)
	case *corev1.Pod:
		claims = question.PendingClaims(s, subject)
	}
	var parts []string
	said := map[*resourcev1.DeviceRequest]bool{}
	for i := range c.Requirements {
		r := &c.Requirements[i]
		if request := requestIn(claims, r); request != nil && r.Kind != explain.CapacityRequired {
			if !said[request] {
				said[request] = true
				parts = append(parts, devicesOf(request))
			}
			if r.Term != "" {
				parts = append(parts, "for which "+r.Term)
			}
			continue
		}
		parts = append(parts, r.Message)
	}
	return strings.Join(parts, ", ")
}

// requestIn is the request of a requirement, or nil.
func requestIn(claims []*resourcev1.ResourceClaim, r *explain.Requirement) *resourcev1.DeviceRequest {
	for _, claim := range claims {
		if inspect.RefOf(claim) != r.Claim {
			continue
		}
		if i := slices.IndexFunc(claim.Spec.Devices.Requests, func(q resourcev1.DeviceRequest) bool { return q.Name == r.Request && q.Exactly != nil }); i >= 0 {
			return &claim.Spec.Devices.Requests[i]
		}
	}
	return nil
}

// devicesOf names the devices of a request.
func devicesOf(r *resourcev1.DeviceRequest) string {
	if r.Exactly.AllocationMode == resourcev1.DeviceAllocationModeAll {
		return "all devices of class " + r.Exactly.DeviceClassName
	}
	return words.Count(int(max(1, r.Exactly.Count)), "device") + " of class " + r.Exactly.DeviceClassName
}
