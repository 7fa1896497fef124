package filters

import (
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
)

// Filled are amounts of CPU and memory for which a container that says nothing of them counts as one that
// asks for a little, so that such pods do not all go to one node. kube-scheduler compares nodes by them. It
// refuses none for them.
type Filled struct {
	CPU, Memory int64 // in thousandths of a CPU, and in bytes
}

// What a container counts for that does not ask for the resource.
const (
	filledCPU    = 100 // thousandths
	filledMemory = 200 << 20
)

// knownFilled are the amounts of a pod once they were counted.
type knownFilled struct{ atomic.Pointer[Filled] }

// FilledOf returns what a pod that is on no node counts for when nodes are compared. Before 1.38 what the pod
// as a whole requests does not count then, only what its containers do
// (pkg/scheduler/framework/plugins/noderesources/fit.go hands no gates on to what counts it).
func (x *Index) FilledOf(pod *corev1.Pod) Filled {
	if x.snapshot.Release().Modelled().Before(38, 0) {
		return newCounter(requestRules{}).refill(pod, true, true)
	}
	c := newCounter(x.rules)
	c.rules.devices = false
	c.count(pod)
	return c.refill(pod, true, true)
}

// Asked returns what a pod that is on no node asks for, as it counts when nodes are compared.
func (x *Index) Asked(pod *corev1.Pod, resource corev1.ResourceName) int64 {
	rules := x.rules
	rules.devices = false
	return newCounter(rules).taken(pod).of(resource)
}

// AskedToFit returns what a pod that is on no node asks for of a resource other than CPU and memory, as it
// counts for NodeResourcesFit when nodes are compared (see [Index.FilledOf]).
func (x *Index) AskedToFit(pod *corev1.Pod, resource corev1.ResourceName) int64 {
	if x.snapshot.Release().Modelled().Before(38, 0) {
		return newCounter(requestRules{}).taken(pod).of(resource)
	}
	return x.Asked(pod, resource)
}

// filled is what a pod on a node counts for.
func (c *counter) filled(pod *corev1.Pod) Filled {
	c.level = nil
	c.count(pod)
	whole := c.level != nil && len(c.level.parts) > 0
	return c.refill(pod, !whole || !c.most.has(corev1.ResourceCPU), !whole || !c.most.has(corev1.ResourceMemory))
}

// refill counts a pod that was counted again, with CPU or memory filled in, or both.
func (c *counter) refill(pod *corev1.Pod, cpu, memory bool) Filled {
	if cpu {
		c.fills = append(c.fills, part{name: corev1.ResourceCPU, thousandths: filledCPU})
	}
	if memory {
		c.fills = append(c.fills, part{name: corev1.ResourceMemory, whole: filledMemory})
	}
	if len(c.fills) > 0 {
		c.count(pod)
		c.fills = c.fills[:0]
	}
	all := c.most.amounts(c.known)
	return Filled{CPU: all.of(corev1.ResourceCPU), Memory: all.of(corev1.ResourceMemory)}
}

// fill adds to total what take does of a container, and what is to be filled in.
func (c *counter) fill(take func(c *counter, container *corev1.Container, ends bool), container *corev1.Container, ends bool) {
	if len(c.fills) == 0 {
		take(c, container, ends)
		return
	}
	others := c.total
	c.total = sum{}
	take(c, container, ends)
	for _, p := range c.fills {
		if !c.total.has(p.name) {
			c.total.at(p.name).add(p)
		}
	}
	others.plus(&c.total)
	c.total = others
}
