package commit

import (
	"context"
	"fmt"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Permission is one thing that the API server asks the user's authorization for.
type Permission struct {
	Verb, Group, Resource, Subresource string
	Namespace                          string // "": in all namespaces
	Name                               string // "": of any name
}

// String names the permission as RBAC rules do.
func (p Permission) String() string {
	resource := p.Resource
	if p.Subresource != "" {
		resource += "/" + p.Subresource
	}
	if p.Group != "" {
		resource += " (" + p.Group + ")"
	}
	where := " at cluster scope"
	if p.Namespace != "" {
		where = " in namespace " + p.Namespace
	}
	return p.Verb + " " + resource + where
}

// bindingSince is the release from which on a change of an allocation needs a permission of its own (gate
// DRAResourceClaimGranularStatusAuthorization).
const bindingSince = 36

// Needed returns what a run needs to be allowed to do for claims of the given namespaces, beside reading
// what a decision needs. pods: that claims are reserved for pods.
func Needed(f inspect.Features, action Action, namespaces []string, pods bool) []Permission {
	claims := Permission{Group: resourcev1.GroupName, Resource: "resourceclaims"}
	with := func(verb, subresource, namespace string) Permission {
		p := claims
		p.Verb, p.Subresource, p.Namespace = verb, subresource, namespace
		return p
	}
	var out []Permission
	if action == Allocating {
		out = append(out, with("list", "", ""))
	}
	for _, namespace := range slices.Compact(slices.Sorted(slices.Values(namespaces))) {
		out = append(out, with("get", "", namespace), with("update", "", namespace), with("update", "status", namespace))
		if pods {
			out = append(out, Permission{Verb: "get", Resource: "pods", Namespace: namespace})
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
func NeededForFences() []Permission {
	var out []Permission
	for _, verb := range []string{"list", "create", "delete"} {
		out = append(out, Permission{Verb: verb, Group: resourcev1.GroupName, Resource: "devicetaintrules"})
	}
	return out
}

// adminLabelSince is the release from which on the label of the namespace is what permits admin access.
const adminLabelSince = 34

// CheckAdminAccess returns an error if a claim is to get admin access to a device in a namespace that does
// not permit it: the API server would refuse the write. Where the namespace cannot be read, that is left to
// the API server.
func (a *API) CheckAdminAccess(ctx context.Context, d *Decision) error {
	if d.Snapshot.Features().Minor < adminLabelSince {
		return nil
	}
	for _, claim := range d.pending() {
		if !slices.ContainsFunc(announced(d.Allocations[inspect.RefOf(claim)]), func(d AnnouncedDevice) bool { return d.Admin }) {
			continue
		}
		labels, err := a.namespaceLabels(ctx, claim.Namespace)
		if err == nil && labels[resourcev1.DRAAdminNamespaceLabelKey] != "true" {
			return fmt.Errorf("claim %s asks for admin access, and its namespace lacks the label %s: \"true\" that permits it", inspect.RefOf(claim), resourcev1.DRAAdminNamespaceLabelKey)
		}
	}
	return ctx.Err()
}

// A MissingError says which permissions the user lacks.
type MissingError struct{ Missing []Permission }

// Error names them all.
func (e *MissingError) Error() string {
	names := make([]string, len(e.Missing))
	for i, p := range e.Missing {
		names[i] = p.String()
	}
	return fmt.Sprintf("you may not %s", strings.Join(names, ", nor "))
}

// Check asks the server for permissions. It returns a *MissingError with those that are missing. A server
// that cannot be asked, which is tried once, is no error: it refuses the writes themselves if it has to.
func (a *API) Check(ctx context.Context, needed []Permission) error {
	missing := &MissingError{}
	for _, p := range needed {
		ok, err := a.may(ctx, p)
		if err != nil {
			break
		}
		if !ok {
			missing.Missing = append(missing.Missing, p)
		}
	}
	if len(missing.Missing) > 0 {
		return missing
	}
	return ctx.Err()
}
