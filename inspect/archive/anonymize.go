package archive

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// anonymize replaces every text in the objects: names by numbered names, other text by numbered values, the
// same text by the same value wherever it occurs, in expressions too. What stays is what everybody knows
// (public.go). Dropped are labels that no selector is about, messages, parameters for drivers and data
// sources of volumes. Numbers, amounts, times and true or false are not text.
//
// The error is that of a configuration of kube-scheduler or Kueue that cannot be read.
func anonymize(objects []listing, h *Header) error {
	h.Anonymized = true
	if h.ServerVersion != "" {
		h.ServerVersion = cmp.Or(serverVersion.FindString(h.ServerVersion), "unknown")
	}
	if h.SchedulerUnreadable != "" {
		h.Scheduler, h.SchedulerUnreadable = "", "kube-scheduler has a configuration that could not be read"
	}
	r := newRenamer()
	r.all(objects, h)
	if _, err := r.scheduler(h.Scheduler); err != nil {
		return err
	}
	if _, err := r.kueue(h.Kueue); err != nil {
		return err
	}
	r.number()
	r.all(objects, h)
	var err error
	if h.Scheduler, err = r.scheduler(h.Scheduler); err != nil {
		return err
	}
	if h.Kueue, err = r.kueue(h.Kueue); err != nil {
		return err
	}
	h.SchedulerOrigin = origin(h.SchedulerOrigin)
	h.InexactSelectors = r.inexact
	for i := range objects {
		slices.SortStableFunc(objects[i].objects, func(a, b metav1.Object) int {
			return strings.Compare(a.GetNamespace()+"/"+a.GetName(), b.GetNamespace()+"/"+b.GetName())
		})
	}
	return nil
}

func (r *renamer) all(objects []listing, h *Header) {
	for resource, health := range h.Health {
		health.Namespaces = slices.Clone(health.Namespaces)
		for i := range health.Namespaces {
			health.Namespaces[i] = r.name(namespaces, health.Namespaces[i])
		}
		if !r.learning {
			health.Message = ""
		}
		h.Health[resource] = health
	}
	for _, of := range objects {
		for _, object := range of.objects {
			if r.learning {
				dropFreeText(object)
			}
			r.own = ownNames[of.Resource]
			r.walk(reflect.ValueOf(object).Elem(), nil)
		}
	}
}

// ownNames are what the objects themselves are called.
var ownNames = map[inspect.Resource]names{
	inspect.Claims: claims, inspect.Templates: templates, inspect.Classes: classes, inspect.Slices: slicesOf, inspect.TaintRules: taintRules,
	inspect.Pods: pods, inspect.Nodes: nodes, inspect.PriorityLevels: priorityLevels, inspect.FlowSchemas: flowSchemas,
	inspect.StorageCapacities: capacities, inspect.StorageClasses: storageClasses, inspect.CSIDrivers: csiDrivers,
	inspect.VolumeClaims: volumeClaims, inspect.Volumes: volumes, inspect.Namespaces: namespaces, inspect.CSINodes: nodes,
	inspect.VolumeAttachments: attachments, inspect.PodGroups: podGroups, inspect.CompositePodGroups: podGroups, inspect.Quotas: quotas, inspect.Budgets: budgets,
	inspect.LimitRanges:    limitRanges,
	inspect.KueueWorkloads: workloads, inspect.ClusterQueues: clusterQueues, inspect.LocalQueues: localQueues, inspect.Cohorts: cohorts,
	inspect.ResourceFlavors: flavors, inspect.WorkloadPriorityClasses: priorityClasses, inspect.AdmissionChecks: admissionChecks,
	inspect.Topologies: topologies,
}

// kueueNames are the types of names that objects of Kueue have for others, and for their pod sets.
var kueueNames = map[reflect.Type]names{
	reflect.TypeFor[kueuev1beta2.ClusterQueueReference]():   clusterQueues,
	reflect.TypeFor[kueuev1beta2.LocalQueueName]():          localQueues,
	reflect.TypeFor[kueuev1beta2.CohortReference]():         cohorts,
	reflect.TypeFor[kueuev1beta2.ResourceFlavorReference](): flavors,
	reflect.TypeFor[kueuev1beta2.AdmissionCheckReference](): admissionChecks,
	reflect.TypeFor[kueuev1beta2.TopologyReference]():       topologies,
	reflect.TypeFor[kueuev1beta2.PodSetReference]():         podSets,
}

// dropFreeText drops what no answer depends on, and all text in fields that are newer than this program.
// Labels of nodes, pods, namespaces and volumes are what selectors are about.
func dropFreeText(object metav1.Object) {
	inspect.HideNewer(object)
	switch o := object.(type) {
	case *corev1.Node, *corev1.Pod, *corev1.Namespace, *corev1.PersistentVolume:
		return
	case *resourcev1.ResourceClaimTemplate:
		o.Spec.Labels = nil
	case *corev1.PersistentVolumeClaim:
		o.Spec.DataSource, o.Spec.DataSourceRef = nil, nil
	}
	object.SetLabels(nil)
}

// walk replaces all text in a value that can be set. The rule is that of the field which holds it. It is nil
// if there is none.
func (r *renamer) walk(v reflect.Value, by rule) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			r.walk(v.Elem(), by)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			r.walk(v.Index(i), by)
		}
	case reflect.Map:
		r.walkMap(v, by)
	case reflect.Struct:
		r.walkStruct(v)
	case reflect.String:
		replaced := r.replace(v, by)
		if !r.learning {
			v.SetString(replaced)
		}
	}
}

// replace is the text that comes in place of a string.
func (r *renamer) replace(v reflect.Value, by rule) string {
	s := v.String()
	if by != nil {
		return by(r, s)
	}
	switch v.Interface().(type) {
	case types.UID:
		return r.name(uids, s)
	case resourcev1.QualifiedName, resourcev1.FullyQualifiedName:
		return r.qualified(s)
	case corev1.ResourceName:
		return r.resource(s)
	}
	if sort, ok := kueueNames[v.Type()]; ok {
		return r.name(sort, s)
	}
	return r.text(s)
}

// walkMap replaces the keys too, by the rule of the field. Different keys become different ones.
func (r *renamer) walkMap(v reflect.Value, by rule) {
	if attributes, ok := v.Interface().(map[resourcev1.QualifiedName]resourcev1.DeviceAttribute); ok && r.learning {
		r.learnAttributes(attributes)
	}
	out := reflect.MakeMapWithSize(v.Type(), v.Len())
	for entry := v.MapRange(); entry.Next(); {
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		key.Set(entry.Key())
		value.Set(entry.Value())
		r.walk(key, by)
		r.walk(value, nil)
		out.SetMapIndex(key, value)
	}
	if !r.learning && !v.IsNil() {
		v.Set(out)
	}
}

func (r *renamer) walkStruct(v reflect.Value) {
	switch o := v.Addr().Interface().(type) {
	case *metav1.TypeMeta, *metav1.Time, *metav1.MicroTime, *resource.Quantity:
		return // the kind is set by reduce
	case *runtime.RawExtension:
		if o.Raw != nil || o.Object != nil { // the API wants an object where parameters are
			o.Raw, o.Object = []byte("{}"), nil
		}
		return
	case *metav1.ObjectMeta:
		o.Annotations = r.annotations(o.Annotations)
	case *metav1.OwnerReference:
		r.own = namesOfKind(o.Kind)
		o.Name = r.keep(o.Name, ownName)
	case *resourcev1.ResourceClaimConsumerReference:
		r.own = namesOfConsumer(o)
		o.Name = r.keep(o.Name, ownName)
	case *corev1.Pod:
		r.learnEphemeral(o)
	}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		switch {
		case !field.IsExported() || doneWith(v, field.Name):
		case field.Name == "Message":
			v.Field(i).SetZero()
		default:
			r.walk(v.Field(i), fields[v.Type().Name()+"."+field.Name])
		}
	}
}

// keep replaces, unless names are being learnt.
func (r *renamer) keep(s string, by rule) string {
	if replaced := by(r, s); !r.learning {
		return replaced
	}
	return s
}

// doneWith reports whether walkStruct has seen to a field already, because other fields say what sort of name
// it is.
func doneWith(v reflect.Value, field string) bool {
	switch v.Addr().Interface().(type) {
	case *metav1.OwnerReference, *resourcev1.ResourceClaimConsumerReference:
		return field == "Name"
	case *metav1.ObjectMeta:
		return field == "Annotations"
	}
	return false
}

// annotations replaces keys and values.
func (r *renamer) annotations(all map[string]string) map[string]string {
	if all == nil {
		return nil
	}
	out := make(map[string]string, len(all))
	for key, value := range all {
		by := annotations[key]
		if by == nil {
			by = (*renamer).text
		}
		out[r.keep(key, (*renamer).text)] = r.keep(value, by)
	}
	return out
}

// learnEphemeral remembers the claims for volumes that are made for a pod: they are found by its name and
// that of the volume.
func (r *renamer) learnEphemeral(pod *corev1.Pod) {
	for i := range pod.Spec.Volumes {
		if v := &pod.Spec.Volumes[i]; v.Ephemeral != nil && r.learning {
			r.ephemeral[pod.Name+"-"+v.Name] = [2]string{pod.Name, v.Name}
		}
	}
}

// namesOfKind returns the sort of name that objects of a kind have.
func namesOfKind(kind string) names {
	switch kind {
	case "Pod":
		return pods
	case "Node":
		return nodes
	case "ResourceClaim":
		return claims
	case "PodGroup", "CompositePodGroup":
		return podGroups
	}
	return owners
}

// namesOfConsumer returns the sort of name that what uses a claim has.
func namesOfConsumer(c *resourcev1.ResourceClaimConsumerReference) names {
	switch {
	case c.APIGroup == "" && c.Resource == "pods":
		return pods
	case c.APIGroup == schedulingv1beta1.GroupName && c.Resource == "podgroups":
		return podGroups
	}
	return owners
}

// learnAttributes remembers the texts that expressions may look at.
func (r *renamer) learnAttributes(attributes map[resourcev1.QualifiedName]resourcev1.DeviceAttribute) {
	for name, attribute := range attributes {
		_, id, both := strings.Cut(string(name), "/")
		if !both {
			id = string(name)
		}
		if r.strings[id] == nil {
			r.strings[id] = map[string]bool{}
		}
		if attribute.StringValue != nil {
			r.strings[id][*attribute.StringValue] = true
		}
		for _, s := range attribute.StringValues {
			r.strings[id][s] = true
		}
	}
}
