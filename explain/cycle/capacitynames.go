package cycle

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
)

// sameCapacityMinor is the Kubernetes release from which on a capacity without a domain is that of the
// device's driver: "cpu" of a device of dra.cpu is "dra.cpu/cpu". The releases that this program decides for
// take them for two.
const sameCapacityMinor = 38

// AddCapacityNames adds that the answer is not known where it depends on whether two names are the same
// capacity: if a release takes them for one, and a request names the capacity in another way than the devices
// do.
func (l *Limits) AddCapacityNames(q *whatif.Question) {
	s := q.Cluster.Snapshot()
	if s.Features().Minor < sameCapacityMinor {
		return
	}
	names := map[resourcev1.QualifiedName]bool{}
	for _, at := range q.RequestRefs() {
		if asked := *whatif.FieldsOf(q.Claims, at).Capacity; asked != nil {
			for name := range asked.Requests {
				names[name] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		for _, slice := range s.Slices() {
			other := otherForm(slice.Spec.Driver, name)
			if other == "" || !slices.ContainsFunc(slice.Spec.Devices, func(d resourcev1.Device) bool { _, ok := d.Capacity[other]; return ok }) {
				continue
			}
			l.MayBeMore, l.MayBeTaken = true, true
			l.Remarks = append(l.Remarks, fmt.Sprintf(
				"from Kubernetes 1.%d on, the capacity %s is also %s, which this program does not model yet: the answer is not known", sameCapacityMinor, name, other))
			break
		}
	}
}

// otherForm is the name of a capacity with the domain of a driver if it has none, or without it if it has
// that one. It is "" for a name with another domain.
func otherForm(driver string, name resourcev1.QualifiedName) resourcev1.QualifiedName {
	if bare, ok := strings.CutPrefix(string(name), driver+"/"); ok {
		return resourcev1.QualifiedName(bare)
	}
	if strings.Contains(string(name), "/") {
		return ""
	}
	return resourcev1.QualifiedName(driver + "/" + string(name))
}
