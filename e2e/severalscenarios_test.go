package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
	"github.com/kubectl-dra/kubectl-dra/internal/scenario"
)

// TestSeveralScenarios has kube-scheduler place the pods of each file of testdata/several, one after the
// other as they stand there: it must place exactly those that are said to be allocatable, and leave those
// waiting that are said to be refused.
func TestSeveralScenarios(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../testdata/several/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	c := cluster.Start(t, cluster.Options{FeatureGates: "GenericWorkload=true", Controllers: []string{"resourceclaim-controller"}})
	for _, file := range files {
		s, err := scenario.LoadPods(file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(s.Name, func(t *testing.T) {
			(&severalScene{podScene{Cluster: c, scenario: s}}).play(t)
		})
	}
}

// severalScene is a scenario of several pods on a real control plane.
type severalScene struct{ podScene }

// play has the scheduler decide. Where it decides differently, it may not have seen all objects in time, and
// is asked again with more of it.
func (s *severalScene) play(t *testing.T) {
	t.Helper()
	var wrong error
	for i, pause := range patience {
		if i > 1 { // it may remember a claim of the same name, which an earlier scenario had
			s.Restart(t, "kube-scheduler", 0)
		}
		s.setUp(t)
		time.Sleep(pause)
		s.queue(t, pause)
		if wrong = s.compare(t); wrong == nil {
			s.checkTriage(t)
			return
		}
		t.Logf("after %v: %v", pause, wrong)
	}
	t.Error(wrong)
}

// checkTriage asks what is stuck in the cluster once the scheduler has done what it can: that must be the
// pods that still wait, none of which is said to fit. The scheduler may try a pod again at any time, and
// place it where its choice of nodes was what kept it waiting: what is told is compared only when the same
// pods waited before and after. A pod that is said to fit gets the time until the scheduler has tried it
// again; after that it must have a node.
func (s *severalScene) checkTriage(t *testing.T) {
	t.Helper()
	var wrong error
	for end := time.Now().Add(2 * cluster.DecidingTime); ; time.Sleep(500 * time.Millisecond) {
		last := time.Now().After(end) // before it looks, which may take long
		before := s.waiting(t)
		told, ready := s.triage(t)
		after := s.waiting(t)
		switch {
		case !slices.Equal(before, after):
			wrong = fmt.Errorf("the scheduler goes on placing pods: %v waited before, %v after", before, after)
		case len(ready) == 0 && slices.Equal(told, after):
			return
		default:
			wrong = fmt.Errorf("%v wait, told to be stuck: %v, to fit: %v", after, told, ready)
		}
		if len(ready) == 0 && slices.Equal(before, after) || last {
			t.Error(wrong)
			return
		}
		t.Log(wrong)
	}
}

// triage are the names of the pods that the plugin tells to be stuck, sorted, and of those that it says would
// fit.
func (s *severalScene) triage(t *testing.T) (stuck, ready []string) {
	t.Helper()
	result := s.Plugin(t, cluster.Admin, "explain", "-o", "json")
	var got struct {
		Causes []struct{ Subjects []struct{ Kind, Name string } }
		Ready  []struct{ Name string }
	}
	if err := json.Unmarshal([]byte(result.Stdout), &got); err != nil {
		t.Fatalf("%v\n%v", err, result)
	}
	for _, c := range got.Causes {
		for _, subject := range c.Subjects {
			if subject.Kind == "Pod" {
				stuck = append(stuck, subject.Name)
			}
		}
	}
	slices.Sort(stuck)
	for _, r := range got.Ready {
		ready = append(ready, r.Name)
	}
	return stuck, ready
}

// waiting are the names of the pods that have no node, sorted.
func (s *severalScene) waiting(t *testing.T) []string {
	t.Helper()
	pods, err := s.Client().CoreV1().Pods(metav1.NamespaceAll).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range pods.Items {
		if pod := &pods.Items[i]; pod.Spec.NodeName == "" {
			names = append(names, pod.Name)
		}
	}
	slices.Sort(names)
	return names
}

// queued reports whether an object is one for the scheduler's queue: a pod that waits, or a group of pods.
func queued(object *unstructured.Unstructured) bool {
	node, _, _ := unstructured.NestedString(object.Object, "spec", "nodeName")
	return object.GetKind() == "PodGroup" || object.GetKind() == "Pod" && node == ""
}

// setUp makes all objects but those for the queue.
func (s *severalScene) setUp(t *testing.T) {
	t.Helper()
	s.Clear(t)
	for _, object := range cluster.DecodeText(t, string(s.scenario.Cluster)) {
		switch {
		case queued(object):
		case object.GetKind() == "Node":
			s.addNode(t, object)
		case object.GetKind() == "Pod":
			s.addPod(t, object)
		default:
			s.create(t, object)
		}
	}
}

// queue makes the objects for the queue, in the order of the file. A pod that has no group is decided before
// the next comes, and so is a group, which comes after its pods.
func (s *severalScene) queue(t *testing.T, pause time.Duration) {
	t.Helper()
	for _, object := range cluster.DecodeText(t, string(s.scenario.Cluster)) {
		if !queued(object) {
			continue
		}
		if object.GetKind() == "PodGroup" {
			s.create(t, object)
			time.Sleep(pause + 300*time.Millisecond)
			continue
		}
		s.addPod(t, object)
		if _, grouped, _ := unstructured.NestedMap(object.Object, "spec", "schedulingGroup"); !grouped || s.groupExists(t, object) {
			expected := waits
			if s.wanted(object.GetName()) == "Allocatable" {
				expected = cluster.Placed
			}
			s.PodScheduledWithin(t, decidingTime, object.GetNamespace(), object.GetName(), expected)
		}
	}
}

// wanted is what is said of a pod.
func (s *severalScene) wanted(pod string) string {
	for i := range s.scenario.Wants {
		if w := &s.scenario.Wants[i]; w.Pod.Name == pod {
			return w.Verdict
		}
	}
	return ""
}

// groupExists reports whether the group of a pod was made before it, and waits for no other pod.
func (s *severalScene) groupExists(t *testing.T, pod *unstructured.Unstructured) bool {
	t.Helper()
	name, _, _ := unstructured.NestedString(pod.Object, "spec", "schedulingGroup", "podGroupName")
	group, err := s.Client().SchedulingV1beta1().PodGroups(pod.GetNamespace()).Get(t.Context(), name, metav1.GetOptions{})
	return err == nil && (group.Spec.SchedulingPolicy.Gang == nil || group.Spec.SchedulingPolicy.Gang.MinCount == 1)
}

// compare waits until the pods are where they are said to be, and sees that they stay so.
func (s *severalScene) compare(t *testing.T) error {
	t.Helper()
	var wrong error
	right := 0
	for end := time.Now().Add(cluster.DecidingTime); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if wrong = s.look(t.Context()); wrong != nil {
			right = 0
			continue
		}
		if right++; right >= 6 {
			return nil
		}
	}
	return wrong
}

// look compares the pods with what is said of them.
func (s *severalScene) look(ctx context.Context) error {
	placed := 0
	for i := range s.scenario.Wants {
		want := &s.scenario.Wants[i]
		pod, err := s.Client().CoreV1().Pods(want.Pod.Namespace).Get(ctx, want.Pod.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		on := pod.Spec.NodeName
		if on != "" {
			placed++
		}
		if on == "" && want.Verdict == "Allocatable" || on != "" && want.Verdict == "Unsatisfiable" {
			return fmt.Errorf("%s is said to be %s; the scheduler: node %q, %+v", want.Pod, want.Verdict, on, pod.Status.Conditions)
		}
	}
	if s.scenario.Placed >= 0 && placed != s.scenario.Placed {
		return fmt.Errorf("%d pods are placed, not %d", placed, s.scenario.Placed)
	}
	return nil
}
