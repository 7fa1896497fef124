package inspect

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
)

// IsExtendedResource reports whether a resource is one that device plugins or device classes provide: it has
// a domain that is not Kubernetes' own, or is the name that every device class has as a resource.
func IsExtendedResource(name corev1.ResourceName) bool {
	if strings.HasPrefix(string(name), resourcev1.ResourceDeviceClassPrefix) {
		return true
	}
	native := !strings.Contains(string(name), "/") || strings.Contains(string(name), corev1.ResourceDefaultNamespacePrefix)
	return !native && !strings.HasPrefix(string(name), corev1.DefaultResourceRequestsPrefix)
}

// ClassOfExtendedResource returns the class whose devices the scheduler gives to pods that ask for an
// extended resource, on nodes where no device plugin offers it. Of several classes that name the resource it
// is the newest, and of equally old ones the first by name. It is nil if there is none, or if the scheduler
// does not do so (feature gate DRAExtendedResource).
func (s *Snapshot) ClassOfExtendedResource(name corev1.ResourceName) *resourcev1.DeviceClass {
	return s.extendedClasses()[name]
}

func (s *Snapshot) findExtendedClasses() map[corev1.ResourceName]*resourcev1.DeviceClass {
	if !s.config.Features.Enabled(GateExtendedResource) {
		return nil
	}
	classes := slices.Clone(s.objects.Classes)
	slices.SortStableFunc(classes, func(a, b *resourcev1.DeviceClass) int {
		return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	out := map[corev1.ResourceName]*resourcev1.DeviceClass{}
	for _, class := range classes {
		out[corev1.ResourceName(resourcev1.ResourceDeviceClassPrefix+class.Name)] = class
		if class.Spec.ExtendedResourceName == nil {
			continue
		}
		if name := corev1.ResourceName(*class.Spec.ExtendedResourceName); out[name] == nil {
			out[name] = class
		}
	}
	return out
}
