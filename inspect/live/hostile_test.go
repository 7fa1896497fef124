package live

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// forever is a quantity that resource.ParseQuantity never finishes to read, and harmless one of the same length.
const (
	forever  = "1e-2000000000"
	harmless = "1234567890123"
)

// slicesWith returns a list of ResourceSlices with a capacity each, in both encodings. In the bytes of harmless
// the other is put in: it could not be encoded.
func slicesWith(t testing.TB, names []string, capacity string) map[string][]byte {
	t.Helper()
	list := &resourcev1.ResourceSliceList{TypeMeta: metav1.TypeMeta{Kind: "ResourceSliceList", APIVersion: "resource.k8s.io/v1"}}
	for _, name := range names {
		s := resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("12e45678-1e2345-4e56-9e12-" + forever)}}
		s.Spec.Devices = []resourcev1.Device{{Name: "d", Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse(harmless)}}}}
		list.Items = append(list.Items, s)
	}
	return encoded(t, list, func(data []byte) []byte { return bytes.ReplaceAll(data, []byte(harmless), []byte(capacity)) })
}

func encoded(t testing.TB, o runtime.Object, change func([]byte) []byte) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for _, info := range codecs().SupportedMediaTypes() {
		var b bytes.Buffer
		if info.MediaType == runtime.ContentTypeYAML {
			continue
		}
		if err := info.Serializer.Encode(o, &b); err != nil {
			t.Fatal(err)
		}
		out[info.MediaType] = change(b.Bytes())
	}
	return out
}

func decoderOf(t testing.TB, media string) runtime.Decoder {
	t.Helper()
	negotiator := runtime.NewClientNegotiator(newCodec(), metav1.Unversioned)
	d, err := negotiator.Decoder(media, nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// within fails when something hangs, which takes no time otherwise.
func within(t *testing.T, what func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); what() }()
	select {
	case <-done:
	case <-time.After(2 * time.Minute):
		t.Fatal("it hangs")
	}
}

func TestQuantitiesThatTakeForever(t *testing.T) {
	names := []string{"1e20000", forever, "12345e67890"}
	for media, data := range slicesWith(t, names, forever) {
		within(t, func() {
			_, _, err := decoderOf(t, media).Decode(data, nil, &resourcev1.ResourceSliceList{})
			if err == nil || !strings.Contains(err.Error(), "object 1e20000: a number with more than") {
				t.Errorf("%s: the error is %v", media, err)
			}
			_, _, err = decoderOf(t, media).Decode(bytes.Replace(data, []byte(forever), []byte(harmless), 1), nil, nil)
			if err == nil || !strings.Contains(err.Error(), "read as a quantity") {
				t.Errorf("%s: without a type the error is %v", media, err)
			}
		})
	}
}

// TestNamesLikeNumbers: what only looks like such a quantity is decoded.
func TestNamesLikeNumbers(t *testing.T) {
	names := []string{"1e20000", forever, "1e99999999", strings.Repeat("7", 1200), "12345e67890", "1.2e+12345"}
	for media, data := range slicesWith(t, names, harmless) {
		if cover(data) == nil {
			t.Errorf("%s: nothing was found that looks like a number without bounds", media)
		}
		var list resourcev1.ResourceSliceList
		if _, _, err := decoderOf(t, media).Decode(data, nil, &list); err != nil {
			t.Fatalf("%s: %v", media, err)
		}
		for i, s := range list.Items {
			if got := s.Spec.Devices[0].Capacity["memory"].Value; s.Name != names[i] || got.Value() != 1234567890123 {
				t.Errorf("%s: item %d is %s with %v", media, i, s.Name, got)
			}
		}
	}
}

func TestCover(t *testing.T) {
	long := strings.Repeat("1", 1200)
	varint := func(text string) string { return "\x0a" + string(rune(len(text))) + text }
	tests := map[string]struct {
		data  string
		found bool
	}{
		"JSON string":                 {`{"a":"1e-2000000000"}`, true},
		"JSON, nothing but exponent":  {`{"a":"e2147483647"}`, true},
		"protobuf, exponent only":     {"k8s\x00" + varint("-e2147483647"), true},
		"JSON, space":                 {"{\"a\":\" \u00a01e-2000000000\u2003\"}", true},
		"JSON number":                 {`{"a": 1e-2000000000 }`, true},
		"JSON number in a list":       {`[1, 1E+99999]`, true},
		"JSON, point":                 {`{"a":"1.e-20000"}`, true},
		"JSON, long number":           {`{"a":"` + long + `"}`, true},
		"JSON, long fraction":         {`{"a":"1.` + long + `"}`, true},
		"JSON, zeros":                 {`{"a":"1e-0020000"}`, true},
		"JSON, harmless":              {`{"a":"1e-999","b":"0001e0009","c":12345}`, false},
		"JSON, a name":                {`{"a":"n1e-2000000000","b":"1e-2000000000n"}`, false},
		"JSON, a time":                {`{"a":"2026-11-22T04:48:00Z"}`, false},
		"protobuf":                    {"k8s\x00" + varint("1e-2000000000"), true},
		"protobuf, E and digits":      {"k8s\x00\x0a\x071E99999999", true}, // what follows looks like a part of it
		"protobuf, length is a digit": {"k8s\x00" + varint("1e-"+strings.Repeat("0", 40)+"20000"), true},
		"protobuf, long length":       {"k8s\x00\x0a\x8d\x80\x001e-2000000000", true},
		"protobuf, long tag":          {"k8s\x00\x8a\x00\x0d1e-2000000000", true},
		"protobuf, long number":       {"k8s\x00\x0a\xb0\x09" + long, true},
		"protobuf, part of a text":    {"k8s\x00" + varint("n1e-2000000000"), false},
		"protobuf, shorter":           {"k8s\x00\x0a\x051e-2000000000", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for shift := range 4 { // digits are looked for at every fourth place
				data := []byte(test.data)
				if strings.HasPrefix(test.data, "k8s") {
					data = append([]byte("k8s\x00"+strings.Repeat("\x00", shift)), data[4:]...)
				} else {
					data = append(bytes.Repeat([]byte(" "), shift), data...)
				}
				covered := cover(data)
				if (covered != nil) != test.found {
					t.Fatalf("shifted by %d: covered %q", shift, covered)
				}
				if covered != nil && len(covered) != len(data) {
					t.Errorf("%d bytes, want %d", len(covered), len(data))
				}
				if covered != nil && test.data[0] != 'k' && !json.Valid(covered) {
					t.Errorf("no JSON any more: %s", covered)
				}
			}
		})
	}
}

// FuzzDecode decodes what a server could send: whatever it is, that ends.
func FuzzDecode(f *testing.F) {
	for _, data := range slicesWith(f, []string{"a", forever}, forever) {
		f.Add(data, false)
	}
	f.Add([]byte(`{"kind":"ResourceSlice","apiVersion":"resource.k8s.io/v1","spec":{"devices":[{"capacity":{"m":{"value":1e-9999999}}}]}}`), true)
	f.Fuzz(func(t *testing.T, data []byte, single bool) {
		media := runtime.ContentTypeJSON
		if isProtobuf(data) {
			media = runtime.ContentTypeProtobuf
		}
		var into runtime.Object = &resourcev1.ResourceSliceList{}
		if single {
			into = nil
		}
		within(t, func() { _, _, _ = decoderOf(t, media).Decode(data, nil, into) })
	})
}

// BenchmarkCover compares the search for quantities that take forever with decoding.
func BenchmarkCover(b *testing.B) {
	list := &resourcev1.ResourceSliceList{TypeMeta: metav1.TypeMeta{Kind: "ResourceSliceList", APIVersion: "resource.k8s.io/v1"}}
	for i := range 500 {
		s := resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("node-%05d-gpu.example.com-x7f2k", i), UID: types.UID(fmt.Sprintf("%08x-1e23-4567-89ab-%012x", i*7919, i*104729)),
			ResourceVersion: fmt.Sprint(1000000 + i), CreationTimestamp: metav1.Now(),
		}}
		for d := range 8 {
			model, index := "A100-SXM4-80GB", int64(d)
			uuid := fmt.Sprintf("GPU-%08x-1e2a-4e56-9e12-%012x", i*8+d, i*d)
			s.Spec.Devices = append(s.Spec.Devices, resourcev1.Device{
				Name: fmt.Sprintf("gpu-%d", d), Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse("80Gi")}},
				Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"model": {StringValue: &model}, "index": {IntValue: &index}, "uuid": {StringValue: &uuid}},
			})
		}
		list.Items = append(list.Items, s)
	}
	for media, data := range encoded(b, list, func(d []byte) []byte { return d }) {
		b.Run("cover "+media, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				cover(data)
			}
		})
		plain, err := runtime.NewClientNegotiator(codecs().WithoutConversion(), metav1.Unversioned).Decoder(media, nil)
		if err != nil {
			b.Fatal(err)
		}
		b.Run("decode "+media, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if _, _, err := plain.Decode(data, nil, &resourcev1.ResourceSliceList{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
