package scores

import (
	"cmp"
	"slices"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// Choice is what kube-scheduler makes of the nodes that fit a pod.
type Choice struct {
	// Nodes are those that it may choose, in the order of the cluster: one of those with the most points, or
	// one that could have them. There is none if nothing fits, or if it fails to compare nodes.
	Nodes []inspect.NodeName
	// Doubts are what is not known of the points, in the order of plugins. They are empty where no points are
	// counted: if a single node fits, or the one that the pod is nominated for.
	Doubts []filters.Doubt
	// Compared is how many of the nodes that fit the scheduler compares. It is less than there are if it
	// stops looking: which ones it finds is not known.
	Compared int
	// Failure is why the scheduler fails to compare nodes, so that the pod keeps waiting; or "".
	Failure string

	counted *counted
}

// Score is what a node gets.
type Score struct {
	Node inspect.NodeName
	// Least and Most are how many points it gets together. They differ if not all is known.
	Least, Most int64
	// Parts are what each plugin gives that makes a difference, in their order.
	Parts []Part
}

// Part is what a plugin gives to a node. Its weight is counted in.
type Part struct {
	Plugin      filters.Plugin
	Least, Most int64
}

// Choose returns the nodes that kube-scheduler may choose of those that fit, which may be in any order. Those
// that are not in the index are left out.
func (s *Scorer) Choose(fitting []Candidate) Choice {
	f := s.field(fitting)
	out := Choice{Compared: len(f.at)}
	if i := s.nominated(f); i >= 0 {
		f = &field{candidates: f.candidates[i : i+1], at: f.at[i : i+1]}
		out.Compared = 1
	}
	switch {
	case len(f.at) > 1 && s.other != nil:
		out.Doubts = []filters.Doubt{*s.other}
		fallthrough
	case len(f.at) <= 1:
		out.Nodes = f.names(nil)
		return out
	}
	if out.Failure = s.failure; out.Failure != "" {
		return out
	}
	for _, doubts := range s.doubts {
		out.Doubts = append(out.Doubts, doubts...)
	}
	out.Compared = min(len(f.at), s.compared(len(f.at)))
	out.counted = s.count(f, out.Compared < len(f.at))
	out.Nodes = f.names(out.counted.best(len(f.at) - out.Compared))
	return out
}

// field are the nodes that fit, in the order of the cluster.
func (s *Scorer) field(fitting []Candidate) *field {
	f := &field{candidates: fitting, at: make([]int, 0, len(fitting))}
	sorted, next := true, 0
	for i := range fitting {
		at, ok := s.from(next, fitting[i].Node)
		if !ok {
			return s.field(s.known(fitting))
		}
		sorted = sorted && at >= next
		next = at + 1
		f.at = append(f.at, at)
	}
	if !sorted {
		f.candidates = slices.Clone(fitting)
		slices.SortFunc(f.candidates, func(a, b Candidate) int {
			x, _ := s.index.Position(a.Node)
			y, _ := s.index.Position(b.Node)
			return cmp.Compare(x, y)
		})
		slices.Sort(f.at)
	}
	f.nodes = make([]filters.Node, len(f.at))
	for i, at := range f.at {
		f.nodes[i] = s.index.At(at)
	}
	return f
}

// from is the number of a node. It is found without being looked up if it is the next one.
func (s *Scorer) from(next int, node inspect.NodeName) (int, bool) {
	if next < s.index.Len() && s.index.At(next).Object().Name == string(node) {
		return next, true
	}
	return s.index.Position(node)
}

// known are the nodes that the index knows.
func (s *Scorer) known(nodes []Candidate) []Candidate {
	return slices.DeleteFunc(slices.Clone(nodes), func(c Candidate) bool {
		_, ok := s.index.Position(c.Node)
		return !ok
	})
}

// nominated is the number of the node for which the scheduler has nominated the pod, or -1. If that fits, it
// looks no further.
func (s *Scorer) nominated(f *field) int {
	name := s.pod.Status.NominatedNodeName
	if name == "" {
		return -1
	}
	return slices.IndexFunc(f.candidates, func(c Candidate) bool { return string(c.Node) == name })
}

// names are those of the nodes that are wanted, or of all if wanted is nil.
func (f *field) names(wanted []bool) []inspect.NodeName {
	var out []inspect.NodeName
	for i := range f.candidates {
		if wanted == nil || wanted[i] {
			out = append(out, f.candidates[i].Node)
		}
	}
	return out
}

// fail notes that the scheduler fails to compare nodes for the pod, for the first reason that there is.
func (s *Scorer) fail(because string) { s.failure = cmp.Or(s.failure, because) }

// counted are the points of nodes.
type counted struct {
	field *field
	least []int64 // of each node
	most  []int64
	parts []filters.Plugin
	// weights are those of parts.
	weights []int64
	points  [][]int64 // of each of parts, of each node; nil if they are not known
}

// count counts the points. some says that the scheduler compares only some of the nodes: then what a plugin
// gives is known only if it does not depend on which.
func (s *Scorer) count(f *field, some bool) *counted {
	c := &counted{field: f, least: make([]int64, len(f.at)), most: make([]int64, len(f.at))}
	for i := range plugins {
		switch {
		case len(s.doubts[i]) > 0:
			c.add(plugins[i].name, s.weights[i], nil)
		case s.parts[i] != nil:
			points := make([]int64, len(f.at))
			s.parts[i].raw(f, points)
			if some && varies(s.parts[i], points) {
				c.add(plugins[i].name, s.weights[i], nil)
				continue
			}
			s.parts[i].normalize(points)
			c.add(plugins[i].name, s.weights[i], points)
		}
	}
	return c
}

// varies reports whether what a part gives to a node may depend on which others it is compared with. points
// are what it gives before it compares all of them.
func varies(p part, points []int64) bool {
	switch p := p.(type) {
	case *podTopologySpread: // the number of domains counts, too
		return true
	case imageLocality:
		return false
	case *local:
		return p.compare != nil && !same(points)
	}
	return !same(points)
}

func same(values []int64) bool {
	return !slices.ContainsFunc(values, func(v int64) bool { return v != values[0] })
}

// add adds what a plugin gives. points is nil if that is not known.
func (c *counted) add(name filters.Plugin, weight int64, points []int64) {
	c.parts, c.weights, c.points = append(c.parts, name), append(c.weights, weight), append(c.points, points)
	for i := range c.least {
		if points == nil {
			c.most[i] += most * weight
			continue
		}
		points[i] *= weight
		c.least[i] += points[i]
		c.most[i] += points[i]
	}
}

// best are the nodes of which no more have more points for certain than the scheduler may not compare.
func (c *counted) best(notCompared int) []bool {
	enough := largest(c.least, notCompared)
	out := make([]bool, len(c.most))
	for i := range out {
		out[i] = c.most[i] >= enough
	}
	return out
}

// largest is the largest of some numbers but for so many that are as large or larger.
func largest(of []int64, but int) int64 {
	low, high := slices.Min(of), slices.Max(of)
	if but == 0 {
		return high
	}
	if high-low > int64(len(of)) {
		sorted := slices.Sorted(slices.Values(of))
		return sorted[len(sorted)-1-but]
	}
	counts := make([]int, high-low+1)
	for _, v := range of {
		counts[v-low]++
	}
	for v := high; ; v-- {
		if but -= counts[v-low]; but < 0 {
			return v
		}
	}
}

// Scores returns what each node gets that was compared, in the order of the cluster. It is nil where no
// points are counted.
func (c Choice) Scores() []Score {
	if c.counted == nil {
		return nil
	}
	out := make([]Score, len(c.counted.least))
	for i := range out {
		out[i] = Score{Node: c.counted.field.candidates[i].Node, Least: c.counted.least[i], Most: c.counted.most[i]}
		for k, plugin := range c.counted.parts {
			part := Part{Plugin: plugin, Most: most * c.counted.weights[k]}
			if points := c.counted.points[k]; points != nil {
				part.Least, part.Most = points[i], points[i]
			}
			out[i].Parts = append(out[i].Parts, part)
		}
	}
	return out
}
