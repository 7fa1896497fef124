package live_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// choosingServer is a server with more nodes than are on a page, and a namespace with everything that selects
// pods.
func choosingServer() *fakeServer {
	f := newFake()
	f.served["apps/v1"] = []string{"replicasets", "statefulsets"}
	for i := range 1200 {
		f.objects["/api/v1/nodes"] = append(f.objects["/api/v1/nodes"], fmt.Sprintf(`{"metadata":{"name":"n%04d","labels":{"a":"b"}},"spec":{"unschedulable":true},"status":{"capacity":{"cpu":"1"},"images":[{"names":["app:v%d"],"sizeBytes":%d}]}}`, i, i, i))
	}
	f.objects["/api/v1/namespaces/ml/pods"] = []string{`{"metadata":{"name":"p","namespace":"ml","uid":"u","labels":{"a":"b"}},
	 "spec":{"containers":[{"name":"main","image":"app:v1","command":["secret"],"env":[{"name":"A","value":"secret"}]}],"initContainers":[{"name":"init","image":"init"}],
	 "volumes":[{"name":"model","image":{"reference":"model:v2"}},{"name":"other","emptyDir":{}}]},"status":{"phase":"Pending"}}`}
	f.objects["/api/v1/namespaces/ml/services"] = []string{`{"metadata":{"name":"s","namespace":"ml"},"spec":{"selector":{"app":"web"}}}`}
	f.objects["/api/v1/namespaces/ml/replicationcontrollers"] = []string{`{"metadata":{"name":"rc","namespace":"ml"},"spec":{"selector":{"app":"web"},"template":{"spec":{"nodeName":"x"}}}}`}
	f.objects["/apis/apps/v1/namespaces/ml/replicasets"] = []string{`{"metadata":{"name":"rs","namespace":"ml"},"spec":{"selector":{"matchLabels":{"app":"web"}}}}`}
	f.objects["/apis/apps/v1/namespaces/ml/statefulsets"] = []string{`{"metadata":{"name":"ss","namespace":"ml"},"spec":{"selector":{"matchLabels":{"app":"web"}}}}`}
	return f
}

func TestChoosing(t *testing.T) {
	f := choosingServer()
	got, err := finder(t, f).Choosing(context.Background(), []string{"ml", "empty", "ml"})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Nodes) != 1200 || len(f.asked("/api/v1/nodes")) != 3 {
		t.Fatalf("%d nodes in %d requests, want 1200 in 3", len(got.Nodes), len(f.asked("/api/v1/nodes")))
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1199"}, Status: corev1.NodeStatus{Images: []corev1.ContainerImage{{Names: []string{"app:v1199"}, SizeBytes: 1199}}}}
	if diff := cmp.Diff(node, got.Nodes[1199]); diff != "" {
		t.Errorf("a node (-want +got):\n%s", diff)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "p", UID: "u"}, Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "main", Image: "app:v1"}}, InitContainers: []corev1.Container{{Name: "init", Image: "init"}},
		Volumes: []corev1.Volume{{Name: "model", VolumeSource: corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: "model:v2"}}}},
	}}
	if diff := cmp.Diff([]*corev1.Pod{pod}, got.Pods); diff != "" {
		t.Errorf("pods (-want +got):\n%s", diff)
	}
	if asked := f.asked("/pods"); len(asked) != 2 || !strings.Contains(asked[0], "fieldSelector=spec.nodeName%3D") {
		t.Errorf("pods are asked for by %q, want those without a node, of each namespace once", asked)
	}
	if len(got.Services) != 1 || len(got.ReplicationControllers) != 1 || len(got.ReplicaSets) != 1 || len(got.StatefulSets) != 1 || !got.Selectors || got.Unread != nil {
		t.Errorf("%+v, want one object of each kind", got)
	}
}

// What may not be read, or fails, is told, and the rest is read.
func TestChoosingForbidden(t *testing.T) {
	f := choosingServer()
	f.status["/api/v1/nodes"], f.status["/apis/apps/v1/namespaces/ml/replicasets"] = 403, 500
	got, err := finder(t, f).Choosing(context.Background(), []string{"ml"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"cannot list nodes", "listing replicasets.apps in namespace ml: "}
	if len(got.Unread) != 2 || got.Unread[0] != want[0] || !strings.HasPrefix(got.Unread[1], want[1]) {
		t.Errorf("not read: %q, want %q", got.Unread, want)
	}
	if got.Nodes != nil || got.Selectors || len(got.Services) != 1 || len(got.StatefulSets) != 1 {
		t.Errorf("%+v, want no nodes, not all selectors, and the rest", got)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := finder(t, f).Choosing(ended, nil); err == nil {
		t.Error("a cancelled request is no error")
	}
}
