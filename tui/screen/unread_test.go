package screen

import (
	"context"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

func TestUnread(t *testing.T) {
	for _, test := range []struct {
		health    inspect.Health
		namespace string
		want      string
	}{
		{health: inspect.Health{State: inspect.Synced}},
		{health: inspect.Health{State: inspect.NotServed, Message: "not served"}},
		{want: "no pods were read"},
		{health: inspect.Health{State: inspect.Syncing}, want: "pods are being read"},
		{health: inspect.Health{State: inspect.Broken, Message: "no \x1b[31m answer"}, want: `no \x1b[31m answer`},
		{health: inspect.Health{State: inspect.Narrowed, Namespaces: []string{"a"}, Message: "only a"}, want: "only a"},
		{health: inspect.Health{State: inspect.Narrowed, Namespaces: []string{"a"}, Message: "only a"}, namespace: "b", want: "only a"},
		{health: inspect.Health{State: inspect.Narrowed, Namespaces: []string{"a"}, Message: "only a"}, namespace: "a"},
	} {
		w := NewWorld(context.Background(), 1, inspect.New(inspect.Objects{}, inspect.Config{Health: map[inspect.Resource]inspect.Health{
			inspect.Claims: {State: inspect.Synced}, inspect.Pods: test.health,
		}}))
		w.Namespace = test.namespace
		if got := Unread(w, inspect.Claims, inspect.Pods); got != test.want {
			t.Errorf("%+v in namespace %q: %q, want %q", test.health, test.namespace, got, test.want)
		}
	}
}
