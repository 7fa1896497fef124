package extended

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// plugins has four nodes with the resource r of a device plugin: one where all is well, one with a sick
// device, one whose plugin has stopped, one where it is gone.
const plugins = `
{apiVersion: v1, kind: Node, metadata: {name: well}, status: {capacity: {example.com/r: "4"}, allocatable: {example.com/r: "4", cpu: "8"}}}
---
{apiVersion: v1, kind: Node, metadata: {name: sick}, status: {capacity: {example.com/r: "4"}, allocatable: {example.com/r: "3"}}}
---
{apiVersion: v1, kind: Node, metadata: {name: stopped, labels: {far: a}}, status: {capacity: {example.com/r: "4"}, allocatable: {example.com/r: "0"}}}
---
{apiVersion: v1, kind: Node, metadata: {name: gone}, status: {capacity: {example.com/r: "0"}, allocatable: {example.com/r: "0"}}}
---
{apiVersion: v1, kind: Node, metadata: {name: without, labels: {far: b}}, spec: {unschedulable: true}, status: {capacity: {cpu: "8", example.kubernetes.io/x: "1", hugepages-2Mi: 1Gi}}}
---
`

// classes provide r: the newest of them counts.
const classes = `
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: old, creationTimestamp: "2026-01-01T00:00:00Z"}
spec: {extendedResourceName: example.com/r, selectors: [{cel: {expression: 'false'}}]}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: new, creationTimestamp: "2026-01-02T00:00:00Z"}
spec: {extendedResourceName: example.com/r, selectors: [{cel: {expression: 'device.attributes["d"].kind == "good"'}}]}
---
`

// devices are a slice of the node stopped, one of the node without, and one for both; one device is of
// another kind.
const devices = `
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: stopped}
spec:
  driver: d
  nodeName: stopped
  pool: {name: stopped, generation: 1, resourceSliceCount: 1}
  devices:
  - {name: held, attributes: {kind: {string: good}}}
  - {name: free, attributes: {kind: {string: good}}}
  - {name: tainted, attributes: {kind: {string: good}}, taints: [{key: k, effect: NoSchedule}]}
  - {name: other, attributes: {kind: {string: bad}}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: without}
spec:
  driver: d
  nodeName: without
  pool: {name: without, generation: 1, resourceSliceCount: 1}
  devices:
  - {name: free, attributes: {kind: {string: good}}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: shared}
spec:
  driver: d
  nodeSelector: {nodeSelectorTerms: [{matchExpressions: [{key: far, operator: Exists}]}]}
  pool: {name: shared, generation: 1, resourceSliceCount: 1}
  devices:
  - {name: far, attributes: {kind: {string: good}}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: c}
status:
  allocation: {devices: {results: [{request: r, driver: d, pool: stopped, device: held}]}}
---
`

// pod is a pod that asks for r.
func pod(name, node, count, more string) string {
	return fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata: {name: %s}
spec:
  nodeName: %q
  containers: [{name: main, resources: {limits: {example.com/r: %q}}}]
%s
---
`, name, node, count, more)
}

// servedByClaim is the status of a pod that has r from DRA.
const servedByClaim = `status: {phase: Running, extendedResourceClaimStatus: {resourceClaimName: c, requestMappings: [{containerName: main, resourceName: example.com/r, requestName: container-0-request-0}]}}`

// all lists everything that a survey says.
func all(t *testing.T, text string, config inspect.Config) string {
	t.Helper()
	result, err := manifest.ReadBytes("cluster", []byte(text), manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if reflect.ValueOf(config.Features).IsZero() {
		config.Features = inspect.DefaultFeatures(inspect.NewestMinor)
	}
	s := inspect.New(result.Objects, config)
	fewer := Plugins(scheduler.NewCluster(s, scheduler.Options{}))
	survey, err := All(t.Context(), scheduler.NewCluster(s, scheduler.Options{}), s.Inventory())
	if err != nil {
		t.Fatal(err)
	}
	agree(t, fewer, survey)
	var b strings.Builder
	for i := range survey.Offers {
		o := &survey.Offers[i]
		fmt.Fprintf(&b, "%s on %q: %s %s %q", o.Resource, o.Node, o.ServedBy, counts(o.Count), o.Class)
		for _, u := range o.plugin().Pods {
			fmt.Fprintf(&b, " %s:%d", u.Pod.Name, u.Count)
		}
		for _, u := range o.devices().Pods {
			fmt.Fprintf(&b, " %s:%d(DRA)", u.Pod.Name, u.Count)
		}
		if o.Cordoned {
			b.WriteString(" cordoned")
		}
		if err := o.devices().Fails; err != nil {
			b.WriteString(" fails")
		}
		b.WriteString("\n")
	}
	for _, total := range survey.Totals(func(*Offer) bool { return true }) {
		fmt.Fprintf(&b, "%s in all: %s on %d nodes, at most %s on %q, %d wanted by %d\n", total.Resource, counts(total.Count), total.Nodes,
			number(total.MostFree), total.MostFreeNode, total.Wanted(), len(total.Waiting))
	}
	return b.String()
}

// agree holds what is said of device plugins alone against the whole.
func agree(t *testing.T, plugins, survey *Survey) {
	t.Helper()
	var of []string
	for _, o := range survey.Offers {
		if o.ServedBy == DevicePlugin {
			of = append(of, fmt.Sprintf("%s %s %s", o.Resource, o.Node, counts(o.Count)))
		}
	}
	var got []string
	for _, o := range plugins.Offers {
		if o.ServedBy == DevicePlugin {
			got = append(got, fmt.Sprintf("%s %s %s", o.Resource, o.Node, counts(o.Count)))
		}
	}
	if diff := cmp.Diff(of, got); diff != "" {
		t.Error("device plugins alone (-whole +alone):\n" + diff)
	}
}

func counts(c Count) string {
	return number(c.Offered) + "/" + number(c.Healthy) + "/" + number(c.Used) + "/" + number(c.Free)
}

func number(n *int64) string {
	if n == nil {
		return "?"
	}
	return fmt.Sprint(*n)
}

// TestSurvey: offered/healthy/used/free, by whoever serves.
func TestSurvey(t *testing.T) {
	forbidden := func(r inspect.Resource) inspect.Config {
		return inspect.Config{Health: map[inspect.Resource]inspect.Health{r: {State: inspect.Forbidden}}}
	}
	off := inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor).With(map[inspect.Gate]bool{inspect.GateExtendedResource: false})}
	early := inspect.Config{ServerVersion: "v1.34.2", Features: inspect.DefaultFeatures(34).With(map[inspect.Gate]bool{inspect.GateExtendedResource: true})}
	for name, test := range map[string]struct {
		cluster string
		config  inspect.Config
		want    string
	}{
		"device plugins alone": {cluster: plugins + pod("a", "well", "1", "") + pod("b", "sick", "2", "") + pod("c", "stopped", "2", ""), want: `
example.com/r on "gone": None 0/0/0/0 ""
example.com/r on "sick": DevicePlugin 4/3/2/1 "" b:2
example.com/r on "stopped": None 4/0/2/0 "" c:2
example.com/r on "well": DevicePlugin 4/4/1/3 "" a:1
example.com/r in all: 12/7/5/4 on 2 nodes, at most 3 on "well", 0 wanted by 0
`},
		"pods as the scheduler counts them": {cluster: plugins +
			pod("done", "well", "4", "status: {phase: Succeeded}") + pod("failed", "well", "4", "status: {phase: Failed}") +
			pod("init", "well", "1", `  initContainers: [{name: i, resources: {limits: {example.com/r: "2"}}}]`) +
			pod("sidecar", "sick", "1", `  initContainers: [{name: i, restartPolicy: Always, resources: {limits: {example.com/r: "2"}}}]`), want: `
example.com/r on "gone": None 0/0/0/0 ""
example.com/r on "sick": DevicePlugin 4/3/3/0 "" sidecar:3
example.com/r on "stopped": None 4/0/0/0 ""
example.com/r on "well": DevicePlugin 4/4/2/2 "" init:2
example.com/r in all: 12/7/5/2 on 2 nodes, at most 2 on "well", 0 wanted by 0
`},
		"pods keep devices that are sick": {cluster: plugins + pod("a", "sick", "4", ""), want: `
example.com/r on "gone": None 0/0/0/0 ""
example.com/r on "sick": DevicePlugin 4/3/4/0 "" a:4
example.com/r on "stopped": None 4/0/0/0 ""
example.com/r on "well": DevicePlugin 4/4/0/4 ""
example.com/r in all: 12/7/4/4 on 2 nodes, at most 4 on "well", 0 wanted by 0
`},
		"DRA where the plugin has nothing": {cluster: plugins + classes + devices + pod("claimed", "stopped", "1", servedByClaim), want: `
example.com/r on "gone": DRA 0/0/0/0 "new"
example.com/r on "sick": DevicePlugin 4/3/0/3 "new"
example.com/r on "stopped": DRA 4/3/1/2 "new" claimed:1(DRA)
example.com/r on "well": DevicePlugin 4/4/0/4 "new"
example.com/r on "without": DRA 2/2/0/2 "new" cordoned
example.com/r in all: 13/11/1/10 on 4 nodes, at most 4 on "well", 0 wanted by 0
`},
		"a pod of DRA where the plugin came later": {cluster: plugins + classes + pod("claimed", "well", "1", servedByClaim) + pod("plain", "well", "2", ""), want: `
example.com/r on "gone": DRA 0/0/0/0 "new"
example.com/r on "sick": DevicePlugin 4/3/0/3 "new"
example.com/r on "stopped": DRA 0/0/0/0 "new"
example.com/r on "well": DevicePlugin 4/4/2/1 "new" plain:2 claimed:1(DRA)
example.com/r in all: 8/7/2/4 on 2 nodes, at most 3 on "sick", 0 wanted by 0
`},
		"a scheduler that knows nothing of it": {cluster: plugins + classes + devices, config: off, want: `
example.com/r on "gone": None 0/0/0/0 ""
example.com/r on "sick": DevicePlugin 4/3/0/3 ""
example.com/r on "stopped": None 4/0/0/0 ""
example.com/r on "well": DevicePlugin 4/4/0/4 ""
example.com/r in all: 12/7/0/7 on 2 nodes, at most 4 on "well", 0 wanted by 0
`},
		"a scheduler of 1.34": {cluster: plugins + classes + devices + strings.ReplaceAll(pod("implicit", "", "1", ""), "example.com/r", "deviceclass.resource.kubernetes.io/old"),
			config: early, want: `
deviceclass.resource.kubernetes.io/old on "": None 0/0/0/0 ""
example.com/r on "gone": None 0/0/0/0 "new"
example.com/r on "sick": DevicePlugin 4/3/0/3 "new"
example.com/r on "stopped": None 4/0/0/0 "new"
example.com/r on "well": DevicePlugin 4/4/0/4 "new"
example.com/r on "without": DRA 2/2/0/2 "new" cordoned
deviceclass.resource.kubernetes.io/old in all: 0/0/0/0 on 0 nodes, at most 0 on "", 1 wanted by 1
example.com/r in all: 14/9/0/9 on 3 nodes, at most 4 on "well", 0 wanted by 0
`},
		"what is on no node": {cluster: `{apiVersion: v1, kind: Node, metadata: {name: node}}
---
` + classes + strings.ReplaceAll(pod("other", "", "3", ""), "/r", "/s") + pod("a", "", "1", "") + pod("b", "", "2", "") +
			strings.ReplaceAll(pod("implicit", "", "1", ""), "example.com/r", "deviceclass.resource.kubernetes.io/old"), want: `
deviceclass.resource.kubernetes.io/old on "": DRA 0/0/0/0 "old"
example.com/r on "": DRA 0/0/0/0 "new"
example.com/s on "": None 0/0/0/0 ""
deviceclass.resource.kubernetes.io/old in all: 0/0/0/0 on 0 nodes, at most 0 on "", 1 wanted by 1
example.com/r in all: 0/0/0/0 on 0 nodes, at most 0 on "", 3 wanted by 2
example.com/s in all: 0/0/0/0 on 0 nodes, at most 0 on "", 3 wanted by 1
`},
		"a pod that has devices by the name of the class": {cluster: plugins + classes + devices +
			strings.ReplaceAll(pod("claimed", "stopped", "1", servedByClaim), "example.com/r", "deviceclass.resource.kubernetes.io/new"), want: `
deviceclass.resource.kubernetes.io/new on "stopped": DRA 4/3/1/2 "new" claimed:1(DRA)
deviceclass.resource.kubernetes.io/new on "without": DRA 2/2/0/2 "new" cordoned
example.com/r on "gone": DRA 0/0/0/0 "new"
example.com/r on "sick": DevicePlugin 4/3/0/3 "new"
example.com/r on "stopped": DRA 4/3/1/2 "new"
example.com/r on "well": DevicePlugin 4/4/0/4 "new"
example.com/r on "without": DRA 2/2/0/2 "new" cordoned
deviceclass.resource.kubernetes.io/new in all: 5/4/1/3 on 2 nodes, at most 2 on "stopped", 0 wanted by 0
example.com/r in all: 13/11/1/10 on 4 nodes, at most 4 on "well", 0 wanted by 0
`},
		"fragments": {cluster: strings.ReplaceAll(plugins, `example.com/r: "4", cpu`, `example.com/r: "1", cpu`) + pod("a", "sick", "2", "") + pod("b", "", "2", ""), want: `
example.com/r on "gone": None 0/0/0/0 ""
example.com/r on "sick": DevicePlugin 4/3/2/1 "" a:2
example.com/r on "stopped": None 4/0/0/0 ""
example.com/r on "well": DevicePlugin 4/1/0/1 ""
example.com/r in all: 12/4/2/2 on 2 nodes, at most 1 on "sick", 2 wanted by 1
`},
		"a class that fails": {cluster: plugins + strings.ReplaceAll(classes, "kind ==", "missing ==") + devices, want: `
example.com/r on "gone": DRA 0/0/0/0 "new"
example.com/r on "sick": DevicePlugin 4/3/0/3 "new"
example.com/r on "stopped": DRA 0/0/0/? "new" fails
example.com/r on "well": DevicePlugin 4/4/0/4 "new"
example.com/r on "without": DRA 0/0/0/? "new" cordoned fails
example.com/r in all: 8/7/0/? on 2 nodes, at most ? on "", 0 wanted by 0
`},
		"pods that nobody may read": {cluster: plugins, config: forbidden(inspect.Pods), want: `
example.com/r on "gone": None 0/0/?/0 ""
example.com/r on "sick": DevicePlugin 4/3/?/? ""
example.com/r on "stopped": None 4/0/?/0 ""
example.com/r on "well": DevicePlugin 4/4/?/? ""
example.com/r in all: 12/7/?/? on 2 nodes, at most ? on "", 0 wanted by 0
`},
		"claims that nobody may read": {cluster: plugins + classes + devices, config: forbidden(inspect.Claims), want: `
example.com/r on "gone": DRA 0/0/?/? "new"
example.com/r on "sick": DevicePlugin 4/3/0/3 "new"
example.com/r on "stopped": DRA 4/3/?/? "new"
example.com/r on "well": DevicePlugin 4/4/0/4 "new"
example.com/r on "without": DRA 2/2/?/? "new" cordoned
example.com/r in all: 13/11/?/? on 4 nodes, at most ? on "", 0 wanted by 0
`},
		"slices that nobody may read": {cluster: plugins + classes, config: forbidden(inspect.Slices), want: `
example.com/r on "gone": DRA ?/?/?/? "new"
example.com/r on "sick": DevicePlugin 4/3/0/3 "new"
example.com/r on "stopped": DRA ?/?/?/? "new"
example.com/r on "well": DevicePlugin 4/4/0/4 "new"
example.com/r in all: ?/?/?/? on 2 nodes, at most ? on "", 0 wanted by 0
`},
		"slices that nobody may read, and no class": {cluster: plugins, config: forbidden(inspect.Slices), want: `
example.com/r on "gone": None 0/0/0/0 ""
example.com/r on "sick": DevicePlugin 4/3/0/3 ""
example.com/r on "stopped": None 4/0/0/0 ""
example.com/r on "well": DevicePlugin 4/4/0/4 ""
example.com/r in all: 12/7/0/7 on 2 nodes, at most 4 on "well", 0 wanted by 0
`},
		"a pool with slices missing": {cluster: plugins + classes + strings.ReplaceAll(devices, "resourceSliceCount: 1", "resourceSliceCount: 2"), want: `
example.com/r on "gone": DRA 0/0/0/0 "new"
example.com/r on "sick": DevicePlugin 4/3/0/3 "new"
example.com/r on "stopped": DRA 3/1/1/0 "new"
example.com/r on "well": DevicePlugin 4/4/0/4 "new"
example.com/r on "without": DRA 1/0/0/0 "new" cordoned
example.com/r in all: 12/8/1/7 on 3 nodes, at most 4 on "well", 0 wanted by 0
`},
		"classes that nobody may read": {cluster: plugins, config: forbidden(inspect.Classes), want: `
example.com/r on "gone": Unknown 0/0/0/? ""
example.com/r on "sick": DevicePlugin 4/3/0/3 ""
example.com/r on "stopped": Unknown 4/0/0/? ""
example.com/r on "well": DevicePlugin 4/4/0/4 ""
example.com/r in all: 12/7/0/? on 2 nodes, at most ? on "", 0 wanted by 0
`},
		"nodes that nobody knows": {cluster: classes + devices, want: `
example.com/r on "stopped": Unknown ?/?/?/? "new"
example.com/r on "without": Unknown ?/?/?/? "new"
example.com/r in all: ?/?/?/? on 0 nodes, at most ? on "", 0 wanted by 0
`},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(strings.TrimSpace(test.want), strings.TrimSpace(all(t, test.cluster, test.config))); diff != "" {
				t.Error("(-want +got):\n" + diff)
			}
		})
	}
}
