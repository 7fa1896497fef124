package poison

import (
	"encoding/json"
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Kind is a kind of object that the program reads.
type Kind struct {
	APIVersion, Name string
	// New returns an empty object.
	New func() any
	// of returns the objects of the kind.
	of func(*inspect.Objects) any
}

// Kinds returns all kinds that a Snapshot is made of.
func Kinds() []Kind {
	resource, core := resourcev1.SchemeGroupVersion.String(), corev1.SchemeGroupVersion.String()
	flow, storage := flowcontrolv1.SchemeGroupVersion.String(), storagev1.SchemeGroupVersion.String()
	scheduling := schedulingv1beta1.SchemeGroupVersion.String()
	return []Kind{
		{resource, "ResourceClaim", func() any { return &resourcev1.ResourceClaim{} }, func(o *inspect.Objects) any { return o.Claims }},
		{resource, "ResourceClaimTemplate", func() any { return &resourcev1.ResourceClaimTemplate{} }, func(o *inspect.Objects) any { return o.Templates }},
		{resource, "DeviceClass", func() any { return &resourcev1.DeviceClass{} }, func(o *inspect.Objects) any { return o.Classes }},
		{resource, "ResourceSlice", func() any { return &resourcev1.ResourceSlice{} }, func(o *inspect.Objects) any { return o.Slices }},
		{resource, "DeviceTaintRule", func() any { return &resourcev1.DeviceTaintRule{} }, func(o *inspect.Objects) any { return o.TaintRules }},
		{core, "Pod", func() any { return &corev1.Pod{} }, func(o *inspect.Objects) any { return o.Pods }},
		{core, "Node", func() any { return &corev1.Node{} }, func(o *inspect.Objects) any { return o.Nodes }},
		{flow, "PriorityLevelConfiguration", func() any { return &flowcontrolv1.PriorityLevelConfiguration{} }, func(o *inspect.Objects) any { return o.PriorityLevels }},
		{flow, "FlowSchema", func() any { return &flowcontrolv1.FlowSchema{} }, func(o *inspect.Objects) any { return o.FlowSchemas }},
		{storage, "CSIStorageCapacity", func() any { return &storagev1.CSIStorageCapacity{} }, func(o *inspect.Objects) any { return o.StorageCapacities }},
		{storage, "StorageClass", func() any { return &storagev1.StorageClass{} }, func(o *inspect.Objects) any { return o.StorageClasses }},
		{storage, "CSIDriver", func() any { return &storagev1.CSIDriver{} }, func(o *inspect.Objects) any { return o.CSIDrivers }},
		{core, "PersistentVolumeClaim", func() any { return &corev1.PersistentVolumeClaim{} }, func(o *inspect.Objects) any { return o.VolumeClaims }},
		{core, "PersistentVolume", func() any { return &corev1.PersistentVolume{} }, func(o *inspect.Objects) any { return o.Volumes }},
		{core, "Namespace", func() any { return &corev1.Namespace{} }, func(o *inspect.Objects) any { return o.Namespaces }},
		{storage, "CSINode", func() any { return &storagev1.CSINode{} }, func(o *inspect.Objects) any { return o.CSINodes }},
		{storage, "VolumeAttachment", func() any { return &storagev1.VolumeAttachment{} }, func(o *inspect.Objects) any { return o.VolumeAttachments }},
		{scheduling, "PodGroup", func() any { return &schedulingv1beta1.PodGroup{} }, func(o *inspect.Objects) any { return o.PodGroups }},
		{core, "ResourceQuota", func() any { return &corev1.ResourceQuota{} }, func(o *inspect.Objects) any { return o.Quotas }},
	}
}

// JSON encodes an object with its kind.
func (k Kind) JSON(object any) ([]byte, error) {
	raw, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("encoding a %s: %w", k.Name, err)
	}
	var fields map[string]any
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, err
	}
	fields["apiVersion"], fields["kind"] = k.APIVersion, k.Name
	return json.Marshal(fields)
}

// Planted is a world in which each object has one hostile text.
type Planted struct {
	Objects inspect.Objects
	// Fields are the fields in which the texts are, as "Pod spec.nodeName", one for each object that has one.
	Fields []string
}

// Plant returns worlds that together have a hostile text in every field of every kind of some objects. Only
// one field of an object is touched, so that the object still plays its part. objects is called for fresh
// copies.
func Plant(objects func() inspect.Objects, text string) []Planted {
	tried := map[string]bool{}
	var worlds []Planted
	for {
		world := Planted{Objects: objects()}
		for _, k := range Kinds() {
			list := reflect.ValueOf(k.of(&world.Objects))
			for i := range list.Len() {
				for _, leaf := range Strings(list.Index(i).Interface()) {
					if field := k.Name + " " + leaf.Path; !tried[field] {
						tried[field] = true
						leaf.Set(text)
						world.Fields = append(world.Fields, field)
						break
					}
				}
			}
		}
		if len(world.Fields) == 0 {
			return worlds
		}
		worlds = append(worlds, world)
	}
}

// Encode returns the objects as a stream of JSON documents.
func Encode(o *inspect.Objects) ([]byte, error) {
	var out []byte
	for _, k := range Kinds() {
		list := reflect.ValueOf(k.of(o))
		for i := range list.Len() {
			raw, err := k.JSON(list.Index(i).Interface())
			if err != nil {
				return nil, err
			}
			out = append(append(out, raw...), "\n---\n"...)
		}
	}
	return out, nil
}
