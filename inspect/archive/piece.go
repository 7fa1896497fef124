package archive

import (
	"encoding/json"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/inspect/quantity"
)

// Single objects, for files that hold what has become of them.

// encodable and decodable are what all objects of Kubernetes are. Custom resources are not: they are kept as
// JSON.
type encodable interface{ Marshal() ([]byte, error) }

type decodable interface {
	metav1.Object
	runtime.Object
	Unmarshal(data []byte) error
}

// HeaderOf returns what an archive says of a snapshot besides its objects.
func HeaderOf(s *inspect.Snapshot) Header { return headerOf(s, nil) }

// Reduced returns a copy of an object without what an archive leaves out. It belongs to the caller.
func Reduced(kind inspect.Kind, object metav1.Object) metav1.Object {
	copied := object.(runtime.Object).DeepCopyObject() //nolint:forcetypeassert // every API object is one
	copied.GetObjectKind().SetGroupVersionKind(kind.GroupVersionKind())
	reduced := copied.(metav1.Object) //nolint:forcetypeassert // as above
	reduceObject(reduced)
	return reduced
}

// Encode returns an object that [Reduced] made as protobuf, or as JSON if it is a custom resource. The same
// object gives the same bytes, also after [Decode].
func Encode(object metav1.Object) (data []byte, err error) {
	if of, ok := object.(encodable); ok {
		data, err = of.Marshal()
	} else {
		data, err = json.Marshal(object)
	}
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", object.GetName(), err)
	}
	return data, nil
}

// Decode returns the object that was encoded, or says why it is none that a file may have. name is what the
// file is called in errors, and opts has its limits.
func Decode(kind inspect.Kind, message []byte, name string, opts manifest.Options) (metav1.Object, error) {
	if err := opts.Objects(name, 0, len(message)); err != nil {
		return nil, err //nolint:wrapcheck // it says what is wrong
	}
	if _, ok := kind.New().(decodable); !ok {
		return decodeText(kind, message, name, opts)
	}
	if most := opts.Values(); len(message) > most && fieldCount(message, most) >= most {
		return nil, fmt.Errorf("it has more than %d values; --max-input allows more", most)
	}
	o := kind.New().(decodable) //nolint:forcetypeassert // as above
	if covered := quantity.CoverProtobuf(message); covered != nil {
		if kind.New().(decodable).Unmarshal(covered) != nil { //nolint:forcetypeassert // as above
			return nil, quantity.ErrUnbounded
		}
	}
	if err := o.Unmarshal(message); err != nil {
		return nil, errors.New("decoding protobuf: " + err.Error()) // that it ends too soon does not say so of the file
	}
	if o.GetName() == "" {
		return nil, errors.New("it has no name")
	}
	if !kind.Namespaced {
		o.SetNamespace("")
	}
	o.GetObjectKind().SetGroupVersionKind(kind.GroupVersionKind())
	return o, nil
}

// decodeText does the same for a custom resource.
func decodeText(kind inspect.Kind, text []byte, name string, opts manifest.Options) (metav1.Object, error) {
	result, err := manifest.ReadBytes(name, text, opts)
	if err != nil {
		return nil, err //nolint:wrapcheck // it says what is wrong
	}
	objects := kind.Objects(&result.Objects)
	if len(objects) != 1 {
		return nil, fmt.Errorf("it is no %s", kind.Name)
	}
	return objects[0], nil
}
