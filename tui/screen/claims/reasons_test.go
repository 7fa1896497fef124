package claims

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/screentest"
)

// dearSelector costs nearly what CEL allows, for each device anew.
const dearSelector = `[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, [1,2,3,4,5,6,7,8,9,10].all(c, ` +
	`[1,2,3,4,5,6,7,8,9,10].all(d, [1,2,3,4,5,6,7,8,9,10].all(e, device.attributes["gpu.example.com"].uuid != "x"))))) && device.attributes["gpu.example.com"].uuid == "x"`

// A claim whose selector is dear gets no reason, and comes last when reasons are worked out again.
func TestSlowClaimsComeLast(t *testing.T) {
	claim := func(name, selector string) *resourcev1.ResourceClaim {
		c := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: name}}
		c.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "r", Exactly: &resourcev1.ExactDeviceRequest{
			DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1,
			Selectors: []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: selector}}},
		}}}
		return c
	}
	slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: "s"}}
	slice.Spec = resourcev1.ResourceSliceSpec{Driver: "gpu.example.com", NodeName: ptr.To("n1"), Pool: resourcev1.ResourcePool{Name: "n1", Generation: 1, ResourceSliceCount: 1}}
	for i := range 96 {
		slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{Name: fmt.Sprintf("gpu-%d", i), Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
			"uuid": {StringValue: ptr.To(fmt.Sprintf("u-%d", i))},
		}})
	}
	w := screentest.World(t, inspect.Objects{
		Claims:  []*resourcev1.ResourceClaim{claim("a-dear", dearSelector), claim("b-plain", `false`)},
		Classes: []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}}},
		Slices:  []*resourcev1.ResourceSlice{slice},
		Nodes:   []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}},
	})
	done := newSurvey(w, nil)
	for len(done.pending) > 0 {
		var err error
		if done, err = done.proceed(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := done.reasons[inspect.ClaimRef{Namespace: "d", Name: "a-dear"}]; got.text != notWorkedOut || got.stuck() {
		t.Errorf("the dear claim: %+v", got)
	}
	if got := done.reasons[inspect.ClaimRef{Namespace: "d", Name: "b-plain"}]; !got.stuck() {
		t.Errorf("the plain claim: %+v", got)
	}
	if again := newSurvey(w, done.reasons); again.pending[0].Name != "b-plain" {
		t.Errorf("%s comes first again", again.pending[0].Name)
	}
}
