package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
)

// runner makes pods on nodes run, and ends those that are being deleted, as kubelets do. A pod with the
// label sick runs and does not become ready.
type runner struct {
	c *cluster.Cluster
	// pause is how long a pod needs at least to become ready.
	pause time.Duration

	mutex sync.Mutex
	// ended are the pods that were told to end, by namespace and name, as they were seen last.
	ended map[string]*corev1.Pod
	// all are the pods that there are, and since is when they last changed.
	all     map[string]*corev1.Pod
	since   time.Time
	bound   map[types.UID]time.Time
	started int
}

// startRunner starts one that runs until the test ends.
func startRunner(t *testing.T, c *cluster.Cluster, pause time.Duration) *runner {
	t.Helper()
	r := &runner{c: c, pause: pause, ended: map[string]*corev1.Pod{}, bound: map[types.UID]time.Time{}}
	go func() {
		for t.Context().Err() == nil {
			r.run(t.Context())
			select {
			case <-t.Context().Done():
			case <-time.After(200 * time.Millisecond):
			}
		}
	}()
	return r
}

func (r *runner) run(ctx context.Context) {
	list, err := r.c.Client().CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	all := map[string]*corev1.Pod{}
	changed := len(list.Items) != len(r.all)
	for i := range list.Items {
		pod := &list.Items[i]
		name := pod.Namespace + "/" + pod.Name
		all[name] = pod
		before := r.all[name]
		changed = changed || before == nil || before.UID != pod.UID || before.Spec.NodeName != pod.Spec.NodeName || before.Status.Phase != pod.Status.Phase
		switch {
		case pod.DeletionTimestamp != nil:
			r.ended[name] = pod
			_ = r.c.Client().CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: ptr.To(int64(0)), Preconditions: &metav1.Preconditions{UID: &pod.UID}})
			changed = true
		case pod.Spec.NodeName != "" && pod.Status.Phase == corev1.PodPending:
			r.start(ctx, pod)
			changed = true
		}
	}
	r.all = all
	if changed {
		r.since = time.Now()
	}
}

// start makes a pod run if it has been on its node for long enough. No two start in the same second, so that
// kube-scheduler can tell them apart.
func (r *runner) start(ctx context.Context, pod *corev1.Pod) {
	if _, ok := r.bound[pod.UID]; !ok {
		r.bound[pod.UID] = time.Now()
	}
	if time.Since(r.bound[pod.UID]) < r.pause {
		return
	}
	r.started++
	is := corev1.ConditionTrue
	if pod.Labels["sick"] != "" {
		is = corev1.ConditionFalse
	}
	status := corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &metav1.Time{Time: time.Now().Add(-time.Hour + time.Duration(r.started)*time.Second)},
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: is, LastTransitionTime: metav1.Now()}}}
	patch, _ := json.Marshal(map[string]any{"status": status})
	_, _ = r.c.Client().CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
}

func isReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// rest waits until nothing has happened for a while, and returns all pods.
func (r *runner) rest(t *testing.T, calm time.Duration) map[string]*corev1.Pod {
	t.Helper()
	var out map[string]*corev1.Pod
	cluster.Eventually(t, func(context.Context) error {
		r.mutex.Lock()
		defer r.mutex.Unlock()
		if out = r.all; r.since.IsZero() || time.Since(r.since) < calm {
			return errors.New("pods still change")
		}
		return nil
	})
	return out
}

// settled waits until there are so many pods, all of which run, and their budgets are counted.
func (r *runner) settled(t *testing.T, want int) {
	t.Helper()
	cluster.Eventually(t, func(ctx context.Context) error {
		list, err := r.c.Client().CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		done := 0
		for i := range list.Items {
			if pod := &list.Items[i]; pod.Status.Phase == corev1.PodRunning {
				done++
			}
		}
		if done != want || len(list.Items) != want {
			return fmt.Errorf("%d of %d pods run, and %d are wanted", done, len(list.Items), want)
		}
		budgets, err := r.c.Client().PolicyV1().PodDisruptionBudgets(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		return uncounted(budgets.Items, list.Items)
	})
}

// uncounted names a budget whose healthy pods are not those that the disruption controller counts. Of those
// that share pods it is told of one only when a pod changes, and those of some it cannot count.
func uncounted(budgets []policyv1.PodDisruptionBudget, pods []corev1.Pod) error {
	healthy, shared, of := map[string]int{}, map[string]bool{}, map[int]string{}
	for i := range budgets {
		b := &budgets[i]
		name := b.Namespace + "/" + b.Name
		selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
		if err != nil {
			return err
		}
		for k := range pods {
			if pods[k].Namespace != b.Namespace || !selector.Matches(labels.Set(pods[k].Labels)) {
				continue
			}
			if isReady(&pods[k]) {
				healthy[name]++
			}
			if of[k] != "" {
				shared[name], shared[of[k]] = true, true
			}
			of[k] = name
		}
	}
	for i := range budgets {
		b := &budgets[i]
		name := b.Namespace + "/" + b.Name
		allowed := meta.FindStatusCondition(b.Status.Conditions, policyv1.DisruptionAllowedCondition)
		if allowed == nil || allowed.Reason != policyv1.SyncFailedReason && !shared[name] && int(b.Status.CurrentHealthy) != healthy[name] {
			return fmt.Errorf("budget %s has counted %d healthy pods of %d", name, b.Status.CurrentHealthy, healthy[name])
		}
	}
	return nil
}
