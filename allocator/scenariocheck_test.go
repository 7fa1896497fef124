package allocator_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/scenario"
)

// answer is what an allocator said to a question.
type answer struct {
	Outcome scenario.Outcome
	// Allocations has an entry for each claim of the question (Allocated).
	Allocations []resourcev1.AllocationResult
	// Err is the error behind Abort and, from the scheduler, InvalidPools.
	Err error
	// Rejections are the checks that failed, in the order of the search; only from our allocator.
	Rejections []rejection
}

// rejection is a check that failed.
type rejection struct {
	// Claim is the name of the claim.
	Claim string
	// Request is "request" or "request/subrequest".
	Request string
	Device  inspect.DeviceID
	Code    allocator.Code
}

// String spells a rejection without the claim, of which the request mostly is the only one of its name.
func (r rejection) String() string { return fmt.Sprintf("%s %s %s", r.Request, r.Device, r.Code) }

// ask puts a question to our allocator. An error means that there is no answer: the context ended, or
// the search was given up.
func ask(ctx context.Context, s *scenario.Scenario, q *scenario.Question) (*answer, error) {
	node, claims := s.Objects(q)
	seen := &recorder{claims: claims, known: map[rejection]bool{}}
	result, err := allocator.NewCluster(s.Snapshot, allocator.Options{}).Allocate(ctx, node, claims, seen)
	said := &answer{Rejections: seen.list}
	var abort *allocator.AbortError
	switch {
	case errors.As(err, &abort):
		said.Outcome, said.Err = scenario.Abort, err
	case err != nil:
		return nil, err
	case result.Outcome == allocator.Allocated:
		said.Outcome, said.Allocations = scenario.Allocated, result.Allocations
	case result.Outcome != allocator.Unsatisfiable:
		return nil, errors.New("the search ended " + string(result.Outcome))
	case result.InvalidPools:
		said.Outcome = scenario.InvalidPools
	default:
		said.Outcome = scenario.Unsatisfiable
	}
	return said, nil
}

// recorder keeps each different rejection once.
type recorder struct {
	claims []*resourcev1.ResourceClaim
	known  map[rejection]bool
	list   []rejection
}

// Reject implements allocator.Observer.
func (r *recorder) Reject(refused allocator.Rejection) {
	claim := r.claims[refused.Claim]
	request := &claim.Spec.Devices.Requests[refused.Request]
	name := request.Name
	if len(request.FirstAvailable) > 0 {
		name += "/" + request.FirstAvailable[refused.Sub].Name
	}
	one := rejection{Claim: claim.Name, Request: name, Device: refused.Device, Code: refused.Code}
	if !r.known[one] {
		r.known[one] = true
		r.list = append(r.list, one)
	}
}

var _ allocator.Observer = (*recorder)(nil)

// Code returns the code of the AbortError behind an answer, or "".
func (a *answer) Code() allocator.Code {
	var abort *allocator.AbortError
	if errors.As(a.Err, &abort) {
		return abort.Code
	}
	return ""
}

// check compares an answer with the wanted one and returns the differences, one line each. It does not
// look at the error texts (see checkSays) nor at the rejections (see checkRejections), which belong to
// one allocator only.
func check(q *scenario.Question, a *answer) []string {
	if a.Outcome != q.Want.Outcome {
		text := fmt.Sprintf("outcome: got %s, want %s", a.Outcome, q.Want.Outcome)
		if a.Err != nil {
			text += fmt.Sprintf(" (error: %v)", a.Err)
		}
		for i := range a.Allocations {
			text += fmt.Sprintf(" (%s gets %v)", q.Claims[i].Name, deviceTexts(&a.Allocations[i]))
		}
		return []string{text}
	}
	if a.Outcome != scenario.Allocated {
		return nil
	}
	if len(a.Allocations) != len(q.Want.Claims) {
		return []string{fmt.Sprintf("allocations: got %d, want %d", len(a.Allocations), len(q.Want.Claims))}
	}
	var out []string
	for i := range q.Want.Claims {
		want := &q.Want.Claims[i]
		for _, d := range checkClaim(want, &a.Allocations[i]) {
			out = append(out, "claim "+want.Name+": "+d)
		}
	}
	return out
}

// checkSays returns the wanted parts that the text of an error lacks.
func checkSays(err error, parts []string) []string {
	var out []string
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			out = append(out, fmt.Sprintf("error: got %v, want a text with %q", err, part))
		}
	}
	return out
}

// checkRejections returns the wanted rejections that an answer lacks.
func checkRejections(q *scenario.Question, a *answer) []string {
	var out []string
	for _, want := range q.Want.Rejections {
		seen := slices.ContainsFunc(a.Rejections, func(r rejection) bool { return r.String() == want || r.Claim+":"+r.String() == want })
		if !seen {
			out = append(out, fmt.Sprintf("rejection %s was not seen", want))
		}
	}
	return out
}

func deviceTexts(a *resourcev1.AllocationResult) []string {
	out := []string{}
	for i := range a.Devices.Results {
		r := &a.Devices.Results[i]
		out = append(out, r.Request+" = "+r.Driver+"/"+r.Pool+"/"+r.Device)
	}
	return out
}

func checkClaim(c *scenario.Claim, a *resourcev1.AllocationResult) []string {
	wanted := []string{}
	for _, line := range c.Devices {
		device, _, _ := strings.Cut(line, ";")
		wanted = append(wanted, strings.TrimSpace(device))
	}
	if got := deviceTexts(a); !slices.Equal(got, wanted) {
		return []string{fmt.Sprintf("devices: got %v, want %v", got, wanted)}
	}
	var out []string
	for i, line := range c.Devices {
		for _, d := range checkDetails(strings.Split(line, ";")[1:], &a.Devices.Results[i]) {
			out = append(out, wanted[i]+": "+d)
		}
	}
	if c.Nodes != "" && nodesText(a.NodeSelector) != c.Nodes {
		out = append(out, fmt.Sprintf("nodes: got %s, want %s", nodesText(a.NodeSelector), c.Nodes))
	}
	if c.Config != nil {
		var got []string
		for i := range a.Devices.Config {
			got = append(got, configText(&a.Devices.Config[i]))
		}
		if a.Devices.Config == nil {
			got = []string{none}
		}
		if !slices.Equal(got, c.Config) {
			out = append(out, fmt.Sprintf("config: got %q, want %q", got, c.Config))
		}
	}
	return out
}

// none spells an empty list.
const none = "none"

// checkDetails compares what has to be said of a device with what is.
func checkDetails(details []string, r *resourcev1.DeviceRequestAllocationResult) []string {
	var tolerations, skips []string
	for i := range r.Tolerations {
		tolerations = append(tolerations, tolerationText(&r.Tolerations[i]))
	}
	for _, op := range r.SkipNodeOperations {
		skips = append(skips, string(op))
	}
	listText := func(items []string) string { return cmp.Or(strings.Join(items, ", "), none) }
	has := map[string]string{
		"consumes": amountsText(r.ConsumedCapacity), "tolerates": listText(tolerations), "binds": listText(r.BindingConditions),
		"fails": listText(r.BindingFailureConditions), "skips": listText(skips),
	}
	var out []string
	admin := false
	for _, detail := range details {
		word, want, _ := strings.Cut(strings.TrimSpace(detail), " ")
		if word == "admin" {
			admin = true
			continue
		}
		if word == "consumes" && want != none {
			want = amountsText(amounts(want))
		}
		if got := has[word]; got != want {
			out = append(out, fmt.Sprintf("%s: got %s, want %s", word, got, want))
		}
	}
	if given := r.AdminAccess != nil && *r.AdminAccess; given != admin {
		out = append(out, fmt.Sprintf("admin access: got %t, want %t", given, admin))
	}
	return out
}

// amounts reads "name=quantity, name=quantity".
func amounts(text string) map[resourcev1.QualifiedName]resource.Quantity {
	out := map[resourcev1.QualifiedName]resource.Quantity{}
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		out[resourcev1.QualifiedName(name)], _ = resource.ParseQuantity(value) // what is none equals nothing
	}
	return out
}

func amountsText(amounts map[resourcev1.QualifiedName]resource.Quantity) string {
	if amounts == nil {
		return none
	}
	var parts []string
	for name, q := range amounts {
		parts = append(parts, string(name)+"="+q.String())
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

// tolerationText spells a toleration: "key=value:Effect", "key:Effect" for the operator Exists. An
// empty key is "*"; without an effect there is no colon.
func tolerationText(t *resourcev1.DeviceToleration) string {
	text := t.Key
	if text == "" {
		text = "*"
	}
	if t.Operator != resourcev1.DeviceTolerationOpExists {
		text += "=" + t.Value
	}
	if t.Effect != "" {
		text += ":" + string(t.Effect)
	}
	return text
}

// nodesText spells a node selector: "everywhere", the name of a node, or "where key In a,b; key
// Exists". A requirement on a field instead of a label begins with "field".
func nodesText(s *corev1.NodeSelector) string {
	if s == nil {
		return "everywhere"
	}
	if len(s.NodeSelectorTerms) != 1 {
		return fmt.Sprintf("%d terms", len(s.NodeSelectorTerms))
	}
	term := &s.NodeSelectorTerms[0]
	if len(term.MatchExpressions) == 0 && len(term.MatchFields) == 1 {
		if r := &term.MatchFields[0]; r.Key == "metadata.name" && r.Operator == corev1.NodeSelectorOpIn && len(r.Values) == 1 {
			return r.Values[0]
		}
	}
	var parts []string
	add := func(prefix string, r *corev1.NodeSelectorRequirement) {
		parts = append(parts, strings.TrimSpace(prefix+r.Key+" "+string(r.Operator)+" "+strings.Join(r.Values, ",")))
	}
	for i := range term.MatchFields {
		add("field ", &term.MatchFields[i])
	}
	for i := range term.MatchExpressions {
		add("", &term.MatchExpressions[i])
	}
	return "where " + strings.Join(parts, "; ")
}

// configText spells a configuration entry: its source, its requests ("all" for nil), the driver and
// the parameters as compact JSON.
func configText(c *resourcev1.DeviceAllocationConfiguration) string {
	source := "claim"
	if c.Source == resourcev1.AllocationConfigSourceClass {
		source = "class"
	}
	requests := "all"
	if c.Requests != nil {
		requests = strings.Join(c.Requests, ",")
	}
	driver, parameters := "-", "-"
	if c.Opaque != nil {
		driver, parameters = c.Opaque.Driver, compact(c.Opaque.Parameters.Raw)
	}
	return strings.Join([]string{source, requests, driver, parameters}, " ")
}

func compact(raw []byte) string {
	var out bytes.Buffer
	if err := json.Compact(&out, raw); err != nil {
		return string(raw)
	}
	return out.String()
}
