package commit

import (
	"context"
	"fmt"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/commit/requests"
)

// bindingSince is the release from which on a change of an allocation needs a permission of its own (gate
// DRAResourceClaimGranularStatusAuthorization).
const bindingSince = 36

// Needed returns what a run needs to be allowed to do for claims of the given namespaces, beside reading
// what a decision needs. pods: that claims are reserved for pods.
func Needed(f inspect.Features, action Action, namespaces []string, pods bool) []requests.Permission {
	claims := requests.Permission{Group: resourcev1.GroupName, Resource: "resourceclaims"}
	with := func(verb, subresource, namespace string) requests.Permission {
		p := claims
		p.Verb, p.Subresource, p.Namespace = verb, subresource, namespace
		return p
	}
	var out []requests.Permission
	if action == Allocating {
		out = append(out, with("list", "", ""))
	}
	for _, namespace := range slices.Compact(slices.Sorted(slices.Values(namespaces))) {
		out = append(out, with("get", "", namespace), with("update", "", namespace), with("update", "status", namespace))
		if pods {
			out = append(out, requests.Permission{Verb: "get", Resource: "pods", Namespace: namespace})
		}
	}
	if f.Minor >= bindingSince {
		// The server asks for it at cluster scope and for any name, whichever claim is written, with the
		// verb of the request.
		out = append(out, with("update", resourcev1.SubresourceBinding, ""))
	}
	return out
}

// NeededForFences returns what a run needs for fences (see RuleServer), which it can do without.
func NeededForFences() []requests.Permission {
	var out []requests.Permission
	for _, verb := range []string{"list", "create", "delete"} {
		out = append(out, requests.Permission{Verb: verb, Group: resourcev1.GroupName, Resource: "devicetaintrules"})
	}
	return out
}

// adminLabelSince is the release from which on the label of the namespace is what permits admin access.
const adminLabelSince = 34

// CheckAdminAccess returns an error if a claim is to get admin access to a device in a namespace that does
// not permit it: the API server would refuse the write. Where the namespace cannot be read, that is left to
// the API server.
func CheckAdminAccess(ctx context.Context, api *requests.API, d *Decision) error {
	if d.Snapshot.Features().Minor < adminLabelSince {
		return nil
	}
	for _, claim := range d.pending() {
		if !slices.ContainsFunc(announced(d.Allocations[inspect.RefOf(claim)]), func(d AnnouncedDevice) bool { return d.Admin }) {
			continue
		}
		labels, err := api.NamespaceLabels(ctx, claim.Namespace)
		if err == nil && labels[resourcev1.DRAAdminNamespaceLabelKey] != "true" {
			return fmt.Errorf("claim %s asks for admin access, and its namespace lacks the label %s: \"true\" that permits it", inspect.RefOf(claim), resourcev1.DRAAdminNamespaceLabelKey)
		}
	}
	return ctx.Err()
}
