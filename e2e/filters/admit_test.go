package filters

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	podutil "k8s.io/kubernetes/pkg/api/pod"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	"k8s.io/kubernetes/pkg/apis/core/validation"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	"k8s.io/kubernetes/pkg/apis/storage"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
	storagevalidation "k8s.io/kubernetes/pkg/apis/storage/validation"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// admitted is a problem as an API server has it: with defaults, and only if it lets the objects in.
func (p *problem) admitted() (*problem, error) {
	out := &problem{gates: p.gates}
	for _, kind := range inspect.Kinds() {
		for _, o := range kind.Objects(&p.objects) {
			object, err := admit(o)
			if err != nil {
				return nil, err
			}
			out.objects.Add(object)
		}
	}
	for _, pod := range p.asked {
		object, err := admit(pod)
		if err != nil {
			return nil, err
		}
		out.asked = append(out.asked, object.(*corev1.Pod)) //nolint:forcetypeassert // a copy of a pod
		if pod.Spec.NodeName == "" {
			out.objects.Pods = append(out.objects.Pods, object.(*corev1.Pod)) //nolint:forcetypeassert // the same
		}
	}
	return out, nil
}

// admit returns a copy of an object with the server's defaults, or the reason for which the server would refuse it.
func admit(object metav1.Object) (metav1.Object, error) {
	out := object.(runtime.Object).DeepCopyObject() //nolint:forcetypeassert // every object of the API is
	legacyscheme.Scheme.Default(out)
	if errs := validate(out); len(errs) > 0 {
		return nil, fmt.Errorf("the API server would refuse %T %s: %w", object, object.GetName(), errs.ToAggregate())
	}
	return out.(metav1.Object), nil //nolint:forcetypeassert // the copy of one
}

// validate checks what decides where pods can run.
func validate(object runtime.Object) field.ErrorList {
	internal, err := legacyscheme.Scheme.UnsafeConvertToVersion(object.DeepCopyObject(), runtime.InternalGroupVersioner)
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	switch o := internal.(type) {
	case *core.Pod:
		options := podutil.GetValidationOptionsFromPodSpecAndMeta(&o.Spec, nil, &o.ObjectMeta, nil)
		options.ResourceIsPod = true
		bound := o.DeepCopy()
		bound.Spec.SchedulingGates = nil // a pod may be bound after its gates were removed only
		if o.Spec.NodeName == "" {
			bound = o
		}
		return validation.ValidatePodCreate(bound, options)
	case *core.Node:
		return validation.ValidateNode(o)
	case *core.PersistentVolume:
		return validation.ValidatePersistentVolume(o, validation.ValidationOptionsForPersistentVolume(o, nil))
	case *core.PersistentVolumeClaim:
		return validation.ValidatePersistentVolumeClaim(o, validation.ValidationOptionsForPersistentVolumeClaimCreate())
	case *storage.StorageClass:
		return storagevalidation.ValidateStorageClass(o)
	case *storage.CSINode:
		return storagevalidation.ValidateCSINode(o)
	case *storage.CSIDriver:
		return storagevalidation.ValidateCSIDriver(o)
	case *storage.CSIStorageCapacity:
		return storagevalidation.ValidateCSIStorageCapacity(o, storagevalidation.CSIStorageCapacityValidateOptions{})
	}
	return nil
}

// snapshot is the cluster as this project reads it.
func (p *problem) snapshot() *inspect.Snapshot {
	health := map[inspect.Resource]inspect.Health{}
	for _, r := range inspect.Resources() {
		health[r] = inspect.Health{State: inspect.Synced}
	}
	return inspect.New(p.objects, inspect.Config{Features: p.features(), Health: health, ServerVersion: "v1.37.1"})
}
