package live

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/inspect/sharing"
	"github.com/kubectl-dra/kubectl-dra/internal/poison"
)

// gpuSlice is a slice of eight devices, of which each has an attribute of its own if that is wanted.
func gpuSlice(n int, uuids bool) *resourcev1.ResourceSlice {
	slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("node-", n)}}
	slice.Spec = resourcev1.ResourceSliceSpec{Driver: "gpu.example.com", NodeName: ptr.To(slice.Name), Pool: resourcev1.ResourcePool{Name: slice.Name}}
	for i := range 8 {
		device := resourcev1.Device{
			Name: fmt.Sprint("gpu-", i),
			Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
				"model": {StringValue: ptr.To("H100")}, "driverVersion": {VersionValue: ptr.To("550.54.15")}, "numa": {IntValue: ptr.To(int64(i / 4))},
			},
			Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse("80Gi")}},
		}
		if uuids {
			device.Attributes["uuid"] = resourcev1.DeviceAttribute{StringValue: ptr.To(fmt.Sprintf("GPU-%d-%d", n, i))}
		}
		slice.Spec.Devices = append(slice.Spec.Devices, device)
	}
	return slice
}

func encodedSlice(t *testing.T, slice *resourcev1.ResourceSlice) []byte {
	t.Helper()
	data, err := slice.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestDecodedDevices: slices whose devices are taken apart are those that are decoded as a whole, of all drivers that there are
// examples of and with every field set; and whatever is broken is left to the usual way.
func TestDecodedDevices(t *testing.T) {
	full := &resourcev1.ResourceSlice{}
	poison.Fill(full)
	all := []*resourcev1.ResourceSlice{full, {}, gpuSlice(1, true), gpuSlice(2, true), gpuSlice(3, false), gpuSlice(4, false)}
	files, err := filepath.Glob("../../testdata/drivers/*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		read, err := manifest.Read(t.Context(), []string{file}, manifest.Options{})
		if err != nil {
			continue // a question
		}
		all = append(all, read.Objects.Slices...)
	}
	if len(all) < 20 {
		t.Fatalf("only %d slices in %d files", len(all), len(files))
	}
	d := newDeviceDecoder(sharing.New())
	for range 2 {
		for _, slice := range all {
			data := encodedSlice(t, slice)
			want := &resourcev1.ResourceSlice{}
			if err := want.Unmarshal(data); err != nil {
				t.Fatal(err)
			}
			got, ok := d.decode(data)
			if diff := cmp.Diff(want, got); diff != "" || !ok {
				t.Fatalf("%s reads differently (-whole +apart):\n%s", slice.Name, diff)
			}
		}
	}
	data := encodedSlice(t, full)
	for n := range data {
		whole, broken := (&resourcev1.ResourceSlice{}), data[:n]
		if got, ok := d.decode(broken); ok && (whole.Unmarshal(broken) != nil || !cmp.Equal(whole, got)) {
			t.Fatalf("what is cut off after %d bytes is read", n)
		}
	}
}

// TestDevicesShare: devices that say the same of themselves have one map of attributes and one of capacities.
func TestDevicesShare(t *testing.T) {
	d := newDeviceDecoder(sharing.New())
	var slices []*resourcev1.ResourceSlice
	for n, uuids := range []bool{false, false, true} {
		slice, _ := d.decode(encodedSlice(t, gpuSlice(n, uuids)))
		slices = append(slices, slice)
	}
	at := func(slice, device int) (attributes, capacity uintptr) {
		d := &slices[slice].Spec.Devices[device]
		return reflect.ValueOf(d.Attributes).Pointer(), reflect.ValueOf(d.Capacity).Pointer()
	}
	attributes, capacity := at(0, 0)
	if a, c := at(1, 3); a != attributes || c != capacity {
		t.Error("devices that are alike do not share their maps")
	}
	if a, c := at(1, 4); a == attributes || c != capacity {
		t.Error("devices with other attributes share them, or do not share what they have in common")
	}
	if a, c := at(2, 0); a == attributes || c != capacity {
		t.Error("devices with attributes of their own share them, or do not share what they have in common")
	}
}

// TestDevicesCostLittle: a device that has an attribute of its own costs its map, and that attribute.
func TestDevicesCostLittle(t *testing.T) {
	d := newDeviceDecoder(sharing.New())
	data := [][]byte{}
	for n := range 101 {
		data = append(data, encodedSlice(t, gpuSlice(n, true)))
	}
	n := 0
	apart := testing.AllocsPerRun(100, func() {
		d.decode(data[n])
		n++
	})
	whole := testing.AllocsPerRun(100, func() { _ = (&resourcev1.ResourceSlice{}).Unmarshal(data[0]) })
	if apart > whole/3 {
		t.Errorf("%v allocations for a slice, and as a whole %v", apart, whole)
	}
}

// TestListedDevicesShare: so do those of a list that a server sends in protobuf.
func TestListedDevicesShare(t *testing.T) {
	list := &resourcev1.ResourceSliceList{ListMeta: metav1.ListMeta{ResourceVersion: "7"}}
	for n := range 3 {
		list.Items = append(list.Items, *gpuSlice(n, false))
	}
	raw, err := list.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	data, err := (&runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "resource.k8s.io/v1", Kind: "ResourceSliceList"}, Raw: raw}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", runtime.ContentTypeProtobuf)
		_, _ = w.Write(append(bytes.Clone(protobufPrefix), data...))
	}))
	defer server.Close()
	r, kinds, err := newReader(&rest.Config{Host: server.URL}, Options{Resources: []inspect.Resource{inspect.Slices}})
	if err != nil {
		t.Fatal(err)
	}
	read, err := r.list(t.Context(), kinds[0], kinds[0].versions[0], "")
	if err != nil || len(read.objects) != 3 {
		t.Fatalf("%d slices: %v", len(read.objects), err)
	}
	first := reflect.ValueOf(read.objects[0].(*resourcev1.ResourceSlice).Spec.Devices[0].Attributes).Pointer()
	for i, o := range read.objects {
		slice := o.(*resourcev1.ResourceSlice)
		if diff := cmp.Diff(&list.Items[i], slice); diff != "" {
			t.Errorf("slice %d reads differently:\n%s", i, diff)
		}
		if reflect.ValueOf(slice.Spec.Devices[3].Attributes).Pointer() != first {
			t.Errorf("slice %d does not share its attributes", i)
		}
	}
}
