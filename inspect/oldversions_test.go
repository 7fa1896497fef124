package inspect_test

import (
	"testing"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestOldWriters: of managed fields those stay that are of an old version, without the fields, and of a rule
// besides who set the taint, who need not be the same.
func TestOldWriters(t *testing.T) {
	at := metav1.NewTime(time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC))
	entry := func(manager, version, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{
			Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: version, Time: &at, FieldsType: "FieldsV1",
			FieldsV1: metav1.NewFieldsV1(fields), Subresource: "",
		}
	}
	entries := []metav1.ManagedFieldsEntry{
		entry("new", "resource.k8s.io/v1", `{"f:spec":{"f:taint":{}}}`),
		entry("old", "resource.k8s.io/v1beta1", `{"f:spec":{"f:deviceSelector":{}}}`),
		entry("other", "apps/v1beta1", `{"f:spec":{}}`),
	}
	slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{ManagedFields: entries}}
	rule := &resourcev1.DeviceTaintRule{ObjectMeta: metav1.ObjectMeta{ManagedFields: entries}}
	for range 2 { // what is reduced stays as it is
		inspect.ReduceManagedFields(slice)
		inspect.ReduceManagedFields(rule)
		for _, o := range []metav1.Object{slice, rule} {
			got := inspect.OldWriters(o)
			if len(got) != 1 || got[0].Manager != "old" || got[0].APIVersion != "resource.k8s.io/v1beta1" || !got[0].Time.Equal(&at) {
				t.Errorf("old writers: %+v", got)
			}
		}
		if len(slice.ManagedFields) != 1 || slice.ManagedFields[0].FieldsV1 != nil {
			t.Errorf("a slice keeps %+v", slice.ManagedFields)
		}
		if by := inspect.TaintSetBy(rule); by != "new" {
			t.Errorf("the taint was set by %q", by)
		}
	}
}
