package live_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect/live"
	"github.com/kubectl-dra/kubectl-dra/inspect/schedulerconfig"
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
	w := got.Selecting
	if w == nil || len(w.Services) != 1 || len(w.ReplicationControllers) != 1 || len(w.ReplicaSets) != 1 || len(w.StatefulSets) != 1 || got.Unread != nil {
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
	if got.Nodes != nil || got.Selecting != nil || len(got.Pods) != 1 {
		t.Errorf("%+v, want no nodes, no selectors, and the rest", got)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := finder(t, f).Choosing(ended, nil); err == nil {
		t.Error("a cancelled request is no error")
	}
}

// TestSelecting: services and controllers are read where kube-scheduler refuses nodes because of them, of all
// namespaces or else of that which is looked at.
func TestSelecting(t *testing.T) {
	config := func(unmet string) *schedulerconfig.Config {
		c, err := schedulerconfig.Read([]byte("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles: [{pluginConfig: [{name: PodTopologySpread, "+
			"args: {defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: "+unmet+"}]}}]}]\n"), func(string) bool { return false })
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for name, c := range map[string]struct {
		unmet, namespace string
		forbidden        []string
		asked            int
		namespaces       []string // nil if nothing is known
	}{
		"a wish":                 {unmet: "ScheduleAnyway"},
		"of all":                 {unmet: "DoNotSchedule", asked: 1, namespaces: []string{}},
		"forbidden":              {unmet: "DoNotSchedule", forbidden: []string{"/api/v1/services"}, asked: 1},
		"forbidden, of one":      {unmet: "DoNotSchedule", namespace: "ml", forbidden: []string{"/api/v1/services"}, asked: 2, namespaces: []string{"ml"}},
		"of another not even so": {unmet: "DoNotSchedule", namespace: "db", forbidden: []string{"/api/v1/services", "/api/v1/namespaces/db/services"}, asked: 2},
	} {
		t.Run(name, func(t *testing.T) {
			f := choosingServer()
			f.objects["/api/v1/services"] = f.objects["/api/v1/namespaces/ml/services"]
			for _, path := range c.forbidden {
				f.status[path] = 403
			}
			cluster, err := live.Read(t.Context(), f.start(t), live.Options{Namespace: c.namespace, Scheduler: config(c.unmet)})
			if err != nil {
				t.Fatal(err)
			}
			w := cluster.Selecting
			if (w != nil) != (c.namespaces != nil) || w != nil && (!slices.Equal(w.Namespaces, c.namespaces) || len(w.Services) != 1) {
				t.Errorf("known are %+v, want those of %q", w, c.namespaces)
			}
			if n := len(f.asked("services")); n != c.asked {
				t.Errorf("services were asked for %d times, want %d", n, c.asked)
			}
		})
	}
}
