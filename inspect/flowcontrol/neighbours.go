package flowcontrol

import (
	"cmp"
	"slices"
)

type flowKey struct{ schema, flow string }

// FlowsOf returns the other flows of a level that the dump has requests of, with those first that share most queues with
// the flow that was classified, and then those with most requests.
func (d *RequestDump) FlowsOf(c *Classification, q Queuing) []Flow {
	flows := d.flows(c.Level, q, func(*DumpedRequest) bool { return true })
	flows = slices.DeleteFunc(flows, func(f Flow) bool { return f.Schema == c.Schema && f.Distinguisher == c.Distinguisher })
	for i := range flows {
		flows[i].Shared = Shared(flows[i].Hand, c.Hand)
	}
	slices.SortStableFunc(flows, func(a, b Flow) int { return cmp.Compare(len(b.Shared), len(a.Shared)) })
	return flows
}

// flows are the flows of some requests of a level, with most requests first.
func (d *RequestDump) flows(level string, q Queuing, take func(*DumpedRequest) bool) []Flow {
	at := map[flowKey]int{}
	var out []Flow
	for i := range d.Requests {
		r := &d.Requests[i]
		if r.Level != level || !take(r) {
			continue
		}
		key := flowKey{r.Schema, r.Flow}
		if _, found := at[key]; !found {
			at[key] = len(out)
			out = append(out, Flow{Schema: r.Schema, Distinguisher: r.Flow, Hand: Hand(r.Schema, r.Flow, q)})
		}
		if f := &out[at[key]]; r.Waiting {
			f.Waiting++
		} else {
			f.Executing++
		}
	}
	slices.SortStableFunc(out, func(a, b Flow) int {
		return cmp.Or(cmp.Compare(b.Waiting, a.Waiting), cmp.Compare(b.Executing, a.Executing), cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Distinguisher, b.Distinguisher))
	})
	return out
}

// Sitting returns what sits in the queues of a hand, in its order.
func (d *RequestDump) Sitting(level string, hand []int, q Queuing) []Sitting {
	var out []Sitting
	for _, queue := range hand {
		s := Sitting{Queue: queue, Flows: d.flows(level, q, func(r *DumpedRequest) bool { return r.Queue == queue })}
		for i := range d.Requests {
			switch r := &d.Requests[i]; {
			case r.Level != level || r.Queue != queue:
			case r.Waiting:
				s.Waiting++
				s.WaitingSeats += r.Seats
			default:
				s.Executing++
			}
		}
		out = append(out, s)
	}
	return out
}
