package requests

import (
	"context"
	"fmt"
	"strings"
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
