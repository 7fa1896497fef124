package requirement

import (
	"context"
	"fmt"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

var taintKind = Kind{name: explain.TaintRequired, Importance: 7, list: listTaints}

// taintRequirement is that a taint must be tolerated. It is given up by a toleration for its key and effect.
type taintRequirement struct {
	relaxable[whatif.TolerationEdit]
}

func listTaints(_ context.Context, s *site) []Relaxable {
	if !s.Snapshot.Features().Enabled(inspect.GateDeviceTaints) {
		return nil
	}
	var out []Relaxable
	for i := range s.exam.Requests {
		out = append(out, s.taintsOf(&s.exam.Requests[i])...)
	}
	return out
}

// taintsOf lists the taints, by key and effect, that keep devices from the request. Devices that are
// not of its class count too: in another conflict the class may be what is relaxed.
func (s *site) taintsOf(r *allocator.ExaminedRequest) []Relaxable {
	type key struct {
		key    string
		effect resourcev1.DeviceTaintEffect
	}
	at := whatif.RefOf(r)
	tolerations := *whatif.FieldsOf(s.Q.Claims, at).Tolerations
	devices, values, rules := map[key]int{}, map[key][]string{}, map[key][]explain.TaintRule{}
	var order []key
	for i := range r.Devices {
		if r.Devices[i].Elsewhere {
			continue
		}
		for j := range r.Devices[i].Device.Taints {
			t := &r.Devices[i].Device.Taints[j]
			if allocator.Untolerated(r.Devices[i].Device.Taints[j:j+1], tolerations) == nil {
				continue
			}
			k := key{t.Key, t.Effect}
			if devices[k] == 0 {
				order = append(order, k)
			}
			devices[k]++
			if text := words.FormatTaint(t); !slices.Contains(values[k], text) {
				values[k] = append(values[k], text)
			}
			rules[k] = append(rules[k], explain.TaintRules(s.Q.Cluster.Snapshot(), t, r.Devices[i].ID)...)
		}
	}
	var out []Relaxable
	for _, k := range order {
		slices.SortFunc(rules[k], func(a, b explain.TaintRule) int { return strings.Compare(a.Name, b.Name) })
		rules[k] = slices.Compact(rules[k])
		requirement := s.about(r, explain.TaintRequired, s.Q.Path(at)+".tolerations", "%s does not tolerate the taint %s of %s%s",
			r.Name, strings.Join(values[k], " or "), words.Count(devices[k], "device"), explain.SetBy(rules[k]))
		requirement.Taint, requirement.TaintRules = k.key+":"+string(k.effect), rules[k]
		edit := whatif.TolerationEdit{At: at, Toleration: resourcev1.DeviceToleration{
			Key: k.key, Operator: resourcev1.DeviceTolerationOpExists, Effect: k.effect,
		}}
		out = append(out, taintRequirement{relaxable[whatif.TolerationEdit]{requirement, edit, 4, costTolerate}})
	}
	return out
}

// Propose narrows the toleration to the value of the taint, where that is enough.
func (r taintRequirement) Propose(ctx context.Context, q *whatif.Question, node inspect.NodeName) []Change {
	e := r.edit
	text := r.Taint
	for _, value := range taintValues(q.SandboxOf(node), &e.Toleration) {
		narrow := e
		narrow.Toleration.Operator, narrow.Toleration.Value = resourcev1.DeviceTolerationOpEqual, value
		if at := q.FirstFit(ctx, []whatif.Edit{narrow}); at != "" {
			e, node = narrow, at
			text = e.Toleration.Key + "=" + value + ":" + string(e.Toleration.Effect)
			break
		}
	}
	return []Change{{
		Kind: explain.TolerateTaint, Edits: []whatif.Edit{e}, Node: node, Cost: costTolerate, Key: fmt.Sprintf("%v %q", e.At, text),
		Message: r.tolerate(q, text),
	}}
}

func (r taintRequirement) tolerate(q *whatif.Question, taint string) string {
	return fmt.Sprintf("tolerate the taint %s%s", taint, ForRequest(q, &r.Requirement))
}

func (r taintRequirement) Combine(_ context.Context, c *Combination, _ int) Part {
	return Part{explain.TolerateTaint, fmt.Sprintf("%v %q", r.edit.At, r.Taint), r.tolerate(c.Question, r.Taint)}
}

// taintValues lists the values that the taint has on the devices of a node, sorted.
func taintValues(b *whatif.Sandbox, taint *resourcev1.DeviceToleration) []string {
	var out []string
	if b == nil {
		return nil
	}
	for _, slice := range b.Snapshot.Slices() {
		for i := range slice.Spec.Devices {
			for _, t := range slice.Spec.Devices[i].Taints {
				if t.Key == taint.Key && t.Effect == taint.Effect && t.Value != "" && !slices.Contains(out, t.Value) {
					out = append(out, t.Value)
				}
			}
		}
	}
	slices.Sort(out)
	return out
}
