package evictions

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"reflect"
	"testing"
	"time"
	"unsafe"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	api "k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/apis/policy"
	podstorage "k8s.io/kubernetes/pkg/registry/core/pod/storage"

	"github.com/kubectl-dra/kubectl-dra/explain/preemption"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
)

// podStore holds the pods of an API server. Those that are deleted are gone at once.
type podStore struct {
	rest.StandardStorage
	pods map[string]*api.Pod
}

func (s *podStore) Get(_ context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	if pod := s.pods[name]; pod != nil {
		return pod, nil
	}
	return nil, apierrors.NewNotFound(api.Resource("pods"), name)
}

func (s *podStore) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, _ rest.ValidateObjectFunc, _ rest.ValidateObjectUpdateFunc, _ bool, _ *metav1.UpdateOptions) (runtime.Object, bool, error) {
	updated, err := info.UpdatedObject(ctx, s.pods[name])
	return updated, false, err
}

func (s *podStore) Delete(_ context.Context, name string, _ rest.ValidateObjectFunc, _ *metav1.DeleteOptions) (runtime.Object, bool, error) {
	pod := s.pods[name]
	delete(s.pods, name)
	return pod, true, nil
}

// kubeEvictions is the handler of evictions of the API server, over a store of pods and budgets.
func kubeEvictions(t *testing.T, pods []*corev1.Pod, budgets []*policyv1.PodDisruptionBudget) *podstorage.EvictionREST {
	t.Helper()
	store := &podStore{pods: map[string]*api.Pod{}}
	for _, pod := range pods {
		converted := &api.Pod{}
		if err := legacyscheme.Scheme.Convert(pod, converted, nil); err != nil {
			t.Fatal(err)
		}
		store.pods[pod.Name] = converted
	}
	objects := make([]runtime.Object, len(budgets))
	for i, b := range budgets {
		objects[i] = b.DeepCopy()
	}
	handler := &podstorage.EvictionREST{}
	for name, value := range map[string]any{"store": rest.StandardStorage(store), "podDisruptionBudgetClient": fake.NewClientset(objects...).PolicyV1()} {
		field := reflect.ValueOf(handler).Elem().FieldByName(name)
		reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem().Set(reflect.ValueOf(value)) //nolint:gosec // it has no constructor
	}
	return handler
}

// evict asks the handler, and returns the code of its answer.
func evict(t *testing.T, handler *podstorage.EvictionREST, name string) int32 {
	t.Helper()
	out, err := handler.Create(t.Context(), name, &policy.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}, nil, &metav1.CreateOptions{})
	if status, ok := err.(apierrors.APIStatus); ok { //nolint:errorlint // it wraps none
		return status.Status().Code
	}
	status, ok := out.(*metav1.Status)
	switch {
	case err != nil || !ok:
		t.Fatalf("%v, %v", out, err)
	case status.Status == metav1.StatusSuccess:
		return http.StatusOK
	}
	return status.Code
}

// TestEvictions: the API server answers evictions as it is said, whatever pods and budgets there are, and one
// after the other takes from what is allowed.
func TestEvictions(t *testing.T) {
	t.Parallel()
	counts := map[string]int{}
	for i := range uint64(effort.Of(20_000, 2000)) {
		r := rand.New(rand.NewPCG(7, i))
		pods, budgets := evictable(r)
		handler := kubeEvictions(t, pods, budgets)
		ours := preemption.NewEvictions(inspect.New(inspect.Objects{Pods: pods, Budgets: budgets}, inspect.Config{}))
		for _, pod := range pods {
			answer, why := ours.Ask(pod)
			code := evict(t, handler, pod.Name)
			counts[fmt.Sprint(answer, " ", code)]++
			want := map[preemption.Answer][]int32{
				preemption.Granted: {http.StatusOK}, preemption.Denied: {http.StatusTooManyRequests},
				preemption.Refused: {http.StatusInternalServerError, http.StatusForbidden}, preemption.Unsure: {http.StatusTooManyRequests},
			}[answer]
			if code != want[0] && code != want[len(want)-1] {
				t.Fatalf("problem %d: pod %s: %d %+v, the API server answers %d", i, pod.Name, answer, why, code)
			}
		}
	}
	t.Log(counts)
	for _, outcome := range []string{"0 200", "1 429", "2 500", "2 403", "3 429"} {
		if counts[outcome] < 100 {
			t.Errorf("%s: %d times", outcome, counts[outcome])
		}
	}
}

// evictable are pods in all states, and budgets that protect some of them.
func evictable(r *rand.Rand) (pods []*corev1.Pod, budgets []*policyv1.PodDisruptionBudget) {
	phases := []corev1.PodPhase{corev1.PodRunning, corev1.PodRunning, corev1.PodRunning, corev1.PodRunning, corev1.PodPending, corev1.PodSucceeded, corev1.PodFailed, corev1.PodUnknown}
	for i := range 1 + r.IntN(5) {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint("p", i), ResourceVersion: "1"}}
		pod.Spec.NodeName, pod.Status.Phase = "n", phases[r.IntN(len(phases))]
		if r.IntN(4) > 0 {
			pod.Labels = map[string]string{"budget": fmt.Sprint(r.IntN(3))}
		}
		if r.IntN(8) == 0 {
			pod.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
		}
		if r.IntN(8) > 0 {
			status := []corev1.ConditionStatus{corev1.ConditionTrue, corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown}[r.IntN(4)]
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: status}}
		}
		pods = append(pods, pod)
	}
	selectors := []*metav1.LabelSelector{
		{MatchLabels: map[string]string{"budget": "0"}}, {MatchLabels: map[string]string{"budget": "1"}}, {}, nil,
		{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "budget", Operator: metav1.LabelSelectorOpIn, Values: []string{"0", "2"}}}},
		{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "budget", Operator: metav1.LabelSelectorOpDoesNotExist}}},
		{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "budget", Operator: "Near"}}},
	}
	for i, selector := range selectors {
		if r.IntN(3) > 0 {
			continue
		}
		b := &policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint(i)}, Spec: policyv1.PodDisruptionBudgetSpec{Selector: selector},
		}
		budgets = append(budgets, b)
		b.Generation, b.Status.ObservedGeneration = int64(1+r.IntN(3)/2), 1
		if r.IntN(2) == 0 {
			b.Spec.UnhealthyPodEvictionPolicy = new([]policyv1.UnhealthyPodEvictionPolicyType{policyv1.AlwaysAllow, policyv1.IfHealthyBudget}[r.IntN(2)])
		}
		b.Status.DesiredHealthy, b.Status.ExpectedPods = int32(r.IntN(4)), int32(r.IntN(5)) //nolint:gosec // a few
		b.Status.DisruptionsAllowed = int32(r.IntN(3))                                      //nolint:gosec // a few
		b.Status.CurrentHealthy = b.Status.DesiredHealthy + b.Status.DisruptionsAllowed
		switch r.IntN(8) {
		case 0:
			b.Status.DisruptionsAllowed = -1
		case 1, 2, 3:
			b.Status.DisruptionsAllowed, b.Status.CurrentHealthy = 0, int32(r.IntN(4)) //nolint:gosec // a few
		case 4:
			b.Status.DisruptedPods = map[string]metav1.Time{}
			for n := range 1999 + r.IntN(4) {
				b.Status.DisruptedPods[fmt.Sprint(n)] = metav1.Time{}
			}
		}
		if r.IntN(6) == 0 {
			b.Namespace = "other"
		}
	}
	return pods, budgets
}
