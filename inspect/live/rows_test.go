package live_test

import (
	"net/http"
	"reflect"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
)

// sliceTable is what kube-apiserver 1.37 answers, shortened.
const sliceTable = `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"9"},"columnDefinitions":[
{"name":"Name","type":"string","format":"name"},{"name":"Node","type":"string"},{"name":"Driver","type":"string"},{"name":"Pool","type":"string"},{"name":"Age","type":"string"}],
"rows":[{"cells":["n1-gpu","n1","gpu.example.com","n1","5d"],"object":null},{"cells":["net","","net.example.com","fabric","5d"],"object":null},{"cells":["odd"]},{"cells":[7,"n1"]}]}`

func TestRowsOfATable(t *testing.T) {
	f := newFake()
	f.override[slicesPath] = func(w http.ResponseWriter, _ *http.Request) { answerJSON(w, sliceTable) }
	got, err := finder(t, f).Rows(t.Context(), inspect.Slices, "")
	want := []live.Row{{Name: "n1-gpu", Driver: "gpu.example.com", Pool: "n1", Node: "n1"}, {Name: "net", Driver: "net.example.com", Pool: "fabric"}, {Name: "odd"}, {Node: "n1"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
}

// TestRowsOfWhatKnowsNoTables: a list of objects says the same.
func TestRowsOfWhatKnowsNoTables(t *testing.T) {
	f := newFake()
	f.override[slicesPath] = func(w http.ResponseWriter, _ *http.Request) {
		answerJSON(w, `{"kind":"ResourceSliceList","apiVersion":"resource.k8s.io/v1","items":[{"metadata":{"name":"n1-gpu"},"spec":{"nodeName":"n1","driver":"gpu.example.com","pool":{"name":"n1"}}}]}`)
	}
	got, err := finder(t, f).Rows(t.Context(), inspect.Slices, "")
	want := []live.Row{{Name: "n1-gpu", Driver: "gpu.example.com", Pool: "n1", Node: "n1"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
	f.override["/api/v1/namespaces/ml/pods"] = func(w http.ResponseWriter, _ *http.Request) {
		answerJSON(w, `{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"a","namespace":"ml"},"spec":{"nodeName":["odd"]}}]}`)
	}
	got, err = finder(t, f).Rows(t.Context(), inspect.Pods, "ml")
	if want := []live.Row{{Name: "a", Namespace: "ml"}}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
}

// TestRowsOfAnOlderServer: a version that is not served is passed over, without discovery.
func TestRowsOfAnOlderServer(t *testing.T) {
	f := newFake()
	f.override[slicesPath] = func(w http.ResponseWriter, _ *http.Request) { http.NotFound(w, nil) }
	f.override["/apis/resource.k8s.io/v1beta2/resourceslices"] = func(w http.ResponseWriter, _ *http.Request) { answerJSON(w, sliceTable) }
	if got, err := finder(t, f).Rows(t.Context(), inspect.Slices, ""); err != nil || len(got) != 4 {
		t.Errorf("got %+v, %v", got, err)
	}
	if asked := f.asked("/"); len(asked) != 2 {
		t.Errorf("asked %q", asked)
	}
}

func TestRowsThatAreRefused(t *testing.T) {
	f := newFake()
	f.override["/api/v1/nodes"] = func(w http.ResponseWriter, _ *http.Request) { answerJSON(w, `[]`) }
	for _, resource := range []inspect.Resource{inspect.Nodes, "gadgets"} {
		if got, err := finder(t, f).Rows(t.Context(), resource, ""); err == nil {
			t.Errorf("%s: got %+v", resource, got)
		}
	}
	if got, err := finder(t, f).Rows(t.Context(), inspect.Pods, "../secrets"); err == nil {
		t.Errorf("got %+v", got)
	}
}

// TestSome reads only what is chosen, and takes no other object for it.
func TestSome(t *testing.T) {
	f := newFake()
	f.override[slicesPath] = func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("fieldSelector") == "" {
			answerJSON(w, sliceTable)
			return
		}
		if r.URL.RawQuery != "fieldSelector=metadata.name%3Dn1-gpu&resourceVersion=0" {
			t.Errorf("asked for %s", r.URL)
		}
		answerJSON(w, `{"kind":"ResourceSliceList","apiVersion":"resource.k8s.io/v1","metadata":{"resourceVersion":"9"},"items":[
{"metadata":{"name":"n1-gpu"},"spec":{"nodeName":"n1","driver":"gpu.example.com","pool":{"name":"n1"},"devices":[{"name":"gpu-0"}]}},
{"metadata":{"name":"other"},"spec":{"nodeName":"n2","driver":"gpu.example.com","pool":{"name":"n2"},"devices":[{"name":"gpu-0"}]}}]}`)
	}
	got, err := finder(t, f).Some(t.Context(), inspect.Slices, func(rows []live.Row) []string { return []string{rows[0].Name} })
	if err != nil || len(got.Slices) != 1 || got.Slices[0].Name != "n1-gpu" || got.Slices[0].Spec.Devices[0].Name != "gpu-0" {
		t.Errorf("got %+v, %v", got.Slices, err)
	}
}
