package allocator

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Nodes that look alike to a question get the same answer, so only one of them is asked.
//
// What a node looks like is its signature, in bytes: its pools in search order, of each pool whether it
// is usable, its counters and its devices in order; of each device what the question can see of it
// (what the selectors read, the attributes of constraints, taints, capacities, counters, flags) and
// what claims hold of it. Names are left out: they are only in the answer. Example: 5,000 nodes with 8
// GPUs each, of two models, half of them held: a selector on the model gives as many signatures as
// there are patterns of held devices per model, not 5,000.

// nodeSigner writes the signatures of nodes for one question.
type nodeSigner struct {
	cluster *Cluster
	reads   selector.Reads // of all selectors and derived attributes of the question
	names   []resourcev1.FullyQualifiedName
	buf     []byte
	// kept is the key of what the question reads if signatures of pools are to be kept.
	kept string
}

// newNodeSigner finds out what the claims can see of a device.
func newNodeSigner(c *Cluster, claims []*resourcev1.ResourceClaim) *nodeSigner {
	signer := &nodeSigner{cluster: c}
	for _, claim := range claims {
		for i := range claim.Spec.Devices.Requests {
			for _, s := range specsOf(&claim.Spec.Devices.Requests[i]) {
				signer.addSpec(s)
			}
		}
		for i := range claim.Spec.Devices.Constraints {
			constraint := &claim.Spec.Devices.Constraints[i]
			for _, name := range []*resourcev1.FullyQualifiedName{constraint.MatchAttribute, constraint.DistinctAttribute} {
				if name != nil && !slices.Contains(signer.names, *name) {
					signer.names = append(signer.names, *name)
				}
			}
		}
	}
	return signer
}

func (signer *nodeSigner) addSpec(s spec) {
	if class, ok := signer.cluster.snapshot.Class(s.class); ok {
		signer.addSelectors(class.Spec.Selectors)
	}
	signer.addSelectors(s.selectors)
	for i := range s.derived {
		signer.addProgram(signer.cluster.selectors.Derived(s.derived[i].Expression))
	}
}

func (signer *nodeSigner) addSelectors(selectors []resourcev1.DeviceSelector) {
	for i := range selectors {
		if selectors[i].CEL != nil {
			signer.addProgram(signer.cluster.selectors.Selector(selectors[i].CEL.Expression))
		}
	}
}

func (signer *nodeSigner) addProgram(p *selector.Program) {
	r := p.Reads()
	signer.reads.Everything = signer.reads.Everything || r.Everything
	for _, f := range r.Fields {
		if !slices.Contains(signer.reads.Fields, f) {
			signer.reads.Fields = append(signer.reads.Fields, f)
		}
	}
}

// clone returns a signer for use by another goroutine.
func (signer *nodeSigner) clone() *nodeSigner {
	out := *signer
	out.buf = nil
	return &out
}

// of writes the signature of a node with these pools. The bytes are valid until the next call.
func (signer *nodeSigner) of(node *corev1.Node, pools []*inspect.NodePool) []byte {
	buf := signer.buf[:0]
	if slices.Contains(node.Status.DeclaredFeatures, string(inspect.GateOptionalNodeOperations)) {
		buf = append(buf, 'd')
	}
	for _, pool := range pools {
		if signer.kept == "" {
			buf = signer.appendPool(buf, node, pool)
			continue
		}
		look := poolLook{signer.kept, pool, signer.cluster.snapshot.HoldersIn(pool.ID)}
		known, ok := signer.cluster.shapes.look(look)
		if !ok {
			known = signer.appendPool(nil, node, pool)
			signer.cluster.shapes.keep(look, known)
		}
		buf = append(buf, known...)
	}
	signer.buf = buf
	return buf
}

func (signer *nodeSigner) appendPool(buf []byte, node *corev1.Node, pool *inspect.NodePool) []byte {
	switch {
	case pool.Incomplete: // named in explanations, so two such pools are not alike
		return appendText(append(buf, 'I'), pool.ID.String())
	case pool.Invalid != "":
		return appendText(append(buf, 'X'), pool.ID.String())
	}
	buf = append(buf, 'P')
	if pool.Partial { // likewise
		buf = appendText(append(buf, 'p'), pool.ID.String())
	}
	if len(pool.CounterSets) > 0 {
		if signer.cluster.rules.countersByPoolName {
			buf = appendText(buf, pool.ID.Pool)
		}
		buf = signer.appendCounters(buf, pool)
	}
	holders := signer.cluster.snapshot.HoldersIn(pool.ID)
	for s := range pool.Slices {
		slice := &pool.Slices[s]
		if len(slice.Spec.SkipNodeOperations) > 0 {
			buf = append(buf, 'k')
		}
		if selector := slice.Spec.NodeSelector; selector != nil && len(selector.NodeSelectorTerms) > 1 {
			buf = append(buf, 'm') // no allocation can be made of it
		}
		numbers := signer.cluster.shapes.of(slice.ResourceSlice, signer.cluster.features.ConsumableCapacity)
		for i := range slice.Spec.Devices {
			buf = binary.AppendUvarint(append(buf, 'D'), uint64(numbers[i]))
			buf = signer.appendDevice(buf, node, pool, slice, i)
			buf = signer.appendUsage(buf, holders, slice.Spec.Devices[i].Name)
		}
	}
	return buf
}

// appendCounters writes what is left of the pool's counters, and the groups on its counter sets.
func (signer *nodeSigner) appendCounters(buf []byte, pool *inspect.NodePool) []byte {
	v := &view{cluster: signer.cluster}
	p := &poolView{NodePool: pool}
	for i := range v.countersOf(p).counters {
		counter := &p.counters.counters[i]
		buf = appendText(appendText(buf, counter.Set), counter.Counter)
		buf = selector.AppendQuantity(buf, &counter.available)
	}
	if signer.cluster.features.CompatibilityGroups {
		groups := v.groupsOf(p)
		for _, set := range slices.Sorted(maps.Keys(groups)) {
			g := groups[set]
			buf = appendText(buf, set)
			buf = strconv.AppendBool(buf, g.ungrouped)
			for _, name := range g.groups {
				buf = appendText(buf, name)
			}
		}
	}
	return buf
}

// appendDevice writes what the question can see of a device besides its shape.
func (signer *nodeSigner) appendDevice(buf []byte, node *corev1.Node, pool *inspect.NodePool, slice *inspect.PoolSlice, index int) []byte {
	device := &slice.Spec.Devices[index]
	if reaches, err := slice.DeviceReaches(node, index); err != nil || !reaches {
		buf = append(buf, 'n')
		if err != nil {
			buf = appendText(buf, err.Error())
		}
	}
	if signer.cluster.rules.listsUnreadable && unreadable(device) != "" {
		buf = append(buf, 'l')
	}
	buf = signer.reads.Append(buf, pool.ID.Driver, device)
	for _, name := range signer.names {
		if a := LookupAttribute(device, pool.ID.Driver, name); a != nil {
			buf = selector.AppendAttribute(buf, a)
		}
		buf = append(buf, 0)
	}
	return buf
}

func compareFields(a, b selector.Field) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Domain, b.Domain), cmp.Compare(a.Name, b.Name))
}

// appendCapacity writes everything that decides about amounts.
func appendCapacity(buf []byte, device *resourcev1.Device) []byte {
	if len(device.Capacity) == 1 {
		for name, c := range device.Capacity {
			return appendOneCapacity(buf, name, &c)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(device.Capacity)) {
		c := device.Capacity[name]
		buf = appendOneCapacity(buf, name, &c)
	}
	return buf
}

func appendOneCapacity(buf []byte, name resourcev1.QualifiedName, c *resourcev1.DeviceCapacity) []byte {
	buf = selector.AppendQuantity(appendText(append(buf, 'c'), string(name)), &c.Value)
	if c.RequestPolicy != nil {
		// Representations count as well as numbers here, see violates.
		buf = appendText(buf, c.RequestPolicy.String())
	}
	return buf
}

func appendConsumption(buf []byte, c *resourcev1.DeviceCounterConsumption) []byte {
	buf = appendText(append(buf, 'u'), c.CounterSet)
	for _, name := range slices.Sorted(maps.Keys(c.Counters)) {
		counter := c.Counters[name]
		buf = selector.AppendQuantity(appendText(buf, name), &counter.Value)
	}
	for _, group := range c.CompatibilityGroups {
		buf = appendText(append(buf, 'g'), group)
	}
	return buf
}

// appendUsage writes what claims hold of a device.
func (signer *nodeSigner) appendUsage(buf []byte, holders *inspect.PoolHolders, device string) []byte {
	if !signer.cluster.held(holders, device) {
		return append(buf, '-')
	}
	u := signer.cluster.usageOf(holders, device)
	if u.exclusive {
		buf = append(buf, '*')
	}
	if u.shared {
		buf = append(buf, '/')
	}
	for _, name := range slices.Sorted(maps.Keys(u.consumed)) {
		q := u.consumed[name]
		buf = selector.AppendQuantity(appendText(buf, string(name)), &q)
	}
	return buf
}

func appendText(buf []byte, s string) []byte {
	buf = binary.AppendUvarint(buf, uint64(len(s)))
	return append(buf, s...)
}
