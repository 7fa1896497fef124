package live

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/sharing"
)

// decodedEvent decodes a slice that an event has.
func decodedEvent(t *testing.T, c codec, slice *resourcev1.ResourceSlice) *resourcev1.ResourceSlice {
	t.Helper()
	whole := k8sruntime.Unknown{TypeMeta: k8sruntime.TypeMeta{APIVersion: "resource.k8s.io/v1", Kind: "ResourceSlice"}, Raw: encodedSlice(t, slice)}
	data, err := whole.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	o, _, ok, err := c.single(append(bytes.Clone(protobufPrefix), data...))
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	return o.(*resourcev1.ResourceSlice) //nolint:forcetypeassert // of that kind
}

// changeSlice changes something of a slice, or nothing.
func changeSlice(random *rand.Rand, slice *resourcev1.ResourceSlice) {
	devices := slice.Spec.Devices
	at := random.IntN(max(1, len(devices)))
	switch what := random.IntN(12); {
	case what == 0:
		slice.UID = types.UID(fmt.Sprint(random.IntN(3)))
	case what == 1:
		slice.Labels = map[string]string{"changed": fmt.Sprint(random.IntN(3))}
	case what == 2:
		slice.Spec.Pool.Generation++
	case what == 3 && len(devices) < 10:
		slice.Spec.Devices = append(devices, resourcev1.Device{Name: "new"})
	case len(devices) == 0:
	case what == 4:
		slice.Spec.Devices = append(devices[:at:at], devices[at+1:]...)
	case what == 5:
		devices[at], devices[0] = devices[0], devices[at]
	case what == 6:
		devices[at].Taints = append(devices[at].Taints[:0:0], resourcev1.DeviceTaint{Key: fmt.Sprint(random.IntN(3)), Effect: "NoSchedule"})
	case what == 7:
		devices[at].Attributes = nil
	default:
		devices[at].Attributes = map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"uuid": {StringValue: ptr.To(fmt.Sprint(random.IntN(3)))}}
	}
}

// TestEventsOfSlices: whatever changes of a slice, its next state is decoded as it would be by itself, and states before it stay as
// they were.
func TestEventsOfSlices(t *testing.T) {
	random, c := rand.New(rand.NewPCG(1, 2)), newCodec()
	current := []*resourcev1.ResourceSlice{gpuSlice(1, true), gpuSlice(2, true), gpuSlice(3, false)}
	type state struct{ got, want *resourcev1.ResourceSlice }
	var states []state
	for step := range 3000 {
		slice := current[random.IntN(len(current))]
		changeSlice(random, slice)
		want := &resourcev1.ResourceSlice{}
		if err := want.Unmarshal(encodedSlice(t, slice)); err != nil {
			t.Fatal(err)
		}
		got := decodedEvent(t, c, slice)
		states = append(states[max(0, len(states)-random.IntN(20)):], state{got, want})
		for _, s := range states {
			if diff := cmp.Diff(s.want, s.got); diff != "" {
				t.Fatalf("step %d: reads differently (-alone +after the others):\n%s", step, diff)
			}
		}
		if step%100 == 0 {
			states = nil
			runtime.GC() // states before this one are gone
		}
	}
}

// TestSlicesThatAreGone: a slice that nobody has any more is not kept, and soon not even known.
func TestSlicesThatAreGone(t *testing.T) {
	d := newDeviceDecoder(sharing.New())
	d.earlier = newEarlierSlices()
	for n := range 10 * fewEarlier {
		if _, ok := d.decode(encodedSlice(t, gpuSlice(n, false))); !ok {
			t.Fatal("a slice is not decoded")
		}
		if n%fewEarlier == 0 {
			runtime.GC()
		}
	}
	if n := len(d.earlier.known); n > 3*fewEarlier {
		t.Errorf("%d slices are known of which none is in use", n)
	}
}

// attributesAt tells the maps of attributes apart.
func attributesAt(slice *resourcev1.ResourceSlice, device int) uintptr {
	return reflect.ValueOf(slice.Spec.Devices[device].Attributes).Pointer()
}

// TestSlicesShareWhatStays: of a slice with a changed device only that is decoded, and nothing of a slice of another UID is used again.
func TestSlicesShareWhatStays(t *testing.T) {
	c, slice := newCodec(), gpuSlice(1, true)
	others := func() { // so many that what was decoded last is of them
		for n := range mostLatest {
			decodedEvent(t, c, gpuSlice(100+n, true))
		}
	}
	before := decodedEvent(t, c, slice)
	others()
	slice.Spec.Devices[3].Attributes["uuid"] = resourcev1.DeviceAttribute{StringValue: ptr.To("another")}
	after := decodedEvent(t, c, slice)
	for device := range slice.Spec.Devices {
		if shared := attributesAt(before, device) == attributesAt(after, device); shared != (device != 3) {
			t.Errorf("device %d shares its attributes: %v", device, shared)
		}
	}
	others()
	slice.UID = "another"
	if created := decodedEvent(t, c, slice); attributesAt(created, 0) == attributesAt(after, 0) {
		t.Error("a slice that was created anew has something of the one before")
	}
	runtime.KeepAlive(before)
}

// TestSharedAttributesAreNotWritten: what slices share is left alone when their events are handed on.
func TestSharedAttributesAreNotWritten(t *testing.T) {
	k, _ := kindOf(inspect.Slices)
	o := &opened{feed: &feed{kind: k}, version: k.versions[0], common: sharing.New()}
	for range 2 {
		slice := gpuSlice(1, false)
		model := slice.Spec.Devices[0].Attributes["model"].StringValue
		o.share(watch.Event{Type: watch.Modified, Object: slice})
		if slice.Spec.Devices[0].Attributes["model"].StringValue != model {
			t.Error("attributes were written to")
		}
	}
}

// BenchmarkSliceEvents decodes slices of eight devices, of which one has a taint come or go: by themselves, and as events of a watch.
func BenchmarkSliceEvents(b *testing.B) {
	k, _ := kindOf(inspect.Slices)
	events := newCodec().kinds[k.GroupVersionKind()]
	var encoded [2][]byte
	for i := range encoded {
		slice := gpuSlice(1, true)
		slice.Spec.Devices[i].Taints = []resourcev1.DeviceTaint{{Key: "unhealthy", Effect: "NoSchedule", TimeAdded: &metav1.Time{}}}
		data, err := slice.Marshal()
		if err != nil {
			b.Fatal(err)
		}
		encoded[i] = data
	}
	for _, bb := range []struct {
		name string
		kind kind
	}{{"alone", k}, {"watched", events}} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			var held object
			for i := range b.N {
				o, err := bb.kind.decoded(encoded[i%2])
				if err != nil {
					b.Fatal(err)
				}
				held = o
			}
			runtime.KeepAlive(held)
		})
	}
}
