package live_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
)

// asProtobuf is a list of one claim, with a field in it that no type here has.
func asProtobuf(t *testing.T, future bool) []byte {
	t.Helper()
	claim, err := (&resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "ml", UID: "u"}}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if future {
		claim = protowire.AppendVarint(protowire.AppendTag(claim, 99, protowire.VarintType), 5)
	}
	meta, err := (&metav1.ListMeta{ResourceVersion: "7"}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	raw := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), meta)
	raw = protowire.AppendBytes(protowire.AppendTag(raw, 2, protowire.BytesType), claim)
	data, err := (&runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "resource.k8s.io/v1", Kind: "ResourceClaimList"}, Raw: raw}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return append([]byte("k8s\x00"), data...)
}

// TestNewFieldsOfServers: fields that protobuf loses are asked for as JSON, once they are known to be there,
// of servers that are newer than the API types; others are asked once, as before.
func TestNewFieldsOfServers(t *testing.T) {
	const path = "/apis/resource.k8s.io/v1/resourceclaims"
	for _, test := range []struct {
		version        string
		future         bool
		accepts, field string
	}{
		{version: "39", future: true, accepts: "protobuf json", field: "spec.reservation"},
		{version: "39", accepts: "protobuf"},
		{version: "37", accepts: "protobuf"},
	} {
		f := newFake()
		f.version = `{"major":"1","minor":"` + test.version + `","gitVersion":"v1.` + test.version + `.0"}`
		var accepts []string
		f.override[path] = func(w http.ResponseWriter, r *http.Request) {
			protobuf := strings.HasPrefix(r.Header.Get("Accept"), runtime.ContentTypeProtobuf)
			accepts = append(accepts, map[bool]string{true: "protobuf", false: "json"}[protobuf])
			if protobuf {
				w.Header().Set("Content-Type", runtime.ContentTypeProtobuf)
				_, _ = w.Write(asProtobuf(t, test.future))
				return
			}
			answerJSON(w, listJSON(path, "", `{"metadata":{"name":"c","namespace":"ml","uid":"u"},"spec":{"reservation":5}}`))
		}
		cluster := mustRead(t, f, live.Options{Resources: []inspect.Resource{inspect.Claims}})
		if strings.Join(accepts, " ") != test.accepts {
			t.Errorf("%+v: asked for %q", test, accepts)
		}
		fields, _ := inspect.NewerFields(cluster.Objects.Claims[0])
		if !slices.Equal(fields, strings.Fields(test.field)) {
			t.Errorf("%+v: kept %q", test, fields)
		}
	}
}

// TestNewFieldsOfKueue: what Kueue has is as old as Kueue is, whatever the server.
func TestNewFieldsOfKueue(t *testing.T) {
	const path = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues"
	f := newFake()
	f.version = `{"major":"1","minor":"37","gitVersion":"v1.37.2"}`
	f.served["kueue.x-k8s.io/v1beta2"] = []string{"clusterqueues"}
	f.objects[path] = []string{`{"metadata":{"name":"q","uid":"u"},"spec":{"reservation":5}}`}
	cluster := mustRead(t, f, live.Options{Resources: []inspect.Resource{inspect.ClusterQueues}})
	if len(cluster.Objects.ClusterQueues) != 1 {
		t.Fatalf("%+v", cluster.Health)
	}
	if fields, _ := inspect.NewerFields(cluster.Objects.ClusterQueues[0]); !slices.Equal(fields, []string{"spec.reservation"}) {
		t.Errorf("kept %q", fields)
	}
}

// TestWorkloadsOfPods: which pods of 1.35 belong to a Workload is not lost, although the API types of later
// releases do not have the field.
func TestWorkloadsOfPods(t *testing.T) {
	const path = "/api/v1/pods"
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "w", Namespace: "ml", UID: "u"}}
	list, err := (&corev1.PodList{Items: []corev1.Pod{*pod}}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	list = protowire.AppendBytes(protowire.AppendTag(list, 99, protowire.BytesType), []byte("what is new"))
	f := newFake()
	f.version = `{"major":"1","minor":"35","gitVersion":"v1.35.0"}`
	f.override[path] = func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.Header.Get("Accept"), runtime.ContentTypeProtobuf) {
			data, _ := (&runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: "PodList"}, Raw: list}).Marshal()
			w.Header().Set("Content-Type", runtime.ContentTypeProtobuf)
			_, _ = w.Write(append([]byte("k8s\x00"), data...))
			return
		}
		answerJSON(w, listJSON(path, "", `{"metadata":{"name":"w","namespace":"ml","uid":"u"},"spec":{"workloadRef":{"name":"train","podGroup":"workers"}}}`))
	}
	cluster := mustRead(t, f, live.Options{Resources: []inspect.Resource{inspect.Pods}})
	if !inspect.NamesWorkload(cluster.Objects.Pods[0]) || !slices.Contains(inspect.FeaturesUsedBy(cluster.Objects), inspect.GateGenericWorkload) {
		t.Errorf("that the pod names a workload is lost: %v", cluster.Objects.Pods[0])
	}
}

// TestNewFieldsOfEvents: what comes by a watch keeps its new fields too.
func TestNewFieldsOfEvents(t *testing.T) {
	h, config := newHub(t)
	h.minor = "39"
	w, err := live.Watch(t.Context(), config, live.Options{Resources: []inspect.Resource{inspect.Claims}})
	if err != nil {
		t.Fatal(err)
	}
	for s := range w.Updates() {
		if s.Health(inspect.Claims).State == inspect.Synced && len(s.Objects().Claims) == 0 {
			h.put("/apis/resource.k8s.io/v1/resourceclaims", "ml", "c", `"spec":{"reservation":5}`)
		}
		if len(s.Objects().Claims) == 1 {
			if text := s.Newer().Of("ResourceClaim", s.Objects().Claims[0]); text != "field spec.reservation of claim ml/c is newer than this program" {
				t.Errorf("it is %q", text)
			}
			return
		}
	}
}
