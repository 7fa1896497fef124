package e2e

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
	"github.com/kubectl-dra/kubectl-dra/inspect/flowcontrol"
)

// These words make up the random requests, and the random schemas that are tried on them.
var (
	askUsers = []string{"jane", "joe", "system:anonymous", "system:kube-scheduler", "system:kube-controller-manager", "system:node:n1",
		"system:serviceaccount:kube-system:gc", "system:serviceaccount:gpu:driver", "system:serviceaccount:gpu:other", "system:serviceaccount:gpu-x:driver"}
	askGroups     = []string{"dev", "ops", "system:nodes", "system:masters", "system:serviceaccounts:gpu"}
	askNamespaces = []string{"default", "gpu", "kube-system", "ml"}
	askResources  = []string{"pods", "pods/status", "pods/eviction", "pods/log", "pods/exec", "services/proxy", "nodes", "nodes/status", "secrets", "namespaces", "namespaces/status", "endpoints",
		"resourceclaims.resource.k8s.io", "resourceclaims/status.resource.k8s.io", "resourceslices.resource.k8s.io", "leases.coordination.k8s.io",
		"widgets.example.com", "deployments/scale.apps"}
	askPaths = []string{"/healthz", "/healthz/etcd", "/healthzz", "/livez", "/readyz/ping", "/version", "/api", "/apis/resource.k8s.io", "/openapi/v3", "/openapi/v3/api/v1", "/", "/metrics"}
)

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// some returns one to three of the words, or a star.
func some(r *rand.Rand, from []string) []string {
	if r.IntN(3) == 0 {
		return []string{"*"}
	}
	var out []string
	for range 1 + r.IntN(3) {
		if word := pick(r, from); !slices.Contains(out, word) {
			out = append(out, word)
		}
	}
	return out
}

// randomSchema is a schema that the server accepts.
func randomSchema(r *rand.Rand, i int) *flowcontrolv1.FlowSchema {
	verbs := []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "post"}
	schema := &flowcontrolv1.FlowSchema{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("random-%02d", i)}, Spec: flowcontrolv1.FlowSchemaSpec{
		MatchingPrecedence:         int32(2 + r.IntN(5)*2000), //nolint:gosec // small numbers
		PriorityLevelConfiguration: flowcontrolv1.PriorityLevelConfigurationReference{Name: pick(r, []string{"workload-low", "system", "leader-election", "global-default", "gone", "catch-all"})},
	}}
	for range 1 + r.IntN(2) {
		rule := flowcontrolv1.PolicyRulesWithSubjects{}
		for range 1 + r.IntN(2) {
			rule.Subjects = append(rule.Subjects, randomSubject(r))
		}
		if r.IntN(3) > 0 {
			var resources, groups []string
			for _, resource := range some(r, askResources) {
				name, sub, _ := strings.Cut(resource, "/")
				sub, group, _ := strings.Cut(sub, ".")
				name, of, _ := strings.Cut(name, ".")
				if sub != "" {
					name += "/" + sub
				}
				resources, groups = append(resources, name), append(groups, group+of)
			}
			if resources[0] == "*" || r.IntN(2) == 0 {
				groups = []string{"*"}
			}
			rule.ResourceRules = append(rule.ResourceRules, flowcontrolv1.ResourcePolicyRule{
				Verbs: some(r, verbs), Resources: resources, APIGroups: slices.Compact(groups), Namespaces: some(r, askNamespaces), ClusterScope: r.IntN(2) == 0,
			})
		} else {
			rule.NonResourceRules = append(rule.NonResourceRules, flowcontrolv1.NonResourcePolicyRule{
				Verbs: some(r, verbs), NonResourceURLs: some(r, []string{"/healthz", "/x*", "/a//b", "/healthz/*", "/openapi", "/readyz/", "/version", "/apis/*"}),
			})
		}
		schema.Spec.Rules = append(schema.Spec.Rules, rule)
	}
	return schema
}

func randomSubject(r *rand.Rand) flowcontrolv1.Subject {
	switch r.IntN(3) {
	case 0:
		return flowcontrolv1.Subject{Kind: "User", User: &flowcontrolv1.UserSubject{Name: pick(r, append([]string{"*"}, askUsers...))}}
	case 1:
		return flowcontrolv1.Subject{Kind: "Group", Group: &flowcontrolv1.GroupSubject{
			Name: pick(r, append([]string{"*", "system:authenticated", "system:unauthenticated", "system:serviceaccounts"}, askGroups...)),
		}}
	}
	return flowcontrolv1.Subject{Kind: "ServiceAccount", ServiceAccount: &flowcontrolv1.ServiceAccountSubject{
		Namespace: pick(r, []string{"gpu", "kube-system", "gpu-x"}), Name: pick(r, []string{"*", "driver", "gc"}),
	}}
}

// randomRequest is a request at a version that does not exist, so that nothing is read or written.
func randomRequest(t *testing.T, r *rand.Rand) flowcontrol.Request {
	t.Helper()
	var groups []string
	for range r.IntN(3) {
		groups = append(groups, pick(r, askGroups))
	}
	method := pick(r, []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete})
	path := pick(r, askPaths)
	if r.IntN(4) > 0 {
		resource, sub, _ := strings.Cut(pick(r, askResources), "/")
		sub, of, _ := strings.Cut(sub, ".")
		resource, group, _ := strings.Cut(resource, ".")
		path = "/api/v0"
		if group += of; group != "" {
			path = "/apis/" + group + "/v0"
		}
		if r.IntN(3) == 0 {
			path += "/watch"
			method = http.MethodGet
		}
		if r.IntN(3) > 0 && resource != "nodes" && resource != "namespaces" {
			path += "/namespaces/" + pick(r, askNamespaces)
		}
		path += "/" + resource
		if sub != "" || r.IntN(2) == 0 {
			path += "/gpu"
		}
		if sub != "" {
			path += "/" + sub
		}
		path += pick(r, []string{"", "?watch=1", "?dryRun=All", "?fieldSelector=metadata.name%3Da", "?labelSelector=x&limit=5", "?watch=maybe"})
	}
	at, err := url.Parse(path)
	if err != nil {
		t.Fatal(err)
	}
	request, err := flowcontrol.NewRequest(pick(r, askUsers), groups, method, at)
	if err != nil {
		t.Fatal(err)
	}
	return request
}

// asker sends requests in the name of users, all of them over one transport: a new one each would spend most
// of its time on connecting.
type asker struct {
	host      string
	transport http.RoundTripper
}

func newAsker(t *testing.T, c *cluster.Cluster) *asker {
	t.Helper()
	config := c.Config(cluster.Admin)
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	return &asker{config.Host, transport}
}

// headersOf asks the server in the name of a user, with all groups, and returns the UIDs in its answer.
func (a *asker) headersOf(t *testing.T, r *flowcontrol.Request) (schema, level string, classified bool) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), r.Method, a.host+r.URL.RequestURI(), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set(authenticationv1.ImpersonateUserHeader, r.User)
	for _, group := range r.Groups {
		request.Header.Add(authenticationv1.ImpersonateGroupHeader, group)
	}
	response, err := a.transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, response.Body) // a connection that is read to its end is used again
	_ = response.Body.Close()                 // only its headers count
	const header = "X-Kubernetes-Pf-"
	_, classified = response.Header[header+"Flowschema-Uid"]
	return response.Header.Get(header + "Flowschema-Uid"), response.Header.Get(header + "Prioritylevel-Uid"), classified
}

// TestClassification: of 500 random requests, the server says the same as Classify, with forty random schemas
// beside those of Kubernetes. It also compares what the plugin says with --verify, whose question is another
// one.
func TestClassification(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{NoScheduler: true})
	client := c.Client().FlowcontrolV1()
	random := rand.New(rand.NewPCG(16, 37))
	for i := 0; i < 40; {
		schema := randomSchema(random, i)
		_, err := client.FlowSchemas().Create(t.Context(), schema, metav1.CreateOptions{})
		if reason := flowcontrol.RefusedSchema(schema); reason != "" && !apierrors.IsInvalid(err) {
			t.Errorf("the server says %v, refused because %q: %+v", err, reason, schema.Spec)
		}
		switch {
		case err == nil:
			i++
		case !apierrors.IsInvalid(err): // some are no good, and others take their place
			t.Fatal(err)
		}
	}
	schemas, levels, names := flowControlOf(t, c)
	limits := flowcontrol.Compute(levels, flowcontrol.DefaultServerConcurrency)
	settled(t, c, len(schemas))
	asker, long, seen := newAsker(t, c), 0, map[string]int{}
	for range 500 {
		r := randomRequest(t, random)
		want := flowcontrol.Classify(schemas, &limits, &r)
		schema, level, classified := asker.headersOf(t, &r)
		if r.LongRunning() == classified {
			t.Errorf("%s %s: passes by priority and fairness: %v, but the server classified it: %v", r.Method, r.URL, r.LongRunning(), classified)
		}
		if !classified {
			long++
			continue
		}
		if names[schema] != want.Schema || names[level] != want.Level {
			t.Errorf("%s %v: %s %s: the server says %s and %s, computed are %+v", r.User, r.Groups, r.Method, r.URL, names[schema], names[level], want)
		}
		seen[want.Schema]++
	}
	t.Logf("%d long-running, the others by schema %v", long, seen)
	if len(seen) < 20 {
		t.Errorf("the requests reach %d schemas only", len(seen))
	}
	testVerify(t, c)
}

// settled waits until the server has seen all schemas: it writes a condition into each.
func settled(t *testing.T, c *cluster.Cluster, n int) {
	t.Helper()
	cluster.Eventually(t, func(ctx context.Context) error {
		list, err := c.Client().FlowcontrolV1().FlowSchemas().List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, schema := range list.Items {
			if len(schema.Status.Conditions) == 0 {
				return fmt.Errorf("FlowSchema %s has no condition yet", schema.Name)
			}
		}
		if len(list.Items) != n {
			return fmt.Errorf("%d FlowSchemas, want %d", len(list.Items), n)
		}
		return nil
	})
}

// flowControlOf reads the objects, and which name has which UID.
func flowControlOf(t *testing.T, c *cluster.Cluster) (schemas []*flowcontrolv1.FlowSchema, levels []*flowcontrolv1.PriorityLevelConfiguration, names map[string]string) {
	t.Helper()
	client := c.Client().FlowcontrolV1()
	schemaList, err := client.FlowSchemas().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	levelList, err := client.PriorityLevelConfigurations().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	names = map[string]string{}
	for i := range schemaList.Items {
		schemas = append(schemas, &schemaList.Items[i])
		names[string(schemaList.Items[i].UID)] = schemaList.Items[i].Name
	}
	for i := range levelList.Items {
		levels = append(levels, &levelList.Items[i])
		names[string(levelList.Items[i].UID)] = levelList.Items[i].Name
	}
	return schemas, levels, names
}

// testVerify asks the plugin, which asks the server. It reads the cluster as itself, not as the user that is
// asked about.
func testVerify(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	for _, ask := range [][]string{
		{"--as", "jane", "--verb", "list", "--resource", "pods"},
		{"--as", "jane", "--as-group", "dev", "--verb", "get", "--resource", "secrets", "--name", "a", "-n", "gpu"},
		{"--as", "system:serviceaccount:gpu:driver", "--verb", "watch", "--resource", "resourceslices"},
		{"--as", "system:serviceaccount:gpu:driver", "--as-group", "ops", "--verb", "get", "--resource", "leases", "-n", "gpu"},
		{"--as", "system:node:n1", "--as-group", "system:nodes", "--verb", "get", "--resource", "resourceclaims/status", "-n", "ml"},
		{"--as", "system:anonymous", "--url", "/version"},
		{"--as", "jane", "--verb", "get", "--resource", "pods/log", "-n", "ml"},
	} {
		result := c.Plugin(t, cluster.Admin, append([]string{"explain", "request", "--verify", "-o", "jsonpath={.verified.result}"}, ask...)...)
		if result.Code != 0 || result.Stdout != "Same" {
			t.Errorf("%v", result)
		}
	}
}

// TestVerifyWithoutPermission: who may not impersonate is told so, and gets the answer all the same.
func TestVerifyWithoutPermission(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{NoScheduler: true, Users: []string{"reader"}})
	permit(t, c, "reader", rbacv1.PolicyRule{APIGroups: []string{"flowcontrol.apiserver.k8s.io"}, Resources: []string{"*"}, Verbs: []string{"list"}})
	result := c.Plugin(t, "reader", "explain", "request", "--verify", "--as", "jane", "--verb", "list", "--resource", "pods")
	if result.Code != 1 || !strings.Contains(result.Stdout, "priority level global-default") || !strings.Contains(result.Stderr, "cannot impersonate") {
		t.Errorf("%v", result)
	}
}

// TestQueues: 100 flows of one request each wait in queues of their hands.
func TestQueues(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{NoScheduler: true, ServerFlags: []string{"--max-requests-inflight=30", "--max-mutating-requests-inflight=12", "--request-timeout=1h"}})
	c.ApplyText(t, levelYAML("mice", "nominalConcurrencyShares: 25, borrowingLimitPercent: 0, limitResponse: {type: Queue, queuing: {queues: 64, handSize: 6, queueLengthLimit: 10}}")+`---
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: FlowSchema
metadata: {name: mice}
spec:
  matchingPrecedence: 50
  priorityLevelConfiguration: {name: mice}
  distinguisherMethod: {type: ByUser}
  rules:
  - subjects: [{kind: Group, group: {name: mice}}]
    resourceRules: [{verbs: ["*"], apiGroups: ["*"], resources: ["*"], namespaces: ["*"]}]
`)
	permitGroup(t, c, "mice")
	awaitSchemas(t, c, "mice")
	agree(t, c, 42, true)
	for i := range 100 {
		config := c.Config(cluster.Admin)
		config.Impersonate = rest.ImpersonationConfig{UserName: fmt.Sprintf("mouse-%d", i), Groups: []string{"mice"}}
		holdAs(t, config, 1)
	}
	var rows [][]string // level, schema, queue, index in the queue, flow
	cluster.Eventually(t, func(ctx context.Context) error {
		dump, err := c.Client().Discovery().RESTClient().Get().AbsPath("/debug/api_priority_and_fairness/dump_requests").DoRaw(ctx)
		if err != nil {
			return err
		}
		rows = nil
		for line := range strings.Lines(string(dump)) {
			if cells := regexp.MustCompile(` *, *`).Split(strings.TrimSpace(line), -1); len(cells) > 4 && cells[0] == "mice" {
				rows = append(rows, cells)
			}
		}
		if len(rows) != 100 {
			return fmt.Errorf("%d requests, want those of 100 flows", len(rows))
		}
		return nil
	})
	waiting := 0
	for _, r := range rows {
		queue, err := strconv.Atoi(r[2])
		if hand := flowcontrol.Hand("mice", r[4], flowcontrol.Queuing{Queues: 64, HandSize: 6}); err != nil || !slices.Contains(hand, queue) || r[1] != "mice" {
			t.Errorf("%q waits in none of %v", r, hand)
		}
		if r[3] != "-1" {
			waiting++
		}
	}
	if waiting != 96 { // four have seats
		t.Errorf("%d of 100 requests wait, want 96", waiting)
	}
	result := c.Plugin(t, cluster.Admin, "explain", "request", "--as", "mouse-7", "--as-group", "mice", "--verb", "create", "--resource", "configmaps")
	if !strings.Contains(result.Stdout, "by user: mouse-7") {
		t.Errorf("%v", result)
	}
	t.Logf("%v", result)
}

// permitGroup lets a group create ConfigMaps.
func permitGroup(t *testing.T, c *cluster.Cluster, group string) {
	t.Helper()
	rbac, about := c.Client().RbacV1(), metav1.ObjectMeta{Name: "permit-group-" + group}
	rule := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"create"}}
	role := &rbacv1.ClusterRole{ObjectMeta: about, Rules: []rbacv1.PolicyRule{rule}}
	if _, err := rbac.ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: about, Subjects: []rbacv1.Subject{{Kind: rbacv1.GroupKind, APIGroup: rbacv1.GroupName, Name: group}},
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: about.Name}}
	if _, err := rbac.ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	awaitPermissionOf(t, c, authorizationv1.SubjectAccessReviewSpec{User: "anybody", Groups: []string{group}}, "", rule, true)
}

// awaitSchemas waits until the server leads requests by these schemas: it has seen them, and their levels.
func awaitSchemas(t *testing.T, c *cluster.Cluster, names ...string) {
	t.Helper()
	cluster.Eventually(t, func(ctx context.Context) error {
		for _, name := range names {
			schema, err := c.Client().FlowcontrolV1().FlowSchemas().Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			if !slices.ContainsFunc(schema.Status.Conditions, func(c flowcontrolv1.FlowSchemaCondition) bool {
				return c.Type == flowcontrolv1.FlowSchemaConditionDangling && c.Status == flowcontrolv1.ConditionFalse
			}) {
				return fmt.Errorf("FlowSchema %s is not in use yet: %+v", name, schema.Status.Conditions)
			}
		}
		return nil
	})
}
