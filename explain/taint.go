package explain

import (
	"context"
	"fmt"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

var taintKind = kind{name: TaintRequired, importance: 7, list: listTaints}

// taintRequirement is that a taint must be tolerated. It is given up by a toleration for its key and effect.
type taintRequirement struct {
	Requirement
	edit tolerationEdit
}

func listTaints(_ context.Context, s *site) []requirement {
	if !s.snapshot.Features().Enabled(inspect.GateDeviceTaints) {
		return nil
	}
	var out []requirement
	for i := range s.exam.Requests {
		out = append(out, s.taintsOf(&s.exam.Requests[i])...)
	}
	return out
}

// taintsOf lists the taints, by key and effect, that keep devices from the request. Devices that are
// not of its class count too: in another conflict the class may be what is relaxed.
func (s *site) taintsOf(r *allocator.ExaminedRequest) []requirement {
	type key struct {
		key    string
		effect resourcev1.DeviceTaintEffect
	}
	at := refOf(r)
	tolerations := *fieldsOf(s.q.claims, at).tolerations
	devices, values := map[key]int{}, map[key][]string{}
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
			if text := FormatTaint(t); !slices.Contains(values[k], text) {
				values[k] = append(values[k], text)
			}
		}
	}
	var out []requirement
	for _, k := range order {
		requirement := s.about(r, TaintRequired, s.q.path(at)+".tolerations", "%s does not tolerate the taint %s of %s",
			r.Name, strings.Join(values[k], " or "), count(devices[k], "device"))
		requirement.Taint = k.key + ":" + string(k.effect)
		out = append(out, taintRequirement{requirement, tolerationEdit{at, resourcev1.DeviceToleration{
			Key: k.key, Operator: resourcev1.DeviceTolerationOpExists, Effect: k.effect,
		}}})
	}
	return out
}

func (r taintRequirement) describe() *Requirement { return &r.Requirement }
func (r taintRequirement) relaxing() edit         { return r.edit }
func (r taintRequirement) effort(*question) int   { return 4 }
func (r taintRequirement) price(*question) int    { return costTolerate }

// propose narrows the toleration to the value of the taint, where that is enough.
func (r taintRequirement) propose(ctx context.Context, c *clusterSandbox, node inspect.NodeName) ([]change, error) {
	e := r.edit
	text := r.Taint
	for _, value := range taintValues(c.q.sandboxOf(node), &e.toleration) {
		narrow := e
		narrow.toleration.Operator, narrow.toleration.Value = resourcev1.DeviceTolerationOpEqual, value
		at, err := c.firstFit(ctx, []edit{narrow})
		if err != nil {
			return nil, err
		}
		if at != "" {
			e, node = narrow, at
			text = e.toleration.Key + "=" + value + ":" + string(e.toleration.Effect)
			break
		}
	}
	return []change{{
		kind: TolerateTaint, edits: []edit{e}, node: node, cost: costTolerate, key: fmt.Sprintf("%v %q", e.at, text),
		message: r.tolerate(c.q, text),
	}}, nil
}

func (r taintRequirement) tolerate(q *question, taint string) string {
	return fmt.Sprintf("tolerate the taint %s%s", taint, forRequest(q, &r.Requirement))
}

func (r taintRequirement) combine(_ context.Context, c *combination, _ int) (part, error) {
	return part{TolerateTaint, fmt.Sprintf("%v %q", r.edit.at, r.Taint), r.tolerate(c.q, r.Taint)}, nil
}

// taintValues lists the values that the taint has on the devices of a node, sorted.
func taintValues(b *sandbox, taint *resourcev1.DeviceToleration) []string {
	var out []string
	if b == nil {
		return nil
	}
	for _, slice := range b.snapshot.Slices() {
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
