package wire

import (
	"encoding/json"
	"errors"
	"reflect"
	"sync"
	"sync/atomic"

	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Objects of a server that is newer than the API types may have fields that these do not know. JSON has them,
// and they are kept. Of protobuf the decoder drops them, which shows in that it would encode less than it was
// given; then the server is asked again, for JSON. So only newer servers cost more, and only for resources
// that have such fields.

// Age is what is known of the age of a server.
type Age struct {
	// Old says that it is known not to be newer than the API types, and Workloads that it is of the release
	// in which pods have a field that these no longer know: see inspect.NamesWorkload.
	Old, Workloads atomic.Bool
	// Newer are the resources of which objects have fields that the API types do not know.
	Newer sync.Map
}

// ErrNewer says that an answer in protobuf has fields that the API types do not know.
var ErrNewer = errors.New("it has fields that are newer than this program")

// knows reports whether the API types have all fields that objects of the server can have.
func (a *Age) knows(o runtime.Object) bool {
	switch o.(type) {
	case *corev1.Pod, *corev1.PodList:
		return a.Old.Load() && !a.Workloads.Load()
	}
	_, sized := o.(sizer) // custom resources are not, and have an age of their own
	return sized && a.Old.Load()
}

// sizer is what can be encoded as protobuf.
type sizer interface{ Size() int }

// Lost reports whether decoding dropped fields of what is encoded as protobuf.
func (a *Age) Lost(o runtime.Object, data []byte) bool {
	sized, ok := o.(sizer)
	return ok && !a.knows(o) && isProtobuf(data) && rawSize(data[len(protobufPrefix):]) > sized.Size()
}

// rawField is the field of a runtime.Unknown that holds the object.
const rawField = 2

func rawSize(unknown []byte) int {
	for len(unknown) > 0 {
		number, kind, tag := protowire.ConsumeTag(unknown)
		if tag < 0 {
			return 0
		}
		size := protowire.ConsumeFieldValue(number, kind, unknown[tag:])
		if size < 0 {
			return 0
		}
		if number == rawField && kind == protowire.BytesType {
			raw, _ := protowire.ConsumeBytes(unknown[tag:])
			return len(raw)
		}
		unknown = unknown[tag+size:]
	}
	return 0
}

// keepNewer has an object, or the items of a list, keep the fields that the API types do not know.
func keepNewer(o runtime.Object, data []byte) {
	if object, ok := o.(metav1.Object); ok {
		inspect.KeepNewer(object, data)
		return
	}
	items := reflect.ValueOf(o).Elem().FieldByName("Items")
	var raw struct {
		Items []json.RawMessage `json:"items"`
	}
	if !items.IsValid() || json.Unmarshal(data, &raw) != nil || len(raw.Items) != items.Len() {
		return
	}
	for i, item := range raw.Items {
		if object, ok := items.Index(i).Addr().Interface().(metav1.Object); ok {
			inspect.KeepNewer(object, item)
		}
	}
}
