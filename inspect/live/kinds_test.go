package live

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestEveryKindIsRead: all kinds of a snapshot can be read from a server, at their newest version first.
func TestEveryKindIsRead(t *testing.T) {
	if len(kinds()) != len(inspect.Kinds()) {
		t.Errorf("%d kinds are read, and a snapshot has %d", len(kinds()), len(inspect.Kinds()))
	}
	for _, want := range inspect.Kinds() {
		k, ok := kindOf(want.Resource)
		if !ok || len(k.versions) == 0 || k.versions[0].name != want.Version {
			t.Errorf("%s is not read at %s first: %+v", want.Resource, want.Version, k.versions)
			continue
		}
		list := k.versions[0].newList()
		if !meta.IsListType(list) {
			t.Errorf("%T is no list", list)
		}
		if _, err := k.items(k.versions[0], list); err != nil {
			t.Errorf("%s: %v", want.Resource, err)
		}
	}
}
