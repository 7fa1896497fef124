package scenario

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Check compares an answer with the wanted one and returns the differences, one line each. It does not
// look at the error texts (see CheckSays) nor at the rejections (see CheckRejections), which belong to
// one allocator only.
func (q *Question) Check(a *Answer) []string {
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
	if a.Outcome != Allocated {
		return nil
	}
	if len(a.Allocations) != len(q.Want.Claims) {
		return []string{fmt.Sprintf("allocations: got %d, want %d", len(a.Allocations), len(q.Want.Claims))}
	}
	var out []string
	for i := range q.Want.Claims {
		want := &q.Want.Claims[i]
		for _, d := range want.check(&a.Allocations[i]) {
			out = append(out, "claim "+want.Name+": "+d)
		}
	}
	return out
}

// CheckSays returns the wanted parts that the text of an error lacks.
func CheckSays(err error, parts []string) []string {
	var out []string
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			out = append(out, fmt.Sprintf("error: got %v, want a text with %q", err, part))
		}
	}
	return out
}

// CheckRejections returns the wanted rejections that an answer lacks.
func (q *Question) CheckRejections(a *Answer) []string {
	var out []string
	for _, want := range q.Want.Rejections {
		seen := slices.ContainsFunc(a.Rejections, func(r Rejection) bool {
			if want.Claim == "" {
				r.Claim = ""
			}
			return r == want
		})
		if !seen {
			out = append(out, fmt.Sprintf("rejection %s %s %s was not seen", want.Request, want.Device, want.Code))
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

func (c *Claim) check(a *resourcev1.AllocationResult) []string {
	wanted := []string{}
	for _, d := range c.Devices {
		wanted = append(wanted, d.Request+" = "+d.ID.String())
	}
	if got := deviceTexts(a); !slices.Equal(got, wanted) {
		return []string{fmt.Sprintf("devices: got %v, want %v", got, wanted)}
	}
	var out []string
	for i := range c.Devices {
		for _, d := range c.Devices[i].check(&a.Devices.Results[i]) {
			out = append(out, wanted[i]+": "+d)
		}
	}
	if c.Nodes != nil && nodesText(a.NodeSelector) != *c.Nodes {
		out = append(out, fmt.Sprintf("nodes: got %s, want %s", nodesText(a.NodeSelector), *c.Nodes))
	}
	if c.Config != nil {
		got := []string{}
		for i := range a.Devices.Config {
			got = append(got, configText(&a.Devices.Config[i]))
		}
		if !slices.Equal(got, *c.Config) || len(got) == 0 && a.Devices.Config != nil {
			out = append(out, fmt.Sprintf("config: got %q, want %q", got, *c.Config))
		}
	}
	return out
}

func (d *Device) check(r *resourcev1.DeviceRequestAllocationResult) []string {
	var out []string
	if admin := r.AdminAccess != nil && *r.AdminAccess; admin != d.Admin {
		out = append(out, fmt.Sprintf("admin access: got %t, want %t", admin, d.Admin))
	}
	if d.Consumes != nil && !sameAmounts(r.ConsumedCapacity, *d.Consumes) {
		out = append(out, fmt.Sprintf("consumes: got %s, want %s", amountsText(r.ConsumedCapacity), amountsText(*d.Consumes)))
	}
	var tolerations []string
	for i := range r.Tolerations {
		tolerations = append(tolerations, tolerationText(&r.Tolerations[i]))
	}
	var skips []string
	for _, op := range r.SkipNodeOperations {
		skips = append(skips, string(op))
	}
	for _, l := range []struct {
		name string
		got  []string
		want *[]string
	}{
		{"tolerates", tolerations, d.Tolerates},
		{"binds", r.BindingConditions, d.Binds},
		{"fails", r.BindingFailureConditions, d.Fails},
		{"skips", skips, d.Skips},
	} {
		if l.want != nil && !slices.Equal(l.got, *l.want) {
			out = append(out, fmt.Sprintf("%s: got %v, want %v", l.name, l.got, *l.want))
		}
	}
	return out
}

func sameAmounts(got, want map[resourcev1.QualifiedName]resource.Quantity) bool {
	if len(got) != len(want) || len(want) == 0 && got != nil {
		return false
	}
	for name, q := range want {
		if have, ok := got[name]; !ok || have.Cmp(q) != 0 {
			return false
		}
	}
	return true
}

func amountsText(amounts map[resourcev1.QualifiedName]resource.Quantity) string {
	if amounts == nil {
		return "none"
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
