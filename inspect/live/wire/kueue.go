package wire

import (
	"encoding/json"
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// upgraded is the JSON of an object of Kueue that a server has at v1beta1, with the fields of v1beta2.
type upgraded struct{ raw []byte }

// UnmarshalJSON keeps the object with the fields of v1beta2.
func (u *upgraded) UnmarshalJSON(raw []byte) (err error) {
	u.raw, err = inspect.UpgradeKueue(raw)
	return err //nolint:wrapcheck // it says what is wrong
}

// addKueue adds the lists of Kueue at v1beta1, whose types need a client for their conversion.
func addKueue(s *runtime.Scheme) {
	for _, k := range inspect.Kinds() {
		if k.Resource.OfKueue() {
			s.AddKnownTypeWithName(schema.GroupVersionKind{Group: k.Group, Version: "v1beta1", Kind: k.Name + "List"}, &alphaList[upgraded]{})
			s.AddKnownTypeWithName(schema.GroupVersionKind{Group: k.Group, Version: "v1beta1", Kind: k.Name}, &metav1.PartialObjectMetadata{})
		}
	}
}

// convertUpgraded decodes the items of a list at v1beta1 into one at v1beta2.
func convertUpgraded(in *alphaList[upgraded], out runtime.Object) error {
	list := reflect.ValueOf(out).Elem()
	list.FieldByName("ListMeta").Set(reflect.ValueOf(in.ListMeta))
	items := list.FieldByName("Items")
	for i := range in.Items {
		item := reflect.New(items.Type().Elem())
		if err := json.Unmarshal(in.Items[i].raw, item.Interface()); err != nil {
			return fmt.Errorf("item %d: %w", i+1, err)
		}
		items.Set(reflect.Append(items, item.Elem()))
	}
	return nil
}
