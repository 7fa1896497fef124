package wire

import (
	"bytes"
	"strings"
	"testing"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// forever is a quantity that resource.ParseQuantity never finishes to read, and harmless one of the same
// length.
const (
	forever  = "1e-2000000000"
	harmless = "1234567890123"
)

// slicesWith returns a list of ResourceSlices with a capacity each, in both encodings. In the bytes of
// harmless the other is put in: it could not be encoded.
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
	negotiator := runtime.NewClientNegotiator(NewCodec(&Age{}), metav1.Unversioned)
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
			if err == nil || !strings.Contains(err.Error(), "a number with more than") {
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
