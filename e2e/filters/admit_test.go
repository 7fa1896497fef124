package filters

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	podutil "k8s.io/kubernetes/pkg/api/pod"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	"k8s.io/kubernetes/pkg/apis/core/validation"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	"k8s.io/kubernetes/pkg/apis/resource"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	resourcevalidation "k8s.io/kubernetes/pkg/apis/resource/validation"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	"k8s.io/kubernetes/pkg/apis/storage"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
	storagevalidation "k8s.io/kubernetes/pkg/apis/storage/validation"
	"k8s.io/kubernetes/pkg/features"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// admitted is a problem as an API server has it: with defaults, and only if it lets the objects in.
func (p *problem) admitted() (*problem, error) {
	if err := setGates(p.features()); err != nil {
		return nil, err
	}
	out := &problem{gates: p.gates, controllers: p.controllers, scheduler: p.scheduler}
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

// admit returns a copy of an object as the server keeps it, or the reason for which it would refuse it.
func admit(object metav1.Object) (metav1.Object, error) {
	out := object.(runtime.Object).DeepCopyObject() //nolint:forcetypeassert // every object of the API is
	legacyscheme.Scheme.Default(out)
	var errs field.ErrorList
	if object.GetName() == "" {
		return nil, fmt.Errorf("the API server would refuse %T without a name", object)
	}
	if pod, ok := out.(*corev1.Pod); ok {
		out, errs = admitPod(pod)
	} else {
		errs = validate(out)
	}
	if len(errs) > 0 {
		return nil, fmt.Errorf("the API server would refuse %T %s: %w", object, object.GetName(), errs.ToAggregate())
	}
	return out.(metav1.Object), nil //nolint:forcetypeassert // the copy of one
}

// admitPod does with a pod what the server does when it is created, which is more than to fill in defaults.
// The status, which the server would empty, is that of later.
func admitPod(pod *corev1.Pod) (*corev1.Pod, field.ErrorList) {
	mergeLabelKeys(pod)
	internal, out := &core.Pod{}, &corev1.Pod{}
	if err := legacyscheme.Scheme.Convert(pod, internal, nil); err != nil {
		return nil, field.ErrorList{field.InternalError(nil, err)}
	}
	podutil.DropDisabledPodFields(internal, nil)
	podutil.DefaultPodLevelResources(internal)
	options := podutil.GetValidationOptionsFromPodSpecAndMeta(&internal.Spec, nil, &internal.ObjectMeta, nil)
	options.ResourceIsPod = true
	errs := validation.ValidatePodCreate(internal, options)
	if err := legacyscheme.Scheme.Convert(internal, out, nil); err != nil {
		return nil, field.ErrorList{field.InternalError(nil, err)}
	}
	return out, errs
}

// olderServer is an annotation of pods that were created by a server which left the selectors of spread
// constraints alone.
const olderServer = "example.com/older-server"

// mergeLabelKeys puts what matchLabelKeys and mismatchLabelKeys stand for into the selectors beside them, as
// the server does.
func mergeLabelKeys(pod *corev1.Pod) {
	merge := func(selector *metav1.LabelSelector, keys []string, operator metav1.LabelSelectorOperator) {
		for _, key := range keys {
			if value, ok := pod.Labels[key]; ok && selector != nil {
				selector.MatchExpressions = append(selector.MatchExpressions, metav1.LabelSelectorRequirement{Key: key, Operator: operator, Values: []string{value}})
			}
		}
	}
	if utilfeature.DefaultFeatureGate.Enabled(features.MatchLabelKeysInPodTopologySpread) && pod.Annotations[olderServer] == "" {
		for i := range pod.Spec.TopologySpreadConstraints {
			c := &pod.Spec.TopologySpreadConstraints[i]
			merge(c.LabelSelector, c.MatchLabelKeys, metav1.LabelSelectorOpIn)
		}
	}
	for _, term := range podTerms(pod) {
		merge(term.LabelSelector, term.MatchLabelKeys, metav1.LabelSelectorOpIn)
		merge(term.LabelSelector, term.MismatchLabelKeys, metav1.LabelSelectorOpNotIn)
	}
}

// podTerms are the terms of a pod about other pods that are required.
func podTerms(pod *corev1.Pod) []*corev1.PodAffinityTerm {
	var out []*corev1.PodAffinityTerm
	if pod.Spec.Affinity == nil {
		return nil
	}
	if a := pod.Spec.Affinity.PodAffinity; a != nil {
		for i := range a.RequiredDuringSchedulingIgnoredDuringExecution {
			out = append(out, &a.RequiredDuringSchedulingIgnoredDuringExecution[i])
		}
	}
	if a := pod.Spec.Affinity.PodAntiAffinity; a != nil {
		for i := range a.RequiredDuringSchedulingIgnoredDuringExecution {
			out = append(out, &a.RequiredDuringSchedulingIgnoredDuringExecution[i])
		}
	}
	return out
}

// validate checks what decides where pods can run.
func validate(object runtime.Object) field.ErrorList {
	internal, err := legacyscheme.Scheme.UnsafeConvertToVersion(object.DeepCopyObject(), runtime.InternalGroupVersioner)
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	switch o := internal.(type) {
	case *core.Node:
		return validation.ValidateNode(o)
	case *core.PersistentVolume:
		return validation.ValidatePersistentVolume(o, validation.ValidationOptionsForPersistentVolume(o, nil))
	case *core.PersistentVolumeClaim:
		return validation.ValidatePersistentVolumeClaim(o, validation.ValidationOptionsForPersistentVolumeClaimCreate())
	case *resource.ResourceClaim:
		return resourcevalidation.ValidateResourceClaim(o)
	case *resource.DeviceClass:
		return resourcevalidation.ValidateDeviceClass(o)
	case *resource.ResourceSlice:
		return resourcevalidation.ValidateResourceSlice(o)
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
	return inspect.New(p.objects, inspect.Config{Features: p.features(), Health: health, ServerVersion: p.version(), Scheduler: p.scheduler, Selecting: p.controllers.selecting()})
}

// version is the release of the server.
func (p *problem) version() string {
	patches := map[int]int{35: 8, 36: 5, 37: 2}
	minor := cmp.Or(p.minor, inspect.NewestMinor)
	return fmt.Sprintf("v1.%d.%d", minor, patches[minor])
}
