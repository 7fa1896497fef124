package inspect

import (
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AlphaPodGroup is a PodGroup at scheduling.k8s.io/v1alpha2, which only Kubernetes 1.36 serves and the API's
// Go module has no more. It differs from v1beta1 in how it names its template and what is disrupted together.
type AlphaPodGroup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		PodGroupTemplateRef *struct {
			Workload *struct {
				WorkloadName         string `json:"workloadName"`
				PodGroupTemplateName string `json:"podGroupTemplateName"`
			} `json:"workload"`
		} `json:"podGroupTemplateRef"`
		SchedulingPolicy      schedulingv1beta1.PodGroupSchedulingPolicy       `json:"schedulingPolicy"`
		SchedulingConstraints *schedulingv1beta1.PodGroupSchedulingConstraints `json:"schedulingConstraints"`
		ResourceClaims        []schedulingv1beta1.PodGroupResourceClaim        `json:"resourceClaims"`
		DisruptionMode        *string                                          `json:"disruptionMode"`
		PriorityClassName     string                                           `json:"priorityClassName"`
		Priority              *int32                                           `json:"priority"`
	} `json:"spec"`
	Status schedulingv1beta1.PodGroupStatus `json:"status"`
}

// PodGroup returns the group at v1beta1. It shares what it can with the older one.
func (g *AlphaPodGroup) PodGroup() *schedulingv1beta1.PodGroup {
	out := &schedulingv1beta1.PodGroup{
		ObjectMeta: g.ObjectMeta, Status: g.Status,
		Spec: schedulingv1beta1.PodGroupSpec{
			SchedulingPolicy: g.Spec.SchedulingPolicy, SchedulingConstraints: g.Spec.SchedulingConstraints,
			ResourceClaims: g.Spec.ResourceClaims, PriorityClassName: g.Spec.PriorityClassName, Priority: g.Spec.Priority,
		},
	}
	if ref := g.Spec.PodGroupTemplateRef; ref != nil && ref.Workload != nil {
		out.Spec.WorkloadRef = &schedulingv1beta1.WorkloadReference{
			WorkloadName: ref.Workload.WorkloadName, TemplateName: ref.Workload.PodGroupTemplateName,
		}
	}
	if mode := g.Spec.DisruptionMode; mode != nil {
		out.Spec.DisruptionMode = &schedulingv1beta1.DisruptionMode{}
		switch *mode {
		case "Pod":
			out.Spec.DisruptionMode.Single = &schedulingv1beta1.SingleDisruptionMode{}
		case "PodGroup":
			out.Spec.DisruptionMode.All = &schedulingv1beta1.AllDisruptionMode{}
		}
	}
	return out
}
