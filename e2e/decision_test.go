package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
	"github.com/kubectl-dra/kubectl-dra/internal/scenario"
)

// decidingTime is how long the scheduler may take to agree with what the plugin said. Its first answer may
// come from before it saw the fresh claims; then it tries again by itself. Where that takes longer, tests ask
// again.
const decidingTime = 5 * time.Second

// schedule has the scheduler decide about a pod for the node with the claims of the question. It returns
// as soon as the decision is the expected one; another one is final only after decidingTime.
func (b *board) schedule(t *testing.T, q *scenario.Question, expected *verdict) *verdict {
	t.Helper()
	pods := b.Client().CoreV1().Pods(q.Claims[0].Namespace)
	pod, err := pods.Create(t.Context(), podFor(q), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		err := pods.Delete(context.WithoutCancel(t.Context()), pod.Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64)})
		if err != nil && !apierrors.IsNotFound(err) {
			t.Errorf("deleting pod: %v", err)
		}
	}()
	var answer *verdict
	var since time.Time // when the first decision was seen
	cluster.Eventually(t, func(ctx context.Context) error {
		now, err := b.decision(ctx, q, pod.Name)
		if err != nil {
			return err
		}
		if since.IsZero() {
			since = time.Now()
		}
		if answer = now; answer.Verdict != expected.Verdict && time.Since(since) < decidingTime {
			return fmt.Errorf("the scheduler says %s %s", answer.Verdict, answer.says)
		}
		return nil
	})
	if answer.Verdict == "Allocatable" {
		b.makeReady(t, q, pod.Name)
	} else {
		answer.untold = b.checkEvent(t, pod.Namespace, pod.Name, answer.says)
	}
	return answer
}

// podFor is a pod with the claims of a question that only the node of the question may run.
func podFor(q *scenario.Question) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: "asks-", Namespace: q.Claims[0].Namespace}}
	main := corev1.Container{Name: "main", Image: "example.com/none"}
	for i, ref := range q.Claims {
		name := fmt.Sprint("claim-", i)
		pod.Spec.ResourceClaims = append(pod.Spec.ResourceClaims, corev1.PodResourceClaim{Name: name, ResourceClaimName: &ref.Name})
		main.Resources.Claims = append(main.Resources.Claims, corev1.ResourceClaim{Name: name})
	}
	pod.Spec.Containers = []corev1.Container{main}
	pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{string(q.Node)}}},
		}}}}}
	return pod
}

// decision reads what the scheduler has decided; that it has not is an error.
func (b *board) decision(ctx context.Context, q *scenario.Question, name string) (*verdict, error) {
	pod, err := b.Client().CoreV1().Pods(q.Claims[0].Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	claims, err := b.claimsNow(ctx, q)
	if err != nil {
		return nil, err
	}
	if pod.Spec.NodeName != "" || waitsForDevices(claims, pod) {
		answer := &verdict{Verdict: "Allocatable"}
		for _, claim := range claims {
			answer.Allocations = append(answer.Allocations, normalized(claim.Status.Allocation))
		}
		return answer, nil
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type != corev1.PodScheduled || condition.Status != corev1.ConditionFalse {
			continue
		}
		switch condition.Reason {
		case corev1.PodReasonUnschedulable:
			return &verdict{Verdict: "Unsatisfiable", says: condition.Message}, nil
		case corev1.PodReasonSchedulerError:
			return &verdict{Verdict: "Invalid", says: condition.Message}, nil
		}
	}
	return nil, fmt.Errorf("the scheduler does not decide about pod %s/%s", pod.Namespace, pod.Name)
}

// waitsForDevices reports whether the scheduler has allocated every claim for the pod and holds it back
// until the devices are ready (binding conditions).
func waitsForDevices(claims []*resourcev1.ResourceClaim, pod *corev1.Pod) bool {
	conditions := false
	for _, claim := range claims {
		if claim.Status.Allocation == nil || !slices.ContainsFunc(claim.Status.ReservedFor, func(r resourcev1.ResourceClaimConsumerReference) bool { return r.UID == pod.UID }) {
			return false
		}
		for i := range claim.Status.Allocation.Devices.Results {
			conditions = conditions || len(claim.Status.Allocation.Devices.Results[i].BindingConditions) > 0
		}
	}
	return conditions
}

// makeReady does what drivers do: it fulfils the binding conditions of the devices, if there are any, and
// waits until the scheduler has bound the pod. A pod that is deleted before leaves its devices in use in
// the memory of the scheduler.
func (b *board) makeReady(t *testing.T, q *scenario.Question, pod string) {
	t.Helper()
	cluster.Eventually(t, func(ctx context.Context) error {
		got, err := b.Client().CoreV1().Pods(q.Claims[0].Namespace).Get(ctx, pod, metav1.GetOptions{})
		if err == nil && got.Spec.NodeName != "" {
			return nil
		}
		if err == nil {
			err = fmt.Errorf("pod %s is not bound: %v", pod, got.Status.Conditions)
		}
		return errors.Join(err, b.reportReady(ctx, q)) // which the scheduler may be writing to as well
	})
}

// reportReady fulfils the binding conditions of the devices that the claims have now.
func (b *board) reportReady(ctx context.Context, q *scenario.Question) error {
	claims, err := b.claimsNow(ctx, q)
	if err != nil {
		return err
	}
	for _, claim := range claims {
		if claim.Status.Devices = readyDevices(claim); len(claim.Status.Devices) == 0 {
			continue
		}
		if _, err := b.Client().ResourceV1().ResourceClaims(claim.Namespace).UpdateStatus(ctx, claim, metav1.UpdateOptions{}); err != nil {
			return fmt.Errorf("reporting the devices of claim %s ready: %w", claim.Name, err)
		}
	}
	return nil
}

// readyDevices are the devices of a claim that have binding conditions, with all of them fulfilled.
func readyDevices(claim *resourcev1.ResourceClaim) (ready []resourcev1.AllocatedDeviceStatus) {
	if claim.Status.Allocation == nil {
		return nil
	}
	for i := range claim.Status.Allocation.Devices.Results {
		r := &claim.Status.Allocation.Devices.Results[i]
		status := resourcev1.AllocatedDeviceStatus{Driver: r.Driver, Pool: r.Pool, Device: r.Device, ShareID: (*string)(r.ShareID)}
		for _, name := range r.BindingConditions {
			status.Conditions = append(status.Conditions, metav1.Condition{Type: name, Status: metav1.ConditionTrue, Reason: "Test", LastTransitionTime: metav1.Now()})
		}
		if len(status.Conditions) > 0 {
			ready = append(ready, status)
		}
	}
	return ready
}

// eventTime is how long an event may take to appear.
const eventTime = 15 * time.Second

// checkEvent waits for the event in which the scheduler tells users why the pod is pending. There may be
// none: when the scheduler decides twice about the same version of a pod, the second decision only counts
// up the event of the first one, with the words of the first one.
func (b *board) checkEvent(t *testing.T, namespace, pod, message string) error {
	t.Helper()
	var err error
	for end := time.Now().Add(eventTime); ; time.Sleep(100 * time.Millisecond) {
		last := time.Now().After(end) // before it looks, which may take long
		var events *eventsv1.EventList
		if events, err = b.Client().EventsV1().Events(namespace).List(t.Context(), metav1.ListOptions{FieldSelector: "regarding.name=" + pod}); err == nil {
			if slices.ContainsFunc(events.Items, func(e eventsv1.Event) bool { return e.Reason == "FailedScheduling" && e.Note == message }) {
				return nil
			}
			err = fmt.Errorf("no event about pod %s says %q", pod, message)
		}
		if last {
			return err
		}
	}
}
