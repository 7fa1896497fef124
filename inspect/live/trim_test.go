package live

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/poison"
	"github.com/kubectl-dra/kubectl-dra/internal/randompod"
)

// TestTrim: an object that was trimmed before it was decoded is the same, once reduced, as one that was decoded whole, of
// every kind, with every field set, and with what pods have.
func TestTrim(t *testing.T) {
	for _, k := range kinds() {
		full := k.empty()
		poison.Fill(full)
		checkTrim(t, k, full)
		if _, ok := full.(*corev1.Pod); !ok {
			continue
		}
		for _, phase := range []corev1.PodPhase{corev1.PodPending, corev1.PodRunning, corev1.PodFailed} {
			full.(*corev1.Pod).Status.Phase = phase
			checkTrim(t, k, full)
		}
		checkTrim(t, k, pluginPod())
		for seed := range 30 {
			objects := randompod.New(seed).World()
			for _, pod := range objects.Pods {
				checkTrim(t, k, pod)
			}
		}
	}
}

// TestTrimOfChoosing is TestTrim of what is read only to choose among nodes, or to say who may do what.
func TestTrimOfChoosing(t *testing.T) {
	for _, k := range slices.Concat([]kind{imagesOfNodes, imagesOfPods}, selecting, accessKinds) {
		full := k.empty()
		poison.Fill(full)
		checkTrim(t, k, full)
	}
}

// pluginPod is one of which a volume is kept that others lose.
func pluginPod() *corev1.Pod {
	pod := typicalPod(1)
	path := corev1.HostPathVolumeSource{Path: "/var/lib/kubelet/plugins_registry"}
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "registry", VolumeSource: corev1.VolumeSource{HostPath: &path}})
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "driver"}}
	return pod
}

func checkTrim(t *testing.T, k kind, full object) {
	t.Helper()
	data, err := full.(interface{ Marshal() ([]byte, error) }).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	want := k.empty()
	if err := want.Unmarshal(data); err != nil {
		t.Fatal(err)
	}
	got, err := k.decoded(data)
	if err != nil {
		t.Fatalf("%s: %v", k.Name, err)
	}
	k.reduce(want)
	k.reduce(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s reads differently when it is trimmed (-whole +trimmed):\n%s", k.Name, diff)
	}
}

// TestTrimDrops: what is left out of pods and nodes is most of them, and what is left can be read.
func TestTrimDrops(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", ManagedFields: []metav1.ManagedFieldsEntry{{Manager: strings.Repeat("m", 1000)}}}}
	for range 40 {
		node.Status.Images = append(node.Status.Images, corev1.ContainerImage{Names: []string{strings.Repeat("i", 100)}})
	}
	pod := typicalPod(1)
	pod.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "A", Value: strings.Repeat("v", 5000)}}
	for _, o := range []message{node, pod} {
		k := kindsByName()[schema.FromAPIVersionAndKind("v1", reflect.TypeOf(o).Elem().Name())]
		whole, err := o.(interface{ Marshal() ([]byte, error) }).Marshal()
		if err != nil {
			t.Fatal(err)
		}
		trimmed, err := k.trim.apply(nil, whole)
		if err != nil || len(trimmed) > len(whole)/3 {
			t.Errorf("%s: of %d bytes %d are left: %v", k.Name, len(whole), len(trimmed), err)
		}
		for n := range whole { // whatever is broken ends as an error
			_, _ = k.decoded(whole[:n])
		}
	}
}

// TestTrimWriters: of the managed fields of a slice only what is of an old version of the API is decoded, and of that no fields.
func TestTrimWriters(t *testing.T) {
	k, _ := kindOf(inspect.Slices)
	slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: "s"}}
	for _, version := range []string{"resource.k8s.io/v1", "resource.k8s.io/v1beta1"} {
		slice.ManagedFields = append(slice.ManagedFields, metav1.ManagedFieldsEntry{
			Manager: "driver", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: version, FieldsType: "FieldsV1",
			FieldsV1: metav1.NewFieldsV1(strings.Repeat("f", 1000)), Subresource: "status",
		})
	}
	whole, err := slice.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	trimmed, err := k.trim.apply(nil, whole)
	if err != nil || len(trimmed) > 200 {
		t.Errorf("%d bytes are left: %v", len(trimmed), err)
	}
	got, err := k.decoded(whole)
	if err != nil {
		t.Fatal(err)
	}
	if entries := got.GetManagedFields(); len(entries) != 1 || entries[0].APIVersion != "resource.k8s.io/v1beta1" || entries[0].Manager != "driver" {
		t.Errorf("%+v", entries)
	}
	for n := range whole { // whatever is broken ends as an error
		_, _ = k.decoded(whole[:n])
	}
}

// TestDecodedPage: a list that is decoded item by item has the objects and the metadata of one that is decoded as a whole,
// and what is no such list is left to others.
func TestDecodedPage(t *testing.T) {
	k, _ := kindOf(inspect.Nodes)
	list := &corev1.NodeList{ListMeta: metav1.ListMeta{ResourceVersion: "7", Continue: "more"}}
	for _, name := range []string{"a", "b"} {
		list.Items = append(list.Items, corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"of": name}}})
	}
	encode := func(about runtime.TypeMeta) []byte {
		raw, err := list.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		data, err := (&runtime.Unknown{TypeMeta: about, Raw: raw}).Marshal()
		if err != nil {
			t.Fatal(err)
		}
		return append(bytes.Clone(protobufPrefix), data...)
	}
	data := encode(runtime.TypeMeta{APIVersion: "v1", Kind: "NodeList"})
	objects, about, ok, err := k.decodedPage(k.versions[0], data)
	if err != nil || !ok || len(objects) != 2 || about.ResourceVersion != "7" || about.Continue != "more" {
		t.Fatalf("%v %+v %v %v", objects, about, ok, err)
	}
	for i, o := range objects {
		if diff := cmp.Diff(&list.Items[i], o); diff != "" {
			t.Error(diff)
		}
	}
	for name, other := range map[string][]byte{
		"another kind": encode(runtime.TypeMeta{APIVersion: "v1", Kind: "PodList"}), "no kind": encode(runtime.TypeMeta{}),
		"JSON": []byte(`{}`), "nothing": protobufPrefix, "no envelope": binary.AppendUvarint(bytes.Clone(protobufPrefix), 7),
	} {
		if _, _, ok, err := k.decodedPage(k.versions[0], other); ok || err != nil {
			t.Errorf("%s: %v %v", name, ok, err)
		}
	}
	if _, _, ok, err := k.decodedPage(k.versions[0], data[:len(data)-3]); ok && err == nil {
		t.Error("a list that is cut off is read")
	}
}

// TestNextLimit: pages of small objects grow, so that a large cluster is not read in a thousand requests, and no page
// shrinks or gets much larger than is worth it.
func TestNextLimit(t *testing.T) {
	for _, test := range []struct{ limit, bytes, want int64 }{
		{500, 1 << 20, 2000}, {500, 2 << 20, 1000}, {500, 8 << 20, 500}, {500, 1000, 2000},
		{4000, 1 << 20, mostOfPage}, {6000, 1, 6000}, {0, 1000, 0}, {500, 0, 500},
	} {
		if got := nextLimit(test.limit, test.bytes); got != test.want {
			t.Errorf("after %d objects in %d bytes come %d, want %d", test.limit, test.bytes, got, test.want)
		}
	}
}

// TestEventOf: an event is taken apart without a copy of its object, as client-go would decode it, and what is none is left
// to client-go.
func TestEventOf(t *testing.T) {
	event := metav1.WatchEvent{Type: "ADDED", Object: runtime.RawExtension{Raw: []byte("k8s\x00object")}}
	data, err := event.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	kind, raw, ok := eventOf(data)
	if !ok || kind != event.Type || string(raw) != string(event.Object.Raw) || &raw[0] != &data[len(data)-len(raw)] {
		t.Errorf("%q %q %v", kind, raw, ok)
	}
	for n := range data {
		if _, _, ok := eventOf(data[:n]); ok {
			t.Errorf("of an event that is cut off after %d bytes something is read", n)
		}
	}
	for name, other := range map[string]string{"a number": "\x08\x01", "a third field": string(data) + "\x1a\x01x", "two objects": string(data) + string(data[7:])} {
		if _, _, ok := eventOf([]byte(other)); ok {
			t.Errorf("%s is read", name)
		}
	}
}
