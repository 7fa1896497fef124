package archive

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// anonymize renames namespaces, objects, nodes and pools wherever they occur, and drops what may hold
// names in free text: labels of all objects but nodes, messages in conditions and about what could not be
// read, parameters for drivers, and whom pod affinity is about. It keeps what answers are made of:
// drivers, classes, devices with their attributes and capacities, requests, selectors, taints, labels of
// nodes.
func anonymize(objects []listing, h *Header) {
	h.Anonymized = true
	r := newRenamer()
	r.all(objects, h)
	r.number()
	r.all(objects, h)
	for i := range objects {
		slices.SortStableFunc(objects[i].objects, func(a, b metav1.Object) int {
			return strings.Compare(a.GetNamespace()+"/"+a.GetName(), b.GetNamespace()+"/"+b.GetName())
		})
	}
}

func (r *renamer) all(objects []listing, h *Header) {
	for resource, health := range h.Health {
		for i := range health.Namespaces {
			health.Namespaces = slices.Clone(health.Namespaces)
			r.name(namespaces, &health.Namespaces[i])
		}
		if !r.learning {
			health.Message = ""
		}
		h.Health[resource] = health
	}
	for _, of := range objects {
		for _, object := range of.objects {
			r.object(of, object)
		}
	}
}

// ownNames are what the objects themselves are called; objects of other resources keep their names.
var ownNames = map[inspect.Resource]names{
	inspect.Claims: claims, inspect.Templates: templates, inspect.Pods: pods, inspect.Nodes: nodes, inspect.Slices: slicesOf,
	inspect.TaintRules: taintRules, inspect.Volumes: volumes, inspect.VolumeClaims: volumeClaims, inspect.StorageCapacities: capacities,
}

func (r *renamer) object(of listing, object metav1.Object) {
	if own, ok := ownNames[of.resource]; ok {
		name := object.GetName()
		r.name(own, &name)
		object.SetName(name)
	}
	namespace := object.GetNamespace()
	r.name(namespaces, &namespace)
	object.SetNamespace(namespace)
	references := object.GetOwnerReferences()
	for i := range references {
		r.name(namesOfKind(references[i].Kind), &references[i].Name)
	}
	object.SetOwnerReferences(references)
	if of.resource != inspect.Nodes {
		object.SetLabels(nil)
	}
	switch o := object.(type) {
	case *resourcev1.ResourceClaim:
		r.claim(o)
	case *resourcev1.ResourceClaimTemplate:
		o.Spec.Labels = nil
		dropParameters(o.Spec.Spec.Devices.Config)
	case *resourcev1.DeviceClass:
		for i := range o.Spec.Config {
			dropParameter(&o.Spec.Config[i].DeviceConfiguration)
		}
	case *resourcev1.ResourceSlice:
		r.slice(&o.Spec)
	case *resourcev1.DeviceTaintRule:
		if selector := o.Spec.DeviceSelector; selector != nil {
			r.name(pools, selector.Pool)
		}
		dropMessages(o.Status.Conditions)
	case *corev1.Pod:
		r.pod(o)
	case *corev1.Node:
		r.labels(o.Labels)
		for i := range o.Status.Conditions {
			o.Status.Conditions[i].Message = ""
		}
	default:
		r.other(object)
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
	}
	return owners
}

func (r *renamer) claim(c *resourcev1.ResourceClaim) {
	dropParameters(c.Spec.Devices.Config)
	for i := range c.Status.ReservedFor {
		consumer := &c.Status.ReservedFor[i]
		if consumer.APIGroup == "" && consumer.Resource == "pods" {
			r.name(pods, &consumer.Name)
		} else {
			r.name(owners, &consumer.Name)
		}
	}
	for i := range c.Status.Devices {
		r.name(pools, &c.Status.Devices[i].Pool)
		dropMessages(c.Status.Devices[i].Conditions)
	}
	a := c.Status.Allocation
	if a == nil {
		return
	}
	r.nodeSelector(a.NodeSelector)
	for i := range a.Devices.Results {
		r.name(pools, &a.Devices.Results[i].Pool)
	}
	for i := range a.Devices.Config {
		dropParameter(&a.Devices.Config[i].DeviceConfiguration)
	}
}

func (r *renamer) slice(s *resourcev1.ResourceSliceSpec) {
	r.name(pools, &s.Pool.Name)
	r.name(nodes, s.NodeName)
	r.nodeSelector(s.NodeSelector)
	for i := range s.Devices {
		r.name(nodes, s.Devices[i].NodeName)
		r.nodeSelector(s.Devices[i].NodeSelector)
	}
}

func (r *renamer) pod(p *corev1.Pod) {
	r.name(nodes, &p.Spec.NodeName)
	r.name(nodes, &p.Status.NominatedNodeName)
	r.labels(p.Spec.NodeSelector)
	r.affinity(p.Spec.Affinity)
	if group := p.Spec.SchedulingGroup; group != nil {
		r.name(podGroups, group.PodGroupName)
	}
	for i := range p.Spec.ResourceClaims {
		r.name(claims, p.Spec.ResourceClaims[i].ResourceClaimName)
		r.name(templates, p.Spec.ResourceClaims[i].ResourceClaimTemplateName)
	}
	for _, list := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for i := range list {
			r.name(containers, &list[i].Name)
		}
	}
	p.Status.Message = ""
	for i := range p.Status.Conditions {
		p.Status.Conditions[i].Message = ""
	}
	for i := range p.Status.ResourceClaimStatuses {
		r.name(claims, p.Status.ResourceClaimStatuses[i].ResourceClaimName)
	}
	if extended := p.Status.ExtendedResourceClaimStatus; extended != nil {
		r.name(claims, &extended.ResourceClaimName)
		for i := range extended.RequestMappings {
			r.name(containers, &extended.RequestMappings[i].ContainerName)
		}
	}
	for i := range p.Status.NodeAllocatableResourceClaimStatuses {
		status := &p.Status.NodeAllocatableResourceClaimStatuses[i]
		r.name(claims, &status.ResourceClaimName)
		for j := range status.Containers {
			r.name(containers, &status.Containers[j])
		}
	}
}

func (r *renamer) affinity(a *corev1.Affinity) {
	if a == nil {
		return
	}
	if node := a.NodeAffinity; node != nil {
		r.nodeSelector(node.RequiredDuringSchedulingIgnoredDuringExecution)
		for i := range node.PreferredDuringSchedulingIgnoredDuringExecution {
			r.term(&node.PreferredDuringSchedulingIgnoredDuringExecution[i].Preference)
		}
	}
	var terms []*corev1.PodAffinityTerm
	weighted := func(list []corev1.WeightedPodAffinityTerm) {
		for i := range list {
			terms = append(terms, &list[i].PodAffinityTerm)
		}
	}
	required := func(list []corev1.PodAffinityTerm) {
		for i := range list {
			terms = append(terms, &list[i])
		}
	}
	if a.PodAffinity != nil {
		required(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
		weighted(a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if a.PodAntiAffinity != nil {
		required(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
		weighted(a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	for _, term := range terms {
		*term = corev1.PodAffinityTerm{TopologyKey: term.TopologyKey}
	}
}

func (r *renamer) nodeSelector(s *corev1.NodeSelector) {
	if s == nil {
		return
	}
	for i := range s.NodeSelectorTerms {
		r.term(&s.NodeSelectorTerms[i])
	}
}

func (r *renamer) term(t *corev1.NodeSelectorTerm) {
	for i := range t.MatchFields {
		for j := range t.MatchFields[i].Values {
			r.name(nodes, &t.MatchFields[i].Values[j]) // metadata.name is the only field that there is
		}
	}
	for i := range t.MatchExpressions {
		e := &t.MatchExpressions[i]
		for j := range e.Values {
			r.labelValue(e.Key, &e.Values[j])
		}
	}
}

// labels renames in the labels of a node, or in what selects nodes by their labels.
func (r *renamer) labels(labels map[string]string) {
	for key, value := range labels {
		r.labelValue(key, &value)
		labels[key] = value
	}
}

// labelValue renames a value of a label of nodes. Other labels than the hostname are also used to name
// nodes, by storage drivers for example.
func (r *renamer) labelValue(key string, value *string) {
	if key == corev1.LabelHostname {
		r.name(nodes, value)
		return
	}
	r.nameIf(nodes, value)
}

// other renames in objects that have nothing to do with devices.
func (r *renamer) other(object metav1.Object) {
	switch o := object.(type) {
	case *flowcontrolv1.FlowSchema:
		for i := range o.Spec.Rules {
			for j := range o.Spec.Rules[i].Subjects {
				r.subject(&o.Spec.Rules[i].Subjects[j])
			}
			for j := range o.Spec.Rules[i].ResourceRules {
				r.knownNamespaces(o.Spec.Rules[i].ResourceRules[j].Namespaces)
			}
		}
		for i := range o.Status.Conditions {
			o.Status.Conditions[i].Message = ""
		}
	case *flowcontrolv1.PriorityLevelConfiguration:
		for i := range o.Status.Conditions {
			o.Status.Conditions[i].Message = ""
		}
	case *storagev1.CSIStorageCapacity:
		r.labelSelector(o.NodeTopology)
	case *corev1.PersistentVolumeClaim:
		r.name(volumes, &o.Spec.VolumeName)
		o.Spec.DataSource, o.Spec.DataSourceRef = nil, nil
		for i := range o.Status.Conditions {
			o.Status.Conditions[i].Message = ""
		}
	case *corev1.PersistentVolume:
		if ref := o.Spec.ClaimRef; ref != nil {
			r.name(namespaces, &ref.Namespace)
			r.name(volumeClaims, &ref.Name)
		}
		if o.Spec.NodeAffinity != nil {
			r.nodeSelector(o.Spec.NodeAffinity.Required)
		}
		o.Status.Message = ""
	}
}

// knownNamespaces renames all but "*".
func (r *renamer) knownNamespaces(list []string) {
	for i := range list {
		if list[i] != flowcontrolv1.NamespaceEvery {
			r.name(namespaces, &list[i])
		}
	}
}

// subject renames whom a flow schema is about; what Kubernetes itself defines keeps its name.
func (r *renamer) subject(s *flowcontrolv1.Subject) {
	own := func(name string) bool { return name == "*" || strings.HasPrefix(name, "system:") }
	switch {
	case s.User != nil && !own(s.User.Name):
		r.name(users, &s.User.Name)
	case s.Group != nil && !own(s.Group.Name):
		r.name(groups, &s.Group.Name)
	case s.ServiceAccount != nil:
		r.name(namespaces, &s.ServiceAccount.Namespace)
		if !own(s.ServiceAccount.Name) {
			r.name(serviceAccounts, &s.ServiceAccount.Name)
		}
	}
}

func (r *renamer) labelSelector(s *metav1.LabelSelector) {
	if s == nil {
		return
	}
	r.labels(s.MatchLabels)
	for i := range s.MatchExpressions {
		for j := range s.MatchExpressions[i].Values {
			r.labelValue(s.MatchExpressions[i].Key, &s.MatchExpressions[i].Values[j])
		}
	}
}

func dropMessages(conditions []metav1.Condition) {
	for i := range conditions {
		conditions[i].Message = ""
	}
}

func dropParameters(config []resourcev1.DeviceClaimConfiguration) {
	for i := range config {
		dropParameter(&config[i].DeviceConfiguration)
	}
}

// dropParameter leaves an empty object where parameters are: the API wants one.
func dropParameter(config *resourcev1.DeviceConfiguration) {
	if config.Opaque != nil {
		config.Opaque.Parameters.Raw, config.Opaque.Parameters.Object = []byte("{}"), nil
	}
}
