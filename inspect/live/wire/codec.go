package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-dra/kubectl-dra/inspect/quantity"
)

// codec decodes what a server sends, but no YAML, no quantity that would take forever, and no object of
// another kind than was asked for. What has fields that the API types do not know keeps them.
type codec struct {
	runtime.NegotiatedSerializer
	age *Age
}

// NewCodec returns the codec of a server of some age.
func NewCodec(a *Age) runtime.NegotiatedSerializer { return codec{codecs().WithoutConversion(), a} }

// SupportedMediaTypes implements runtime.NegotiatedSerializer.
func (c codec) SupportedMediaTypes() []runtime.SerializerInfo {
	return slices.DeleteFunc(slices.Clone(c.NegotiatedSerializer.SupportedMediaTypes()), func(i runtime.SerializerInfo) bool {
		return i.MediaType != runtime.ContentTypeJSON && i.MediaType != runtime.ContentTypeProtobuf
	})
}

// DecoderToVersion implements runtime.NegotiatedSerializer.
func (c codec) DecoderToVersion(inner runtime.Decoder, _ runtime.GroupVersioner) runtime.Decoder {
	return guarded{inner, c.age}
}

// guarded is a decoder of answers and of the objects of events. Like other decoders of clients it leaves an
// object without its kind and apiVersion.
type guarded struct {
	runtime.Decoder
	age *Age
}

// Decode implements runtime.Decoder.
func (g guarded) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	if err := checkStart(data); err != nil {
		return nil, nil, err
	}
	if covered := cover(data); covered != nil {
		if _, _, err := g.Decoder.Decode(covered, defaults, another(into)); err != nil {
			if name := culprit(data, covered, into); name != "" {
				return nil, nil, fmt.Errorf("object %s: %w", name, quantity.ErrUnbounded)
			}
			return nil, nil, quantity.ErrUnbounded
		}
	}
	o, gvk, err := g.Decoder.Decode(data, defaults, into)
	strict := runtime.IsStrictDecodingError(err)
	if strict {
		err = nil
	}
	if wrong := checkKind(o, gvk, into, err); wrong != nil {
		return nil, gvk, wrong
	}
	o.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	switch {
	case strict && !g.age.knows(o):
		keepNewer(o, data)
	case into == nil && g.age.Lost(o, data): // of an event
		return nil, gvk, ErrNewer
	}
	return o, gvk, nil
}

// culprit names the object that cannot be decoded once its quantities are covered: an item of a list, or the
// object itself. It is "" where that is not found, and in protobuf, as which servers send only what they have
// decoded.
func culprit(data, covered []byte, into runtime.Object) string {
	if into == nil || isProtobuf(data) {
		return ""
	}
	name := func(item []byte) string {
		var o metav1.PartialObjectMetadata
		_ = json.Unmarshal(item, &o) // what was read of it counts
		return Clean(KeyOf(&o).String())
	}
	items := reflect.ValueOf(into).Elem().FieldByName("Items")
	if !items.IsValid() {
		return name(data)
	}
	var before, after struct {
		Items []json.RawMessage `json:"items"`
	}
	if json.Unmarshal(data, &before) != nil || json.Unmarshal(covered, &after) != nil || len(before.Items) != len(after.Items) {
		return ""
	}
	for i, item := range after.Items {
		if json.Unmarshal(item, reflect.New(items.Type().Elem()).Interface()) != nil {
			return name(before.Items[i])
		}
	}
	return ""
}

// another returns an empty object of the same type.
func another(o runtime.Object) runtime.Object {
	if o == nil {
		return nil
	}
	return reflect.New(reflect.TypeOf(o).Elem()).Interface().(runtime.Object) //nolint:forcetypeassert // o is one
}

// checkStart refuses what a decoder would refuse in words that say less.
func checkStart(data []byte) error {
	text := bytes.TrimSpace(data)
	switch {
	case len(text) == 0:
		return errors.New("the answer is empty")
	case !isProtobuf(data) && text[0] != '{':
		return fmt.Errorf("the answer is no JSON object; it begins with %q", Clean(string(text[:min(40, len(text))])))
	}
	return nil
}

// checkKind returns the error of a decoder, or one that says that what was decoded is something else than
// what was asked for: a decoder makes a new object of that.
func checkKind(got runtime.Object, is *schema.GroupVersionKind, want runtime.Object, err error) error {
	if _, status := got.(*metav1.Status); want == nil || status || err != nil && !runtime.IsNotRegisteredError(err) {
		return err // client-go makes an error of a status
	}
	kinds, _, unknown := scheme().ObjectKinds(want)
	switch {
	case unknown != nil:
		return fmt.Errorf("decoding an answer: %w", unknown)
	case err == nil && got.GetObjectKind().GroupVersionKind().Kind == "":
		return fmt.Errorf("the answer is no %s: it does not say what it is", kinds[0].Kind)
	case err == nil && got == want:
		return nil
	}
	what := kinds[0].Kind
	if is.Kind == what {
		what += " of " + kinds[0].GroupVersion().String()
	}
	return fmt.Errorf("the answer is no %s but %q of %q", what, Clean(is.Kind), Clean(is.GroupVersion().String()))
}

// protobufPrefix begins every object that Kubernetes encodes as protobuf.
var protobufPrefix = []byte("k8s\x00")

func isProtobuf(data []byte) bool { return bytes.HasPrefix(data, protobufPrefix) }

// cover covers the quantities in an encoded object that would take forever; see package quantity.
func cover(data []byte) []byte {
	if isProtobuf(data) {
		return quantity.CoverProtobuf(data)
	}
	return quantity.Replace(data)
}
