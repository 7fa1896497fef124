package kueue

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/kubectl-dra/kubectl-dra/scheduler/kueue/podrequests"
	"github.com/kubectl-dra/kubectl-dra/scheduler/kueue/quota"
)

// counted is what a workload without quota counts for.
type counted struct {
	sets []quota.Pods
	// refused and unknown are empty if Kueue counts it and we know how.
	refused, unknown, assumed []Reason
	// dra says that Kueue counts it in two steps, of which the first may fail.
	dra bool
}

// count is how much of which resource the pod sets of a workload ask for. All that Kueue refuses to count it
// refuses at the first thing it comes to, so that is all that is returned.
func (s *State) count(w *kueuev1beta2.Workload) counted {
	out := counted{dra: s.needsDRA(w)}
	out.assumed, out.unknown = s.limitRanges(w)
	switch {
	case !s.config.gate("KueueDRAIntegration"):
		if out.dra {
			out.refused = []Reason{{Code: DRADisabled, Message: "Workload uses DRA resources but the KueueDRAIntegration feature gate is not enabled"}}
		}
	case out.dra && s.config.Assumed:
		out.assumed = slices.Insert(out.assumed, 0, Reason{Code: ConfigurationAssumed, Message: "Kueue's Configuration was not read: it says what devices count for"})
	}
	left := s.left(w)
	for i := range w.Spec.PodSets {
		set := &w.Spec.PodSets[i]
		spec := podrequests.Adjusted(&set.Template.Spec)
		if spec.RuntimeClassName != nil && len(spec.Overhead) == 0 {
			out.assumed = append(out.assumed, Reason{Code: RuntimeClassUnread, PodSet: string(set.Name), Name: *spec.RuntimeClassName,
				Message: "RuntimeClasses were not read: " + *spec.RuntimeClassName + " may add an overhead"})
		}
		list := podrequests.Transformed(resourcehelper.PodRequests(&corev1.Pod{Spec: *spec}, resourcehelper.PodResourcesOptions{}), s.config.ExcludeResourcePrefixes, s.config.Transformations)
		if out.dra && len(out.refused) == 0 {
			s.addDevices(w, set, spec, list, &out)
		}
		count := left[string(set.Name)]
		counts := quota.Pods{Name: string(set.Name), Count: count}
		for name, q := range list {
			counts.Requests = append(counts.Requests, quota.Request{Resource: name, Amount: max(0, quota.RequestAmount(name, q)).Times(int64(count))})
		}
		quota.SortRequests(counts.Requests)
		out.sets = append(out.sets, counts)
	}
	return out
}

// limitRanges says what is not known because of LimitRanges, which give defaults and may refuse.
func (s *State) limitRanges(w *kueuev1beta2.Workload) (assumed, unknown []Reason) {
	if s.config.LimitRanges == nil {
		return []Reason{{Code: LimitRangesUnread, Name: w.Namespace, Message: "LimitRanges of namespace " + w.Namespace + " were not read"}}, nil
	}
	for _, r := range s.config.LimitRanges {
		heeded := func(l corev1.LimitRangeItem) bool {
			return l.Type == corev1.LimitTypeContainer || l.Type == corev1.LimitTypePod
		}
		if r.Namespace == w.Namespace && slices.ContainsFunc(r.Spec.Limits, heeded) {
			return nil, []Reason{{Code: LimitRangeUndecided, Name: r.Name, Message: "LimitRange " + r.Name + " may change or refuse the requests"}}
		}
	}
	return nil, nil
}

// needsDRA reports whether pods of the workload have claims, or extended resources that are devices.
func (s *State) needsDRA(w *kueuev1beta2.Workload) bool {
	for i := range w.Spec.PodSets {
		spec := &w.Spec.PodSets[i].Template.Spec
		for _, c := range spec.ResourceClaims {
			if c.ResourceClaimTemplateName != nil || c.ResourceClaimName != nil {
				return true
			}
		}
		if !s.config.gate("KueueDRAIntegration") || !s.config.gate("KueueDRAIntegrationExtendedResource") {
			continue
		}
		for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
			for j := range containers {
				for name, q := range containers[j].Resources.Requests {
					if !q.IsZero() && podrequests.IsExtended(name) && s.extended[name] != nil {
						return true
					}
				}
			}
		}
	}
	return false
}

// addDevices adds what the claims of a pod count for to its requests, and replaces extended resources.
func (s *State) addDevices(w *kueuev1beta2.Workload, set *kueuev1beta2.PodSet, spec *corev1.PodSpec, list corev1.ResourceList, out *counted) {
	refuse := func(r Reason) {
		r.PodSet = string(set.Name)
		if r.Code == SelectorUndecided || r.Code == TieUndecided {
			out.unknown = append(out.unknown, r)
			return
		}
		out.refused = append(out.refused, r)
	}
	for i := range w.Spec.PodSets {
		for _, c := range w.Spec.PodSets[i].Template.Spec.ResourceClaims {
			if c.ResourceClaimName != nil {
				refuse(Reason{Code: ClaimNotTemplate, Name: *c.ResourceClaimName, Message: "KueueDRAIntegration feature does not support use of resource claims"})
				return
			}
		}
	}
	devices := corev1.ResourceList{}
	for _, c := range spec.ResourceClaims {
		if c.ResourceClaimTemplateName == nil {
			continue
		}
		claim := s.countTemplate(Ref{w.Namespace, *c.ResourceClaimTemplateName})
		for _, reason := range claim.reasons {
			refuse(reason)
		}
		for name, q := range claim.requests {
			podrequests.Add(devices, name, q)
		}
	}
	if s.config.gate("KueueDRAIntegrationExtendedResource") {
		found, replaced, reasons := s.countExtended(spec)
		for _, reason := range reasons {
			refuse(reason)
		}
		for name := range replaced {
			delete(list, name)
		}
		for name, q := range found {
			podrequests.Add(devices, name, q)
		}
	}
	for name, q := range devices {
		podrequests.Add(list, name, q)
	}
}

// countExtended is what extended resources that are devices count for, and their names.
func (s *State) countExtended(spec *corev1.PodSpec) (corev1.ResourceList, map[corev1.ResourceName]bool, []Reason) {
	replaced, reasons := map[corev1.ResourceName]bool{}, []Reason(nil)
	of := func(c *corev1.Container) corev1.ResourceList {
		out := corev1.ResourceList{}
		for _, name := range slices.Sorted(maps.Keys(c.Resources.Requests)) {
			q := c.Resources.Requests[name]
			class := s.extended[name]
			if q.IsZero() || !podrequests.IsExtended(name) || class == nil {
				continue
			}
			whole, ok := q.AsInt64()
			if !ok {
				reasons = append(reasons, Reason{Code: NotInteger, Resource: name, Message: "extended resource quantity must be an integer"})
				continue
			}
			counts := name
			if mapping := s.mappings[class.Name]; mapping != nil {
				counts = mapping.resource
				if s.countsBy(mapping) != "" {
					reasons = append(reasons, Reason{Code: ExtendedNotCountable, Resource: name, Name: class.Name,
						Message: "extended resource " + string(name) + " resolves to DeviceClass " + class.Name + " with " + s.countsBy(mapping)})
				}
			}
			replaced[name] = true
			podrequests.Add(out, counts, *resource.NewQuantity(whole, resource.DecimalSI))
		}
		return out
	}
	most, all := corev1.ResourceList{}, corev1.ResourceList{}
	larger := func(to, from corev1.ResourceList) {
		for name, q := range from {
			if known, ok := to[name]; !ok || q.Cmp(known) > 0 {
				to[name] = q
			}
		}
	}
	for i := range spec.InitContainers {
		larger(most, of(&spec.InitContainers[i]))
	}
	for i := range spec.Containers {
		for name, q := range of(&spec.Containers[i]) {
			podrequests.Add(all, name, q)
		}
	}
	larger(most, all)
	return most, replaced, reasons
}
