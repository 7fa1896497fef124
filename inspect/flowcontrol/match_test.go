package flowcontrol

import (
	"slices"
	"testing"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func userSubject(name string) flowcontrolv1.Subject {
	return flowcontrolv1.Subject{Kind: flowcontrolv1.SubjectKindUser, User: &flowcontrolv1.UserSubject{Name: name}}
}

func groupSubject(name string) flowcontrolv1.Subject {
	return flowcontrolv1.Subject{Kind: flowcontrolv1.SubjectKindGroup, Group: &flowcontrolv1.GroupSubject{Name: name}}
}

func accountSubject(namespace, name string) flowcontrolv1.Subject {
	return flowcontrolv1.Subject{Kind: flowcontrolv1.SubjectKindServiceAccount, ServiceAccount: &flowcontrolv1.ServiceAccountSubject{Namespace: namespace, Name: name}}
}

// TestMatchesSubject has who is meant by which subject, whose kind and fields need not agree.
func TestMatchesSubject(t *testing.T) {
	r := &Request{User: "system:serviceaccount:gpu:plugin", Groups: []string{"system:serviceaccounts", "a"}}
	other := func(s flowcontrolv1.Subject, kind flowcontrolv1.SubjectKind) flowcontrolv1.Subject {
		s.Kind = kind
		return s
	}
	for i, test := range []struct {
		subject flowcontrolv1.Subject
		want    bool
		name    string
	}{
		{userSubject(r.User), true, "user " + r.User},
		{userSubject("*"), true, "user *"},
		{userSubject("jane"), false, "user jane"},
		{groupSubject("a"), true, "group a"},
		{groupSubject("*"), true, "group *"},
		{groupSubject("b"), false, "group b"},
		{accountSubject("gpu", "plugin"), true, "service account gpu/plugin"},
		{accountSubject("gpu", "other"), false, "service account gpu/other"},
		{accountSubject("gpu", "*"), true, "service account gpu/*"},
		{accountSubject("gp", "*"), false, "service account gp/*"},
		{accountSubject("other", "plugin"), false, "service account other/plugin"},
		{flowcontrolv1.Subject{Kind: flowcontrolv1.SubjectKindUser}, false, ""},
		{flowcontrolv1.Subject{Kind: flowcontrolv1.SubjectKindGroup}, false, ""},
		{flowcontrolv1.Subject{Kind: flowcontrolv1.SubjectKindServiceAccount}, false, ""},
		{other(userSubject("*"), flowcontrolv1.SubjectKindGroup), false, "user *"},
		{other(groupSubject("*"), flowcontrolv1.SubjectKindServiceAccount), false, "group *"},
		{other(accountSubject("gpu", "*"), flowcontrolv1.SubjectKindUser), false, "service account gpu/*"},
		{other(accountSubject("gpu", "plugin"), "Robot"), false, "service account gpu/plugin"},
		{other(groupSubject("*"), "Robot"), false, "group *"},
		{other(userSubject("*"), "Robot"), false, "user *"},
	} {
		if got := matchesSubject(&test.subject, r); got != test.want {
			t.Errorf("%d: %+v: %t", i, test.subject, got)
		}
		var want []string
		if test.name != "" {
			want = []string{test.name}
		}
		if got := subjectNames([]flowcontrolv1.Subject{test.subject}); !slices.Equal(got, want) {
			t.Errorf("%d: %q, want %q", i, got, want)
		}
	}
}

// TestMatchesURL has which paths a rule covers; an asterisk counts only where it stands alone in a list of
// verbs.
func TestMatchesURL(t *testing.T) {
	for i, test := range []struct {
		verbs, urls []string
		want        MissReason
	}{
		{[]string{"get"}, []string{"/healthz/*"}, ""},
		{[]string{"*"}, []string{"*"}, ""},
		{[]string{"get"}, []string{"/healthz/etcd"}, ""},
		{[]string{"get"}, []string{"/livez", "/healthz/*"}, ""},
		{[]string{"get"}, []string{"/health"}, MissNonResourceURL},
		{[]string{"get"}, nil, MissNonResourceURL},
		{[]string{"put"}, []string{"*"}, MissVerb},
		{[]string{"*", "put"}, []string{"*"}, MissVerb},
		{[]string{"put", "get"}, []string{"*"}, ""},
	} {
		rule := &flowcontrolv1.NonResourcePolicyRule{Verbs: test.verbs, NonResourceURLs: test.urls}
		if miss := matchesURL(rule, ask(t, "jane", nil, "GET", "/healthz/etcd")); miss.Reason != test.want {
			t.Errorf("%d: %+v", i, miss)
		}
	}
}

// TestClassifyDetails has what a classification says besides the schema: which rule, whether the level is
// exempt, and what was missed. Of two schemas with one name the first counts, and catch-all takes what is
// left, whatever its rules say.
func TestClassifyDetails(t *testing.T) {
	limits := Compute(bootstrapLevels(), 600)
	everything := []flowcontrolv1.ResourcePolicyRule{{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}, Namespaces: []string{"*"}, ClusterScope: true}}
	schema := func(name, level string, precedence int32, subjects ...flowcontrolv1.Subject) *flowcontrolv1.FlowSchema {
		out := &flowcontrolv1.FlowSchema{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: flowcontrolv1.FlowSchemaSpec{
			MatchingPrecedence: precedence, PriorityLevelConfiguration: flowcontrolv1.PriorityLevelConfigurationReference{Name: level},
		}}
		for _, s := range subjects {
			out.Spec.Rules = append(out.Spec.Rules, flowcontrolv1.PolicyRulesWithSubjects{Subjects: []flowcontrolv1.Subject{s}, ResourceRules: everything})
		}
		return out
	}
	jane := userSubject("jane")
	for name, test := range map[string]struct {
		schemas []*flowcontrolv1.FlowSchema
		groups  []string
		want    Classification
		missed  []string
	}{
		"second rule":           {[]*flowcontrolv1.FlowSchema{schema("a", "workload-low", 1, userSubject("joe"), jane)}, nil, Classification{Schema: "a", Level: "workload-low", Rule: 2}, []string{"exempt"}},
		"exempt":                {[]*flowcontrolv1.FlowSchema{schema("a", "workload-low", 1, jane)}, []string{"system:masters"}, Classification{Schema: "exempt", Level: "exempt", Rule: 1, Exempt: true, SchemaAssumed: true}, nil},
		"an exempt level":       {[]*flowcontrolv1.FlowSchema{schema("a", "exempt", 1, jane)}, nil, Classification{Schema: "a", Level: "exempt", Rule: 1, Exempt: true}, []string{"exempt"}},
		"twice":                 {[]*flowcontrolv1.FlowSchema{schema("a", "workload-low", 1, userSubject("joe")), schema("a", "workload-high", 2, jane), schema("b", "workload-low", 3, jane)}, nil, Classification{Schema: "b", Level: "workload-low", Rule: 1}, []string{"exempt", "a"}},
		"left over":             {[]*flowcontrolv1.FlowSchema{schema("a", "workload-low", 1, userSubject("joe")), schema("catch-all", "catch-all", 10000)}, nil, Classification{Schema: "catch-all", Level: "catch-all"}, []string{"exempt", "a"}},
		"catch-all is not last": {[]*flowcontrolv1.FlowSchema{schema("catch-all", "catch-all", 1), schema("z", "workload-low", 2, userSubject("joe"))}, nil, Classification{Schema: "catch-all", Level: "catch-all"}, []string{"exempt", "catch-all", "z"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := Classify(test.schemas, &limits, ask(t, "jane", test.groups, "GET", "/api/v1/pods"))
			w := test.want
			if got.Schema != w.Schema || got.Level != w.Level || got.Rule != w.Rule || got.Exempt != w.Exempt || got.SchemaAssumed != w.SchemaAssumed {
				t.Errorf("%+v", got)
			}
			var missed []string
			for _, m := range got.Missed {
				missed = append(missed, m.Schema)
			}
			if !slices.Equal(missed, test.missed) {
				t.Errorf("missed %q, want %q", missed, test.missed)
			}
		})
	}
}
