package flowcontrol

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
)

// settable are the fields that [Set] changes, with how they are called.
var settable = []string{"shares", "lendable", "borrowing", "queues", "hand", "queueLength"}

// Set returns a level with fields changed, as "shares=60,lendable=50": shares, lendable and borrowing
// (percentages; borrowing=none is no limit), queues, hand and queueLength. The level itself stays as it is.
func Set(level *flowcontrolv1.PriorityLevelConfiguration, changes string) (*flowcontrolv1.PriorityLevelConfiguration, error) {
	out := level.DeepCopy()
	for change := range strings.SplitSeq(changes, ",") {
		field, text, ok := strings.Cut(strings.TrimSpace(change), "=")
		if !ok || !slices.Contains(settable, field) {
			return nil, fmt.Errorf("changing priority level %s: %q is none of %s=NUMBER", level.Name, change, strings.Join(settable, "=NUMBER, "))
		}
		n, err := strconv.ParseInt(text, 10, 32)
		none := field == "borrowing" && text == "none"
		if err != nil && !none || n < math.MinInt32 {
			return nil, fmt.Errorf("changing priority level %s: %q is no whole number", level.Name, change)
		}
		if !assign(&out.Spec, field, int32(n), none) {
			return nil, fmt.Errorf("changing priority level %s: it has no field for %s", level.Name, field)
		}
	}
	return out, nil
}

// assign sets a field, and reports whether the level has it.
func assign(spec *flowcontrolv1.PriorityLevelConfigurationSpec, field string, n int32, none bool) bool {
	if exempt := spec.Exempt; exempt != nil {
		to := map[string]**int32{"shares": &exempt.NominalConcurrencyShares, "lendable": &exempt.LendablePercent}[field]
		if to != nil {
			*to = &n
		}
		return to != nil
	}
	limited := spec.Limited
	if limited == nil {
		return false
	}
	switch field {
	case "shares":
		limited.NominalConcurrencyShares = &n
	case "lendable":
		limited.LendablePercent = &n
	case "borrowing":
		limited.BorrowingLimitPercent = &n
		if none {
			limited.BorrowingLimitPercent = nil
		}
	default:
		q := limited.LimitResponse.Queuing
		if q == nil {
			return false
		}
		*map[string]*int32{"queues": &q.Queues, "hand": &q.HandSize, "queueLength": &q.QueueLengthLimit}[field] = n
	}
	return true
}

// mostQueues is how many queues the API server accepts for a level.
const mostQueues = 10_000_000

// RefusedLevel says why the API server would refuse a level, or "".
func RefusedLevel(level *flowcontrolv1.PriorityLevelConfiguration) string {
	if reason := badName(level.Name); reason != "" {
		return reason
	}
	if reason := broken(level); reason != "" {
		return reason
	}
	if limited := level.Spec.Limited; limited != nil && limited.LimitResponse.Queuing != nil && limited.LimitResponse.Queuing.Queues > mostQueues {
		return fmt.Sprintf("spec.limited.limitResponse.queuing.queues must not be greater than %d", mostQueues)
	}
	if level.Name == flowcontrolv1.PriorityLevelConfigurationNameCatchAll {
		if want := Mandatory(level.Name); !apiequality.Semantic.DeepEqual(want.Spec, level.Spec) {
			return "the spec of catch-all must equal the fixed value: it cannot be changed"
		}
	}
	return ""
}

// RefusedSchema says why the API server would refuse a FlowSchema for its name, its precedence or because it
// cannot be changed, or "". Its rules are not looked at.
func RefusedSchema(schema *flowcontrolv1.FlowSchema) string {
	spec := &schema.Spec
	switch {
	case badName(schema.Name) != "":
		return badName(schema.Name)
	case spec.MatchingPrecedence <= 0 || spec.MatchingPrecedence > flowcontrolv1.FlowSchemaMaxMatchingPrecedence:
		return fmt.Sprintf("spec.matchingPrecedence is %d, not between 1 and %d", spec.MatchingPrecedence, flowcontrolv1.FlowSchemaMaxMatchingPrecedence)
	case spec.MatchingPrecedence == 1 && schema.Name != flowcontrolv1.FlowSchemaNameExempt:
		return "spec.matchingPrecedence is 1, which only the schema named exempt may have"
	}
	for _, fixed := range bootstrap.MandatoryFlowSchemas {
		if fixed.Name == schema.Name && !apiequality.Semantic.DeepEqual(fixed.Spec, *spec) {
			return fmt.Sprintf("the spec of %s must equal the fixed value: it cannot be changed", schema.Name)
		}
	}
	return ""
}

func badName(name string) string {
	if messages := validation.NameIsDNSSubdomain(name, false); len(messages) > 0 {
		return fmt.Sprintf("metadata.name is %q: %s", name, messages[0])
	}
	return ""
}

// Probe is a request that stands for many.
type Probe struct {
	Request Request
	// Of is the FlowSchema that it was made for, or empty for those of DRA's actors.
	Of string
	// Actor is whose typical request it is, for those.
	Actor *Actor
}

// Moved is a request that another schema or level takes after a change.
type Moved struct {
	Probe         Probe
	Before, After Classification
}

// Probes returns typical requests of DRA's actors and for each rule of each schema.
func Probes(actors []Actor, schemas []*flowcontrolv1.FlowSchema) []Probe {
	var out []Probe
	add := func(of string, actor *Actor, user string, groups []string, method, path string) {
		if r, err := NewRequest(user, groups, method, &url.URL{Path: path}); err == nil {
			out = append(out, Probe{r, of, actor})
		}
	}
	for i := range actors {
		for _, typical := range typical[actors[i].Role] {
			add("", &actors[i], actors[i].User, actors[i].Groups, typical.method, typical.path)
		}
	}
	for _, schema := range inOrder(schemas) {
		for i := range schema.Spec.Rules {
			rule := &schema.Spec.Rules[i]
			for j := range rule.Subjects {
				user, groups := subjectUser(&rule.Subjects[j])
				for k := range rule.ResourceRules {
					method, path := resourceProbe(&rule.ResourceRules[k])
					add(schema.Name, nil, user, groups, method, path)
				}
				for _, r := range rule.NonResourceRules {
					add(schema.Name, nil, user, groups, http.MethodGet, strings.TrimSuffix(first(r.NonResourceURLs, "/version"), "*"))
				}
			}
		}
	}
	return out
}

// Moves returns the probes that go elsewhere after a change of schemas or levels, in their order.
func Moves(probes []Probe, before, after []*flowcontrolv1.FlowSchema, levelsBefore, levelsAfter *Limits) []Moved {
	var out []Moved
	for _, probe := range probes {
		was, is := Classify(before, levelsBefore, &probe.Request), Classify(after, levelsAfter, &probe.Request)
		if was.Level != is.Level || was.Schema != is.Schema {
			out = append(out, Moved{probe, was, is})
		}
	}
	return out
}

func subjectUser(s *flowcontrolv1.Subject) (user string, groups []string) {
	const somebody = "somebody"
	named := func(name string) string {
		if name == "*" || name == "" {
			return somebody
		}
		return name
	}
	switch {
	case s.User != nil:
		return named(s.User.Name), nil
	case s.Group != nil:
		if s.Group.Name == serviceaccount.AllServiceAccountsGroup {
			return AnyAccount, nil
		}
		return somebody, []string{named(s.Group.Name)}
	case s.ServiceAccount != nil:
		return serviceaccount.MakeUsername(s.ServiceAccount.Namespace, named(s.ServiceAccount.Name)), nil
	}
	return somebody, nil
}

// first is the first of some words, or the other if that is a star or missing.
func first(words []string, other string) string {
	if len(words) == 0 || words[0] == "*" {
		return other
	}
	return words[0]
}

// resourceProbe is a request that a rule is about.
func resourceProbe(rule *flowcontrolv1.ResourcePolicyRule) (method, path string) {
	verb := first(rule.Verbs, "get")
	method = map[string]string{
		"create": http.MethodPost, "update": http.MethodPut, "patch": http.MethodPatch, "delete": http.MethodDelete, "deletecollection": http.MethodDelete,
	}[verb]
	if method == "" {
		method = http.MethodGet
	}
	path = "/api/v1"
	if group := first(rule.APIGroups, ""); group != "" {
		path = "/apis/" + group + "/v1"
	}
	if verb == "watch" {
		path += "/watch"
	}
	if len(rule.Namespaces) > 0 && (!rule.ClusterScope || rule.Namespaces[0] != "*") {
		path += "/namespaces/" + first(rule.Namespaces, "default")
	}
	whatever := "objects"
	if strings.HasPrefix(path, "/api/v1") {
		whatever = "pods"
	}
	resource, sub, _ := strings.Cut(first(rule.Resources, whatever), "/")
	path += "/" + resource
	if !slices.Contains([]string{"list", "watch", "create", "deletecollection"}, verb) || sub != "" {
		path += "/name"
	}
	if sub != "" {
		path += "/" + sub
	}
	return method, path
}
