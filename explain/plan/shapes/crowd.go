package shapes

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/kubectl-dra/kubectl-dra/explain/replay"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// weights are what pods take in each of some terms: one, as every pod, then its devices, then thousandths of
// a CPU.
type weights [3]int64

func (w weights) plus(other weights) weights {
	for i := range w {
		w[i] += other[i]
	}
	return w
}

// least is the least of two in each term.
func (w weights) least(other weights) weights {
	for i := range w {
		w[i] = min(w[i], other[i])
	}
	return w
}

// weigh notes what a pod of the kind takes. Any numbers would do that are not negative: the better they tell
// how much room a pod takes, the fewer nodes are enough.
func (k *podKind) weigh() {
	k.weight = weights{1}
	for i := range k.pods[0].Spec.Containers {
		k.weight[2] += max(0, k.pods[0].Spec.Containers[i].Resources.Requests.Cpu().MilliValue())
	}
	for _, claim := range k.member.Claims {
		for i := range claim.Spec.Devices.Requests {
			devices := int64(1)
			if exactly := claim.Spec.Devices.Requests[i].Exactly; exactly != nil {
				devices = max(1, exactly.Count)
			}
			k.weight[1] += devices
		}
	}
}

const (
	// maxStates is the number of ways to fill a node that are looked at.
	maxStates = 250
	// allOthers is more than all others take together.
	allOthers = 1 << 40
)

// crowd is what it takes to keep pods off the nodes of a shape.
//
// A fresh node is filled with pods in all ways until others no longer fit. To keep a pod off all nodes on
// which it fits, other pods have to take at least so much on each of them. If that is more than all others
// take together, the pod finds a node, whichever nodes kube-scheduler chooses.
//
// Say three pods with one device each, and nodes with two devices. To keep one off a fresh node takes two
// devices. With two nodes that is four, and the others only take two: two nodes are enough. With one node
// that is two, so the third pod may find it full.
type crowd struct {
	kinds []*podKind
	shape int
	// takes is the least that is on a fresh node where a pod no longer fits, for each kind that fits there
	// alone.
	takes map[*podKind]weights
}

// crowdOn fills a fresh node of a shape.
func (f *finder) crowdOn(ctx context.Context, shape int) (*crowd, error) {
	c := &crowd{kinds: f.kinds, shape: shape, takes: map[*podKind]weights{}}
	for _, kind := range f.kinds {
		if kind.onFresh[shape] {
			c.takes[kind] = weights{allOthers, allOthers, allOthers} // what is never kept off has room beside all others
		}
	}
	alone := changed(f.base, func(o *inspect.Objects) {
		o.Nodes = nil
		f.shapes[shape].Add(o, 0)
	})
	return c, c.fill(ctx, alone)
}

// enough reports whether n nodes are so many that the pods cannot keep each other off them.
func (c *crowd) enough(n int) bool {
	if c == nil {
		return false
	}
	var total weights
	least := weights{allOthers, allOthers, allOthers}
	for _, kind := range c.kinds {
		for range kind.pods {
			total = total.plus(kind.weight)
		}
		least = least.least(kind.weight)
	}
	for _, kind := range c.kinds {
		if !slices.ContainsFunc([]int{0, 1, 2}, func(term int) bool {
			needed := int64(kind.fits)*least[term] + int64(n)*c.takes[kind][term]
			return needed > total[term]-kind.weight[term]
		}) {
			return false
		}
	}
	return true
}

// filled is a node with some pods.
type filled struct {
	cluster *scheduler.Cluster
	placed  map[*podKind]int
	devices []string
	weight  weights
	// key is how many of each kind are placed, and what devices they have.
	key string
}

// fill fills a node with pods in all ways, those with fewer pods first. Nodes that are not looked at are
// taken to be full.
func (c *crowd) fill(ctx context.Context, alone *scheduler.Cluster) error {
	level := []*filled{{cluster: alone}}
	for states := 0; len(level) > 0; {
		var next []*filled
		seen := map[string]bool{}
		for at, f := range level {
			if states++; states > maxStates {
				for _, f := range append(level[at:], next...) {
					for kind := range c.takes {
						c.takes[kind] = c.takes[kind].least(f.weight)
					}
				}
				return nil
			}
			for _, kind := range c.kinds {
				if !kind.onFresh[c.shape] || f.placed[kind] == len(kind.pods) {
					continue // there is none left that could be kept off
				}
				then, err := c.put(ctx, f, kind)
				if err != nil {
					return err
				}
				switch {
				case then == nil:
					c.takes[kind] = c.takes[kind].least(f.weight)
				case !seen[then.key]:
					seen[then.key] = true
					next = append(next, then)
				}
			}
		}
		level = next
	}
	return nil
}

// put places one more pod of a kind on a node. It returns nil if it does not fit.
func (c *crowd) put(ctx context.Context, f *filled, kind *podKind) (*filled, error) {
	t := replay.New(f.cluster, nil)
	if placed, _, err := t.One(ctx, kind.pods[f.placed[kind]]); err != nil || !placed {
		return nil, err
	}
	out := &filled{cluster: t.Cluster(), placed: map[*podKind]int{}, devices: slices.Clone(f.devices), weight: f.weight.plus(kind.weight)}
	maps.Copy(out.placed, f.placed)
	out.placed[kind]++
	for _, d := range t.Placed[0].Devices {
		out.devices = append(out.devices, fmt.Sprint(d.ID.String(), " ", d.Consumed))
	}
	slices.Sort(out.devices)
	for _, k := range c.kinds {
		out.key += fmt.Sprint(out.placed[k], " ")
	}
	out.key += fmt.Sprint(out.devices)
	return out, nil
}
