package scenario

import (
	"strings"
	"testing"
	"testing/fstest"
)

const cluster = `A node with a device.

-- cluster.yaml --
{apiVersion: v1, kind: Node, metadata: {name: n1}}
---
{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: any}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s1}
spec:
  driver: d
  pool: {name: p, generation: 1, resourceSliceCount: 1}
  nodeName: n1
  devices:
  - {name: d1}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: a}
spec: {devices: {requests: [{name: r0, exactly: {deviceClassName: any}}]}}
`

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"no comment", "-- question --\n", "no comment"},
		{"unknown section", cluster + "-- wants --\n", "unknown section wants"},
		{"section twice", cluster + "-- question --\n-- question --\n", "section question is there twice"},
		{"unknown feature", cluster + "-- features --\nDRAThing=true\n", `unknown feature gate "DRAThing"`},
		{"object of no use", cluster + "---\n{apiVersion: v1, kind: Secret, metadata: {name: s}}\n", "of no use"},
		{"no such file", cluster + "-- files --\ndrivers/*.yaml\n", "drivers/*.yaml matches nothing"},
		{"no such template", cluster + "-- question --\nn1: template:default/t\n", "no template default/t"},
		{"no question", cluster, "question: there is none"},
		{"unknown node", cluster + "-- question --\nn2: a\n", `no node "n2"`},
		{"unknown claim", cluster + "-- question --\nn1: b\n", "no claim default/b"},
		{"no node", cluster + "-- question --\nn1\n", "want NODE: followed by claims"},
		{"no answer", cluster + "-- question --\nn1: a\n", "0 answers to 1 questions"},
		{"answer too many", cluster + "-- question --\nn1: a\n-- want --\nn1: unsatisfiable\nn1: unsatisfiable\n", "only 1 questions"},
		{"answer for another node", cluster + "-- question --\nn1: a\n-- want --\nn2: unsatisfiable\n", "answer for node n1"},
		{"no outcome", cluster + "-- question --\nn1: a\n-- want --\nn1:\n", "outcome is missing"},
		{"unknown outcome", cluster + "-- question --\nn1: a\n-- want --\nn1: fine\n", "want allocated"},
		{"abort without code", cluster + "-- question --\nn1: a\n-- want --\nn1: abort\n", "want allocated"},
		{"unknown code", cluster + "-- question --\nn1: a\n-- want --\nn1: abort Nope\n", `no code "Nope"`},
		{"claim forgotten", cluster + "-- question --\nn1: a\n-- want --\nn1: allocated\n", "about claims [], want [a]"},
		{"device before claim", cluster + "-- question --\nn1: a\n-- want --\nn1: allocated\n  r0 = d/p/d1\n", "want claim"},
		{"indented first", cluster + "-- question --\nn1: a\n-- want --\n  claim a\n", "no question comes before"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("s", []byte(c.text), fstest.MapFS{})
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "scenario s: ") {
				t.Errorf("got %v, want an error of scenario s with %q", err, c.want)
			}
		})
	}
}
