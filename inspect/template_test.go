package inspect

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestClaimFromTemplate(t *testing.T) {
	spec := resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{Name: "gpu"}}}}
	template := &resourcev1.ResourceClaimTemplate{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "t", Labels: map[string]string{"of": "template"}},
		Spec: resourcev1.ResourceClaimTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"of": "claim"}, Annotations: map[string]string{"a": "b"}}, Spec: spec,
		},
	}
	want := &resourcev1.ResourceClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c", Labels: map[string]string{"of": "claim"}, Annotations: map[string]string{"a": "b"}},
		Spec:       spec,
	}
	if diff := cmp.Diff(want, ClaimFromTemplate(template, "c")); diff != "" {
		t.Error(diff)
	}
}
