package admission_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/admission"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/kueueconfig"
	"github.com/kubectl-dra/kubectl-dra/inspect/usage"
)

// usageCluster has ClusterQueues a and b in cohort team, which is in cohort org, and c in no cohort. Of the
// gpus, a pod of a holds 2 of the 3 that are admitted, one of b that has ended holds 1 for nobody, and a pod
// without queue 1. Both a and b use the claim shared.
const usageCluster = `
{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: n1}, spec: {driver: d, nodeName: n1, pool: {name: n1, generation: 1, resourceSliceCount: 1}, devices: [
  {name: g0}, {name: g1}, {name: g2}, {name: g3}, {name: g4}, {name: g5}]}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: default}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: cpus}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: Cohort, metadata: {name: org}, spec: {resourceGroups: [{coveredResources: [gpus], flavors: [{name: default, resources: [{name: gpus, nominalQuota: 1}]}]}]}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: Cohort, metadata: {name: team}, spec: {parentName: org}}
---
`

func usageObjects() string {
	var b strings.Builder
	b.WriteString(usageCluster)
	for _, queue := range [][3]string{{"a", "team", "2"}, {"b", "team", "4"}, {"c", "", "8"}} {
		fmt.Fprintf(&b, `{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: %[1]s}, spec: {cohortName: %[2]q, namespaceSelector: {}, resourceGroups: [
  {coveredResources: [cpu], flavors: [{name: cpus, resources: [{name: cpu, nominalQuota: 8}]}]},
  {coveredResources: [gpus], flavors: [{name: default, resources: [{name: gpus, nominalQuota: %[3]s}]}]}]}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: to-%[1]s, namespace: ml}, spec: {clusterQueue: %[1]s}}
---
`, queue[0], queue[1], queue[2])
	}
	workload := func(name, queue string, gpus int, conditions string) {
		fmt.Fprintf(&b, `{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: w-%[1]s, namespace: ml, ownerReferences: [{apiVersion: v1, kind: Pod, name: %[1]s, uid: u}]},
  spec: {queueName: to-%[2]s, podSets: [{name: main, count: 1, template: {spec: {containers: [{name: c}]}}}]},
  status: {conditions: [%[4]s], admission: {clusterQueue: %[2]s, podSetAssignments: [{name: main, count: 1, flavors: {gpus: default}, resourceUsage: {gpus: %[3]d}}]}}}
---
`, name, queue, gpus, conditions)
	}
	const admitted = `{type: QuotaReserved, status: "True"}, {type: Admitted, status: "True"}`
	workload("runs", "a", 3, admitted)
	workload("ended", "b", 1, admitted+`, {type: Finished, status: "True"}`)
	workload("both", "b", 1, admitted)
	pod := func(name, phase, claims string) {
		fmt.Fprintf(&b, `{apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: ml, uid: %s}, status: {phase: %s}, spec: {nodeName: n1, containers: [{name: c}], resourceClaims: [%s]}}
---
`, name, name, phase, claims)
	}
	pod("runs", "Running", "{name: x, resourceClaimName: own}, {name: z, resourceClaimName: shared}")
	pod("both", "Running", "{name: z, resourceClaimName: shared}")
	pod("ended", "Succeeded", "{name: x, resourceClaimName: left}")
	pod("plain", "Running", "{name: x, resourceClaimName: free}")
	claim := func(name, users string, devices ...string) {
		var results, reserved []string
		for _, device := range devices {
			results = append(results, "{request: r, driver: d, pool: n1, device: "+device+"}")
		}
		for user := range strings.FieldsSeq(users) {
			reserved = append(reserved, fmt.Sprintf("{resource: pods, name: %s, uid: %s}", user, user))
		}
		fmt.Fprintf(&b, `{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: %s, namespace: ml}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, count: %d}}]}},
  status: {allocation: {devices: {results: [%s]}}, reservedFor: [%s]}}
---
`, name, len(devices), strings.Join(results, ", "), strings.Join(reserved, ", "))
	}
	claim("own", "runs", "g0", "g1")
	claim("shared", "runs both", "g2")
	claim("left", "ended", "g3")
	claim("free", "plain", "g4")
	return b.String()
}

// usageRows are the rows of a report: name, devices, those that others hold too and idle ones, and the quota
// used, nominal, borrowed and lent.
func usageRows(u *admission.Usage) string {
	var rows []string
	for i := range u.Rows {
		r := &u.Rows[i]
		text := fmt.Sprintf("%q %d/%d/%d", r.Name, r.Devices, r.Joint, r.Idle)
		for _, q := range u.Quotas[r.Name] {
			text += fmt.Sprintf(" %s %s/%s +%s -%s", q.Resource, q.Used, q.Nominal, q.Borrowed, q.Lent)
		}
		rows = append(rows, text)
	}
	slices.Sort(rows)
	return strings.Join(rows, "; ")
}

func TestUsage(t *testing.T) {
	t.Parallel()
	config := inspect.Config{Time: now, Features: inspect.DefaultFeatures(inspect.NewestMinor)}
	objects := read(t, usageObjects()).Objects
	unknown := admission.UsageOf(inspect.New(objects, config), inspect.New(objects, config).Inventory(), usage.Queue, nil)
	if got, want := usageRows(unknown), `"" 1/0/0; "a" 3/1/0; "b" 2/1/1; "c" 0/0/0`; got != want || len(unknown.Partial) == 0 {
		t.Errorf("without a configuration %s, want %s; %v", got, want, unknown.Partial)
	}
	var err error
	if config.Kueue, err = kueueconfig.Read([]byte("{apiVersion: config.kueue.x-k8s.io/v1beta2, kind: Configuration, resources: {deviceClassMappings: [{name: gpus, deviceClassNames: [gpu]}]}}"), ""); err != nil {
		t.Fatal(err)
	}
	s := inspect.New(objects, config)
	none := func(*resourcev1.ResourceClaim) bool { return false }
	all := func(*resourcev1.ResourceClaim) bool { return true }
	for _, test := range []struct {
		by     usage.By
		counts func(*resourcev1.ResourceClaim) bool
		want   string
	}{
		{usage.Queue, nil, `"" 1/0/0; "a" 3/1/0 gpus 3/2 +1 -0; "b" 2/1/1 gpus 1/4 +0 -1; "c" 0/0/0 gpus 0/8 +0 -0`},
		{usage.Cohort, nil, `"" 1/0/0; "org" 4/4/1 gpus 4/7 +0 -0; "team" 4/4/1 gpus 4/6 +0 -0`},
		{usage.Queue, all, `"" 1/0/0; "a" 3/1/0; "b" 2/1/1`},
		{usage.Queue, none, ``},
	} {
		u := admission.UsageOf(s, s.Inventory(), test.by, test.counts)
		if got := usageRows(u); got != test.want || len(u.Partial) > 0 {
			t.Errorf("by %s:\n%s, want\n%s; %v", test.by, got, test.want, u.Partial)
		}
		if test.want != "" && (u.Total.Devices != 5 || u.Total.Idle != 1) {
			t.Errorf("by %s: %d devices in all, %d idle", test.by, u.Total.Devices, u.Total.Idle)
		}
	}
}
