package live

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestEveryKindIsRead: all kinds of a snapshot can be read from a server, at their newest version first.
func TestEveryKindIsRead(t *testing.T) {
	for _, want := range inspect.Kinds() {
		k, ok := kindOf(want.Resource)
		if !ok || len(k.versions) == 0 || string(k.versions[0]) != want.Version {
			t.Errorf("%s is not read at %s first: %+v", want.Resource, want.Version, k.versions)
			continue
		}
		for _, v := range k.versions {
			list := k.newList(v)
			if !meta.IsListType(list) {
				t.Errorf("%T is no list", list)
			}
			if _, err := k.items(v, list); err != nil {
				t.Errorf("%s at %s: %v", want.Resource, v, err)
			}
		}
		if o, ok := want.New().(object); !ok || !k.is(o) {
			t.Errorf("%T is no %s", o, want.Name)
		}
	}
}
