package flowcontrol

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/api/validation"
)

// ruleVerbs are the verbs that a rule may name. Those of other HTTP methods for paths, such as post, are not among them: only
// a star covers these.
var ruleVerbs = []string{"get", "list", "create", "update", "delete", "deletecollection", "patch", "watch", "proxy"}

// refusedRule is what comes behind the path of a rule that the API server would refuse, or "".
func refusedRule(rule *flowcontrolv1.PolicyRulesWithSubjects) string {
	if len(rule.Subjects) == 0 || len(rule.ResourceRules)+len(rule.NonResourceRules) == 0 {
		return " needs subjects, and resourceRules or nonResourceRules"
	}
	for i := range rule.Subjects {
		if reason := refusedSubject(&rule.Subjects[i]); reason != "" {
			return fmt.Sprintf(".subjects[%d] %s", i, reason)
		}
	}
	for i := range rule.ResourceRules {
		if reason := refusedResourceRule(&rule.ResourceRules[i]); reason != "" {
			return fmt.Sprintf(".resourceRules[%d]%s", i, reason)
		}
	}
	for i := range rule.NonResourceRules {
		r := &rule.NonResourceRules[i]
		if reason := cmp.Or(refusedVerbs(r.Verbs), refusedWords("nonResourceURLs", r.NonResourceURLs, refusedPath)); reason != "" {
			return fmt.Sprintf(".nonResourceRules[%d]%s", i, reason)
		}
	}
	return ""
}

func refusedResourceRule(r *flowcontrolv1.ResourcePolicyRule) string {
	namespaces := ""
	if len(r.Namespaces) > 0 || !r.ClusterScope {
		namespaces = refusedWords("namespaces", r.Namespaces, func(name string) bool { return len(validation.ValidateNamespaceName(name, false)) > 0 })
	}
	return cmp.Or(refusedVerbs(r.Verbs), refusedWords("apiGroups", r.APIGroups, nil), refusedWords("resources", r.Resources, nil), namespaces)
}

// refusedWords says what is wrong with a list in which a star may only stand alone. bad tells words that are no good.
func refusedWords(field string, words []string, bad func(string) bool) string {
	switch {
	case len(words) == 0:
		return fmt.Sprintf(".%s is empty", field)
	case slices.Contains(words, "*") && len(words) > 1:
		return fmt.Sprintf(".%s has a star, which has to stand alone", field)
	case words[0] == "*" || bad == nil:
		return ""
	}
	if i := slices.IndexFunc(words, bad); i >= 0 {
		return fmt.Sprintf(".%s[%d] is %q, which is not allowed there", field, i, words[i])
	}
	return ""
}

func refusedVerbs(verbs []string) string {
	return refusedWords("verbs", verbs, func(verb string) bool { return !slices.Contains(ruleVerbs, verb) })
}

// refusedPath reports a path that a rule may not name: a star may only be its last part.
func refusedPath(path string) bool {
	return path == "" || !strings.HasPrefix(path, "/") || strings.Contains(path, " ") || strings.Contains(path, "//") ||
		strings.Contains(strings.TrimSuffix(path, "/*"), "*")
}

func refusedSubject(s *flowcontrolv1.Subject) string {
	parts := map[string]bool{"User": s.User != nil, "Group": s.Group != nil, "ServiceAccount": s.ServiceAccount != nil}
	if _, known := parts[string(s.Kind)]; !known {
		return fmt.Sprintf("is of kind %q, not User, Group or ServiceAccount", s.Kind)
	}
	for kind, set := range parts {
		if set != (kind == string(s.Kind)) {
			return fmt.Sprintf("has to have what is of its kind, %s, and nothing else", s.Kind)
		}
	}
	switch {
	case s.User != nil && s.User.Name == "", s.Group != nil && s.Group.Name == "":
		return "has no name"
	case s.ServiceAccount == nil:
		return ""
	case len(validation.ValidateNamespaceName(s.ServiceAccount.Namespace, false)) > 0:
		return fmt.Sprintf("has the namespace %q, which cannot be", s.ServiceAccount.Namespace)
	case s.ServiceAccount.Name != "*" && len(validation.ValidateServiceAccountName(s.ServiceAccount.Name, false)) > 0:
		return fmt.Sprintf("has the name %q, which cannot be", s.ServiceAccount.Name)
	}
	return ""
}
