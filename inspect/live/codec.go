package live

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"

	"github.com/kubectl-dra/kubectl-dra/inspect/quantity"
)

// codec decodes what a server sends, but no YAML, no quantity that would take forever, and no list of another
// kind than was asked for.
type codec struct {
	runtime.NegotiatedSerializer
	kinds map[schema.GroupVersionKind]kind
}

func newCodec() codec { return codec{codecs().WithoutConversion(), kindsByName()} }

// SupportedMediaTypes implements runtime.NegotiatedSerializer.
func (c codec) SupportedMediaTypes() []runtime.SerializerInfo {
	kept := slices.DeleteFunc(slices.Clone(c.NegotiatedSerializer.SupportedMediaTypes()), func(i runtime.SerializerInfo) bool {
		return i.MediaType != runtime.ContentTypeJSON && i.MediaType != runtime.ContentTypeProtobuf
	})
	for i := range kept {
		if stream := kept[i].StreamSerializer; stream != nil && kept[i].MediaType == runtime.ContentTypeProtobuf {
			kept[i].StreamSerializer = &runtime.StreamSerializerInfo{
				EncodesAsText: stream.EncodesAsText, Framer: stream.Framer, Serializer: eventSerializer{stream.Serializer},
			}
		}
	}
	return kept
}

// DecoderToVersion implements runtime.NegotiatedSerializer.
func (c codec) DecoderToVersion(inner runtime.Decoder, to runtime.GroupVersioner) runtime.Decoder {
	return guarded{c.NegotiatedSerializer.DecoderToVersion(inner, to), c}
}

// guarded is a decoder of answers and of the objects of events.
type guarded struct {
	runtime.Decoder
	codec codec
}

// Decode implements runtime.Decoder.
func (g guarded) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	if into == nil { // an object of an event
		if o, gvk, ok, err := g.codec.single(data); ok {
			return o, &gvk, err
		}
	}
	if err := checkKind(data, into); err != nil {
		return nil, nil, err
	}
	if covered := cover(data); covered != nil {
		if _, _, err := g.Decoder.Decode(covered, defaults, another(into)); err != nil {
			return nil, nil, unbounded(data, covered, into, err)
		}
	}
	return g.Decoder.Decode(data, defaults, into) //nolint:wrapcheck // it stands in for the other decoder
}

// another returns an empty object of the same type.
func another(o runtime.Object) runtime.Object {
	if o == nil {
		return nil
	}
	return reflect.New(reflect.TypeOf(o).Elem()).Interface().(runtime.Object) //nolint:forcetypeassert // o is one
}

// wrongKindError says that an answer is not what was asked for.
type wrongKindError struct{ want, got string }

func (e *wrongKindError) Error() string {
	if e.got == "" {
		return fmt.Sprintf("the answer is no %s: it does not say what it is", e.want)
	}
	return fmt.Sprintf("the answer is no %s but %s", e.want, e.got)
}

// checkKind returns an error when an answer to be decoded into a list is something else. A Status is let through:
// client-go makes an error of it.
func checkKind(data []byte, into runtime.Object) error {
	_, resources := into.(*metav1.APIResourceList)
	if into == nil || !resources && !meta.IsListType(into) {
		return nil
	}
	want, _, err := scheme().ObjectKinds(into)
	if err != nil {
		return fmt.Errorf("decoding a list: %w", err)
	}
	got, err := headOf(data)
	if err != nil {
		return err
	}
	version, kind := want[0].ToAPIVersionAndKind()
	if got.Kind == "Status" || got.Kind == kind && (got.APIVersion == version || resources) {
		return nil
	}
	wrong := &wrongKindError{want: kind}
	if got.Kind != "" || got.APIVersion != "" {
		wrong.got = fmt.Sprintf("%q of %q", clean(got.Kind), clean(got.APIVersion))
	}
	if got.Kind == kind {
		wrong.want += " of " + version
	}
	return wrong
}

// protobufPrefix begins every object that Kubernetes encodes as protobuf.
var protobufPrefix = []byte("k8s\x00")

func isProtobuf(data []byte) bool { return bytes.HasPrefix(data, protobufPrefix) }

// cover covers the quantities in an encoded object that would take forever; see quantity.CoverJSON.
func cover(data []byte) []byte {
	if isProtobuf(data) {
		return quantity.CoverProtobuf(data)
	}
	return quantity.CoverJSON(data)
}

// headOf reads no more of an object than what it says it is, which comes first in practice.
func headOf(data []byte) (runtime.TypeMeta, error) {
	if !isProtobuf(data) {
		return jsonHead(data)
	}
	const typeMeta = 0x0A // the first field
	if data = data[len(protobufPrefix):]; len(data) > 0 && data[0] == typeMeta {
		if length, n := binary.Uvarint(data[1:]); n > 0 && length <= uint64(len(data)-1-n) { //nolint:gosec // not negative
			var head runtime.TypeMeta
			err := head.Unmarshal(data[1+n : 1+n+int(length)]) //nolint:gosec // not more than there is
			return head, err                                   //nolint:wrapcheck // of the decoder that this one goes before
		}
	}
	return runtime.TypeMeta{}, nil
}

func jsonHead(data []byte) (head runtime.TypeMeta, err error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return head, errors.New("the answer is empty")
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	if start, err := decoder.Token(); err != nil || start != json.Delim('{') {
		return head, fmt.Errorf("the answer is no JSON object; it begins with %q", clean(string(data[:min(40, len(data))])))
	}
	for decoder.More() && (head.Kind == "" || head.APIVersion == "") {
		key, err := decoder.Token()
		if err != nil {
			return head, fmt.Errorf("reading JSON: %w", err)
		}
		into := any(new(json.RawMessage))
		switch key {
		case "kind":
			into = &head.Kind
		case "apiVersion":
			into = &head.APIVersion
		}
		if err := decoder.Decode(into); err != nil {
			return head, fmt.Errorf("reading JSON: %w", err)
		}
	}
	return head, nil
}

// unbounded explains why data cannot be decoded after numbers in it were covered, and names the object if it can.
func unbounded(data, covered []byte, into runtime.Object, err error) error {
	if name := culprit(data, covered, into); name != "" {
		return fmt.Errorf("object %s: %w", name, quantity.ErrUnbounded)
	}
	return fmt.Errorf("%w (%s)", quantity.ErrUnbounded, clean(err.Error()))
}

// culprit names the first object that cannot be decoded: an item of a list, or a single object.
func culprit(data, covered []byte, into runtime.Object) string {
	if into == nil || !meta.IsListType(into) {
		return nameOf(data)
	}
	field := reflect.ValueOf(into).Elem().FieldByName("Items")
	if !field.IsValid() {
		return ""
	}
	originals := itemsOf(data)
	for i, item := range itemsOf(covered) {
		probe := reflect.New(field.Type().Elem()).Interface()
		if err := decodeItem(item, probe, isProtobuf(data)); err != nil && i < len(originals) {
			return itemName(originals[i], isProtobuf(data))
		}
	}
	return ""
}

func decodeItem(item []byte, into any, protobuf bool) error {
	if message, ok := into.(interface{ Unmarshal(data []byte) error }); ok && protobuf {
		return message.Unmarshal(item) //nolint:wrapcheck // only whether there is one matters
	}
	return kjson.UnmarshalCaseSensitivePreserveInts(item, into)
}

// nameOf names a single object, with its namespace if it has one.
func nameOf(data []byte) string {
	if !isProtobuf(data) {
		return itemName(data, false)
	}
	var whole runtime.Unknown
	if whole.Unmarshal(data[len(protobufPrefix):]) != nil {
		return ""
	}
	return itemName(whole.Raw, true)
}

func itemName(item []byte, protobuf bool) string {
	var o metav1.PartialObjectMetadata
	if protobuf {
		// Metadata is the first field of every kind; the others need not be understood.
		for number, field := range fields(item) {
			if number == 1 {
				_ = o.ObjectMeta.Unmarshal(field) // what was read of it counts
				break
			}
		}
	} else {
		_ = json.Unmarshal(item, &o) // as above
	}
	return clean(keyOf(&o).String())
}

// itemsOf returns the items of a list, encoded as it is.
func itemsOf(data []byte) (items [][]byte) {
	if !isProtobuf(data) {
		var list struct {
			Items []json.RawMessage `json:"items"`
		}
		if json.Unmarshal(data, &list) != nil {
			return nil
		}
		for _, item := range list.Items {
			items = append(items, item)
		}
		return items
	}
	var whole runtime.Unknown
	if whole.Unmarshal(data[len(protobufPrefix):]) != nil {
		return nil
	}
	const itemsField = 2 // of every list
	for number, field := range fields(whole.Raw) {
		if number == itemsField {
			items = append(items, field)
		}
	}
	return items
}

// fields yields the fields of a message that are messages or texts, up to the first of another kind.
func fields(message []byte) func(yield func(uint64, []byte) bool) {
	const delimited = 2
	return func(yield func(uint64, []byte) bool) {
		for len(message) > 0 {
			tag, n := binary.Uvarint(message)
			if n <= 0 || tag&7 != delimited {
				return
			}
			length, m := binary.Uvarint(message[n:])
			rest := message[min(len(message), n+max(0, m)):]
			if m <= 0 || length > uint64(len(rest)) || !yield(tag>>3, rest[:length]) {
				return
			}
			message = rest[length:]
		}
	}
}
