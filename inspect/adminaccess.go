package inspect

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
)

// GrantsAdminAccess reports whether a namespace has the label without which the API server takes no claim for
// admin access that is in it, nor lets one be allocated (pkg/registry/resource, AuthorizedForAdmin). known is
// false if the namespace is not in the snapshot.
func (s *Snapshot) GrantsAdminAccess(namespace string) (granted, known bool) {
	ns, known := lookup(s.objects.Namespaces, "", namespace)
	return known && ns.Labels[resourcev1.DRAAdminNamespaceLabelKey] == "true", known
}

// GrantAdminAccess gives a namespace that label. A namespace that does not exist is created.
func (o *Objects) GrantAdminAccess(namespace string) {
	o.Namespaces = slices.Clone(o.Namespaces)
	at := slices.IndexFunc(o.Namespaces, func(ns *corev1.Namespace) bool { return ns.Name == namespace })
	if at < 0 {
		at, o.Namespaces = len(o.Namespaces), append(o.Namespaces, &corev1.Namespace{})
		o.Namespaces[at].Name = namespace
	}
	ns := o.Namespaces[at].DeepCopy()
	if ns.Labels == nil {
		ns.Labels = map[string]string{}
	}
	ns.Labels[resourcev1.DRAAdminNamespaceLabelKey] = "true"
	o.Namespaces[at] = ns
}

// AdminRequest is the first request of a claim for admin access. It is -1 if there is none.
func AdminRequest(spec *resourcev1.ResourceClaimSpec) int {
	return slices.IndexFunc(spec.Devices.Requests, func(r resourcev1.DeviceRequest) bool { return r.Exactly != nil && isTrue(r.Exactly.AdminAccess) })
}
