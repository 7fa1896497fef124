package inspect_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestClassOfExtendedResource: the newest class counts, then the first by name (extendedresourcecache of the
// scheduler).
func TestClassOfExtendedResource(t *testing.T) {
	class := func(name, resource string, day int) *resourcev1.DeviceClass {
		c := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(time.Unix(0, 0).AddDate(0, 0, day))}}
		if resource != "" {
			c.Spec.ExtendedResourceName = ptr.To(resource)
		}
		return c
	}
	objects := inspect.Objects{Classes: []*resourcev1.DeviceClass{
		class("a", "example.com/gpu", 1), class("b", "example.com/gpu", 3), class("c", "example.com/gpu", 3), class("d", "example.com/gpu", 2),
		class("plain", "", 1),
	}}
	on := inspect.New(objects, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)})
	for resource, want := range map[corev1.ResourceName]string{
		"example.com/gpu": "b", "deviceclass.resource.kubernetes.io/a": "a", "deviceclass.resource.kubernetes.io/plain": "plain",
		"example.com/other": "", "plain": "",
	} {
		got := ""
		if class := on.ClassOfExtendedResource(resource); class != nil {
			got = class.Name
		}
		if got != want {
			t.Errorf("%s is provided by %q, want %q", resource, got, want)
		}
	}
	without := on.With(func(o *inspect.Objects) { o.Classes = o.Classes[:1] })
	if got := without.ClassOfExtendedResource("example.com/gpu"); got == nil || got.Name != "a" {
		t.Errorf("with class a alone it is provided by %v", got)
	}
	off := on.WithFeatures(on.Features().With(map[inspect.Gate]bool{inspect.GateExtendedResource: false}))
	if got := off.ClassOfExtendedResource("example.com/gpu"); got != nil {
		t.Errorf("while the scheduler does not know of it, class %s provides it", got.Name)
	}
}

func TestIsExtendedResource(t *testing.T) {
	for name, want := range map[corev1.ResourceName]bool{
		"example.com/gpu": true, "deviceclass.resource.kubernetes.io/gpu": true,
		"cpu": false, "gpu": false, "hugepages-2Mi": false, "kubernetes.io/gpu": false, "example.kubernetes.io/gpu": false, "requests.example.com/gpu": false,
	} {
		if got := inspect.IsExtendedResource(name); got != want {
			t.Errorf("%s is an extended resource: %t, want %t", name, got, want)
		}
	}
}
