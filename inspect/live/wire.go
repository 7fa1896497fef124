package live

import (
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/quantity"
	"github.com/kubectl-dra/kubectl-dra/inspect/sharing"
	"github.com/kubectl-dra/kubectl-dra/inspect/wire"
)

// Objects at their newest version in protobuf, which is what servers send, are decoded here one by one: of a list only
// the encoded page and the reduced objects are in memory, each by itself. All else takes the way of client-go.

// scratch has buffers for what is left of an encoded object. Decoding copies what it keeps.
var scratch = sync.Pool{New: func() any { return new([]byte) }} //nolint:gochecknoglobals // memory that is used again

// decoded returns an object from its encoded message, without what trim leaves out of it.
func (k kind) decoded(message []byte) (object, error) {
	buffer := scratch.Get().(*[]byte) //nolint:forcetypeassert // nothing else is put there
	defer scratch.Put(buffer)
	trimmed, err := k.trim.apply((*buffer)[:0], message)
	*buffer = trimmed
	if err != nil {
		return nil, err
	}
	if covered := quantity.CoverProtobuf(trimmed); covered != nil {
		if err := k.empty().Unmarshal(covered); err != nil {
			name := itemName(message, true)
			return nil, fmt.Errorf("object %s: %w", name, quantity.ErrUnbounded)
		}
	}
	if slice, ok := k.devices.decode(trimmed); ok {
		return slice, nil
	}
	o := k.empty()
	if err := o.Unmarshal(trimmed); err != nil {
		return nil, fmt.Errorf("decoding protobuf: %w", err)
	}
	k.devices.share(o)
	return o, nil
}

// decodedPage returns the objects and the metadata of an encoded list. It returns false if the list is not one that is
// decoded here.
func (k kind) decodedPage(v apiVersion, data []byte) (objects []object, about metav1.ListMeta, ok bool, err error) {
	if k.empty == nil || v.convert != nil || !isProtobuf(data) {
		return nil, about, false, nil
	}
	gvk, list := enveloped(data)
	if gvk != k.groupVersion(v).WithKind(k.Name+"List") {
		return nil, about, false, nil
	}
	const metadata, items = 1, 2 // of every list
	for len(list) > 0 {
		number, kind, size, body := wire.Field(list)
		if size <= 0 {
			return nil, about, true, wire.ErrBroken
		}
		list = list[size:]
		if kind != wire.Delimited {
			continue
		}
		switch number {
		case metadata:
			if err := about.Unmarshal(body); err != nil {
				return nil, about, true, fmt.Errorf("decoding protobuf: %w", err)
			}
		case items:
			o, err := k.decoded(body)
			if err != nil {
				return nil, about, true, err
			}
			objects = append(objects, o)
		}
	}
	return objects, about, true, nil
}

// enveloped returns what an object in protobuf says it is, and its message. The kind is empty if that cannot be told, or
// if the message is encoded in yet another way.
func enveloped(data []byte) (gvk schema.GroupVersionKind, message []byte) {
	const typeMeta, raw = 1, 2 // of runtime.Unknown
	for data = data[len(protobufPrefix):]; len(data) > 0; {
		number, kind, size, body := wire.Field(data)
		switch {
		case size <= 0:
			return schema.GroupVersionKind{}, nil
		case number == typeMeta && kind == wire.Delimited:
			var head runtime.TypeMeta
			if head.Unmarshal(body) != nil {
				return schema.GroupVersionKind{}, nil
			}
			gvk = schema.FromAPIVersionAndKind(head.APIVersion, head.Kind)
		case number == raw && kind == wire.Delimited:
			message = body
		case len(body) > 0: // an encoding or a type of the content
			return schema.GroupVersionKind{}, nil
		}
		data = data[size:]
	}
	return gvk, message
}

// single decodes an object of a watch. It returns false if it is none that is decoded here.
func (c codec) single(data []byte) (object, schema.GroupVersionKind, bool, error) {
	if !isProtobuf(data) {
		return nil, schema.GroupVersionKind{}, false, nil
	}
	gvk, message := enveloped(data)
	k, ok := c.kinds[gvk]
	if !ok {
		return nil, gvk, false, nil
	}
	o, err := k.decoded(message)
	return o, gvk, true, err
}

// kindsByName returns the kinds by what their objects say they are, as events are decoded.
func kindsByName() map[schema.GroupVersionKind]kind {
	out := map[schema.GroupVersionKind]kind{}
	for _, k := range kinds() {
		if k.Resource == inspect.Slices {
			k.devices = newDeviceDecoder(sharing.New())
			k.devices.earlier = newEarlierSlices()
		}
		out[k.GroupVersionKind()] = k
	}
	return out
}

// eventSerializer decodes the events of a watch without a copy of the encoded object, which is decoded before the next
// event is read.
type eventSerializer struct{ runtime.Serializer }

// Decode implements runtime.Decoder.
func (s eventSerializer) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	if event, ok := into.(*metav1.WatchEvent); ok {
		if kind, raw, ok := eventOf(data); ok {
			event.Type, event.Object.Raw = kind, raw
			return event, &schema.GroupVersionKind{}, nil
		}
	}
	return s.Serializer.Decode(data, defaults, into) //nolint:wrapcheck // it stands in for the other decoder
}

// eventOf takes an encoded event apart. It returns false for what it does not know.
func eventOf(data []byte) (eventType string, raw []byte, ok bool) {
	const typeField, objectField, rawField = 1, 2, 1 // of metav1.WatchEvent and runtime.RawExtension
	for len(data) > 0 {
		number, kind, size, body := wire.Field(data)
		if size <= 0 || kind != wire.Delimited {
			return "", nil, false
		}
		data = data[size:]
		switch number {
		case typeField:
			eventType = string(body)
		case objectField:
			number, kind, size, inner := wire.Field(body)
			if number != rawField || kind != wire.Delimited || size != len(body) || raw != nil {
				return "", nil, false
			}
			raw = inner
		default:
			return "", nil, false
		}
	}
	return eventType, raw, raw != nil
}
