package checkup_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/internal/checkup"
)

// TestWatch follows a driver through what drivers do wrong.
func TestWatch(t *testing.T) {
	const reader = `
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: fast}
spec: {selectors: [{cel: {expression: 'device.attributes["d.example.com"].speed >= 100'}}]}
---
`
	slice := func(name string, generation, count int, devices ...string) string {
		return fmt.Sprintf("apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: %s}\nspec: {driver: d.example.com, nodeName: n1, pool: {name: n1, generation: %d, resourceSliceCount: %d}, devices: [%s]}\n---\n",
			name, generation, count, strings.Join(devices, ", "))
	}
	const eth0, eth1 = "{name: eth0, attributes: {speed: {int: 100}, uuid: {string: a}}}", "{name: eth1, attributes: {speed: {int: 25}}}"
	steps := []struct{ objects, want string }{
		{slice("a", 1, 1, eth0), "note pool d.example.com/n1: generation 1 has 1 slice with 1 device\n"},
		{slice("a", 1, 1, eth0), ""},
		{slice("a", 2, 2, eth0), "warning pool d.example.com/n1: generation 2 has 1 of 2 slices, so nobody can use it\n"},
		{slice("a", 2, 2, eth0), ""},
		{slice("a", 2, 2, eth0) + slice("b", 2, 2, eth1), "note pool d.example.com/n1: generation 2: 1 device new (eth1)\n" +
			"warning pool d.example.com/n1: its devices changed without a new generation: the scheduler may see half of the change\n" +
			"note pool d.example.com/n1: generation 2 is complete, after 4s\n"},
		{slice("a", 3, 2, eth0) + slice("b", 3, 2, eth1), ""},
		{slice("a", 4, 2, eth0) + slice("b", 4, 2, eth1), "warning pool d.example.com/n1: it was published 3 times within 1m0s without a change: each time the scheduler looks at all that waits again\n"},
		{slice("a", 3, 2, eth0) + slice("b", 3, 2, eth1), "error pool d.example.com/n1: its generation went back from 4 to 3: while slices of the higher one are around, they count\n" +
			"warning pool d.example.com/n1: it was published 4 times within 1m0s without a change: each time the scheduler looks at all that waits again\n"},
		{slice("a", 5, 1, strings.Replace(eth0, "string: a", "string: b", 1)), "warning pool d.example.com/n1: device eth0 is other hardware than before: UUID b instead of UUID a; claims that hold the name hold that now\n" +
			"note pool d.example.com/n1: generation 5: 1 device gone (eth1), 1 device changed (eth0)\n"},
		{slice("a", 6, 1, "{name: eth0, attributes: {uuid: {string: b}}}"), "note pool d.example.com/n1: generation 6: 1 device changed (eth0)\n" +
			"warning driver d.example.com, attribute d.example.com/speed: no device has it any more; it is read by DeviceClass fast\n"},
		{"", "warning pool d.example.com/n1: it is gone\n"},
	}
	watch := checkup.NewWatch("d.example.com")
	for i, step := range steps {
		result, err := manifest.ReadBytes("cluster.yaml", []byte(reader+step.objects), manifest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s := inspect.New(result.Objects, inspect.Config{Time: now.Add(time.Duration(i) * 2 * time.Second), Features: inspect.DefaultFeatures(inspect.NewestMinor), Health: result.Health})
		var got strings.Builder
		for _, n := range watch.Next(s) {
			fmt.Fprintf(&got, "%s %s: %s\n", n.Severity, n.Subject, n.Detail)
		}
		if got.String() != step.want {
			t.Errorf("step %d\n%s\nwant\n%s", i, got.String(), step.want)
		}
	}
}

// TestWatchDetails checks what is, and what is not, told of one change.
func TestWatchDetails(t *testing.T) {
	slice := func(driver, name, pool string, generation, count int, devices ...string) string {
		return fmt.Sprintf("apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: %s}\nspec: {driver: %s, nodeName: n1, pool: {name: %s, generation: %d, resourceSliceCount: %d}, devices: [%s]}\n---\n",
			name, driver, pool, generation, count, strings.Join(devices, ", "))
	}
	own := func(name string, generation, count int, devices ...string) string {
		return slice("d.example.com", name, "n1", generation, count, devices...)
	}
	const eth0, eth1 = "{name: eth0, attributes: {speed: {int: 100}}}", "{name: eth1}"
	const readers = `
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: large}
spec: {selectors: [{cel: {expression: 'device.capacity["d.example.com"].memory.compareTo(quantity("1Gi")) > 0'}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: fast, namespace: ml}
spec: {spec: {devices: {requests: [{name: a, exactly: {deviceClassName: large, selectors: [
  {cel: {expression: 'device.attributes["d.example.com"].speed > 1 && device.attributes["d.example.com"].speed < 9'}}]}}]}}}
---
`
	for name, test := range map[string]struct {
		looks []string
		every time.Duration
		want  string // of the last look
	}{
		"of other drivers nothing is told": {[]string{own("a", 1, 1, eth0), own("a", 1, 1, eth0) + slice("e.example.com", "x", "n1", 1, 2, eth1)}, 0, ""},
		"older slices beside the new one": {[]string{own("a", 1, 1, eth0), own("a", 1, 1, eth0) + own("b", 2, 1, eth0, eth1)}, 0,
			"note pool d.example.com/n1: generation 2: 1 device new (eth1)\n"},
		"published again, but not often": {[]string{own("a", 1, 1, eth0), own("a", 2, 1, eth0), own("a", 3, 1, eth0), own("a", 4, 1, eth0), own("a", 5, 1, eth0)}, 40 * time.Second, ""},
		"more slices than announced": {[]string{own("a", 1, 1, eth0), own("a", 1, 1, eth0) + own("b", 1, 1)}, 0,
			"warning pool d.example.com/n1: generation 1 has 2 of 1 slice, so nobody can use it\n"},
		"told once that it is not complete": {[]string{own("a", 1, 2, eth0), own("a", 1, 2, eth0)}, 0, ""},
		"a UUID that there was not before": {[]string{own("a", 1, 1, eth1), own("a", 2, 1, "{name: eth1, attributes: {uuid: {string: a}}}")}, 0,
			"note pool d.example.com/n1: generation 2: 1 device changed (eth1)\n"},
		"an attribute changes in the same generation": {[]string{own("a", 1, 2, eth0) + own("b", 1, 2), own("a", 1, 2, "{name: eth0, attributes: {speed: {int: 1}}}") + own("b", 1, 2)}, 0,
			"note pool d.example.com/n1: generation 1: 1 device changed (eth0)\n"},
		"a device comes in the only slice": {[]string{own("a", 1, 1, eth0), own("a", 1, 1, eth0, eth1)}, 0,
			"note pool d.example.com/n1: generation 1: 1 device new (eth1)\n"},
		"a name with its domain is the same": {[]string{own("a", 1, 1, eth0), own("a", 2, 1, "{name: eth0, attributes: {d.example.com/speed: {int: 100}}}")}, 0,
			"note pool d.example.com/n1: generation 2: 1 device changed (eth0)\n"},
		"a capacity vanishes, which a class reads": {[]string{own("a", 1, 1, "{name: eth0, capacity: {memory: {value: 1Gi}}}"), own("a", 2, 1, "{name: eth0}")}, 0,
			"note pool d.example.com/n1: generation 2: 1 device changed (eth0)\n" +
				"warning driver d.example.com, capacity d.example.com/memory: no device has it any more; it is read by DeviceClass large\n"},
		"an attribute vanishes, which a template reads twice": {[]string{own("a", 1, 1, eth0), own("a", 2, 1, "{name: eth0}")}, 0,
			"note pool d.example.com/n1: generation 2: 1 device changed (eth0)\n" +
				"warning driver d.example.com, attribute d.example.com/speed: no device has it any more; it is read by ResourceClaimTemplate ml/fast\n"},
		"an attribute vanishes while the driver starts anew": {[]string{own("a", 1, 1, eth0), "", own("a", 2, 1, "{name: eth0}")}, 0,
			"note pool d.example.com/n1: generation 2 has 1 slice with 1 device\n" +
				"warning driver d.example.com, attribute d.example.com/speed: no device has it any more; it is read by ResourceClaimTemplate ml/fast\n"},
		"an attribute that others still have, which a template reads": {[]string{own("a", 1, 1, eth0, "{name: eth1, attributes: {speed: {int: 1}}}"), own("a", 2, 1, "{name: eth0}", "{name: eth1, attributes: {speed: {int: 1}}}")}, 0,
			"note pool d.example.com/n1: generation 2: 1 device changed (eth0)\n" +
				"warning driver d.example.com, attribute d.example.com/speed: 1 device no longer has it (n1/eth0); it is read by ResourceClaimTemplate ml/fast\n"},
		"an attribute that others still have, which nobody reads": {[]string{own("a", 1, 1, "{name: eth0, attributes: {ip: {string: x}}}", "{name: eth1, attributes: {ip: {string: z}}}"),
			own("a", 2, 1, "{name: eth0}", "{name: eth1, attributes: {ip: {string: z}}}")}, 0,
			"note pool d.example.com/n1: generation 2: 1 device changed (eth0)\n"},
		"a UUID that there is no more": {[]string{own("a", 1, 1, "{name: eth1, attributes: {uuid: {string: a}}}"), own("a", 2, 1, eth1)}, 0,
			"note pool d.example.com/n1: generation 2: 1 device changed (eth1)\nwarning driver d.example.com, attribute d.example.com/uuid: no device has it any more\n"},
		"devices come in a new generation of several slices": {[]string{own("a", 1, 2, eth0) + own("b", 1, 2), own("a", 2, 2, eth0) + own("b", 2, 2, eth1)}, 0,
			"note pool d.example.com/n1: generation 2: 1 device new (eth1)\n"},
		"a device goes that had more than the others": {[]string{own("a", 1, 1, eth0, eth1) + slice("d.example.com", "b", "n2", 1, 1, eth0), own("a", 2, 1, eth1) + slice("d.example.com", "b", "n2", 1, 1, eth0)}, 0,
			"note pool d.example.com/n1: generation 2: 1 device gone (eth0)\n"},
		"a pool that comes back is new": {[]string{own("a", 1, 1, eth0), "", own("a", 1, 1, eth0)}, 0, "note pool d.example.com/n1: generation 1 has 1 slice with 1 device\n"},
		"pools are told in their order": {[]string{"", slice("d.example.com", "a", "p2", 1, 1, eth0) + slice("d.example.com", "b", "p1", 1, 1, eth0)}, 0,
			"note pool d.example.com/p1: generation 1 has 1 slice with 1 device\nnote pool d.example.com/p2: generation 1 has 1 slice with 1 device\n"},
	} {
		t.Run(name, func(t *testing.T) {
			watch := checkup.NewWatch("d.example.com")
			var got strings.Builder
			for i, look := range test.looks {
				result, err := manifest.ReadBytes("cluster.yaml", []byte(readers+look), manifest.Options{})
				if err != nil {
					t.Fatal(err)
				}
				s := inspect.New(result.Objects, inspect.Config{Time: now.Add(time.Duration(i) * test.every), Features: inspect.DefaultFeatures(inspect.NewestMinor), Health: result.Health})
				got.Reset()
				for _, n := range watch.Next(s) {
					fmt.Fprintf(&got, "%s %s: %s\n", n.Severity, n.Subject, n.Detail)
				}
			}
			if got.String() != test.want {
				t.Errorf("told\n%s\nwant\n%s", got.String(), test.want)
			}
		})
	}
}
