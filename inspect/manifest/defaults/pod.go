package defaults

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	resourcehelpers "k8s.io/component-helpers/resource"
)

// defaultPod fills in what the scheduler looks at: requests and ports, and the labels that the API server
// adds to the selectors of an affinity.
func defaultPod(pod *corev1.Pod) {
	defaultValue(&pod.Status.Phase, corev1.PodPending)
	defaultValue(&pod.Spec.SchedulerName, corev1.DefaultSchedulerName)
	defaultValue(&pod.Spec.RestartPolicy, corev1.RestartPolicyAlways)
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			defaultRequests(&containers[i].Resources)
			defaultPorts(containers[i].Ports, pod.Spec.HostNetwork)
		}
	}
	defaultPodRequests(pod)
	for i := range pod.Spec.Volumes {
		if rbd := pod.Spec.Volumes[i].RBD; rbd != nil {
			defaultValue(&rbd.RBDPool, "rbd")
		}
	}
	if affinity := pod.Spec.Affinity; affinity != nil {
		if affinity.PodAffinity != nil {
			mergeLabelKeys(affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, pod.Labels)
		}
		if affinity.PodAntiAffinity != nil {
			mergeLabelKeys(affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, pod.Labels)
		}
	}
}

// defaultRequests: what has a limit and no request is requested up to the limit.
func defaultRequests(r *corev1.ResourceRequirements) {
	for name, limit := range r.Limits {
		if _, ok := r.Requests[name]; !ok {
			request(r, name, limit)
		}
	}
}

func request(r *corev1.ResourceRequirements, name corev1.ResourceName, amount resource.Quantity) {
	if r.Requests == nil {
		r.Requests = corev1.ResourceList{}
	}
	r.Requests[name] = amount.DeepCopy()
}

// defaultPodRequests: where the pod as a whole has limits, it requests what its containers do, and of the
// rest the limits.
func defaultPodRequests(pod *corev1.Pod) {
	whole := pod.Spec.Resources
	if whole == nil || len(whole.Limits) == 0 {
		return
	}
	of := resourcehelpers.AggregateContainerRequests(pod, resourcehelpers.PodResourcesOptions{})
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		_, given := whole.Requests[name]
		if amount, ok := of[name]; ok && !given {
			request(whole, name, amount)
		}
	}
	for name, limit := range whole.Limits {
		if _, given := whole.Requests[name]; !given && resourcehelpers.IsSupportedPodLevelResource(name) {
			request(whole, name, limit)
		}
	}
}

func defaultPorts(ports []corev1.ContainerPort, hostNetwork bool) {
	for i := range ports {
		defaultValue(&ports[i].Protocol, corev1.ProtocolTCP)
		if hostNetwork {
			defaultValue(&ports[i].HostPort, ports[i].ContainerPort)
		}
	}
}

// mergeLabelKeys adds to the selectors of terms what their matchLabelKeys and mismatchLabelKeys stand for. A
// pod that was read from a server has that already.
func mergeLabelKeys(terms []corev1.PodAffinityTerm, labels map[string]string) {
	for i := range terms {
		if terms[i].LabelSelector != nil {
			mergeLabels(terms[i].LabelSelector, terms[i].MatchLabelKeys, metav1.LabelSelectorOpIn, labels)
			mergeLabels(terms[i].LabelSelector, terms[i].MismatchLabelKeys, metav1.LabelSelectorOpNotIn, labels)
		}
	}
}

func mergeLabels(selector *metav1.LabelSelector, keys []string, operator metav1.LabelSelectorOperator, labels map[string]string) {
	for _, key := range keys {
		value, ok := labels[key]
		known := slices.ContainsFunc(selector.MatchExpressions, func(r metav1.LabelSelectorRequirement) bool {
			return r.Key == key && r.Operator == operator && slices.Equal(r.Values, []string{value})
		})
		if ok && !known {
			selector.MatchExpressions = append(selector.MatchExpressions, metav1.LabelSelectorRequirement{Key: key, Operator: operator, Values: []string{value}})
		}
	}
}
