package flowcontrol

import (
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"
)

func bootstrapSchemas() []*flowcontrolv1.FlowSchema {
	return append(append([]*flowcontrolv1.FlowSchema{}, bootstrap.SuggestedFlowSchemas...), bootstrap.MandatoryFlowSchemas...)
}

func ask(t testing.TB, name string, groups []string, method, at string) *Request {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewRequest(name, groups, method, u)
	if err != nil {
		t.Fatal(err)
	}
	return &r
}

// TestClassify has who asks what in a cluster with the default configuration, and where it goes.
func TestClassify(t *testing.T) {
	limits := Compute(bootstrapLevels(), 600)
	nodes, masters := []string{"system:nodes"}, []string{"system:masters"}
	for _, test := range []struct {
		user          string
		groups        []string
		method, url   string
		schema, level string
		flow          string
		queues        int
	}{
		{"system:kube-scheduler", nil, "PUT", "/apis/resource.k8s.io/v1/namespaces/ml/resourceclaims/a/status", "kube-scheduler", "workload-high", "ml", 6},
		{"system:serviceaccount:kube-system:resource-claim-controller", nil, "POST", "/apis/resource.k8s.io/v1/namespaces/ml/resourceclaims", "kube-system-service-accounts", "workload-high", "ml", 6},
		{"system:node:n1", nodes, "DELETE", "/apis/resource.k8s.io/v1/resourceslices?fieldSelector=spec.nodeName=n1", "system-nodes", "system", "system:node:n1", 6},
		{"system:node:n1", nodes, "PATCH", "/api/v1/nodes/n1/status", "system-node-high", "node-high", "system:node:n1", 6},
		{"system:serviceaccount:gpu-driver:plugin", nil, "POST", "/apis/resource.k8s.io/v1/resourceslices", "service-accounts", "workload-low", "system:serviceaccount:gpu-driver:plugin", 6},
		{"system:serviceaccount:gpu-driver:controller", nil, "PUT", "/apis/coordination.k8s.io/v1/namespaces/gpu-driver/leases/x", "service-accounts", "workload-low", "system:serviceaccount:gpu-driver:controller", 6},
		{"system:serviceaccount:kube-system:driver", nil, "PUT", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/x", "system-leader-election", "leader-election", "system:serviceaccount:kube-system:driver", 4},
		{"jane", nil, "GET", "/api/v1/pods", "global-default", "global-default", "jane", 6},
		{"admin", masters, "GET", "/api/v1/pods", "exempt", "exempt", "", 0},
		{"system:anonymous", nil, "GET", "/livez", "probes", "exempt", "", 0},
		{"system:anonymous", nil, "GET", "/version", "global-default", "global-default", "system:anonymous", 6},
		{"jane", nil, "GET", "/healthz/etcd", "probes", "exempt", "", 0}, // a path covers those below it
		{"jane", nil, "GET", "/healthzz", "global-default", "global-default", "jane", 6},
	} {
		got := Classify(bootstrapSchemas(), &limits, ask(t, test.user, test.groups, test.method, test.url))
		if got.Schema != test.schema || got.Level != test.level || got.Distinguisher != test.flow || len(got.Hand) != test.queues {
			t.Errorf("%s %s %s: %+v", test.user, test.method, test.url, got)
		}
	}
}

// TestMisses: of each schema before the one that matches, the rule that gets furthest says why.
func TestMisses(t *testing.T) {
	rule := func(resource flowcontrolv1.ResourcePolicyRule) flowcontrolv1.FlowSchemaSpec {
		return flowcontrolv1.FlowSchemaSpec{Rules: []flowcontrolv1.PolicyRulesWithSubjects{
			{Subjects: []flowcontrolv1.Subject{{Kind: "User", User: &flowcontrolv1.UserSubject{Name: "joe"}}}},
			{Subjects: []flowcontrolv1.Subject{{Kind: "Group", Group: &flowcontrolv1.GroupSubject{Name: "*"}}}, ResourceRules: []flowcontrolv1.ResourcePolicyRule{resource}},
		}}
	}
	all := []string{"*"}
	limits := Compute(nil, 100)
	pods := ask(t, "jane", []string{"dev"}, "GET", "/api/v1/namespaces/ml/pods/a/ephemeralcontainers")
	for want, spec := range map[MissReason]flowcontrolv1.FlowSchemaSpec{
		MissVerb:         rule(flowcontrolv1.ResourcePolicyRule{Verbs: []string{"list", "*"}, Resources: all, APIGroups: all, Namespaces: all}),
		MissResource:     rule(flowcontrolv1.ResourcePolicyRule{Verbs: all, Resources: []string{"pods"}, APIGroups: all, Namespaces: all}),
		MissAPIGroup:     rule(flowcontrolv1.ResourcePolicyRule{Verbs: all, Resources: all, APIGroups: []string{"apps"}, Namespaces: all}),
		MissNamespace:    rule(flowcontrolv1.ResourcePolicyRule{Verbs: all, Resources: all, APIGroups: all, Namespaces: []string{"dev"}}),
		MissNoRules:      {},
		MissDangling:     {PriorityLevelConfiguration: flowcontrolv1.PriorityLevelConfigurationReference{Name: "gone"}},
		MissNoResources:  {Rules: []flowcontrolv1.PolicyRulesWithSubjects{{Subjects: []flowcontrolv1.Subject{{Kind: "User", User: &flowcontrolv1.UserSubject{Name: "*"}}}}}},
		MissClusterScope: rule(flowcontrolv1.ResourcePolicyRule{Verbs: all, Resources: all, APIGroups: all, Namespaces: all}),
		MissNoURLs:       rule(flowcontrolv1.ResourcePolicyRule{Verbs: all, Resources: all, APIGroups: all, Namespaces: all}),
	} {
		if want != MissDangling {
			spec.PriorityLevelConfiguration.Name = "catch-all"
		}
		r := pods
		switch want {
		case MissClusterScope:
			r = ask(t, "jane", nil, "GET", "/api/v1/pods")
		case MissNoURLs:
			r = ask(t, "jane", nil, "GET", "/version")
		}
		schema := &flowcontrolv1.FlowSchema{ObjectMeta: metav1.ObjectMeta{Name: "mine"}, Spec: spec}
		got := Classify([]*flowcontrolv1.FlowSchema{schema}, &limits, r)
		// The server makes up the schemas exempt and catch-all, and catch-all is about everybody.
		if len(got.Missed) != 2 || got.Missed[0].Reason != MissSubject || got.Missed[1].Reason != want || got.Schema != "catch-all" || !got.SchemaAssumed {
			t.Errorf("%s: %+v", want, got)
		}
	}
	// What matches nothing goes to catch-all.
	empty := &flowcontrolv1.FlowSchema{ObjectMeta: metav1.ObjectMeta{Name: "catch-all"}, Spec: flowcontrolv1.FlowSchemaSpec{
		PriorityLevelConfiguration: flowcontrolv1.PriorityLevelConfigurationReference{Name: "catch-all"}, MatchingPrecedence: 10000,
	}}
	if got := Classify([]*flowcontrolv1.FlowSchema{empty}, &limits, pods); got.Schema != "catch-all" || got.Rule != 0 || got.SchemaAssumed || len(got.Missed) != 1 {
		t.Errorf("nothing matches: %+v", got)
	}
}

// TestOneQueue: a level with one queue does not tell flows apart.
func TestOneQueue(t *testing.T) {
	limits := Compute(bootstrapLevels(), 600)
	for i := range limits.Levels {
		if q := limits.Levels[i].Queuing; q != nil {
			*q = Queuing{Queues: 1, HandSize: 1, QueueLengthLimit: 5}
		}
	}
	if got := Classify(bootstrapSchemas(), &limits, ask(t, "jane", nil, "GET", "/version")); got.Distinguisher != "" || len(got.Hand) != 1 || got.Method != flowcontrolv1.FlowDistinguisherMethodByUserType {
		t.Errorf("%+v", got)
	}
}

func TestAllGroups(t *testing.T) {
	for name, want := range map[string][]string{
		"jane":                          {"dev", "system:authenticated"},
		"system:anonymous":              {"dev", "system:unauthenticated"},
		"system:serviceaccount:ns:a":    {"dev", "system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated"},
		"system:serviceaccount:NOT.A:a": {"dev", "system:authenticated"},
	} {
		if diff := cmp.Diff(want, AllGroups(name, []string{"dev", "dev"})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestLongRunning: which requests never ask priority and fairness.
func TestLongRunning(t *testing.T) {
	for at, want := range map[string]bool{
		"/api/v1/namespaces/a/pods/x/log": true, "/api/v1/namespaces/a/pods/x/exec": true, "/api/v1/proxy/nodes/n": true,
		"/api/v1/namespaces/a/services/x/proxy/log": true, "/debug/pprof/heap": true, "/debug/pprofx": false,
		"/api/v1/namespaces/a/pods/x": false, "/api/v1/pods?watch=1": false, "/api/v1/watch/pods": false,
		"/api/v1/watch/namespaces/a/pods/x/log": false, // a watch has seats at first, whatever it is of
	} {
		if got := ask(t, "jane", nil, "GET", at).LongRunning(); got != want {
			t.Errorf("%s: %v, want %v", at, got, want)
		}
	}
}
