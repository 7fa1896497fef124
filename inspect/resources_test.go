package inspect

import (
	"reflect"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// TestKindsAreAll: every list of Objects has a kind, of the name, the group and the type that Kubernetes has,
// and whatever is done to all lists is done to it.
func TestKindsAreAll(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, flowcontrolv1.AddToScheme, policyv1.AddToScheme, resourcev1.AddToScheme, schedulingv1beta1.AddToScheme, storagev1.AddToScheme, kueuev1beta2.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	scheme.AddKnownTypeWithName(KindOf(CompositePodGroups).GroupVersionKind(), &schedulingv1alpha3.CompositePodGroup{})
	fields := reflect.TypeFor[Objects]()
	if len(Kinds()) != fields.NumField() {
		t.Fatalf("%d kinds, and Objects has %d lists", len(Kinds()), fields.NumField())
	}
	seen := map[string]bool{}
	for _, k := range Kinds() {
		t.Run(k.Name, func(t *testing.T) {
			object, err := scheme.New(k.GroupVersionKind())
			if err != nil {
				t.Fatal(err)
			}
			second, first := object.(metav1.Object), object.DeepCopyObject().(metav1.Object)
			first.SetName("a")
			second.SetName("b")
			var o Objects
			if !o.Add(second) || !o.Add(first) {
				t.Fatal("an object cannot be added")
			}
			for i := range fields.NumField() {
				if reflect.ValueOf(o).Field(i).Len() > 0 {
					seen[fields.Field(i).Name] = true
				}
			}
			copied := o.clone()
			copied.Sort()
			if got := k.Objects(&o); !slices.Equal(got, []metav1.Object{second, first}) {
				t.Errorf("the original was sorted with its copy, or is not the list of the kind: %v", got)
			}
			if got := k.Objects(&copied); !slices.Equal(got, []metav1.Object{first, second}) {
				t.Errorf("not sorted: %v", got)
			}
			SetObjects(&o, k, []metav1.Object{first})
			if got := k.Objects(&o); !slices.Equal(got, []metav1.Object{first}) {
				t.Errorf("set, but it has %v", got)
			}
			if KindOf(k.Resource).Name != k.Name {
				t.Errorf("the kind of %s is %s", k.Resource, KindOf(k.Resource).Name)
			}
		})
	}
	if len(seen) != fields.NumField() {
		t.Errorf("some lists have no kind: %v", seen)
	}
	if new(Objects).Add(&metav1.PartialObjectMetadata{}) {
		t.Error("an object of no kind was added")
	}
	if KindOf("things").Name != "" {
		t.Error("a resource that does not exist has a kind")
	}
}
