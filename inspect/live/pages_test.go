package live

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live/wire"
	"github.com/kubectl-dra/kubectl-dra/inspect/sharing"
)

// TestListThatTakesTooLong: where requests have a timeout, all pages together have one too.
func TestListThatTakesTooLong(t *testing.T) {
	claims, _ := wire.KindOf(inspect.Claims)
	p := newPaging(claims, time.Minute)
	next := &page{next: "a"}
	if err := p.add(next, nil, 0); err != nil {
		t.Fatal(err)
	}
	p.began = p.began.Add(-time.Hour)
	if err := p.add(&page{next: "b"}, nil, 0); err == nil {
		t.Error("it goes on after an hour")
	}
	if err := p.add(&page{}, nil, 0); err != nil {
		t.Errorf("the last page is refused: %v", err)
	}
}

// TestNextLimit: pages of small objects grow, so that a large cluster is not read in a thousand requests, and
// no page shrinks or gets much larger than is worth it.
func TestNextLimit(t *testing.T) {
	for _, test := range []struct{ limit, bytes, want int64 }{
		{500, 1 << 19, 2000}, {500, 1 << 20, 1000}, {500, 8 << 20, 500}, {500, 1000, 2000},
		{4000, 1 << 19, mostOfPage}, {6000, 1, 6000}, {0, 1000, 0}, {500, 0, 500},
	} {
		if got := nextLimit(test.limit, test.bytes); got != test.want {
			t.Errorf("after %d objects in %d bytes come %d, want %d", test.limit, test.bytes, got, test.want)
		}
	}
}

// TestProtobufPage: a list in protobuf is read with its metadata, and what is another kind, says nothing of
// itself, or is cut off is refused.
func TestProtobufPage(t *testing.T) {
	prefix := []byte("k8s\x00")
	k, _ := wire.KindOf(inspect.Slices)
	capacity := map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse("80Gi")}}
	list := &resourcev1.ResourceSliceList{ListMeta: metav1.ListMeta{ResourceVersion: "7", Continue: "more"}}
	for _, name := range []string{"a", "b"} {
		slice := resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"of": name}}}
		slice.Spec.Devices = []resourcev1.Device{{Name: "gpu-0", Capacity: capacity}}
		list.Items = append(list.Items, slice)
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
		return append(bytes.Clone(prefix), data...)
	}
	r := &reader{negotiator: negotiator(&wire.Age{}), age: &wire.Age{}}
	read := func(data []byte) (*page, error) {
		return r.newPage(data, runtime.ContentTypeProtobuf, k, k.Versions[0])
	}
	data := encode(runtime.TypeMeta{APIVersion: "resource.k8s.io/v1", Kind: "ResourceSliceList"})
	p, err := read(data)
	if err != nil || p.revision != "7" || p.next != "more" {
		t.Fatalf("%+v %v", p, err)
	}
	objects, err := k.Read(k.Versions[0], p.list, sharing.New())
	if err != nil || len(objects) != 2 {
		t.Fatalf("%d objects: %v", len(objects), err)
	}
	for i, o := range objects {
		if diff := cmp.Diff(&list.Items[i], o); diff != "" {
			t.Error(diff)
		}
	}
	shared := func(i int) uintptr {
		return reflect.ValueOf(objects[i].(*resourcev1.ResourceSlice).Spec.Devices[0].Capacity).Pointer()
	}
	if shared(0) != shared(1) {
		t.Error("equal capacities are in memory twice")
	}
	for name, other := range map[string][]byte{
		"another kind": encode(runtime.TypeMeta{APIVersion: "v1", Kind: "PodList"}), "nothing": prefix,
		"no envelope": binary.AppendUvarint(bytes.Clone(prefix), 7),
		"cut off":     data[:len(data)-3],
	} {
		if p, err := read(other); err == nil {
			t.Errorf("%s is read: %+v", name, p)
		}
	}
}
