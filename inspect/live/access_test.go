package live_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// accessServer is a server with objects of RBAC, and more roles than are on a page.
func accessServer() *fakeServer {
	const group = "/apis/rbac.authorization.k8s.io/v1/"
	f := newFake()
	f.served["rbac.authorization.k8s.io/v1"] = []string{"clusterroles", "clusterrolebindings", "roles", "rolebindings"}
	for i := range 700 {
		f.objects[group+"clusterroles"] = append(f.objects[group+"clusterroles"], fmt.Sprintf(`{"metadata":{"name":"r%d"},"rules":[{"apiGroups":[""],"resources":["namespaces"],"verbs":["patch"]}]}`, i))
	}
	f.objects[group+"clusterrolebindings"] = []string{`{"metadata":{"name":"b"},"roleRef":{"kind":"ClusterRole","name":"r0"},"subjects":[{"kind":"User","name":"jane"}]}`}
	for _, in := range []string{"", "namespaces/ml/"} {
		f.objects[group+in+"roles"] = []string{`{"metadata":{"name":"r","namespace":"ml"},"rules":[{"verbs":["get"]}]}`}
		f.objects[group+in+"rolebindings"] = []string{`{"metadata":{"name":"b","namespace":"ml"},"roleRef":{"kind":"Role","name":"r"},"subjects":[{"kind":"Group","name":"ops"}]}`}
	}
	return f
}

func TestAccess(t *testing.T) {
	for namespace, want := range map[string]string{"": "/v1/rolebindings", "ml": "/v1/namespaces/ml/rolebindings"} {
		f := accessServer()
		got, err := finder(t, f).Access(context.Background(), namespace)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.ClusterRoles) != 700 || len(got.ClusterRoleBindings) != 1 || len(got.Roles) != 1 || len(got.RoleBindings) != 1 || got.Unread != nil || got.Given {
			t.Fatalf("%d cluster roles, %+v", len(got.ClusterRoles), got)
		}
		if r := got.ClusterRoles[699]; r.Name != "r699" || len(r.Rules) != 1 || r.Rules[0].Verbs[0] != "patch" || got.RoleBindings[0].Subjects[0].Name != "ops" {
			t.Errorf("%+v, %+v", r, got.RoleBindings[0])
		}
		if asked := f.asked("rbac.authorization.k8s.io"); len(asked) != 5 || !strings.Contains(asked[4], want) {
			t.Errorf("asked %q, want two pages of cluster roles, one of each of the others, and %s last", asked, want)
		}
	}
}

// What may not be read is told, and the rest is read.
func TestAccessForbidden(t *testing.T) {
	f := accessServer()
	f.status["/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"] = 403
	got, err := finder(t, f).Access(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Unread) != 1 || got.Unread[0] != "cannot list clusterrolebindings.rbac.authorization.k8s.io" || len(got.ClusterRoles) != 700 || len(got.RoleBindings) != 1 {
		t.Errorf("not read: %q", got.Unread)
	}
}
