package e2e

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/retry"
	"k8s.io/component-helpers/storage/volume"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/scenario"
)

// TestPodScenarios has kube-scheduler place the pods of testdata/pods: it must find a node exactly for those
// that are said to be allocatable there, and none that is said to be refused.
func TestPodScenarios(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../testdata/pods/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	c := cluster.Start(t, cluster.Options{Controllers: []string{"resourceclaim-controller"}})
	for _, file := range files {
		s, err := scenario.LoadPods(file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(s.Name, func(t *testing.T) {
			if len(s.Features) > 0 {
				t.Skip("other feature gates than those of the control plane")
			}
			for i := range s.Wants {
				(&podScene{Cluster: c, scenario: s, want: &s.Wants[i]}).play(t)
			}
		})
	}
}

// podScene is a pod of a scenario on a real control plane.
type podScene struct {
	*cluster.Cluster
	scenario *scenario.PodScenario
	want     *scenario.PodWant
}

// play has the scheduler decide about the pod. Where it decides differently, it may not have seen all objects
// in time, and is asked again with more of it.
func (s *podScene) play(t *testing.T) {
	t.Helper()
	if !slices.Contains([]string{"Allocatable", "Unsatisfiable"}, s.want.Verdict) {
		return // there is nothing to expect of the scheduler
	}
	var wrong error
	for _, pause := range patience {
		s.setUp(t)
		time.Sleep(pause)
		if wrong = s.decide(t); wrong == nil {
			return
		}
		t.Logf("after %v: %v", pause, wrong)
	}
	t.Error(wrong)
}

// setUp makes the objects of the scenario, without the pods that wait for no particular node.
func (s *podScene) setUp(t *testing.T) {
	t.Helper()
	s.Clear(t)
	for _, object := range cluster.DecodeText(t, string(s.scenario.Cluster)) {
		switch object.GetKind() {
		case "Node":
			s.addNode(t, object)
		case "Pod":
			node, _, _ := unstructured.NestedString(object.Object, "spec", "nodeName")
			nominated, _, _ := unstructured.NestedString(object.Object, "status", "nominatedNodeName")
			if node != "" || nominated != "" {
				s.addPod(t, object)
			}
		default:
			s.create(t, object)
		}
	}
}

func (s *podScene) create(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	if err := s.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
}

// addNode makes a node. Admission taints it as not ready, and the controller that would undo it is not there.
func (s *podScene) addNode(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	s.create(t, object)
	wanted, _ := s.scenario.Snapshot.Node(inspect.NodeName(object.GetName()))
	nodes := s.Client().CoreV1().Nodes()
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		node, err := nodes.Get(t.Context(), wanted.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		node.Spec.Taints = wanted.Spec.Taints
		_, err = nodes.Update(t.Context(), node, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// addPod makes a pod, and before it the classes that it names, which admission looks up.
func (s *podScene) addPod(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	var pod corev1.Pod
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &pod); err != nil {
		t.Fatal(err)
	}
	if name := pod.Spec.PriorityClassName; name != "" {
		class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: *pod.Spec.Priority, PreemptionPolicy: pod.Spec.PreemptionPolicy}
		if _, err := s.Client().SchedulingV1().PriorityClasses().Create(t.Context(), class, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatal(err)
		}
	}
	if name := pod.Spec.RuntimeClassName; name != nil {
		class := &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: *name}, Handler: "handler", Overhead: &nodev1.Overhead{PodFixed: pod.Spec.Overhead}}
		if _, err := s.Client().NodeV1().RuntimeClasses().Create(t.Context(), class, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatal(err)
		}
	}
	cluster.Eventually(t, func(ctx context.Context) error { // admission may not know the classes yet
		err := s.Create(ctx, object)
		if err != nil && !apierrors.IsForbidden(err) {
			t.Fatal(err)
		}
		return err
	})
}

// decide creates the pod, and returns an error if the scheduler does something else with it than is wanted.
func (s *podScene) decide(t *testing.T) error {
	t.Helper()
	ref := s.want.Pod
	for _, object := range cluster.DecodeText(t, string(s.scenario.Cluster)) {
		if object.GetKind() == "Pod" && object.GetName() == ref.Name && object.GetNamespace() == ref.Namespace {
			s.addPod(t, object)
		}
	}
	defer s.bindVolumes(t)()
	expected := cluster.Placed
	if s.want.Verdict == "Unsatisfiable" {
		expected = waits
	}
	condition, node := s.PodScheduledWithin(t, decidingTime, ref.Namespace, ref.Name, expected)
	if node != "" && s.want.Verdict == "Unsatisfiable" && s.helpsItself() {
		s.refusedAtFirst(t)
		return nil
	}
	switch refuses := s.want.Refuses[inspect.NodeName(node)]; {
	case !expected(condition, node):
		return fmt.Errorf("%s is said to be %s; the scheduler: node %q, %s: %s", ref, s.want.Verdict, node, condition.Reason, condition.Message)
	case len(refuses) > 0:
		return fmt.Errorf("%s is on node %s, which is said to be refused by %s", ref, node, refuses)
	}
	return nil
}

// waits is what to expect of a pod that fits nowhere, or is held back.
func waits(c corev1.PodCondition, node string) bool {
	return node == "" && c.Status == corev1.ConditionFalse &&
		(c.Reason == corev1.PodReasonUnschedulable || c.Reason == corev1.PodReasonSchedulingGated)
}

// helpsItself reports whether the scheduler does itself what is proposed, and tries again.
func (s *podScene) helpsItself() bool {
	return slices.ContainsFunc(s.want.Fixes, func(f scenario.WantedFix) bool { return strings.Contains(f.Message, "kube-scheduler does") })
}

// refusedAtFirst waits until an event says that the scheduler found no node for the pod.
func (s *podScene) refusedAtFirst(t *testing.T) {
	t.Helper()
	cluster.Eventually(t, func(ctx context.Context) error {
		pod, err := s.Client().CoreV1().Pods(s.want.Pod.Namespace).Get(ctx, s.want.Pod.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		events, err := s.Client().CoreV1().Events(pod.Namespace).List(ctx, metav1.ListOptions{FieldSelector: "reason=FailedScheduling,involvedObject.uid=" + string(pod.UID)})
		if err == nil && len(events.Items) == 0 {
			err = fmt.Errorf("no event says that the scheduler refused %s at first", s.want.Pod)
		}
		return err
	})
}

// bindVolumes does what the controller of volumes and provisioners would do, as soon as the scheduler has
// decided: it binds claims to volumes that the scheduler has chosen, and makes volumes for claims for which
// it has chosen a node. What it cannot do, as an object has just changed, it does the next time. It goes on
// until the function that it returns is called.
func (s *podScene) bindVolumes(t *testing.T) (stop func()) {
	if len(s.scenario.Snapshot.Objects().VolumeClaims) == 0 {
		return func() {}
	}
	ctx, end, done := t.Context(), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			claims, err := s.Client().CoreV1().PersistentVolumeClaims(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
			volumes, err2 := s.Client().CoreV1().PersistentVolumes().List(ctx, metav1.ListOptions{})
			if err == nil && err2 == nil {
				for i := range claims.Items {
					s.bindVolume(ctx, &claims.Items[i], volumes.Items)
				}
			}
			select {
			case <-end:
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	return func() { close(end); <-done }
}

func (s *podScene) bindVolume(ctx context.Context, claim *corev1.PersistentVolumeClaim, volumes []corev1.PersistentVolume) {
	if claim.Spec.VolumeName != "" {
		return
	}
	chosen := slices.IndexFunc(volumes, func(v corev1.PersistentVolume) bool {
		return v.Spec.ClaimRef != nil && v.Spec.ClaimRef.UID == claim.UID
	})
	var name string
	switch {
	case chosen >= 0:
		name = volumes[chosen].Name
	case claim.Annotations[volume.AnnSelectedNode] != "" && !s.selectedBefore(claim):
		made, err := s.Client().CoreV1().PersistentVolumes().Create(ctx, volumeFor(claim), metav1.CreateOptions{})
		if err != nil {
			return
		}
		name = made.Name
	default:
		return
	}
	claim.Spec.VolumeName = name
	metav1.SetMetaDataAnnotation(&claim.ObjectMeta, volume.AnnBindCompleted, "yes")
	_, _ = s.Client().CoreV1().PersistentVolumeClaims(claim.Namespace).Update(ctx, claim, metav1.UpdateOptions{})
}

// selectedBefore reports whether a node was chosen for a claim before the scheduler came.
func (s *podScene) selectedBefore(claim *corev1.PersistentVolumeClaim) bool {
	return slices.ContainsFunc(s.scenario.Snapshot.Objects().VolumeClaims, func(c *corev1.PersistentVolumeClaim) bool {
		return c.Namespace == claim.Namespace && c.Name == claim.Name && c.Annotations[volume.AnnSelectedNode] != ""
	})
}

// volumeFor is what a provisioner makes for a claim.
func volumeFor(claim *corev1.PersistentVolumeClaim) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "made-for-" + claim.Name},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: claim.Spec.Resources.Requests, AccessModes: claim.Spec.AccessModes, StorageClassName: *claim.Spec.StorageClassName,
			PersistentVolumeSource: corev1.PersistentVolumeSource{NFS: &corev1.NFSVolumeSource{Server: "192.0.2.1", Path: "/" + claim.Name}},
			ClaimRef:               &corev1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID},
		},
	}
}
