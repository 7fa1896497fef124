package flowcontrol

import (
	"slices"
	"strings"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
)

// The functions here decide as rule.go of k8s.io/apiserver/pkg/util/flowcontrol, which exports nothing of it,
// and say besides what does not match.

// matches returns the number of the first rule of a schema that matches, from 1 on, or else 0 and why none
// does.
func matches(schema *flowcontrolv1.FlowSchema, r *Request) (int, Miss) {
	rule, miss := nearest(MissNoRules, schema.Spec.Rules, func(rule *flowcontrolv1.PolicyRulesWithSubjects) Miss { return matchesRule(rule, r) })
	if miss.Reason == "" {
		return rule, miss
	}
	miss.Schema, miss.Rule = schema.Name, rule
	return 0, miss
}

func matchesRule(rule *flowcontrolv1.PolicyRulesWithSubjects, r *Request) Miss {
	var miss Miss
	switch {
	case !slices.ContainsFunc(rule.Subjects, func(s flowcontrolv1.Subject) bool { return matchesSubject(&s, r) }):
		return Miss{Reason: MissSubject, Wanted: subjectNames(rule.Subjects), Got: append([]string{r.User}, r.Groups...)}
	case r.Info.IsResourceRequest:
		_, miss = nearest(MissNoResources, rule.ResourceRules, func(n *flowcontrolv1.ResourcePolicyRule) Miss { return matchesResource(n, r) })
	default:
		_, miss = nearest(MissNoURLs, rule.NonResourceRules, func(n *flowcontrolv1.NonResourcePolicyRule) Miss { return matchesURL(n, r) })
	}
	return miss
}

// nearest returns the first rule that matches, counted from 1 on, with a miss without a reason; or else the
// rule that gets furthest with its miss, and 0 if there are none.
func nearest[T any](none MissReason, rules []T, try func(*T) Miss) (rule int, best Miss) {
	best.Reason = none
	for i := range rules {
		miss := try(&rules[i])
		if miss.Reason == "" {
			return i + 1, miss
		}
		if stages[miss.Reason] > stages[best.Reason] {
			rule, best = i+1, miss
		}
	}
	return rule, best
}

func matchesSubject(s *flowcontrolv1.Subject, r *Request) bool {
	switch {
	case s.Kind == flowcontrolv1.SubjectKindUser && s.User != nil:
		return s.User.Name == flowcontrolv1.NameAll || s.User.Name == r.User
	case s.Kind == flowcontrolv1.SubjectKindGroup && s.Group != nil:
		return s.Group.Name == "*" || slices.Contains(r.Groups, s.Group.Name)
	case s.Kind == flowcontrolv1.SubjectKindServiceAccount && s.ServiceAccount != nil:
		if s.ServiceAccount.Name == flowcontrolv1.NameAll {
			return strings.HasPrefix(r.User, serviceaccount.ServiceAccountUsernamePrefix+s.ServiceAccount.Namespace+serviceaccount.ServiceAccountUsernameSeparator)
		}
		return serviceaccount.MatchesUsername(s.ServiceAccount.Namespace, s.ServiceAccount.Name, r.User)
	}
	return false
}

// subjectNames are the subjects of a rule, such as "group system:nodes".
func subjectNames(subjects []flowcontrolv1.Subject) []string {
	var out []string
	for i := range subjects {
		switch s := &subjects[i]; {
		case s.User != nil:
			out = append(out, "user "+s.User.Name)
		case s.Group != nil:
			out = append(out, "group "+s.Group.Name)
		case s.ServiceAccount != nil:
			out = append(out, "service account "+s.ServiceAccount.Namespace+"/"+s.ServiceAccount.Name)
		}
	}
	return out
}

func matchesResource(rule *flowcontrolv1.ResourcePolicyRule, r *Request) Miss {
	switch {
	case !has(rule.Verbs, r.Info.Verb):
		return Miss{Reason: MissVerb, Wanted: rule.Verbs, Got: []string{r.Info.Verb}}
	case !has(rule.Resources, r.Resource()):
		return Miss{Reason: MissResource, Wanted: rule.Resources, Got: []string{r.Resource()}}
	case !has(rule.APIGroups, r.Info.APIGroup):
		return Miss{Reason: MissAPIGroup, Wanted: rule.APIGroups, Got: []string{r.Info.APIGroup}}
	case r.Info.Namespace == "" && !rule.ClusterScope:
		return Miss{Reason: MissClusterScope, Wanted: rule.Namespaces}
	case r.Info.Namespace != "" && !has(rule.Namespaces, r.Info.Namespace):
		return Miss{Reason: MissNamespace, Wanted: rule.Namespaces, Got: []string{r.Info.Namespace}}
	}
	return Miss{}
}

func matchesURL(rule *flowcontrolv1.NonResourcePolicyRule, r *Request) Miss {
	if !has(rule.Verbs, r.Info.Verb) {
		return Miss{Reason: MissVerb, Wanted: rule.Verbs, Got: []string{r.Info.Verb}}
	}
	for _, at := range rule.NonResourceURLs {
		if at == flowcontrolv1.NonResourceAll || at == r.Info.Path || strings.HasPrefix(r.Info.Path, below(at)) {
			return Miss{}
		}
	}
	return Miss{Reason: MissNonResourceURL, Wanted: rule.NonResourceURLs, Got: []string{r.Info.Path}}
}

// below is what the paths below that of a rule begin with. A path without a star covers them too, which its
// documentation does not say.
func below(path string) string {
	return strings.TrimSuffix(strings.TrimSuffix(path, "*"), "/") + "/"
}

// has reports whether a list has a word. A star stands for all of them, but only where it stands alone.
func has(list []string, word string) bool {
	return len(list) == 1 && list[0] == "*" || slices.Contains(list, word)
}
