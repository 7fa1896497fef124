package wire

import (
	"encoding/json"
	"fmt"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	flowcontrolv1beta3 "k8s.io/api/flowcontrol/v1beta3"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	storagev1beta1 "k8s.io/api/storage/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	drav1beta1 "k8s.io/dynamic-resource-allocation/api/v1beta1"
	drav1beta2 "k8s.io/dynamic-resource-allocation/api/v1beta2"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// scheme knows all kinds at every version and how to convert resource.k8s.io to v1. It is
// smaller than that of client-go, and built when a server is asked for the first time, to keep the
// start of the program cheap.
var scheme = sync.OnceValue(func() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, appsv1.AddToScheme, rbacv1.AddToScheme, policyv1.AddToScheme,
		resourcev1.AddToScheme, drav1beta2.AddToScheme, drav1beta1.AddToScheme,
		flowcontrolv1.AddToScheme, flowcontrolv1beta3.AddToScheme,
		storagev1.AddToScheme, storagev1beta1.AddToScheme,
		schedulingv1beta1.AddToScheme, schedulingv1alpha3.AddToScheme, kueuev1beta2.AddToScheme,
	} {
		if err := add(s); err != nil {
			panic(fmt.Sprintf("registering API types: %v", err)) // a program error: types clash
		}
	}
	s.AddKnownTypeWithName(resourceAlpha.WithKind("DeviceTaintRuleList"), &alphaTaintRuleList{})
	s.AddKnownTypeWithName(schedulingAlpha.WithKind("PodGroupList"), &alphaPodGroupList{})
	s.AddKnownTypeWithName(compositePodGroup, &schedulingv1alpha3.CompositePodGroup{})
	s.AddKnownTypeWithName(compositePodGroup.GroupVersion().WithKind(compositePodGroup.Kind+"List"), &schedulingv1alpha3.CompositePodGroupList{})
	addKueue(s)
	metav1.AddToGroupVersion(s, schema.GroupVersion{Version: "v1"})
	return s
})

// compositePodGroup is the kind as Kubernetes 1.38 serves it.
var compositePodGroup = inspect.KindOf(inspect.CompositePodGroups).GroupVersionKind()

var codecs = sync.OnceValue(func() serializer.CodecFactory { return serializer.NewCodecFactory(scheme(), serializer.EnableStrict) })

// convert fills out, a list at the newest version, from a list of the same kind at an older one.
func (k Kind) convert(in, out runtime.Object) error {
	switch in := in.(type) {
	case *alphaTaintRuleList:
		return convertAlphaTaintRules(in, out)
	case *alphaPodGroupList:
		return convertAlphaPodGroups(in, out)
	}
	if old, ok := in.(*alphaList[upgraded]); ok {
		return convertUpgraded(old, out)
	}
	if k.Group == resourcev1.GroupName {
		return scheme().Convert(in, out, nil)
	}
	// The older version has the same fields, and the Kubernetes modules export no conversion.
	data, err := json.Marshal(in)
	if err == nil {
		err = json.Unmarshal(data, out)
	}
	if err != nil {
		return fmt.Errorf("converting %T: %w", in, err)
	}
	return nil
}
