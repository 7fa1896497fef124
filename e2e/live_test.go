package e2e

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
)

// TestReadLiveCluster holds inspect/live against a real API server: protobuf, real continue tokens,
// real RBAC and real metrics, which the fake servers of its own tests cannot show.
func TestReadLiveCluster(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{NoScheduler: true, Users: []string{"nobody", "tenant", "reader"},
		FeatureGates: "DRADerivedAttributes=true,DRAOptionalNodeOperations=true,DRADeviceTaintRules=false"})
	for i := range 5 {
		c.AddNode(t, fmt.Sprint("n", i), nil)
		c.ApplyText(t, sliceYAML("gpu.example.com", fmt.Sprint("n", i), 2))
	}
	c.ApplyText(t, objectsYAML)
	c.AddKueueKinds(t, "")
	c.ApplyText(t, queuesYAML)

	t.Run("one object per page", func(t *testing.T) {
		begin := time.Now()
		got := read(t, c, cluster.Admin, live.Options{PageSize: 1, Resources: inspect.Resources()})
		t.Logf("read in %v", time.Since(begin).Round(time.Millisecond))
		o := got.Objects
		if len(o.Slices) != 5 || len(o.Nodes) != 5 || len(o.Claims) != 2 || len(o.Pods) != 1 || len(o.Classes) != 1 || len(o.Templates) != 1 {
			t.Errorf("%d slices, %d nodes, %d claims, %d pods, %d classes, %d templates; want 5 5 2 1 1 1",
				len(o.Slices), len(o.Nodes), len(o.Claims), len(o.Pods), len(o.Classes), len(o.Templates))
		}
		if len(o.FlowSchemas) < 5 || len(o.PriorityLevels) < 5 {
			t.Errorf("%d flow schemas and %d priority levels; a server has more of its own", len(o.FlowSchemas), len(o.PriorityLevels))
		}
		for resource, h := range got.Health {
			if (resource == inspect.PodGroups || resource == inspect.CompositePodGroups) && h.State == inspect.NotServed { // see TestPodGroups
				continue // the second are of 1.38
			}
			if h.State != inspect.Synced || h.Version != inspect.KindOf(resource).APIVersion() {
				t.Errorf("%s: %+v, want Synced at the newest version", resource, h)
			}
			if kind := inspect.KindOf(resource); resource.OfKueue() && len(kind.Objects(&o)) != 1 {
				t.Errorf("%d %s, want 1", len(kind.Objects(&o)), resource)
			}
		}
		if name := o.Slices[4].Spec.Devices[1].Name; name != "gpu-1" {
			t.Errorf("second device of the last slice is %q", name)
		}
		if pod := o.Pods[0]; len(pod.Spec.Containers) != 1 || pod.Spec.Containers[0].Image != "" || pod.Spec.ResourceClaims[0].Name != "gpu" {
			t.Errorf("pod was not reduced: %+v", pod.Spec)
		}
	})

	t.Run("feature gates from metrics", func(t *testing.T) {
		got := read(t, c, cluster.Admin, live.Options{})
		if got.Features.Source != "feature gates of the API server (kubernetes_feature_enabled)" || got.Features.Minor != 37 {
			t.Errorf("source %q, minor %d", got.Features.Source, got.Features.Minor)
		}
		for gate, want := range map[inspect.Gate]bool{
			inspect.GateDerivedAttributes: true, inspect.GateDeviceTaintRules: false, inspect.GateDeviceTaints: true,
			inspect.GateDynamicResourceAllocation: true, inspect.GateListTypeAttributes: false,
		} {
			if got.Features.Enabled(gate) != want {
				t.Errorf("%s is %v, want %v", gate, !want, want)
			}
		}
		changed := []inspect.Gate{
			inspect.GateDerivedAttributes, inspect.GateDeviceTaintRules, inspect.GateOptionalNodeOperations,
		}
		checkGates(t, c, got.Features, changed)
		if !strings.HasPrefix(got.ServerVersion, "v1.37.") {
			t.Errorf("server version %q", got.ServerVersion)
		}
	})

	t.Run("user without any permission", func(t *testing.T) {
		got := read(t, c, "nobody", live.Options{Namespace: "default"})
		for _, resource := range live.DefaultResources() {
			if h := got.Health[resource]; h.State != inspect.Forbidden || !strings.HasPrefix(h.Message, "cannot list "+string(resource)) {
				t.Errorf("%s: %+v, want Forbidden", resource, h)
			}
		}
		if want := "defaults of Kubernetes 1.37 (metrics not readable: forbidden)"; got.Features.Source != want {
			t.Errorf("source %q, want %q", got.Features.Source, want)
		}
		if got.Features.Enabled(inspect.GateFractionalCapacityRange) {
			t.Error("DRAFractionalCapacityRange is taken to be on, but this server stays compatible with 1.36")
		}
	})

	t.Run("user of one namespace", func(t *testing.T) {
		allow(t, c, "tenant", "default", "resource.k8s.io", "resourceclaims", "resourceclaimtemplates")
		got := read(t, c, "tenant", live.Options{Namespace: "default", PageSize: 1})
		want := "cannot list resourceclaims.resource.k8s.io at cluster scope; only namespace default was read"
		if h := got.Health[inspect.Claims]; h.State != inspect.Narrowed || h.Message != want {
			t.Errorf("claims: %+v, want Narrowed: %s", h, want)
		}
		if n := len(got.Objects.Claims); n != 1 {
			t.Errorf("%d claims, want the one of the namespace", n)
		}
	})

	t.Run("wrong token", func(t *testing.T) {
		_, err := live.Read(t.Context(), c.Config("stranger"), live.Options{})
		if err == nil || !strings.Contains(err.Error(), "refused the credentials (401 Unauthorized)") {
			t.Errorf("error %v, want refused credentials", err)
		}
	})
}

var gateLine = regexp.MustCompile(`(?m)^kubernetes_feature_enabled\{name="(\w+)",stage="\w*"\} ([01])$`)

// checkGates holds the gates that were read against all of the metrics, and the defaults that inspect
// knows of the release against the gates that the server was not told to change.
func checkGates(t *testing.T, c *cluster.Cluster, got inspect.Features, changed []inspect.Gate) {
	t.Helper()
	metrics, err := c.Client().Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	server := map[inspect.Gate]bool{}
	for _, match := range gateLine.FindAllSubmatch(metrics, -1) {
		server[inspect.Gate(match[1])] = string(match[2]) == "1"
	}
	if len(server) < 100 {
		t.Fatalf("the server lists %d gates, fewer than it has", len(server))
	}
	defaults := inspect.DefaultFeatures(got.Minor)
	for _, gate := range inspect.Gates() {
		want, listed := server[gate]
		if listed && got.Enabled(gate) != want {
			t.Errorf("%s was read as %v, the server says %v", gate, !want, want)
		}
		if !slices.Contains(changed, gate) && defaults.Enabled(gate) != want {
			t.Errorf("%s is %v by default, the server says %v (listed: %v)", gate, !want, want, listed)
		}
	}
}

func read(t *testing.T, c *cluster.Cluster, user string, options live.Options) *live.Cluster {
	t.Helper()
	got, err := live.Read(t.Context(), c.Config(user), options)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// allow lets a user list resources of a group in a namespace, or everywhere if namespace is empty.
func allow(t *testing.T, c *cluster.Cluster, user, namespace, group string, resources ...string) {
	t.Helper()
	rules := []rbacv1.PolicyRule{{APIGroups: []string{group}, Resources: resources, Verbs: []string{"get", "list"}}}
	about := metav1.ObjectMeta{GenerateName: user + "-", Namespace: namespace}
	subjects := []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}}
	rbac, ctx := c.Client().RbacV1(), t.Context()
	if namespace == "" {
		role, err := rbac.ClusterRoles().Create(ctx, &rbacv1.ClusterRole{ObjectMeta: about, Rules: rules}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := rbac.ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{ObjectMeta: about, Subjects: subjects,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	} else {
		role, err := rbac.Roles(namespace).Create(ctx, &rbacv1.Role{ObjectMeta: about, Rules: rules}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := rbac.RoleBindings(namespace).Create(ctx, &rbacv1.RoleBinding{ObjectMeta: about, Subjects: subjects,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	// The authorizer learns of the binding a moment later.
	cluster.Eventually(t, func(ctx context.Context) error {
		got, err := live.Read(ctx, c.Config(user), live.Options{Namespace: namespace, Resources: []inspect.Resource{inspect.Resource(resources[0])}})
		if err != nil {
			return err
		}
		if h := got.Health[inspect.Resource(resources[0])]; h.State == inspect.Forbidden {
			return errors.New(h.Message)
		}
		return nil
	})
}

// sliceYAML is the slice of a node with some devices of a driver.
func sliceYAML(driver, node string, devices int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: %[2]s-%[1]s}
spec:
  driver: %[1]s
  nodeName: %[2]s
  pool: {name: %[2]s, generation: 1, resourceSliceCount: 1}
  devices:
`, driver, node)
	for i := range devices {
		fmt.Fprintf(&b, "  - {name: gpu-%d, attributes: {index: {int: %d}}, capacity: {memory: {value: 40Gi}}}\n", i, i)
	}
	return b.String()
}

// objectsYAML is a class, a template, a claim in each of two namespaces and a pod.
const objectsYAML = `apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec: {selectors: [{cel: {expression: device.driver == "gpu.example.com"}}]}
---
apiVersion: v1
kind: Namespace
metadata: {name: other}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: one}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: two, namespace: other}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one}
spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: uses-one}
spec:
  resourceClaims: [{name: gpu, resourceClaimName: one}]
  containers: [{name: main, image: example.com/none, resources: {claims: [{name: gpu}]}}]
`

// queuesYAML is an object of each kind of Kueue.
const queuesYAML = `apiVersion: kueue.x-k8s.io/v1beta2
kind: Topology
metadata: {name: racks}
spec: {levels: [{nodeLabel: example.com/rack}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: default}
spec: {nodeLabels: {example.com/pool: a}, topologyName: racks}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: AdmissionCheck
metadata: {name: check}
spec: {controllerName: example.com/check}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata: {name: high}
value: 100
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Cohort
metadata: {name: all}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: ml}
spec:
  cohortName: all
  resourceGroups:
  - coveredResources: [gpu]
    flavors: [{name: default, resources: [{name: gpu, nominalQuota: 2}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: ml, namespace: other}
spec: {clusterQueue: ml}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: train, namespace: other}
spec:
  queueName: ml
  podSets:
  - name: main
    count: 1
    template: {spec: {restartPolicy: Never, containers: [{name: main, image: example.com/none}]}}
`
