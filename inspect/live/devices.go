package live

import (
	"bytes"
	"encoding/binary"
	"sync"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect/sharing"
	"github.com/kubectl-dra/kubectl-dra/inspect/wire"
)

// Devices are most of what there is in a large cluster, and most of what one says of itself others have said before it, in
// the same bytes. What was decoded of these is used again: that takes a fifth of the allocations, and devices that are equal
// but for their names have the same maps, to which nobody may write.

// deviceDecoder decodes the ResourceSlices of a list or of a watch. A nil one decodes nothing.
type deviceDecoder struct {
	mu sync.Mutex // of all below: a watch may begin before the one before it has ended
	// earlier is what was decoded of slices that may come again; nil for a list.
	earlier    *earlierSlices
	common     *sharing.Common
	names      map[string]string                              // of devices and attributes
	values     map[string]*latest[resourcev1.DeviceAttribute] // by the name of the attribute
	attributes latest[map[resourcev1.QualifiedName]resourcev1.DeviceAttribute]
	capacities latest[map[resourcev1.QualifiedName]resourcev1.DeviceCapacity]
	encoded    [][]byte  // of the devices of a slice
	slice      []byte    // what is left of it without these
	rest       []byte    // what is left of a device
	both       [2][]byte // the attributes and the capacities of a device
	// old is the slice as it was decoded before, if it was, and hashes are those of the attributes that are decoded now.
	old    earlierSlice
	hashes []uint64
}

func newDeviceDecoder(c *sharing.Common) *deviceDecoder {
	return &deviceDecoder{common: c, names: map[string]string{}, values: map[string]*latest[resourcev1.DeviceAttribute]{}}
}

// mostLatest is how many values are used again, and mostNames how many names are remembered.
const mostLatest, mostNames = 16, 4096

// latest remembers the values that were decoded last, by how they are encoded.
type latest[T any] struct {
	encoded [mostLatest][]byte
	values  [mostLatest]T
	next    int
}

func (r *latest[T]) get(encoded []byte) (value T, ok bool) {
	for i, known := range r.encoded {
		if known != nil && bytes.Equal(known, encoded) {
			return r.values[i], true
		}
	}
	return value, false
}

func (r *latest[T]) put(encoded []byte, value T) {
	r.encoded[r.next], r.values[r.next] = append(r.encoded[r.next][:0], encoded...), value
	r.next = (r.next + 1) % mostLatest
}

// The numbers of the fields that are taken apart.
const (
	sliceSpec                                    = 2
	specDevices                                  = 6
	deviceName, deviceAttributes, deviceCapacity = 1, 2, 3
	entryKey, entryValue                         = 1, 2 // of a map
)

// decode returns a slice that shares memory with those before it. It returns false for what is encoded in another way than
// API servers do, and for what is broken.
func (d *deviceDecoder) decode(message []byte) (*resourcev1.ResourceSlice, bool) {
	if d == nil {
		return nil, false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.encoded, d.slice = d.encoded[:0], d.slice[:0]
	specs := 0
	if !eachField(message, func(number uint64, kind int, whole, body []byte) bool {
		if number != sliceSpec {
			d.slice = append(d.slice, whole...)
			return true
		}
		specs++
		return kind == wire.Delimited && specs == 1 && d.spec(body)
	}) {
		return nil, false
	}
	slice := &resourcev1.ResourceSlice{}
	if slice.Unmarshal(d.slice) != nil {
		return nil, false
	}
	d.common.Share(slice)
	d.old, d.hashes = d.earlier.find(slice), d.hashes[:0]
	if len(d.encoded) > 0 {
		slice.Spec.Devices = make([]resourcev1.Device, len(d.encoded))
	}
	for i, encoded := range d.encoded {
		if !d.device(&slice.Spec.Devices[i], encoded) {
			return nil, false
		}
	}
	d.earlier.remember(slice, d.hashes)
	return slice, true
}

// share lets a slice that was decoded otherwise share memory.
func (d *deviceDecoder) share(o object) {
	if d != nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.common.Share(o)
	}
}

// spec takes the devices out of what is encoded of a slice.
func (d *deviceDecoder) spec(message []byte) bool {
	d.rest = d.rest[:0]
	ok := eachField(message, func(number uint64, kind int, whole, body []byte) bool {
		if number == specDevices {
			d.encoded = append(d.encoded, body)
			return kind == wire.Delimited
		}
		d.rest = append(d.rest, whole...)
		return true
	})
	d.slice = binary.AppendUvarint(d.slice, sliceSpec<<3|wire.Delimited)
	d.slice = binary.AppendUvarint(d.slice, uint64(len(d.rest)))
	d.slice = append(d.slice, d.rest...)
	return ok
}

func (d *deviceDecoder) device(to *resourcev1.Device, message []byte) bool {
	d.rest, d.both[0], d.both[1] = d.rest[:0], d.both[0][:0], d.both[1][:0]
	if !eachField(message, func(number uint64, kind int, whole, body []byte) bool {
		switch number {
		case deviceName:
			to.Name = d.name(body)
		case deviceAttributes, deviceCapacity:
			d.both[number-deviceAttributes] = append(d.both[number-deviceAttributes], whole...)
		default:
			d.rest = append(d.rest, whole...)
			return true
		}
		return kind == wire.Delimited
	}) || !d.capacity(to) || !d.attribute(to) {
		return false
	}
	return len(d.rest) == 0 || to.Unmarshal(d.rest) == nil
}

// name returns a text, once in memory however often it occurs.
func (d *deviceDecoder) name(text []byte) string {
	if known, ok := d.names[string(text)]; ok {
		return known
	}
	if len(d.names) >= mostNames {
		clear(d.names)
	}
	name := string(text)
	d.names[name] = name
	return name
}

// capacity decodes the capacities of a device.
func (d *deviceDecoder) capacity(to *resourcev1.Device) (ok bool) {
	encoded := d.both[1]
	if len(encoded) == 0 {
		return true
	}
	if to.Capacity, ok = d.capacities.get(encoded); ok {
		return true
	}
	var alone resourcev1.Device
	if alone.Unmarshal(encoded) != nil {
		return false
	}
	to.Capacity = alone.Capacity
	d.capacities.put(encoded, to.Capacity)
	return true
}

// attribute decodes the attributes of a device.
func (d *deviceDecoder) attribute(to *resourcev1.Device) (ok bool) {
	encoded := d.both[0]
	hash := d.earlier.hash(encoded)
	at := len(d.hashes)
	d.hashes = append(d.hashes, hash)
	if len(encoded) == 0 {
		return true
	}
	if to.Attributes, ok = d.old.attributes(at, hash); ok {
		return true
	}
	if to.Attributes, ok = d.attributes.get(encoded); ok {
		return true
	}
	to.Attributes = map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{}
	if !eachField(encoded, func(_ uint64, _ int, _, entry []byte) bool { return d.entry(to.Attributes, entry) }) {
		return false
	}
	d.attributes.put(encoded, to.Attributes)
	return true
}

// entry decodes an attribute with its name.
func (d *deviceDecoder) entry(to map[resourcev1.QualifiedName]resourcev1.DeviceAttribute, message []byte) bool {
	var name string
	var value []byte
	if !eachField(message, func(number uint64, kind int, _, body []byte) bool {
		switch number {
		case entryKey:
			name = d.name(body)
		case entryValue:
			value = body
		}
		return kind == wire.Delimited
	}) {
		return false
	}
	known := d.values[name]
	if known == nil {
		if len(d.values) >= mostNames {
			clear(d.values)
		}
		known = &latest[resourcev1.DeviceAttribute]{}
		d.values[name] = known
	}
	attribute, ok := known.get(value)
	if !ok {
		if attribute.Unmarshal(value) != nil {
			return false
		}
		d.common.ShareAttribute(&attribute)
		known.put(value, attribute)
	}
	to[resourcev1.QualifiedName(name)] = attribute
	return true
}

// eachField calls yield for each field of a message, until that returns false, and reports whether it came to the end.
func eachField(message []byte, yield func(number uint64, kind int, whole, body []byte) bool) bool {
	for len(message) > 0 {
		number, kind, size, body := wire.Field(message)
		if size <= 0 || !yield(number, kind, message[:size], body) {
			return false
		}
		message = message[size:]
	}
	return true
}
