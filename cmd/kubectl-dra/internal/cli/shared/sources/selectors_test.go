package sources

import (
	"fmt"
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestManySelectors: mistakes are looked for in so many selectors only as can be compiled in a second or two.
func TestManySelectors(t *testing.T) {
	class := func(n int, pad string) *inspect.Objects {
		c := &resourcev1.DeviceClass{}
		for i := range n {
			for range 2 { // the same again costs nothing
				c.Spec.Selectors = append(c.Spec.Selectors, resourcev1.DeviceSelector{CEL: &resourcev1.CELDeviceSelector{Expression: fmt.Sprintf("%d%s", i, pad)}})
			}
		}
		return &inspect.Objects{Classes: []*resourcev1.DeviceClass{c}}
	}
	long := strings.Repeat(" ", 60<<10)
	for name, test := range map[string]struct {
		objects *inspect.Objects
		want    int
		all     bool
	}{
		"few":       {class(5, ""), 10, true},
		"short":     {class(3000, ""), 2 * 1943, false}, // 10 of 65 bytes, 90 of 66, 900 of 67 and 943 of 68
		"long":      {class(10, long), 2 * 2, false},
		"long, two": {class(2, long), 2 * 2, true},
	} {
		t.Run(name, func(t *testing.T) {
			warnings := selectorWarnings(test.objects)
			told := len(warnings) > 0 && strings.Contains(warnings[len(warnings)-1].Message, "not all were looked at")
			if told {
				warnings = warnings[:len(warnings)-1]
			}
			if len(warnings) != test.want || told == test.all {
				t.Errorf("%d warnings, of which the last says that there are more: %t; want %d, %t", len(warnings), told, test.want, !test.all)
			}
		})
	}
}
