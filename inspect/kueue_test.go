package inspect

import (
	"encoding/json"
	"testing"

	kjson "sigs.k8s.io/json"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// TestUpgradeKueue: what v1beta1 calls otherwise is found at v1beta2, and nothing is left that it does not
// know.
func TestUpgradeKueue(t *testing.T) {
	var queue kueuev1beta2.ClusterQueue
	upgrade(t, &queue, `{"apiVersion":"kueue.x-k8s.io/v1beta1","kind":"ClusterQueue","metadata":{"name":"a"},"spec":{"cohort":"c","admissionChecks":["p"],
		"flavorFungibility":{"whenCanBorrow":"Borrow","whenCanPreempt":"Preempt"}},"status":{"pendingWorkloadsStatus":{"clusterQueuePendingWorkload":null}}}`)
	if queue.Spec.CohortName != "c" || queue.Spec.AdmissionChecksStrategy.AdmissionChecks[0].Name != "p" ||
		queue.Spec.FlavorFungibility.WhenCanBorrow != kueuev1beta2.MayStopSearch || queue.Spec.FlavorFungibility.WhenCanPreempt != kueuev1beta2.MayStopSearch ||
		queue.APIVersion != "kueue.x-k8s.io/v1beta2" {
		t.Errorf("%+v", queue)
	}
	var workload kueuev1beta2.Workload
	upgrade(t, &workload, `{"metadata":{"name":"a"},"spec":{"priorityClassName":"high","priorityClassSource":"kueue.x-k8s.io/workloadpriorityclass","priority":3},
		"status":{"accumulatedPastExexcutionTimeSeconds":4,"admission":{"clusterQueue":"q","podSetAssignments":[{"name":"main","topologyAssignment":{"levels":["l"],"domains":[{"values":["v"],"count":1}]}}]}}}`)
	if ref := workload.Spec.PriorityClassRef; ref == nil || ref.Name != "high" || ref.Kind != kueuev1beta2.WorkloadPriorityClassKind ||
		*workload.Status.AccumulatedPastExecutionTimeSeconds != 4 || workload.Status.Admission.ClusterQueue != "q" {
		t.Errorf("%+v", workload)
	}
	for _, hostile := range []string{`{}`, `{"spec":[],"status":1}`, `{"spec":{"flavorFungibility":4,"admissionChecks":"x","priorityClassName":7}}`, `{"status":{"admission":{"podSetAssignments":[1,null]}}}`} {
		if _, err := UpgradeKueue([]byte(hostile)); err != nil {
			t.Errorf("%s: %v", hostile, err)
		}
	}
	if _, err := UpgradeKueue([]byte(`[]`)); err == nil {
		t.Error("a list is an object")
	}
}

func upgrade(t *testing.T, into any, text string) {
	t.Helper()
	if !json.Valid([]byte(text)) {
		t.Fatal("the test is broken")
	}
	raw, err := UpgradeKueue([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if complaints, err := kjson.UnmarshalStrict(raw, into); err != nil || len(complaints) > 0 {
		t.Fatalf("%v, %v", err, complaints)
	}
}
