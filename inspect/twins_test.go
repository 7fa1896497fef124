package inspect_test

import (
	"fmt"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestNextTwins: of claims of one name, which only files have, the order is that of the list, also where one
// comes or goes among many others.
func TestNextTwins(t *testing.T) {
	holder := func(name, request string) *resourcev1.ResourceClaim {
		c := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: name}}
		c.Status.Allocation = &resourcev1.AllocationResult{}
		c.Status.Allocation.Devices.Results = []resourcev1.DeviceRequestAllocationResult{{Request: request, Driver: "d", Pool: "p", Device: "x"}}
		return c
	}
	var others []*resourcev1.ResourceClaim
	for i := range 40 {
		others = append(others, holder(fmt.Sprintf("z%02d", i), "other"))
	}
	objects := func(first ...*resourcev1.ResourceClaim) inspect.Objects {
		return inspect.Objects{Claims: append(first, others...)}
	}
	one, two, three := holder("a", "one"), holder("a", "two"), holder("a", "three")
	for name, step := range map[string]struct{ before, after inspect.Objects }{
		"a twin comes":    {objects(two), objects(one, two)},
		"a twin goes":     {objects(one, two), objects(two)},
		"a twin replaced": {objects(one, two), objects(three, two)},
	} {
		t.Run(name, func(t *testing.T) {
			got := inspect.New(step.before, inspect.Config{}).Next(step.after, inspect.Config{})
			want := inspect.New(step.after, inspect.Config{})
			id := inspect.DeviceID{Driver: "d", Pool: "p", Device: "x"}
			for i, h := range want.Holders(id) {
				if g := got.Holders(id)[i]; g.Result != h.Result {
					t.Errorf("holder %d is by request %s, want %s", i, g.Result.Request, h.Result.Request)
				}
			}
		})
	}
}
