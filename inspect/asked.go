package inspect

import (
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"
)

// Asked is a request of a claim, or one of the alternatives of a request.
type Asked struct {
	// Name is that of the request, or "request/alternative".
	Name string
	// Path is where it is in the spec of a claim, as devices.requests[0].firstAvailable[1].
	Path string
	// Alternative says that it is one of several, of which the others may do.
	Alternative bool
	Class       string
	// Selectors is the field of the spec.
	Selectors   *[]resourcev1.DeviceSelector
	AdminAccess bool
}

// AskedBy returns what a claim asks for, in the order of its requests.
func AskedBy(spec *resourcev1.ResourceClaimSpec) []Asked {
	var out []Asked
	for i := range spec.Devices.Requests {
		r := &spec.Devices.Requests[i]
		at := fmt.Sprintf("devices.requests[%d]", i)
		if e := r.Exactly; e != nil {
			out = append(out, Asked{Name: r.Name, Path: at + ".exactly", Class: e.DeviceClassName, Selectors: &e.Selectors, AdminAccess: isTrue(e.AdminAccess)})
		}
		for j := range r.FirstAvailable {
			sub := &r.FirstAvailable[j]
			out = append(out, Asked{
				Name: r.Name + "/" + sub.Name, Path: fmt.Sprintf("%s.firstAvailable[%d]", at, j), Alternative: true,
				Class: sub.DeviceClassName, Selectors: &sub.Selectors,
			})
		}
	}
	return out
}
