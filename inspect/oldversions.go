package inspect

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// kindVersion is a version of a kind.
type kindVersion struct{ kind, version string }

// removedVersions says from which minor release on a server no longer serves a version that older ones served
// (the APILifecycleRemoved of each type in k8s.io/api).
var removedVersions = map[kindVersion]int{
	{"ResourceClaim", "resource.k8s.io/v1beta1"}: 38, {"ResourceClaim", "resource.k8s.io/v1beta2"}: 39,
	{"ResourceClaimTemplate", "resource.k8s.io/v1beta1"}: 38, {"ResourceClaimTemplate", "resource.k8s.io/v1beta2"}: 39,
	{"DeviceClass", "resource.k8s.io/v1beta1"}: 38, {"DeviceClass", "resource.k8s.io/v1beta2"}: 39,
	{"ResourceSlice", "resource.k8s.io/v1beta1"}: 38, {"ResourceSlice", "resource.k8s.io/v1beta2"}: 39,
	{"DeviceTaintRule", "resource.k8s.io/v1alpha3"}: 39, {"DeviceTaintRule", "resource.k8s.io/v1beta2"}: 42,
	{"CSIStorageCapacity", "storage.k8s.io/v1beta1"}:                       27,
	{"FlowSchema", "flowcontrol.apiserver.k8s.io/v1beta3"}:                 32,
	{"PriorityLevelConfiguration", "flowcontrol.apiserver.k8s.io/v1beta3"}: 32,
}

// oldVersions are the versions of removedVersions.
var oldVersions = func() map[string]string {
	out := map[string]string{}
	for v := range removedVersions {
		out[v.version] = v.version
	}
	return out
}()

// RemovedIn returns from which minor release of Kubernetes on a version of a kind, such as
// "resource.k8s.io/v1beta1", is no longer served, if that is known.
func RemovedIn(kind, apiVersion string) (minor int, known bool) {
	minor, known = removedVersions[kindVersion{kind, apiVersion}]
	return minor, known
}

// HasOld reports whether such a version is of the kind.
func HasOld(kind string) bool {
	for v := range removedVersions {
		if v.kind == kind {
			return true
		}
	}
	return false
}

// OldWriters returns who has written an object in a version that some release no longer serves, each with the
// version and the time, as ReduceManagedFields leaves them.
func OldWriters(object metav1.Object) []metav1.ManagedFieldsEntry {
	var out []metav1.ManagedFieldsEntry
	for _, e := range object.GetManagedFields() {
		if canonical, old := oldVersions[e.APIVersion]; old {
			out = append(out, metav1.ManagedFieldsEntry{Manager: e.Manager, Operation: e.Operation, APIVersion: canonical, Time: e.Time})
		}
	}
	return out
}
