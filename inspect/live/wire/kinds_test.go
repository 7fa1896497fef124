package wire

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestEveryKindIsRead: all kinds of a snapshot can be read from a server, at their newest version first.
func TestEveryKindIsRead(t *testing.T) {
	for _, want := range inspect.Kinds() {
		k, ok := KindOf(want.Resource)
		if !ok || len(k.Versions) == 0 || string(k.Versions[0]) != want.Version {
			t.Errorf("%s is not read at %s first: %+v", want.Resource, want.Version, k.Versions)
			continue
		}
		for _, v := range k.Versions {
			list := k.NewList(v)
			if !meta.IsListType(list) {
				t.Errorf("%T is no list", list)
			}
			if _, err := k.Items(v, list); err != nil {
				t.Errorf("%s at %s: %v", want.Resource, v, err)
			}
		}
		if o, ok := want.New().(Object); !ok || !k.Is(o) {
			t.Errorf("%T is no %s", o, want.Name)
		}
	}
}
