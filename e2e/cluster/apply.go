package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/retry"
)

// Apply creates the objects of YAML files, in their order. A namespace that exists already is fine.
func (c *Cluster) Apply(t testing.TB, files ...string) {
	t.Helper()
	for _, object := range Decode(t, files...) {
		if err := c.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
}

// ApplyText is Apply for YAML given as text.
func (c *Cluster) ApplyText(t testing.TB, text string) {
	t.Helper()
	for _, object := range DecodeText(t, text) {
		if err := c.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
}

// Decode reads every object of multi-document YAML files.
func Decode(t testing.TB, files ...string) []*unstructured.Unstructured {
	t.Helper()
	var all []*unstructured.Unstructured
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		objects, err := decode(data)
		if err != nil {
			t.Fatalf("decoding %s: %v", file, err)
		}
		all = append(all, objects...)
	}
	return all
}

// DecodeText is Decode for YAML given as text.
func DecodeText(t testing.TB, text string) []*unstructured.Unstructured {
	t.Helper()
	objects, err := decode([]byte(text))
	if err != nil {
		t.Fatalf("decoding: %v", err)
	}
	return objects
}

// decode reads multi-document YAML; the items of a list count as objects of their own.
func decode(data []byte) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
	for {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(object); errors.Is(err, io.EOF) {
			return objects, nil
		} else if err != nil {
			return nil, err
		}
		switch {
		case len(object.Object) == 0: // an empty document
		case object.IsList():
			err := object.EachListItem(func(item runtime.Object) error {
				objects = append(objects, item.(*unstructured.Unstructured))
				return nil
			})
			if err != nil {
				return nil, err
			}
		default:
			objects = append(objects, object)
		}
	}
}

// Create creates an object without what only a server may set, and then its status if it has one. A
// namespaced object without a namespace goes to "default". A namespace that exists already is fine.
func (c *Cluster) Create(ctx context.Context, object *unstructured.Unstructured) error {
	if err := c.create(ctx, object.DeepCopy()); err != nil {
		return fmt.Errorf("creating %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return nil
}

func (c *Cluster) create(ctx context.Context, object *unstructured.Unstructured) error {
	kind := object.GroupVersionKind()
	mapping, err := c.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return err
	}
	var client dynamic.ResourceInterface = c.dynamic.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		if object.GetNamespace() == "" {
			object.SetNamespace(metav1.NamespaceDefault)
		}
		client = c.dynamic.Resource(mapping.Resource).Namespace(object.GetNamespace())
	}
	for _, field := range []string{"resourceVersion", "uid", "creationTimestamp", "generation", "managedFields", "ownerReferences"} {
		unstructured.RemoveNestedField(object.Object, "metadata", field)
	}
	status := object.Object["status"]
	created, err := client.Create(ctx, object, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) && kind.Kind == "Namespace" {
		return nil
	}
	if err != nil || status == nil {
		return err
	}
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error { // with a scheduler that has seen it already
		created.Object["status"] = status
		_, err := client.UpdateStatus(ctx, created, metav1.UpdateOptions{})
		if apierrors.IsConflict(err) {
			if now, getErr := client.Get(ctx, created.GetName(), metav1.GetOptions{}); getErr == nil {
				created = now
			}
		}
		return err
	})
}

// AddNode creates a node that is ready and has room for a hundred pods.
func (c *Cluster) AddNode(t testing.TB, name string, labels map[string]string) {
	t.Helper()
	nodes := c.client.CoreV1().Nodes()
	node, err := nodes.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating node %s: %v", name, err)
	}
	node.Status.Capacity = corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("64"), corev1.ResourceMemory: resource.MustParse("256Gi"), corev1.ResourcePods: resource.MustParse("100"),
	}
	node.Status.Allocatable = node.Status.Capacity
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "Test",
		LastHeartbeatTime: metav1.Now(), LastTransitionTime: metav1.Now()}}
	if node, err = nodes.UpdateStatus(t.Context(), node, metav1.UpdateOptions{}); err != nil {
		t.Fatalf("updating the status of node %s: %v", name, err)
	}
	// Admission taints every new node as not ready, and the controller that would undo it is not there.
	node.Spec.Taints = nil
	if _, err = nodes.Update(t.Context(), node, metav1.UpdateOptions{}); err != nil {
		t.Fatalf("removing the taint of node %s: %v", name, err)
	}
}

// patience bounds every wait. It is far more than any of them takes: a machine may be slow, or busy with
// something else for a while, and nothing is won by giving up early.
const patience = 3 * time.Minute

// Eventually repeats check until it returns nil, or fails the test with its last error.
func Eventually(t testing.TB, check func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var last error
	for {
		err := check(ctx)
		if err == nil {
			return
		}
		if last == nil || ctx.Err() == nil { // not that the time was up in the middle of a try
			last = err
		}
		select {
		case <-ctx.Done():
			t.Fatalf("after %v: %v", patience, last)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// DecidingTime is how long a decision of the scheduler that is not the expected one has to stand. It may be
// about the cluster as it was a moment ago, and then the scheduler decides again by itself: after the pause
// that it makes between two tries of a pod, which is ten seconds at most.
const DecidingTime = 12 * time.Second

// PodScheduled waits until the scheduler has decided about a pod as expected, or differently and stays with
// it. It returns its condition PodScheduled and the node, which is "" while the condition is false.
func (c *Cluster) PodScheduled(
	t testing.TB, namespace, name string, expected func(corev1.PodCondition, string) bool,
) (decision corev1.PodCondition, node string) {
	t.Helper()
	return c.PodScheduledWithin(t, DecidingTime, namespace, name, expected)
}

// PodScheduledWithin is PodScheduled for a test that asks again where the scheduler decides differently, or
// for which the decision makes no difference: that has to stand for less time.
func (c *Cluster) PodScheduledWithin(
	t testing.TB, stands time.Duration, namespace, name string, expected func(corev1.PodCondition, string) bool,
) (decision corev1.PodCondition, node string) {
	t.Helper()
	var since time.Time
	Eventually(t, func(ctx context.Context) error {
		if err := c.alive(); err != nil {
			t.Fatal(err)
		}
		pod, err := c.client.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, condition := range pod.Status.Conditions {
			if condition.Type != corev1.PodScheduled {
				continue
			}
			if since.IsZero() || condition.Message != decision.Message {
				since = time.Now()
			}
			decision, node = condition, pod.Spec.NodeName
			if node != "" || expected(decision, node) || time.Since(since) > stands {
				return nil
			}
		}
		return fmt.Errorf("the scheduler has not decided about pod %s/%s", namespace, name)
	})
	return decision, node
}

// Unplaced is what to expect of a pod for whose claims no node has the devices.
func Unplaced(decision corev1.PodCondition, node string) bool {
	return node == "" && decision.Reason == corev1.PodReasonUnschedulable && strings.Contains(decision.Message, "cannot allocate all claims")
}

// Placed is what to expect of a pod that can run.
func Placed(_ corev1.PodCondition, node string) bool { return node != "" }
