package inspect

import (
	"bytes"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// ReduceKueueWorkload drops from the pod templates of a workload of Kueue what [ReducePod] drops of pods.
func ReduceKueueWorkload(w *kueuev1beta2.Workload) {
	for i := range w.Spec.PodSets {
		t := &w.Spec.PodSets[i].Template
		pod := &corev1.Pod{Spec: t.Spec}
		runtimeClass := t.Spec.RuntimeClassName // may add an overhead, which Kueue counts
		ReducePod(pod)
		pod.Spec.RuntimeClassName = runtimeClass
		t.ObjectMeta, t.Spec = metav1.ObjectMeta{Labels: t.Labels}, pod.Spec
	}
}

// UpgradeKueue turns the JSON of an object of Kueue at v1beta1 into that of v1beta2, which has some fields by
// other names. What v1beta2 has no more is dropped: which of a ClusterQueue's workloads were shown as first,
// and at which domains of a topology a workload's pods were put.
func UpgradeKueue(raw []byte) ([]byte, error) {
	var o map[string]any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&o); err != nil {
		return nil, fmt.Errorf("decoding an object of Kueue: %w", err)
	}
	if o["apiVersion"] != nil {
		o["apiVersion"] = kueueGroup + "/v1beta2"
	}
	spec, _ := o["spec"].(map[string]any)
	status, _ := o["status"].(map[string]any)
	rename(spec, "cohort", "cohortName")
	if checks, ok := take(spec, "admissionChecks").([]any); ok && len(checks) > 0 {
		rules := make([]any, len(checks))
		for i := range checks {
			rules[i] = map[string]any{"name": checks[i]}
		}
		spec["admissionChecksStrategy"] = map[string]any{"admissionChecks": rules}
	}
	if policy, ok := spec["flavorFungibility"].(map[string]any); ok {
		for key, value := range policy {
			if value == "Preempt" || value == "Borrow" {
				policy[key] = string(kueuev1beta2.MayStopSearch)
			}
		}
	}
	upgradePriority(spec)
	take(spec, "retryDelayMinutes")
	take(status, "pendingWorkloadsStatus")
	take(status, "flavors")
	rename(status, "flavorUsage", "flavorsUsage")
	rename(status, "accumulatedPastExexcutionTimeSeconds", "accumulatedPastExecutionTimeSeconds")
	for _, of := range []map[string]any{spec, status} { // the status has it in ClusterQueues and Cohorts
		if sharing, ok := of["fairSharing"].(map[string]any); ok {
			take(sharing, "admissionFairSharingStatus")
		}
	}
	if admission, ok := status["admission"].(map[string]any); ok {
		assignments, _ := admission["podSetAssignments"].([]any)
		for _, a := range assignments {
			assignment, _ := a.(map[string]any)
			if topology, ok := assignment["topologyAssignment"].(map[string]any); ok {
				take(topology, "domains")
			}
		}
	}
	out, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("encoding an object of Kueue: %w", err)
	}
	return out, nil
}

// upgradePriority makes a reference of the name of a workload's priority class and of what sort it is.
func upgradePriority(spec map[string]any) {
	name, source := take(spec, "priorityClassName"), take(spec, "priorityClassSource")
	if name == nil || name == "" {
		return
	}
	switch source {
	case kueueGroup + "/workloadpriorityclass":
		spec["priorityClassRef"] = map[string]any{
			"group": string(kueuev1beta2.WorkloadPriorityClassGroup), "kind": string(kueuev1beta2.WorkloadPriorityClassKind), "name": name,
		}
	case "scheduling.k8s.io/priorityclass":
		spec["priorityClassRef"] = map[string]any{
			"group": string(kueuev1beta2.PodPriorityClassGroup), "kind": string(kueuev1beta2.PodPriorityClassKind), "name": name,
		}
	}
}

// take removes a field and returns its value.
func take(of map[string]any, field string) any {
	value := of[field]
	delete(of, field)
	return value
}

// rename gives a field another name, unless there is one of that name.
func rename(of map[string]any, from, to string) {
	if value := take(of, from); value != nil && of[to] == nil {
		of[to] = value
	}
}
